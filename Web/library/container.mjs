// A container, in CloudKit JS's shape: whose account it is, shares that are accepted, and the databases.
import { Account, micros } from '../client/account.mjs';
import { codeOf } from '../client/failure.mjs';
import { callByMessage, sendFromCore } from '../client/messages.mjs';
import { NotificationStream } from '../client/notifications.mjs';
import { Visit } from '../client/visit.mjs';
import { Database } from './database.mjs';
import { badRequest, CKError, refused, told } from './errors.mjs';
import { loadCore } from './module.mjs';
import { passkeyAnswer } from './passkey.mjs';
import { PublicDatabase } from './public.mjs';
import { Replica } from './replica.mjs';
import { handleOf, lookUp, Share } from './share.mjs';

/**
 * @typedef {import('./record.mjs').CKZoneID} CKZoneID
 * @typedef {import('./module.mjs').LibraryAccount} LibraryAccount
 * @typedef {import('../client/notifications.mjs').CKNotification} CKNotification
 * @typedef {{ userRecordName: string }} CKUserIdentity
 * @typedef {import('../client/canonical.mjs').Writer} Writer
 * @typedef {{ id: Uint8Array, name: string, added: bigint }} Device
 * @typedef {{ load: () => Promise<Record<string, Device>>, keep: (device: Device & { account: string }) => Promise<unknown> }} DeviceStore
 * @typedef {{
 *     containerIdentifier: string, environment?: 'development' | 'production', server: string,
 *     module?: string | URL | BufferSource, deviceName?: string, devices?: DeviceStore, worker?: false,
 * }} ContainerConfiguration `server` is its origin, which names the page's in --web-origin; `devices` keeps which device this is to an account;
 *     `worker`, false: all is done on the page's own thread
 * @typedef {{ recoveryKey: string } | { passphrase: string, name: string } | { passkey: true | Uint8Array }} Way how an account comes back; a passkey is asked
 *     for where there are passkeys, and its answer is given from there to a worker
 * @typedef {{ invitation: (text: string) => unknown, digits: (digits: string) => Promise<boolean> | boolean }} EnrolmentVerifier
 * @typedef {{ address: () => Promise<string> | string, code: (address: string) => Promise<string> | string, language?: string }} Verifier
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
    /** @type {LibraryAccount | undefined} */
    #account;
    #user = '';
    #hasRecoveryKey = false;
    /** @type {Map<string, Promise<Replica>>} */
    #replicas = new Map();
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
        this.#configuration = { ...configuration, environment };
        this.#origin = url.origin;
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
        this.#loading ??= loadCore(this.#configuration.module ?? defaultModule).then(ask => new Account(ask, this.#origin, this.#origin)).catch(error => {
            this.#loading = undefined;
            throw error;
        });
        return this.#loading;
    }

    #signedIn() {
        if (this.#account) return this.#account;
        throw new CKError('notAuthenticated', { reason: 'Nobody is signed in.', remedy: 'Call signIn or createAccount first.' });
    }

    // Whose account it is

    /** @returns {Promise<CKUserIdentity | null>} who is signed in: nothing is kept over a page that is loaded anew */
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
    async newRecoveryKey() {
        const account = await this.#load();
        this.#hasRecoveryKey = true;
        return told(() => account.newRecoveryKey());
    }

    /** @returns {Promise<Uint8Array>} what a passkey is to be asked */
    passkeyInput() { return told(async () => (await this.#begin()).passkeyInput()); }

    /**
     * Makes an account, which comes back by the recovery key of `newRecoveryKey`, typed once more, by a passphrase, or by a passkey that is made.
     * @param {Way & { registrationCode?: string }} way
     * @returns {Promise<CKUserIdentity>}
     */
    createAccount(way) {
        return told(async () => {
            const account = await this.#begin();
            if ('recoveryKey' in way) {
                if (!this.#hasRecoveryKey) throw badRequest('Call newRecoveryKey first, and show what it gives.');
                if (!account.isRecoveryKey({ text: way.recoveryKey })) throw badRequest('That is another recovery key than the one that was shown.');
            } else {
                await this.#take(account, way, true);
            }
            await account.createAccount({ deviceName: this.#deviceName, isKept: true, code: way.registrationCode ?? '' });
            return this.#entered(account);
        });
    }

    /** @param {Way} way @returns {Promise<CKUserIdentity>} */
    signIn(way) {
        return told(async () => {
            const account = await this.#begin();
            if ('recoveryKey' in way) account.takeRecoveryKey({ text: way.recoveryKey }); else await this.#take(account, way, false);
            await account.recoverAccount({ deviceName: this.#deviceName, devices: await this.#configuration.devices?.load() ?? {} });
            return this.#entered(account);
        });
    }

    /**
     * Takes an account over from a device that has it. Its user gives that one the invitation, and compares six digits with it.
     * @param {{ verify: EnrolmentVerifier }} options `invitation` shows a text, and `digits` gives whether both devices show these
     * @returns {Promise<CKUserIdentity>}
     */
    enrol({ verify }) {
        return told(async () => {
            const account = await this.#begin();
            await verify.invitation(await account.beginEnrolment());
            try {
                if (!await verify.digits(await this.#comes(account, () => account.enrolment()))) throw new CKError('operationCancelled', { reason: 'The digits were not the same.' });
                await this.#comes(account, () => account.enrolled({ deviceName: this.#deviceName }));
            } catch (error) {
                await account.endEnrolment();
                throw error;
            }
            return this.#entered(account);
        });
    }

    /**
     * What the other device has done by then; the server ends what nobody goes on with.
     * @template Answer
     * @param {LibraryAccount} account
     * @param {() => Promise<Answer | null>} look
     * @returns {Promise<Answer>}
     */
    async #comes(account, look) {
        for (;;) {
            const found = await look();
            if (found !== null) return found;
            await new Promise(resolve => setTimeout(resolve, lookAgain));
            if (!this.#loading || await this.#loading !== account) throw new CKError('operationCancelled', { reason: 'signOut was called meanwhile.' });
        }
    }

    /** One account at a time: what was read is one's own. */
    async #begin() {
        if (this.#account) throw badRequest('Somebody is signed in: call signOut first.');
        return this.#load();
    }

    /** Forgets the account, and all that was read. */
    async signOut() {
        this.unregisterForNotifications();
        const account = this.#account;
        this.#account = undefined;
        this.#loading = undefined;
        this.#user = '';
        this.#hasRecoveryKey = false;
        this.#replicas.clear();
        this.publicCloudDatabase.forget();
        // The session ends at the server as well; where that is not to be had it ends by itself.
        if (account) await callByMessage(account, 'accounts/logout', {}).catch(() => undefined);
        for (const tell of this.#waiting.out.splice(0)) tell();
    }

    get #deviceName() { return this.#configuration.deviceName ?? 'Web app'; }

    /** @param {LibraryAccount} account @param {{ passphrase: string, name: string } | { passkey: true | Uint8Array }} way @param {boolean} isNew */
    async #take(account, way, isNew) {
        if ('passkey' in way) {
            const { passkey } = way;
            account.takePasskey({ output: passkey instanceof Uint8Array ? passkey : await passkeyAnswer(account.passkeyInput(), this.#origin, isNew) });
            return;
        }
        const { passphrase, name } = way;
        if (!passphrase || !name) throw badRequest('Give passphrase and name, recoveryKey, or passkey.');
        // 256 MiB, which a module never gives back: one that goes afterwards.
        const ask = await loadCore(this.#configuration.module ?? defaultModule);
        const bytes = new TextEncoder().encode(passphrase.normalize('NFC'));
        const key = ask('stretchPassphrase', writer => writer.blob(bytes).string(name.normalize('NFC').trim()).string(this.#origin)).blob().slice();
        bytes.fill(0);
        account.takePassphrase({ key });
    }

    /** @param {LibraryAccount} account @returns {Promise<CKUserIdentity>} */
    async #entered(account) {
        // Somebody has signed out meanwhile.
        if (!this.#loading || await this.#loading !== account) {
            await callByMessage(account, 'accounts/logout', {}).catch(() => undefined);
            throw new CKError('operationCancelled', { reason: 'signOut was called meanwhile.' });
        }
        await this.#configuration.devices?.keep(account.device());
        this.#user = (await account.identify(this.containerIdentifier)).user;
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
    fetchRecordInfos(urls, options = {}) { return this.#each(urls, async url => (await this.#look(url, options)).info); }

    /**
     * @param {string | string[]} urls whole ones, with what follows the #
     * @param {{ verify?: Verifier }} [options]
     * @returns {Promise<{ results: CKShareInfo[], errors: CKError[], hasErrors: boolean }>}
     */
    acceptShares(urls, options = {}) {
        return this.#each(urls, async url => {
            const { visit, info } = await this.#look(url, options);
            if (info.participantStatus !== 'ACCEPTED') await visit.accept();
            const key = this.#key('shared', info.zoneID);
            if (!this.#replicas.has(key)) {
                await visit.enter();
                this.#replicas.set(key, Promise.resolve(new Replica(this.#signedIn(), visit.zone, { scope: 'shared', zoneID: info.zoneID })));
            }
            return { ...info, participantStatus: /** @type {const} */ ('ACCEPTED') };
        });
    }

    /**
     * @param {string | string[]} urls
     * @param {(url: string) => Promise<CKShareInfo>} body
     */
    async #each(urls, body) {
        /** @type {CKShareInfo[]} */
        const results = [];
        /** @type {CKError[]} */
        const errors = [];
        for (const url of Array.isArray(urls) ? urls : [urls]) {
            try {
                results.push(await told(() => body(url)));
            } catch (error) {
                if (!(error instanceof CKError)) throw error;
                errors.push(error);
            }
        }
        return { results, errors, hasErrors: errors.length > 0 };
    }

    /** @param {string} url @param {{ verify?: Verifier }} options */
    async #look(url, { verify }) {
        const visit = new Visit(this.#signedIn());
        visit.open({ url });
        const found = await this.#lookOrVerify(visit, verify);
        /** @type {CKShareInfo} */
        const info = {
            zoneID: { zoneName: found.zone, ownerRecordName: found.owner, ...found.share !== '' && { shareRecordName: found.share } },
            // What nobody of the share has signed is not shown as its title.
            shareTitle: found.isVouched ? found.title : '', shareType: found.isVouched ? found.type : '', isVouched: found.isVouched,
            participantPermission: found.mayWrite ? 'READ_WRITE' : 'READ_ONLY', participantStatus: found.standing === 'member' ? 'ACCEPTED' : 'PENDING',
            ownerIdentity: { userRecordName: found.owner }, safetyNumber: found.safetyNumber,
        };
        return { visit, info };
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
        const address = (await verify.address()).trim();
        await visit.sendCode({ address, language: verify.language ?? 'en' });
        await visit.proveCode({ code: await verify.code(address) });
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
     * What the module has of the zone for it is forgotten after it.
     * @param {'private' | 'shared'} scope
     * @param {CKZoneID} zoneID
     * @param {(own: { account: LibraryAccount, zone: import('../client/zone.mjs').Zone, place: Record<string, string> }) => Promise<void>} work
     */
    async #inOwnZone(scope, { zoneName, ownerRecordName = this.#user }, work) {
        const account = this.#signedIn();
        if (scope !== 'private' || ownerRecordName !== this.#user) throw badRequest('Zones are made and deleted in the private database, by their owner.');
        const visit = new Visit(account);
        const place = { container: this.containerIdentifier, environment: this.environment, database: 'private' };
        await visit.comeBack({ ...place, owner: this.#user, zone: zoneName, share: '' });
        const { zone } = visit;
        try {
            await work({ account, zone, place });
        } finally {
            account.handle('forget', zone.handle);
        }
    }

    /** @param {'private' | 'shared'} scope @param {CKZoneID} zoneID */
    async makeZone(scope, zoneID) {
        await this.#inOwnZone(scope, zoneID, async ({ account, zone, place }) => {
            try {
                await zone.fetchRosters();
            } catch (error) {
                // There is none yet.
                if (codeOf(error) !== 'unknownScope') throw error;
            }
            const answer = account.ask('zoneRequest', (/** @type {Writer} */ writer) => writer.u32(zone.handle).i64(micros()));
            if (answer.flag()) refuseZone(await sendFromCore(account, 'zones/modify', answer.blob(), place));
        });
        // Another device may have been faster: what the server has now is verified as any other.
        this.#replicas.delete(this.#key('private', zoneID));
        await (await this.replica('private', zoneID)).refresh();
    }

    /** @param {'private' | 'shared'} scope @param {CKZoneID} zoneID */
    async deleteZone(scope, zoneID) {
        await this.#inOwnZone(scope, zoneID, async ({ account, zone, place }) => {
            await zone.fetchRecords();
            const request = account.ask('zoneEndRequest', (/** @type {Writer} */ writer) => writer.u32(zone.handle).i64(micros())).blob();
            refuseZone(await sendFromCore(account, 'zones/modify', request, place));
        });
        this.#replicas.delete(this.#key('private', zoneID));
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
        const opening = this.#open(account, scope, zoneID);
        this.#replicas.set(key, opening);
        opening.catch(() => this.#replicas.delete(key));
        return opening;
    }

    /**
     * @param {LibraryAccount} account
     * @param {'private' | 'shared'} scope
     * @param {CKZoneID} zoneID
     */
    async #open(account, scope, zoneID) {
        const { zoneName, ownerRecordName = this.#user, shareRecordName = '' } = zoneID;
        const visit = new Visit(account);
        const { containerIdentifier: container, environment } = this;
        await visit.comeBack({ container, environment, owner: ownerRecordName, zone: zoneName, share: shareRecordName, database: scope });
        return new Replica(account, visit.zone, { scope, zoneID: { ...zoneID, ownerRecordName } });
    }

    /** @param {import('../client/server.mjs').Route} route @param {object} message @param {'private' | 'shared'} database @returns {Promise<any>} */
    async message(route, message, database) {
        return callByMessage(this.#signedIn(), route, message, { container: this.containerIdentifier, environment: this.environment, database });
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
                // Whoever listens fetches, and is told there what is wrong.
                this.#stream = undefined;
                for (const tell of this.#listeners) queueMicrotask(() => tell(null));
            });
            this.#stream = stream;
            try {
                await stream.open();
            } catch (error) {
                this.#stream = undefined;
                throw error;
            }
        });
    }

    unregisterForNotifications() {
        this.#stream?.close();
        this.#stream = undefined;
    }
}
