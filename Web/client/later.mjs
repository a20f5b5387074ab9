// Scripts that a reader on the way from the link to the records does not need: loaded once they are asked for, and held against their hashes
// as what the page loads at first is.
const names = new Map(document.querySelector('meta[name=sealkit-later]').content.split(' ').map(entry => entry.split('=sha256-')));

function held([name, hash]) {
    // A browser that knows no such link holds them against nothing, as it does what modules import.
    const link = document.createElement('link');
    if (!link.relList.supports('modulepreload')) return undefined;
    return new Promise((resolve, reject) => {
        Object.assign(link, { rel: 'modulepreload', href: new URL(name, import.meta.url), integrity: `sha256-${hash}`, onload: resolve, onerror: () => reject(new Error(name)) });
        document.head.append(link);
    });
}

let all;

/** @param {'afterwards.mjs' | 'changes.mjs'} name @returns {Promise<object>} the module, when all of them are here */
export async function later(name) {
    all ??= Promise.all([...names].map(held)).catch(error => {
        all = undefined;
        throw Object.assign(error, { code: 'networkFailure' });
    });
    await all;
    return import(`./${name}`);
}
