// Scripts that a reader on the way from the link to the records does not need: loaded once they are asked for, and held against their hashes
// as what the page loads at first is.
import { missing } from './core.client.mjs';

const listed = document.querySelector('meta[name=sealkit-later]')?.getAttribute('content');
if (!listed) throw new TypeError('the page names no scripts for later');
const names = listed.split(' ').map(entry => entry.split('=sha256-'));

/** @param {string[]} entry @returns {Promise<unknown> | undefined} */
function held([name = '', hash]) {
    // A browser that knows no such link holds them against nothing, as it does what modules import.
    const link = document.createElement('link');
    if (!link.relList.supports('modulepreload')) return undefined;
    return new Promise((resolve, reject) => {
        Object.assign(link, { rel: 'modulepreload', href: new URL(name, import.meta.url), integrity: `sha256-${hash}`, onload: resolve, onerror: reject });
        document.head.append(link);
    });
}

/** @type {Promise<unknown> | undefined} */
let all;

/** @typedef {{ 'afterwards.mjs': typeof import('./afterwards.mjs'), 'changes.mjs': typeof import('./changes.mjs') }} Later */

/** @template {keyof Later} Name @param {Name} name @returns {Promise<Later[Name]>} the module, when all of them are here */
export async function later(name) {
    all ??= Promise.all(names.map(held)).catch(async () => {
        all = undefined;
        throw await missing(name, 'networkFailure');
    });
    await all;
    return import(`./${name}`);
}
