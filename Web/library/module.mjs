// The core's module, wherever the library runs.
import { asking as askingBy, load } from '../client/core.mjs';
import { operations as pages } from '../client/operations.mjs';
import { ServerError } from '../client/server.mjs';
import { badRequest, CKError } from './errors.mjs';
import { operations } from './operations.mjs';

/** @typedef {import('./account.mjs').LibraryAccount} LibraryAccount */

export const ended = () => new ServerError({ code: 'notAuthenticated', reason: 'signOut was called meanwhile.' });

/** @param {Awaited<ReturnType<typeof load>>} core */
function using(core) {
    let isWiped = false;
    /** @type {ReturnType<typeof askingBy<keyof typeof pages | keyof typeof operations>>} */
    const ask = (...asked) => {
        if (isWiped) throw ended();
        return inside(...asked);
    };
    const inside = askingBy(core, { ...pages, ...operations });
    return {
        ask,
        /** Nothing is left of what it had, of secrets too; nor can it be asked for anything from here on. */
        wipe() {
            isWiped = true;
            new Uint8Array(core.memory.buffer).fill(0);
        },
    };
}

/**
 * @param {string | URL | BufferSource} source where the module is, or its bytes
 * @returns {Promise<ReturnType<typeof using>>} one operation of it, and its end
 * @throws {CKError} `networkFailure` where it is not to be had, or something else is there; `invalidArguments` for bytes that are none
 */
export async function loadCore(source) {
    const isPlace = typeof source === 'string' || source instanceof URL;
    try {
        return using(await (isPlace ? fetched(new URL(source, import.meta.url)) : load(source)));
    } catch (error) {
        if (!isPlace) throw badRequest('The bytes of module are not the core’s module.');
        throw new CKError('networkFailure', { reason: `The core’s module could not be loaded from ${source}.`, cause: error });
    }
}

/** @param {URL} url */
async function fetched(url) {
    if (url.protocol === 'file:') {
        // Node's fetch takes no file; browsers come to no such URL.
        // @ts-ignore: the only thing of node that is used has no types here.
        const { readFile } = await import('node:fs/promises');
        return load(await readFile(url));
    }
    return load(await fetch(url, { credentials: 'omit', referrerPolicy: 'no-referrer' }));
}
