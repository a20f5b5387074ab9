// The page's side of the worker that the core runs in.

/** What the core or the server refused, by its code. */
export class VisitError extends Error {
    constructor({ code, reason, remedy, wait }) {
        super(code);
        Object.assign(this, { name: 'VisitError', code, reason, remedy, wait });
    }
}

const server = document.querySelector('meta[name=sealkit-server]');
/** Of the server whose shares are shown: where this page comes from, or by `sealkit web` whatever stands in it. */
export const origin = server.content || location.origin;

// The two scripts that this page starts, and no others: the policy refuses all else.
const workers = new Map(['./core.worker.mjs', './passphrase.worker.mjs'].map(name => [name, new URL(name, import.meta.url).href]));
const policy = 'trustedTypes' in self
    ? trustedTypes.createPolicy('sealkit', {
        createScriptURL(name) {
            if (!workers.has(name)) throw new TypeError('no worker of this page');
            return workers.get(name);
        },
    })
    : { createScriptURL: name => workers.get(name) };

const start = name => new Worker(policy.createScriptURL(name), { type: 'module', name: `${origin} ${server.dataset.calls}` });

/**
 * @param {() => void} told what others have changed may be fetched
 * @returns {(name: string, argument?: object, options?: { transfer?: Transferable[], tell?: (part: number) => void }) => Promise<any>} a method
 *     of `Visit`, `Account` or `Zone`, in its worker; `tell` hears how far it is
 */
export function startCore(told) {
    const worker = start('./core.worker.mjs');
    const waiting = new Map();
    let last = 0;
    worker.addEventListener('message', ({ data: { id, value, error, part } }) => {
        if (id === undefined) return told();
        const { resolve, reject, tell } = waiting.get(id);
        if (part !== undefined) return tell?.(part);
        waiting.delete(id);
        if (error) reject(new VisitError(error)); else resolve(value);
    });
    // A worker that does not start answers nothing.
    worker.addEventListener('error', () => {
        for (const { reject } of waiting.values()) reject(new VisitError({ code: 'noCore' }));
        waiting.clear();
    });
    return (name, argument, { transfer = [], tell } = {}) => new Promise((resolve, reject) => {
        waiting.set(++last, { resolve, reject, tell });
        worker.postMessage({ id: last, name, argument }, transfer);
    });
}

/** @returns {Promise<Uint8Array>} what a passphrase gives, after a second or two */
export function stretch(passphrase, name) {
    const worker = start('./passphrase.worker.mjs');
    return new Promise((resolve, reject) => {
        worker.addEventListener('message', ({ data: { key, code } }) => key ? resolve(key) : reject(new VisitError({ code })));
        worker.addEventListener('error', () => reject(new VisitError({ code: 'noCore' })));
        worker.postMessage({ passphrase: passphrase.normalize('NFC'), name: name.normalize('NFC'), origin });
    }).finally(() => worker.terminate());
}
