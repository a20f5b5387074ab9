// A container whose work is done in a worker (`remote.worker.mjs`), with the methods of `Container`, `Database`, `PublicDatabase` and `Share`.
import { Asset, withAssets } from './asset.mjs';
import { RecordsBatch } from './batch.mjs';
import { badRequest, CKError } from './errors.mjs';
import { databaseOf } from './container.mjs';
import { Passkeys } from './passkey.mjs';
import { carried, methods } from './remote.methods.mjs';

/**
 * @typedef {import('./container.mjs').Container} Container
 * @typedef {import('./container.mjs').ContainerConfiguration} ContainerConfiguration
 * @typedef {import('./container.mjs').CKUserIdentity} CKUserIdentity
 * @typedef {import('../client/notifications.mjs').CKNotification} CKNotification
 * @typedef {import('./record.mjs').CKZoneID} CKZoneID
 * @typedef {import('./share.mjs').CKShare} CKShare
 * @typedef {{ userRecordName: string, isRegisteredForNotifications: boolean }} State
 * @typedef {(method: string, args: unknown[]) => Promise<any>} Call
 */

/** @type {any} */
let script;

/** @returns {any} the worker's script, also where a page's policy wants its name to be vouched for */
function scriptURL() {
    const url = new URL('./remote.worker.mjs', import.meta.url);
    const { trustedTypes } = /** @type {any} */ (globalThis);
    // A policy's name is taken once.
    script ??= trustedTypes ? trustedTypes.createPolicy('sealkit-library', { createScriptURL: () => url.href }).createScriptURL('') : url;
    return script;
}

const ended = () => new CKError('internalError', { reason: 'The worker has ended.', remedy: 'Load the page anew, and sign in again.' });
const replaced = () => badRequest('configure was called again, and signed out of this container: ask for the one that there is now.');
/** @param {{ name: string, message: string }} thrown in the worker @returns {Error} */
const errorOf = ({ name, message }) => Object.assign(new Error(message), { name });

/**
 * Of what a configuration has, all that a message can carry.
 * @param {ContainerConfiguration} configuration
 */
const configured = ({ devices: _, module, ...rest }) => ({ ...rest, ...module && { module: module instanceof URL ? module.href : module } });

class Bridge {
    #configuration;
    #local;
    /** @type {Worker | undefined} */
    #worker;
    #isStarted;
    /** @type {(() => CKError) | undefined} why nothing can be asked any more */
    #hasEnded;
    #last = 0;
    /** @type {Map<number, { resolve: (value: any) => void, reject: (error: unknown) => void, share?: { shown?: CKShare } }>} */
    #waiting = new Map();
    /** What the app has thrown where it was asked something. @type {Map<number, unknown>} */
    #thrown = new Map();
    /** @type {Map<number, import('./container.mjs').Verifier | import('./container.mjs').EnrolmentVerifier>} */
    #verifiers = new Map();
    /** @type {Map<number, (progress: any) => void>} */
    #progress = new Map();
    /** @type {Set<(notification: CKNotification | null) => void>} */
    listeners = new Set();
    /** @type {{ in: ((identity: CKUserIdentity) => void)[], out: (() => void)[] }} */
    people = { in: [], out: [] };
    /** @type {State} */
    state = { userRecordName: '', isRegisteredForNotifications: false };
    #shares = new FinalizationRegistry((/** @type {number} */ share) => this.#worker?.postMessage({ forget: share }));

    /**
     * @param {ContainerConfiguration} configuration
     * @param {Container} local what does the work where there can be no worker
     */
    constructor(configuration, local) {
        this.#configuration = configuration;
        this.#local = local;
        this.#isStarted = this.#start();
        local.addNotificationListener(notification => {
            this.#settle(local);
            this.#tell(notification);
        });
    }

