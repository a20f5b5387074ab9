// A container, in CloudKit JS's shape: whose account it is, shares that are accepted, and the databases.
import { micros } from '../client/account.mjs';
import { codeOf } from '../client/failure.mjs';
import { callByMessage } from '../client/messages.mjs';
import { NotificationStream } from '../client/notifications.mjs';
import { Visit } from '../client/visit.mjs';
import { LibraryAccount } from './account.mjs';
import { Database } from './database.mjs';
import { asCKError, askedOfApp, badRequest, CKError, refused, told } from './errors.mjs';
import { Keeping } from './keeping.mjs';
import { sendFromCore } from './messages.mjs';
import { loadCore } from './module.mjs';
import { Passkeys } from './passkey.mjs';
import { PublicDatabase } from './public.mjs';
import { Replica } from './replica.mjs';
import { handleOf, lookUp, Share } from './share.mjs';

/**
 * @typedef {import('./record.mjs').CKZoneID} CKZoneID
 * @typedef {import('../client/notifications.mjs').CKNotification} CKNotification
 * @typedef {{ userRecordName: string }} CKUserIdentity
 * @typedef {import('../client/canonical.mjs').Writer} Writer
 * @typedef {{ id: Uint8Array, name: string, added: bigint }} Device
 * @typedef {{ load: () => Promise<Record<string, Device>>, keep: (device: Device & { account: string }) => Promise<unknown> }} DeviceStore
 * @typedef {{
 *     containerIdentifier: string, environment?: 'development' | 'production', server: string,
 *     module?: string | URL | BufferSource, deviceName?: string, devices?: DeviceStore, memory?: string, worker?: false,
 * }} ContainerConfiguration `server` is its origin, which names the page's in --web-origin; `devices` keeps which device this is to an account;
 *     `memory`, in node: the folder that keeps what was verified for the next run; `worker`, false: all is done on the page's own thread
 * @typedef {{ recoveryKey: string } | { passphrase: string, name: string } | { passkey: true | Uint8Array }} Way how an account comes back; a passkey is asked
 *     for where there are passkeys, and its answer is given from there to a worker
 * @typedef {{ invitation: (text: string) => unknown, digits: (digits: string) => Promise<boolean> | boolean }} EnrolmentVerifier
 * @typedef {Promise<string | null> | string | null} Typed
 * @typedef {{ address: () => Typed, code: (address: string) => Typed, language?: string }} Verifier null, as a dialog gives that was closed, ends it
 * @typedef {{
 *     zoneID: CKZoneID, shareTitle: string, shareType: string, participantPermission: 'READ_WRITE' | 'READ_ONLY', participantStatus: 'ACCEPTED' | 'PENDING',
 *     ownerIdentity: CKUserIdentity, safetyNumber: string, isVouched: boolean,
 * }} CKShareInfo
 */

/** Milliseconds between two looks at an enrolment. */
const lookAgain = 1000;
const defaultModule = new URL('../core.wasm', import.meta.url);
/** @param {string} host */
const isLoopback = host => host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host);

export const DatabaseScope = Object.freeze({ PUBLIC: 'PUBLIC', PRIVATE: 'PRIVATE', SHARED: 'SHARED' });

/**
 * @template {{ publicCloudDatabase: unknown, privateCloudDatabase: unknown, sharedCloudDatabase: unknown }} Holder
 * @param {Holder} container
 * @param {'PUBLIC' | 'PRIVATE' | 'SHARED'} databaseScope
 * @returns {Holder['publicCloudDatabase'] | Holder['privateCloudDatabase'] | Holder['sharedCloudDatabase']}
 */
export function databaseOf({ publicCloudDatabase, privateCloudDatabase, sharedCloudDatabase }, databaseScope) {
    const found = { PUBLIC: publicCloudDatabase, PRIVATE: privateCloudDatabase, SHARED: sharedCloudDatabase }[databaseScope];
    if (!found) throw badRequest('A database is PUBLIC, PRIVATE or SHARED.');
    return found;
}

/**
 * @param {() => Typed} ask
 * @param {string} what it is
 * @returns {Promise<string>} what somebody has typed
 */
