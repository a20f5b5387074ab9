// The core's module, wherever the library runs.
import { asking as askingBy, load } from '../client/core.mjs';
import { operations as pages } from '../client/operations.mjs';
import { operations } from './operations.mjs';

/** @typedef {import('../client/account.mjs').Account<keyof typeof operations>} LibraryAccount one whose module is the library's */

/** @param {Awaited<ReturnType<typeof load>>} core */
const asking = core => askingBy(core, { ...pages, ...operations });

/**
 * @param {string | URL | BufferSource} source where the module is, or its bytes
 * @returns {Promise<ReturnType<typeof asking>>} one operation of it
 */
export async function loadCore(source) {
    if (!(typeof source === 'string' || source instanceof URL)) return asking(await load(source));
    const url = new URL(source, import.meta.url);
    if (url.protocol === 'file:') {
        // Node's fetch takes no file; browsers come to no such URL.
        // @ts-ignore: the only thing of node that is used has no types here.
        const { readFile } = await import('node:fs/promises');
        return asking(await load(await readFile(url)));
    }
    return asking(await load(await fetch(url, { credentials: 'omit', referrerPolicy: 'no-referrer' })));
}
