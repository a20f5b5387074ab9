// The page's side of the worker that the core runs in.

/**
 * @typedef {typeof import('./core.worker.mjs').methods} Methods
 * @typedef {Pick<import('./account.mjs').Account, Methods['account'][number]> & Pick<import('./visit.mjs').Visit, Methods['visit'][number]>
 *     & Pick<import('./zone.mjs').Zone, Methods['zone'][number]>} Called
 */

/**
 * @template {keyof Called} Name
 * @typedef {Parameters<Called[Name]> extends [] ? undefined : Parameters<Called[Name]>[0]} Argument
 */

/**
 * @typedef {{ transfer?: Transferable[], tell?: (part: number) => void, signal?: AbortSignal }} Options `tell` hears how far it is; by
 *     `signal` a file on its way is stopped
 * @typedef {<Name extends keyof Called>(name: Name, ...rest: undefined extends Argument<Name> ? [argument?: Argument<Name>, options?: Options]
 *     : [argument: Argument<Name>, options?: Options]) => Promise<Awaited<ReturnType<Called[Name]>>>} Ask
 */

/** What the core or the server refused, by its code. */
export class VisitError extends Error {
    /** @param {string} code */
    constructor(code) {
        super(code);
        this.name = 'VisitError';
        this.code = code;
    }
}

const server = document.querySelector('meta[name=sealkit-server]');
if (!(server instanceof HTMLMetaElement)) throw new TypeError('the page names no server');
const { calls = '' } = server.dataset;
/** Of the server whose shares are shown: where this page comes from, or by `sealkit web` whatever stands in it. */
export const origin = server.content || location.origin;

// The two scripts that this page starts, and no others: the policy refuses all else.
const [core, stretching] = ['./core.worker.mjs', './passphrase.worker.mjs'];
const workers = new Map([core, stretching].map(name => [name, new URL(name, import.meta.url).href]));
/** @typedef {{ createScriptURL: (name: string) => string }} Policy what it makes is a script's URL, to browsers that ask for one */
/** @type {Policy} */
const own = {
    createScriptURL(name) {
        const url = workers.get(name);
        if (url === undefined) throw new TypeError('no worker of this page');
        return url;
    },
};
const { trustedTypes } = /** @type {{ trustedTypes?: { createPolicy: (name: string, policy: Policy) => Policy } }} */ (self);
const policy = trustedTypes?.createPolicy('sealkit', own) ?? own;

const start = (/** @type {string} */ name) => new Worker(policy.createScriptURL(name), { type: 'module', name: `${origin} ${calls}` });

/**
 * A browser does not say why a script did not come: whoever has the page open while a server is upgraded finds those of the old one gone.
 * @param {string} name @param {string} other what it is where the script is there
 * @returns {Promise<VisitError>}
 */
export const missing = async (name, other = 'noCore') => new VisitError(
    await fetch(new URL(name, import.meta.url)).then(({ ok, status }) => ok ? other : status < 500 ? 'serverRejectedRequest' : 'serviceUnavailable', () => 'networkFailure'));

/**
 * @param {(hasEnded: boolean) => void} told what others have changed may be fetched; or of what they change no more is told
 * @returns {Ask} a method of `Visit`, `Account` or `Zone`, in its worker
 */
export function startCore(told) {
    /** @type {Worker | undefined} */
    let worker;
    /** @type {Map<number, { resolve(value: unknown): void, reject(error: VisitError): void, tell?: (part: number) => void }>} */
    const waiting = new Map();
    let last = 0;
    function begin() {
        const made = start(core);
        let hasAnswered = false;
        made.addEventListener('message', (/** @type {MessageEvent<import('./core.worker.mjs').Answer>} */ { data }) => {
            hasAnswered = true;
            if (data.id === undefined) return told(data.hasEnded);
            const asked = waiting.get(data.id);
            if ('part' in data) return asked?.tell?.(data.part);
            waiting.delete(data.id);
            if ('error' in data) asked?.reject(new VisitError(data.error)); else asked?.resolve(data.value);
        });
        // A worker that does not start answers nothing: whoever asks again is answered by another one. One that has answered has the
        // visit, and goes on.
        made.addEventListener('error', async () => {
            if (worker !== made) return;
            if (!hasAnswered) {
                worker = undefined;
                made.terminate();
            }
            const left = [...waiting.values()];
            waiting.clear();
            const error = await missing(core);
            for (const { reject } of left) reject(error);
        });
        return made;
    }
    worker = begin();
    return (name, argument, options) => new Promise((resolve, reject) => {
        const id = ++last;
        const { transfer, tell, signal } = options ?? {};
        waiting.set(id, { resolve, reject, tell });
        (worker ??= begin()).postMessage({ id, name, argument }, transfer ?? []);
        signal?.addEventListener('abort', () => worker?.postMessage({ id }));
    });
}

/** @param {string} passphrase @param {string} name @returns {Promise<Uint8Array>} what a passphrase gives, after a second or two */
export function stretch(passphrase, name) {
    const worker = start(stretching);
    return new Promise((resolve, reject) => {
        worker.addEventListener('message', (/** @type {MessageEvent<import('./passphrase.worker.mjs').Stretched>} */ { data: { key, code } }) => key ? resolve(key) : reject(new VisitError(code ?? 'internalError')));
        worker.addEventListener('error', async () => reject(await missing(stretching)));
        worker.postMessage({ passphrase: passphrase.normalize('NFC'), name: name.normalize('NFC'), origin });
    }).finally(() => worker.terminate());
}