async function typed(ask, what) {
    const text = await askedOfApp(ask);
    if (typeof text !== 'string' || text.trim() === '') throw new CKError('operationCancelled', { reason: `No ${what} was given.` });
    return text.trim();
}

/** @param {string} why */
const cancelled = why => new CKError('operationCancelled', { reason: `${why} meanwhile.` });

/**
 * @template T
 * @param {AbortSignal} signal
 * @param {() => Promise<T>} wait for what may never come
 * @returns {Promise<T>} what has come, as long as the signal is not given
 */
function unlessEnded(signal, wait) {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
        const end = () => reject(signal.reason);
        signal.addEventListener('abort', end, { once: true });
        wait().then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
    });
}

/** @param {{ results?: unknown }} answer to a change of one zone: what the server refuses of it is thrown */
function refuseZone({ results }) {
    const failure = Array.isArray(results) ? results[0]?.failure : undefined;
    if (failure) throw refused(failure);
}

export class Container {
    #configuration;
    #origin;
    /** @type {Promise<LibraryAccount> | undefined} */
    #loading;
    /** @type {LibraryAccount | undefined} what has come of it; somebody may be signing in by that */
    #loaded;
    /** @type {LibraryAccount | undefined} */
    #account;
    #user = '';
    #hasRecoveryKey = false;
    #passkeys;
    /** @type {{ stop: AbortController, done: Promise<CKUserIdentity> } | undefined} how somebody is about to come in */
    #entering;
    /** @type {Map<string, Promise<Replica>>} */
    #replicas = new Map();

    /** Ends with what is being forgotten: a zone that was opened before would keep again what it has recalled. @type {Promise<void>} */
    #forgetting = Promise.resolve();
    /** @type {Set<(notification: CKNotification | null) => void>} */
    #listeners = new Set();
    /** @type {NotificationStream | undefined} */
    #stream;
    /** @type {{ in: ((identity: CKUserIdentity) => void)[], out: (() => void)[] }} */
    #waiting = { in: [], out: [] };
    publicCloudDatabase = new PublicDatabase(this);
    privateCloudDatabase = new Database(this, 'private');
    sharedCloudDatabase = new Database(this, 'shared');

