// Where a container runs in a browser: its page talks to it by messages (`remote.mjs`), so that neither keys nor what reading a zone costs are
// on the page's thread.
import { Asset, withAssets } from './asset.mjs';
import { Container } from './container.mjs';
import { CKError } from './errors.mjs';
import { carried, methods } from './remote.methods.mjs';
import { Share } from './share.mjs';

/** What the app itself has thrown, where it was asked something: the page knows it by a number. */
class AppError extends Error {
    /** @param {number} number */
    constructor(number) {
        super('the app refused');
        this.number = number;
    }
}

/** @type {Map<number, { resolve: (value: any) => void, reject: (error: unknown) => void }>} */
const asked = new Map();
/** @type {Map<number, Share>} */
const shares = new Map();
let [lastAsked, lastShare] = [0, 0];

/** @param {(string | number)[]} what @param {...unknown} args @returns {Promise<any>} what the app says */
const ask = (what, ...args) => new Promise((resolve, reject) => {
    asked.set(++lastAsked, { resolve, reject });
    postMessage({ ask: lastAsked, what, args });
});

/** @type {Container | undefined} */
let container;

/** @param {{ configuration: any, hasDevices: boolean }} start */
function start({ configuration, hasDevices }) {
    const devices = { load: () => ask(['devices', 'load']), keep: (/** @type {unknown} */ device) => ask(['devices', 'keep'], device) };
    const made = new Container({ ...configuration, ...hasDevices && { devices } });
    made.addNotificationListener(notification => postMessage({ notification, state: state(made) }));
    container = made;
}

/** @param {Container} container */
const state = ({ userRecordName, isRegisteredForNotifications }) => ({ userRecordName, isRegisteredForNotifications });

/** @param {any} value of the app's, as it has come @returns {any} */
function arrived(value) {
    if (Array.isArray(value)) return value.map(arrived);
    if (typeof value !== 'object' || value === null) return value;
    if (value.verify) {
        const { language, number } = value.verify;
        const asking = Object.fromEntries(['address', 'code', 'invitation', 'digits'].map(name =>
            [name, (/** @type {unknown[]} */ ...args) => ask(['verify', number, name], ...args)]));
        const verify = { language, ...asking };
        return { ...value, verify };
    }
    if (value.onProgress) {
        const { number } = value.onProgress;
        return typeof number === 'number' ? { ...value, onProgress: (/** @type {object} */ told) => postMessage({ progress: number, told }) } : value;
    }
    return withAssets(value, one => one?.assetSource ? new Asset(0, one.assetSource, () => Promise.reject(new Error('read by the page'))) : one);
}

/** @param {any} value that is answered @returns {any} as it can go */
function leaving(value) {
    if (value instanceof Share) {
        shares.set(++lastShare, value);
        return { share: lastShare };
    }
    return carried(value, record, failure);
}

/** @param {any} one @returns {any} */
const record = one => withAssets(one, value => value instanceof Asset ? { size: value.size, assetSource: Asset.source(value) } : value);

/** @param {any} error @returns {object} */
function failure(error) {
    if (error instanceof AppError) return { thrown: error.number };
    if (!(error instanceof CKError)) return plain(error);
    const { serverErrorCode, about } = CKError.parts(error);
    return {
        serverErrorCode, about: {
            ...about, ...about.serverRecord && { serverRecord: record(about.serverRecord) }, ...about.cause !== undefined && { cause: plain(about.cause) },
        },
    };
}

/** @param {any} thrown */
const plain = thrown => ({ name: String(thrown?.name ?? 'Error'), message: String(thrown?.message ?? thrown) });

/** @param {{ id: number, target: string | number, method: string, args: unknown[] }} call */
async function answer({ id, target, method, args }) {
    let [message, share] = [/** @type {object} */ ({}), /** @type {Share | undefined} */ (undefined)];
    const one = /** @type {Container} */ (container);
    try {
        const kind = typeof target === 'number' ? 'share' : target;
        if (!(Object.hasOwn(methods, kind) && methods[/** @type {keyof typeof methods} */ (kind)].includes(method))) throw new TypeError('no such method');
        share = typeof target === 'number' ? shares.get(target) : undefined;
        const object = /** @type {any} */ (share ?? (target === 'container' ? one : one[/** @type {keyof Container} */ (target)]));
        message = { value: leaving(await object[method](...args.map(arrived))) };
    } catch (error) {
        message = { error: failure(error) };
    }
    postMessage({ id, ...message, state: state(one), ...share && { shown: shown(share) } });
}

/** @param {Share} share */
function shown(share) {
    try {
        return share.shown;
    } catch {
        return undefined;
    }
}

addEventListener('message', ({ data }) => {
    if ('configuration' in data) start(data);
    else if ('forget' in data) shares.delete(data.forget);
    else if ('answer' in data) {
        const waiting = asked.get(data.answer);
        asked.delete(data.answer);
        if ('thrown' in data) waiting?.reject(new AppError(data.thrown)); else waiting?.resolve(data.value);
    } else void answer(data);
});
postMessage({ isReady: true });