    /** @returns {Promise<boolean>} whether it runs in a worker: a page's policy may let it start none */
    get isInWorker() { return this.#isStarted; }

    /** @returns {Promise<boolean>} */
    #start() {
        return new Promise(resolve => {
            /** @type {Worker} */
            let worker;
            try {
                worker = new Worker(scriptURL(), { type: 'module', name: 'sealkit' });
            } catch {
                resolve(false);
                return;
            }
            worker.addEventListener('message', ({ data }) => {
                if (!data.isReady) return this.#take(data);
                try {
                    worker.postMessage({ configuration: configured(this.#configuration), hasDevices: this.#configuration.devices !== undefined });
                } catch {
                    // Something of it can go to no worker, like a function.
                    worker.terminate();
                    return resolve(false);
                }
                this.#worker = worker;
                return resolve(true);
            });
            worker.addEventListener('error', () => {
                worker.terminate();
                // Before it was there this is no worker.
                resolve(false);
                if (this.#worker) this.#end(ended);
            });
        });
    }

    /** Nobody asks it for anything any more. */
    close() {
        this.#worker?.terminate();
        this.#end(replaced);
    }

    /** @param {() => CKError} why what the worker was doing is lost, and so are the account’s keys */
    #end(why) {
        this.#hasEnded = why;
        for (const { reject } of this.#waiting.values()) reject(why());
        this.#waiting.clear();
        const wasRegistered = this.state.isRegisteredForNotifications;
        this.#settle({ userRecordName: '', isRegisteredForNotifications: false });
        if (wasRegistered) this.#tell(null);
    }

    /** @param {'container' | 'privateCloudDatabase' | 'sharedCloudDatabase' | 'publicCloudDatabase'} target @returns {Call} */
    of(target) {
        return async (method, args) => {
            if (await this.#isStarted) return this.#post(target, method, args);
            const local = this.#local;
            try {
                return await /** @type {any} */ (target === 'container' ? local : local[target])[method](...args);
            } finally {
                this.#settle(local);
            }
        };
    }

    /**
     * @param {string | number} target
     * @param {string} method
     * @param {unknown[]} args
     * @param {{ shown?: CKShare }} [share] which is told what it shows by then
     * @returns {Promise<any>}
     */
    #post(target, method, args, share) {
        if (this.#hasEnded) return Promise.reject(this.#hasEnded());
        const id = ++this.#last;
        const options = /** @type {any} */ (args[args.length - 1]);
        const { verify, onProgress } = options ?? {};
        if (verify) this.#verifiers.set(id, verify);
        if (typeof onProgress === 'function') this.#progress.set(id, onProgress);
        // What is a function here the worker knows by the number of the call.
        const sent = args.map(value => leaving(value === options && (verify || onProgress) ? {
            ...options, ...verify && { verify: { language: verify.language, number: id } },
            ...onProgress !== undefined && { onProgress: typeof onProgress === 'function' ? { number: id } : onProgress },
        } : value));
        return new Promise((resolve, reject) => {
            this.#waiting.set(id, { resolve, reject, share });
            try {
                this.#worker?.postMessage({ id, target, method, args: sent });
            } catch {
                this.#waiting.delete(id);
                reject(badRequest('What is given has something that is no value, like a function.'));
            }
        }).finally(() => {
            this.#verifiers.delete(id);
            this.#progress.delete(id);
        });
    }

    /** @param {any} message of the worker's */
    #take(message) {
        if (message.state) this.#settle(message.state);
        if ('notification' in message) this.#tell(message.notification);
        else if ('progress' in message) this.#progress.get(message.progress)?.(message.told);
        else if ('ask' in message) void this.#answer(message);
        else {
            const waiting = this.#waiting.get(message.id);
            this.#waiting.delete(message.id);
            if (waiting?.share && message.shown) waiting.share.shown = message.shown;
            if (message.error) waiting?.reject(this.#failure(message.error)); else waiting?.resolve(this.#arrived(message.value));
        }
    }

    /** @param {{ ask: number, what: [string, ...any], args: any[] }} question */
    async #answer({ ask, what: [kind, ...what], args }) {
        try {
            const of = /** @type {any} */ (kind === 'devices' ? this.#configuration.devices : this.#verifiers.get(what.shift()));
            this.#worker?.postMessage({ answer: ask, value: await of[what[0]](...args) });
        } catch (error) {
            this.#thrown.set(ask, error);
            this.#worker?.postMessage({ answer: ask, thrown: ask });
        }
    }

    /** @param {State} state */
    #settle({ userRecordName, isRegisteredForNotifications }) {
        const before = this.state.userRecordName;
        this.state = { userRecordName, isRegisteredForNotifications };
        if (userRecordName === before) return;
        if (before) for (const tell of this.people.out.splice(0)) tell();
        if (userRecordName) for (const tell of this.people.in.splice(0)) tell({ userRecordName });
    }

    /** @param {CKNotification | null} notification */
    #tell(notification) {
        // What one of them throws is its own.
        for (const tell of this.listeners) queueMicrotask(() => tell(notification));
    }

    /** @param {any} value @returns {any} as the app is given it */
    #arrived(value) {
        if (typeof value?.share === 'number') return this.#share(value.share);
        return carried(value, one => this.#record(one), error => this.#failure(error));
    }

    /** @param {any} one @returns {any} */
    #record(one) {
        return withAssets(one, value => value?.assetSource ? new Asset(value.size, value.assetSource, (source, how, options) =>
            this.of(`${source.scope}CloudDatabase`)('readAsset', [source, how, options])) : value);
    }

    /** @param {any} wire @returns {unknown} */
    #failure({ thrown, name, message, serverErrorCode, about }) {
        if (thrown !== undefined) {
            const error = this.#thrown.get(thrown);
            this.#thrown.delete(thrown);
            return error;
        }
        if (serverErrorCode === undefined) return errorOf({ name, message });
        return new CKError(serverErrorCode, {
            ...about, ...about.serverRecord && { serverRecord: this.#record(about.serverRecord) }, ...about.cause && { cause: errorOf(about.cause) },
        });
    }

    /** @param {number} share @returns {object} a `Share` */
    #share(share) {
        /** @type {{ shown?: CKShare }} */
        const state = {};
        const made = {
            get shown() {
                if (!state.shown) throw badRequest('Call refresh first.');
                return state.shown;
            },
        };
        for (const method of methods.share) {
            // What is called keeps it.
            Object.assign(made, { [method]: (/** @type {unknown[]} */ ...args) => this.#post(share, method, args, state).finally(() => made) });
        }
        this.#shares.register(made, share);
        return made;
    }
}

/** @param {any} value of the app's @returns {any} as it can go */
function leaving(value) {
    if (Array.isArray(value)) return value.map(leaving);
    if (value?.query) {
        // The answer to a query, by which the rest is asked for: what it has found stays here.
        const { records: _, errors: __, ...asked } = value;
        return asked;
    }
    return typeof value === 'object' && value !== null && value.fields
        ? withAssets(value, one => Asset.source(one) ? { assetSource: Asset.source(one) } : one) : value;
}

/** @param {readonly string[]} names @param {Call} call @returns {any} */
const asking = (names, call) => Object.fromEntries(names.map(name => [name, (/** @type {unknown[]} */ ...args) => call(name, args)]));

/** @type {WeakMap<object, Bridge>} */
const bridges = new WeakMap();

/** @param {Container} container that another one has taken the place of: whoever is signed in there is signed out, and its worker ends */
export async function retire(container) {
    await container.signOut().catch(() => undefined);
    bridges.get(container)?.close();
}

/**
 * @param {ContainerConfiguration} configuration
 * @param {Container} local with the same configuration, which nothing was asked of yet
 * @returns {Container}
 */
export function remoteContainer(configuration, local) {
    const bridge = new Bridge(configuration, local);
    /** @param {'privateCloudDatabase' | 'sharedCloudDatabase' | 'publicCloudDatabase'} target */
    const database = target => {
        const made = asking(methods[target], bridge.of(target));
        return Object.assign(made, {
            databaseScope: local[target].databaseScope, newRecordsBatch: (/** @type {object} */ options) => new RecordsBatch(made, options),
            ...target !== 'publicCloudDatabase' && { shareWithUI: (/** @type {any} */ options) => container.shareWithUI(options) },
        });
    };
    const call = bridge.of('container');
    /**
     * Passkeys are asked for on the page's thread alone.
     * @param {'createAccount' | 'signIn'} method
     */
    const entering = method => async (/** @type {any} */ way) => {
        const mine = ++begun;
        const given = way?.passkey === true ? { ...way, passkey: await passkeys.answer(await call('passkeyInput', []), method === 'createAccount') } : way;
        // The worker knows of no way in before this.
        if (mine !== begun) throw new CKError('operationCancelled', { reason: 'Somebody has signed out, or begun to come in by another way, meanwhile.' });
        const identity = await call(method, [given]);
        passkeys.haveEntered();
        return identity;
    };
    const passkeys = new Passkeys(configuration.server);
    /** Ways in and out, each of which ends those before it. */
    let begun = 0;
    const beginning = (/** @type {string} */ method) => (/** @type {unknown[]} */ ...args) => {
        begun += 1;
        return call(method, args);
    };
    const container = Object.assign(asking(methods.container, call), {
        createAccount: entering('createAccount'), signIn: entering('signIn'), enrol: beginning('enrol'), signOut: beginning('signOut'),
        getDatabaseWithDatabaseScope: (/** @type {'PUBLIC' | 'PRIVATE' | 'SHARED'} */ databaseScope) => databaseOf(container, databaseScope),
        containerIdentifier: local.containerIdentifier, environment: local.environment,
        privateCloudDatabase: database('privateCloudDatabase'), sharedCloudDatabase: database('sharedCloudDatabase'),
        publicCloudDatabase: database('publicCloudDatabase'),
        whenUserSignsIn: () => new Promise(resolve => bridge.people.in.push(resolve)),
        whenUserSignsOut: () => new Promise(resolve => bridge.people.out.push(() => resolve(undefined))),
        addNotificationListener: (/** @type {(notification: CKNotification | null) => void} */ listener) => void bridge.listeners.add(listener),
        removeNotificationListener: (/** @type {(notification: CKNotification | null) => void} */ listener) => void bridge.listeners.delete(listener),
        unregisterForNotifications: () => {
            bridge.state.isRegisteredForNotifications = false;
            // Where there is no worker any more there is no stream either.
            call('unregisterForNotifications', []).catch(() => undefined);
        },
        shareWithUI: async (/** @type {any} */ options) => {
            await call('fetchCurrentUserIdentity', []);
            const { shareSheet } = await import('./seal-share.mjs');
            return shareSheet(/** @type {any} */ (container), options);
        },
    });
    bridges.set(container, bridge);
    return Object.defineProperties(container, {
        userRecordName: { get: () => bridge.state.userRecordName },
        isRegisteredForNotifications: { get: () => bridge.state.isRegisteredForNotifications },
        isInWorker: { get: () => bridge.isInWorker },
    });
}