    /** @param {ContainerConfiguration} configuration */
    constructor(configuration) {
        const { containerIdentifier, environment = 'production', server } = configuration;
        if (!containerIdentifier) throw badRequest('A container has a containerIdentifier, like org.example.notes.');
        if (!['development', 'production'].includes(environment)) throw badRequest('environment is development or production.');
        let url;
        try {
            url = new URL(server);
        } catch {
            throw badRequest('server is the origin of the server, like https://notes.example.org.');
        }
        // A session and what is registered go over no line that others read.
        if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname))) throw badRequest('server is https, or http to this machine alone.');
        const { memory } = configuration;
        if (memory !== undefined && (typeof memory !== 'string' || memory === '')) throw badRequest('memory is the path of a folder.');
        if (memory && typeof indexedDB === 'object') throw badRequest('memory is for node: a browser keeps what was verified by itself.');
        this.#configuration = { ...configuration, environment };
        this.#origin = url.origin;
        this.#passkeys = new Passkeys(this.#origin);
    }

    get containerIdentifier() { return this.#configuration.containerIdentifier; }
    get environment() { return this.#configuration.environment; }
    /** @returns {Promise<boolean>} whether its work is done in a worker, and its keys are there */
    get isInWorker() { return Promise.resolve(false); }
    /** Empty where nobody is signed in. */
    get userRecordName() { return this.#user; }

    /** @returns {Promise<LibraryAccount>} */
    #load() {
        // What could not be loaded is loaded again for whoever asks again.
        if (this.#loading) return this.#loading;
        const loading = this.#loadAccount().then(account => {
            // Nobody signs in by what comes after a signOut.
            if (this.#loading === loading) this.#loaded = account; else void account.end();
            return account;
        }).catch(error => {
            if (this.#loading === loading) this.#loading = undefined;
            throw error;
        });
        this.#loading = loading;
        return loading;
    }

    async #loadAccount() { return new LibraryAccount(await this.#loadCore(), this.#origin); }

    #loadCore() { return loadCore(this.#configuration.module ?? defaultModule); }

    #signedIn() {
        if (this.#account) return this.#account;
        throw new CKError('notAuthenticated', { reason: 'Nobody is signed in.', remedy: 'Call signIn or createAccount first.' });
    }

    // Whose account it is

    /** @returns {Promise<CKUserIdentity | null>} who is signed in: no key is kept over a page that is loaded anew */
    async setUpAuth() {
        await told(() => this.#load());
        return this.#account ? { userRecordName: this.#user } : null;
    }

    /** @returns {Promise<CKUserIdentity>} */
    async fetchCurrentUserIdentity() {
        this.#signedIn();
        return { userRecordName: this.#user };
    }

    /** @returns {Promise<CKUserIdentity>} */
    whenUserSignsIn() { return new Promise(resolve => this.#waiting.in.push(resolve)); }
    /** @returns {Promise<void>} */
    whenUserSignsOut() { return new Promise(resolve => this.#waiting.out.push(resolve)); }

    /** @returns {Promise<string>} a key to be shown once: what is typed of it goes to `createAccount` */
    newRecoveryKey() {
        return told(async () => {
            const account = await this.#load();
            this.#hasRecoveryKey = true;
            return account.newRecoveryKey();
        });
    }

    /** @returns {Promise<Uint8Array>} what a passkey is to be asked */
    passkeyInput() {
        return told(async () => {
            this.#requireNobody();
            return (await this.#load()).passkeyInput();
        });
    }

    /**
     * Makes an account, which comes back by the recovery key of `newRecoveryKey`, typed once more, by a passphrase, or by a passkey that is made.
     * Where there is one by that key, it comes back: its making may have been answered to nobody.
     * @param {Way & { registrationCode?: string }} way
     * @returns {Promise<CKUserIdentity>}
     */
    createAccount(way) {
        return this.#enter(async (account, signal) => {
            if ('recoveryKey' in way) {
                if (!this.#hasRecoveryKey) throw badRequest('Call newRecoveryKey first, and show what it gives.');
                if (!account.isRecoveryKey({ text: way.recoveryKey })) throw badRequest('That is another recovery key than the one that was shown.');
            } else {
                await this.#take(account, way, signal, true);
            }
            try {
                await account.createAccount({ deviceName: this.#deviceName, isKept: true, code: way.registrationCode ?? '' });
            } catch (error) {
                if (codeOf(error) !== 'serverRejectedRequest') throw error;
                await this.#recover(account, signal).catch(why => { throw codeOf(why) === 'unknownItem' ? error : why; });
            }
        });
    }

    /** @param {Way} way @returns {Promise<CKUserIdentity>} */
    signIn(way) {
        return this.#enter(async (account, signal) => {
            if ('recoveryKey' in way) {
                this.#hasRecoveryKey = false;
                account.takeRecoveryKey({ text: way.recoveryKey });
            } else {
                await this.#take(account, way, signal, false);
            }
            try {
                await this.#recover(account, signal);
            } finally {
                account.forgetKey();
            }
        });
    }

    /** @param {LibraryAccount} account @param {AbortSignal} signal */
    async #recover(account, signal) {
        const { devices } = this.#configuration;
        await account.recoverAccount({
            deviceName: this.#deviceName, devices: await unlessEnded(signal, () => askedOfApp(async () => await devices?.load() ?? {})),
        });
    }

    /**
     * Takes an account over from a device that has it. Its user gives that one the invitation, and compares six digits with it.
     * @param {{ verify: EnrolmentVerifier }} options `invitation` shows a text, and `digits` gives whether both devices show these
     * @returns {Promise<CKUserIdentity>}
     */
    enrol({ verify }) {
        return this.#enter(async (account, signal) => {
            const invitation = await account.beginEnrolment();
            try {
                await unlessEnded(signal, () => askedOfApp(async () => verify.invitation(invitation)));
                const digits = await this.#comes(signal, () => account.enrolment());
                const areSame = await unlessEnded(signal, () => askedOfApp(async () => verify.digits(digits)));
                if (!areSame) throw new CKError('operationCancelled', { reason: 'The digits were not the same.' });
                await this.#comes(signal, () => account.enrolled({ deviceName: this.#deviceName }));
            } catch (error) {
                await account.endEnrolment();
                throw error;
            }
        });
    }

    /**
     * What the other device has done by then; the server ends what nobody goes on with.
     * @template Answer
     * @param {AbortSignal} signal
     * @param {() => Promise<Answer | null>} look
     * @returns {Promise<Answer>}
     */
    async #comes(signal, look) {
        for (;;) {
            signal.throwIfAborted();
            const found = await look();
            if (found !== null) return found;
            await unlessEnded(signal, () => new Promise(resolve => setTimeout(resolve, lookAgain)));
        }
    }

    /** One account at a time: what was read is one's own. */
    #requireNobody() { if (this.#account) throw badRequest('Somebody is signed in: call signOut first.'); }

    /**
     * One way in at a time: whoever begins another one ends the one before, by which nobody comes in any more.
     * @param {(account: LibraryAccount, signal: AbortSignal) => Promise<void>} body whose account is at hand after it
     * @returns {Promise<CKUserIdentity>}
     */
    #enter(body) {
        return told(async () => {
            this.#requireNobody();
            const [before, stop] = [this.#entering, new AbortController()];
            before?.stop.abort(cancelled('Somebody has begun to come in by another way'));
            const done = this.#comeIn(body, stop.signal, before?.done);
            const entering = { stop, done };
            this.#entering = entering;
            try {
                return await done;
            } finally {
                if (this.#entering === entering) this.#entering = undefined;
            }
        });
    }

    /**
     * @param {(account: LibraryAccount, signal: AbortSignal) => Promise<void>} body
     * @param {AbortSignal} signal
     * @param {Promise<unknown>} [before] what it has begun ends first: both have the same module
     */
    async #comeIn(body, signal, before) {
        await before?.catch(() => undefined);
        signal.throwIfAborted();
        const account = await this.#load();
        try {
            signal.throwIfAborted();
            await body(account, signal);
            return await this.#entered(account, signal);
        } catch (error) {
            if (!signal.aborted) throw error;
            await account.leave();
            throw signal.reason;
        }
    }

    /**
     * Forgets the account, its keys, and all that was read; what was verified stays sealed in the browser, for its next visit. What still runs for it
     * fails with `AUTHENTICATION_REQUIRED`.
     */
    async signOut() {
        this.unregisterForNotifications();
        const [account, entering] = [this.#loaded, this.#entering];
        entering?.stop.abort(cancelled('signOut was called'));
        this.#entering = undefined;
        this.#account = undefined;
        this.#loading = undefined;
        this.#loaded = undefined;
        this.#user = '';
        this.#hasRecoveryKey = false;
        this.#replicas.clear();
        this.publicCloudDatabase.forget();
        await account?.end(entering?.done);
        for (const tell of this.#waiting.out.splice(0)) tell();
    }

    get #deviceName() { return this.#configuration.deviceName ?? 'Web app'; }

    /**
     * @param {LibraryAccount} account
     * @param {{ passphrase: string, name: string } | { passkey: true | Uint8Array }} way
     * @param {AbortSignal} signal
     * @param {boolean} isNew
     */
    async #take(account, way, signal, isNew) {
        this.#hasRecoveryKey = false;
        if ('passkey' in way) {
            const { passkey } = way;
            account.takePasskey({ output: passkey instanceof Uint8Array ? passkey
                : await unlessEnded(signal, () => this.#passkeys.answer(account.passkeyInput(), isNew)) });
            return;
        }
        const { passphrase, name } = way;
        if (!passphrase || !name) throw badRequest('Give passphrase and name, recoveryKey, or passkey.');
        // 256 MiB, which a module never gives back: one that goes afterwards.
        const { ask, wipe } = await this.#loadCore();
        const bytes = new TextEncoder().encode(passphrase.normalize('NFC'));
        try {
            account.takePassphrase({ key: ask('stretchPassphrase', writer => writer.blob(bytes).string(name.normalize('NFC')).string(this.#origin)).blob() });
        } finally {
            bytes.fill(0);
            wipe();
        }
    }

    /** @param {LibraryAccount} account @param {AbortSignal} signal @returns {Promise<CKUserIdentity>} */
    async #entered(account, signal) {
        await unlessEnded(signal, () => askedOfApp(async () => { await this.#configuration.devices?.keep(account.device()); }));
        const { user } = await account.identify(this.containerIdentifier);
        signal.throwIfAborted();
        account.forgetKey();
        this.#hasRecoveryKey = false;
        this.#passkeys.haveEntered();
        this.#user = user;
        this.#account = account;
        const identity = { userRecordName: this.#user };
        for (const tell of this.#waiting.in.splice(0)) tell(identity);
        return identity;
    }

    /** @param {'PUBLIC' | 'PRIVATE' | 'SHARED'} databaseScope */
    getDatabaseWithDatabaseScope(databaseScope) { return databaseOf(this, databaseScope); }

    // Shares

    /**
     * What share URLs lead to; nothing is accepted.
     * @param {string | string[]} urls whole ones, with what follows the #
     * @param {{ verify?: Verifier }} [options] asked where the owner has invited an address that is not proven yet
     * @returns {Promise<{ results: CKShareInfo[], errors: CKError[], hasErrors: boolean }>}
     */
    fetchRecordInfos(urls, options = {}) {
        return this.#each(urls, url => this.#look(url, options, async (visit, info, account) => {
            if (info.participantStatus === 'ACCEPTED') account.handle('forget', visit.zone.handle);
            return info;
        }));
    }

    /**
     * @param {string | string[]} urls whole ones, with what follows the #
     * @param {{ verify?: Verifier }} [options]
     * @returns {Promise<{ results: CKShareInfo[], errors: CKError[], hasErrors: boolean }>}
     */
    acceptShares(urls, options = {}) {
        return this.#each(urls, url => this.#accept(url, options, 4));
    }

    /**
     * @param {string} url
     * @param {{ verify?: Verifier }} options
     * @param {number} rounds that are left where the list of people goes on meanwhile
     * @returns {Promise<CKShareInfo>}
     */
    #accept(url, options, rounds) {
        return this.#look(url, options, async (visit, info, account, keeping) => {
            if (info.participantStatus !== 'ACCEPTED') {
                await visit.accept();
                await visit.enter();
            }
            const key = this.#key('shared', info.zoneID);
            if (!account.hasEnded && !this.#replicas.has(key)) {
                this.#replicas.set(key, Promise.resolve(new Replica(account, visit.zone, { scope: 'shared', zoneID: info.zoneID }, keeping)));
            } else {
                account.handle('forget', visit.zone.handle);
            }
            return { ...info, participantStatus: /** @type {const} */ ('ACCEPTED') };
        }).catch(error => {
            if (codeOf(error) !== 'rosterChanged' || rounds === 0) throw error;
            return this.#accept(url, options, rounds - 1);
        });
    }

    /**
     * @param {string | string[]} urls
     * @param {(url: string) => Promise<CKShareInfo>} body
     */
    #each(urls, body) {
        return told(async () => {
            /** @type {CKShareInfo[]} */
            const results = [];
            /** @type {CKError[]} */
            const errors = [];
            for (const url of Array.isArray(urls) ? urls : [urls]) {
                try {
                    results.push(await body(url));
                } catch (error) {
                    errors.push(asCKError(error));
                }
            }
            return { results, errors, hasErrors: errors.length > 0 };
        });
    }

    /**
     * Where a URL leads to; whoever is in the share there has entered it.
     * @template Answer
     * @param {string} url
     * @param {{ verify?: Verifier }} options
     * @param {(visit: Visit, info: CKShareInfo, account: LibraryAccount, keeping?: Keeping) => Promise<Answer>} body
     */
    async #look(url, { verify }, body) {
        const [account, keeping] = [this.#signedIn(), Keeping.begin(this.#configuration.memory)];
        const visit = new Visit(account, keeping);
        visit.open({ url });
        let entered = 0;
        try {
            const found = await this.#lookOrVerify(visit, verify);
            if (found.standing === 'member') {
                const { isKnown } = await visit.enter();
                entered = visit.zone.handle;
                // No older state of it is shown than was seen: what comes behind the URL's list of people leads there, or the server has gone back.
                if (isKnown) await visit.zone.fetchRosters();
            }
            return await body(visit, this.#info(found), account, keeping);
        } catch (error) {
            account.handle('forget', entered);
            throw error;
        } finally {
            visit.close();
        }
    }

    /** @param {import('../client/visit.mjs').ShownShare} found @returns {CKShareInfo} */
    #info(found) {
        return {
            zoneID: { zoneName: found.zone, ownerRecordName: found.owner, ...found.share !== '' && { shareRecordName: found.share } },
            // What nobody of the share has signed is not shown as its title.
            shareTitle: found.isVouched ? found.title : '', shareType: found.isVouched ? found.type : '', isVouched: found.isVouched,
            participantPermission: found.mayWrite ? 'READ_WRITE' : 'READ_ONLY', participantStatus: found.standing === 'member' ? 'ACCEPTED' : 'PENDING',
            ownerIdentity: { userRecordName: found.owner }, safetyNumber: found.safetyNumber,
        };
    }

    /** @param {Visit} visit @param {Verifier} [verify] */
    async #lookOrVerify(visit, verify) {
        // Before anybody is registered there.
        const check = (/** @type {string} */ container, /** @type {string} */ environment) => {
            if (container !== this.containerIdentifier || environment !== this.environment) throw new CKError('otherContainer', { reason: `The share is of ${container}, ${environment}.` });
        };
        try {
            return await visit.look({ check });
        } catch (error) {
            if (!verify || codeOf(error) !== 'participantMayNeedVerification') throw error;
        }
        const address = await typed(() => verify.address(), 'address');
        await visit.sendCode({ address, language: verify.language ?? 'en' });
        const code = await typed(() => verify.code(address), 'code');
        try {
            await visit.proveCode({ code });
        } catch (unheard) {
            if (codeOf(unheard) !== 'networkFailure') throw unheard;
            // It may have arrived, and is used then: whether the address is proven is the server's to say.
            return visit.look({ check }).catch(error => { throw codeOf(error) === 'participantMayNeedVerification' ? unheard : error; });
        }
        return visit.look({ check });
    }

    // People, and what is shared with them

    /** @param {string} emailAddress */
    discoverUserIdentityWithEmailAddress(emailAddress) { return this.#discover({ emailAddress }); }
    /** @param {string} phoneNumber `+` and the digits */
    discoverUserIdentityWithPhoneNumber(phoneNumber) { return this.#discover({ phoneNumber }); }
    /** @param {string} userRecordName */
    discoverUserIdentityWithUserRecordName(userRecordName) { return this.#discover({ userRecordName }); }

    /**
     * Of somebody who can be found by an address the server alone says whose keys these are: compare the safety number.
     * @param {import('./share.mjs').CKLookupInfo} lookupInfo
     * @returns {Promise<CKUserIdentity & { lookupInfo: import('./share.mjs').CKLookupInfo, safetyNumber: string }>}
     */
    #discover(lookupInfo) {
        return told(async () => {
            const account = this.#signedIn();
            const handle = handleOf(lookupInfo);
            if (!handle) throw badRequest('Say whom to look for.');
            const found = await lookUp(account, this.containerIdentifier, handle);
            if (!found) throw new CKError('unknownItem', { reason: 'Nobody is found by that address.' });
            account.handle('forget', found.person);
            return { userRecordName: found.userRecordName, lookupInfo, safetyNumber: found.safetyNumber };
        });
    }

    /** @param {CKZoneID} zoneID of one's own, or of somebody else's who has shared it @returns {Promise<Share>} its share, to be looked after: call `refresh` first */
    share(zoneID) {
        return told(async () => {
            const account = this.#signedIn();
            const database = zoneID.ownerRecordName === undefined || zoneID.ownerRecordName === this.#user ? 'private' : 'shared';
            const place = /** @type {const} */ ({ container: this.containerIdentifier, environment: this.environment, database });
            return new Share(account, await this.replica(database, zoneID), place, zoneID, this.#user);
        });
    }

    /**
     * Shows a sheet with `<seal-share>`, until it is closed. In browsers.
     * @param {{ zoneID: CKZoneID, shareTitle?: string, supportedPermissions?: ('readOnly' | 'readWrite' | 'public')[], lang?: string }} options
     * @returns {Promise<import('./share.mjs').CKShare | undefined>} as it is by then
     */
    async shareWithUI(options) {
        this.#signedIn();
        const { shareSheet } = await import('./seal-share.mjs');
        return shareSheet(this, options);
    }

    // What databases ask for

    /** @returns {Promise<LibraryAccount>} also of nobody, for what everybody may read */
    account() { return this.#load(); }

    requireSignedIn() { this.#signedIn(); }

    /**
     * What is known of the zone goes on being known: whatever becomes of it, the server shows nothing older.
     * @param {'private' | 'shared'} scope
     * @param {CKZoneID} zoneID
     * @param {(own: { account: LibraryAccount, zone: import('../client/zone.mjs').Zone, send: (request: Uint8Array) => Promise<void> }) => Promise<void>} work
     * @returns {Promise<Replica>}
     */
    async #inOwnZone(scope, { zoneName, ownerRecordName = this.#user }, work) {
        const account = this.#signedIn();
        if (scope !== 'private' || ownerRecordName !== this.#user) throw badRequest('Zones are made and deleted in the private database, by their owner.');
        const place = { container: this.containerIdentifier, environment: this.environment, database: 'private' };
        const replica = await this.replica('private', { zoneName });
        const send = async (/** @type {Uint8Array} */ request) =>
            refuseZone(await account.persistently('zones/modify', () => sendFromCore(account, 'zones/modify', request, place)));
        await replica.next(() => work({ account, zone: replica.zone, send }));
        return replica;
    }

    /** @param {'private' | 'shared'} scope @param {CKZoneID} zoneID */
    async makeZone(scope, zoneID) {
        const replica = await this.#inOwnZone(scope, zoneID, async ({ account, zone, send }) => {
            try {
                await zone.refreshRoster();
            } catch (error) {
                // There is none yet, or so the server says: the module knows whether there was.
                if (codeOf(error) !== 'unknownScope') throw error;
            }
            const answer = account.ask('zoneRequest', (/** @type {Writer} */ writer) => writer.u32(zone.handle).i64(micros()));
            if (answer.flag()) await send(answer.blob());
        });
        // Another device may have been faster: what the server has now is verified as any other.
        await replica.refresh();
    }

    /** @param {'private' | 'shared'} scope @param {CKZoneID} zoneID */
    async deleteZone(scope, zoneID) {
        await this.#inOwnZone(scope, zoneID, async ({ account, zone, send }) => {
            await zone.fetchRecords();
            await send(account.ask('zoneEndRequest', (/** @type {Writer} */ writer) => writer.u32(zone.handle).i64(micros())).blob());
        });
    }

    /**
     * Forgets what was verified of a zone, here and at earlier visits: what the server shows next is held against nothing. It is the way out where what
     * the browser keeps is damaged (`memoryDamaged`), or tells of a fork (`forked`) that the zone's owner has ended, and for its user to decide.
     * @param {CKZoneID} zoneID a `Share` of it is to be asked for anew after that
     * @returns {Promise<void>}
     * @throws {CKError} `AUTHENTICATION_REQUIRED` where nobody is signed in, `BAD_REQUEST` where no zone is named
     */
    forgetVerified(zoneID) {
        return told(async () => {
            const account = this.#signedIn();
            if (!zoneID?.zoneName) throw badRequest('Say which zone: { zoneName, ownerRecordName }.');
            const { zoneName, ownerRecordName: owner = this.#user } = zoneID;
            const known = [...this.#replicas].filter(([key]) => {
                const [, itsName, itsOwner] = JSON.parse(key);
                return itsName === zoneName && itsOwner === owner;
            });
            for (const [key] of known) this.#replicas.delete(key);
            const forgetting = this.#forgetting.then(async () => {
                for (const [, opening] of known) {
                    const replica = await opening.catch(() => undefined);
                    // What is running keeps nothing after that.
                    await replica?.next(async () => { account.handle('forget', replica.zone.handle); });
                }
                const visit = new Visit(account, Keeping.begin(this.#configuration.memory));
                const { containerIdentifier: container, environment } = this;
                // What is kept may not come together with anything.
                await visit.comeBack({ container, environment, owner, zone: zoneName, share: '' })
                    .then(() => account.handle('forget', visit.zone.handle), () => undefined);
                await visit.beginAnew();
            });
            this.#forgetting = forgetting.catch(() => undefined);
            await forgetting;
        });
    }

    /** @param {'private' | 'shared'} scope @param {CKZoneID} zoneID */
    #key(scope, { zoneName, ownerRecordName, shareRecordName }) {
        return JSON.stringify([scope, zoneName, ownerRecordName ?? this.#user, shareRecordName ?? '']);
    }

    /**
     * @param {'private' | 'shared'} scope
     * @param {CKZoneID} zoneID
     * @returns {Promise<Replica>}
     */
    replica(scope, zoneID) {
        const account = this.#signedIn();
        const key = this.#key(scope, zoneID);
        const known = this.#replicas.get(key);
        if (known) return known;
        const opening = this.#forgetting.then(() => this.#open(account, scope, zoneID));
        this.#replicas.set(key, opening);
        opening.catch(() => {
            // Another one may have been opened meanwhile.
            if (this.#replicas.get(key) === opening) this.#replicas.delete(key);
        });
        return opening;
    }

    /**
     * @param {LibraryAccount} account
     * @param {'private' | 'shared'} scope
     * @param {CKZoneID} zoneID
     */
    async #open(account, scope, zoneID) {
        const { zoneName, ownerRecordName = this.#user, shareRecordName = '' } = zoneID;
        const keeping = Keeping.begin(this.#configuration.memory);
        const visit = new Visit(account, keeping);
        const { containerIdentifier: container, environment } = this;
        await visit.comeBack({ container, environment, owner: ownerRecordName, zone: zoneName, share: shareRecordName, database: scope });
        return new Replica(account, visit.zone, { scope, zoneID: { ...zoneID, ownerRecordName } }, keeping);
    }

    /** @param {import('../client/server.mjs').Route} route @param {object} message @param {'private' | 'shared'} database @returns {Promise<any>} */
    async message(route, message, database) {
        const account = this.#signedIn();
        return account.persistently(route, () => callByMessage(account, route, message, { container: this.containerIdentifier, environment: this.environment, database }));
    }

    // Notifications

    /** @param {(notification: CKNotification | null) => void} listener is told null where something was missed: fetch what may have changed */
    addNotificationListener(listener) { this.#listeners.add(listener); }
    /** @param {(notification: CKNotification | null) => void} listener */
    removeNotificationListener(listener) { this.#listeners.delete(listener); }
    get isRegisteredForNotifications() { return this.#stream !== undefined; }

    /** Of the account's subscriptions in this container. @returns {Promise<void>} once what changes from now on is told */
    registerForNotifications() {
        return told(async () => {
            this.unregisterForNotifications();
            const stream = new NotificationStream(this.#signedIn(), { container: this.containerIdentifier, environment: this.environment }, notification => {
                // What one of them throws is its own.
                for (const tell of this.#listeners) queueMicrotask(() => tell(notification));
            }, () => {
                if (this.#stream !== stream) return;
                // Whoever listens fetches, and is told there what is wrong.
                this.#stream = undefined;
                for (const tell of this.#listeners) queueMicrotask(() => tell(null));
            });
            this.#stream = stream;
            try {
                await stream.open();
            } catch (error) {
                // Somebody may have registered again meanwhile.
                if (this.#stream === stream) this.#stream = undefined;
                throw error;
            }
        });
    }

    unregisterForNotifications() {
        this.#stream?.close();
        this.#stream = undefined;
    }
}
