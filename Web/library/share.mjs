// A share that its owner or an administrator looks after: who is in it, who is invited, and what each may do. What may be is the module's to
// judge; what is signed there is sent from here, and sent anew where somebody else's entry came first.
import { micros } from '../client/account.mjs';
import { codeOf } from '../client/failure.mjs';
import { callByMessage } from '../client/messages.mjs';
import { badRequest, CKError, told } from './errors.mjs';

/**
 * @typedef {import('./record.mjs').CKZoneID} CKZoneID
 * @typedef {'READ_ONLY' | 'READ_WRITE'} CKPermission
 * @typedef {{ emailAddress?: string, phoneNumber?: string, userRecordName?: string }} CKLookupInfo
 * @typedef {{ userRecordName?: string, lookupInfo?: CKLookupInfo }} CKShareIdentity
 * @typedef {{
 *     participantID: string, userIdentity: CKShareIdentity, type: 'OWNER' | 'ADMINISTRATOR' | 'USER' | 'PUBLIC_USER', permission: CKPermission,
 *     acceptanceStatus: 'ACCEPTED' | 'INVITED', isCurrentUser: boolean, safetyNumber: string, expirationDate?: Date, oneTimeURL?: string,
 * }} CKShareParticipant `safetyNumber` is what two people compare, who then know that nobody stands between them
 * @typedef {{
 *     zoneID: CKZoneID, isShared: boolean, mayAdminister: boolean, isOwner: boolean, publicPermission: 'NONE' | CKPermission, shareTitle: string,
 *     shareType: string, url?: string, participants: CKShareParticipant[],
 * }} CKShare `url` is for whoever was invited by user name, and for everybody while the share is public
 * @typedef {{ userRecordName: string, safetyNumber: string, person: number }} Found
 * @typedef {import('../client/canonical.mjs').Reader} Reader
 * @typedef {import('../client/canonical.mjs').Writer} Writer
 * @typedef {{ person: number, address: string, permission: CKPermission, expires: bigint }} Invitee
 * @typedef {{ participantID: string, type?: 'USER' | 'ADMINISTRATOR', permission?: CKPermission }} Changed what is not named stays as it is by now
 * @typedef {CKLookupInfo & { permission?: CKPermission, expirationDate?: Date }} Invitation by nothing: whoever has the one URL that comes of it
 */

const types = /** @type {const} */ ([undefined, 'OWNER', 'ADMINISTRATOR', 'USER', 'PUBLIC_USER']);
const permissions = /** @type {const} */ (['NONE', 'READ_ONLY', 'READ_WRITE']);
const handleKinds = /** @type {const} */ (['emailAddress', 'phoneNumber', 'userRecordName']);
const shareType = 'cloudkit.share';
// Others' entries come first that often in a share that many change at once.
const mostRounds = 5;

/** @param {CKLookupInfo} info */
export function handleOf(info) {
    const given = handleKinds.filter(kind => info[kind]);
    if (given.length > 1) throw badRequest('Somebody is looked up by one of emailAddress, phoneNumber and userRecordName.');
    const [kind] = given;
    return kind && { kind: handleKinds.indexOf(kind) + 1, text: (info[kind] ?? '').trim() };
}

/**
 * Whose an address or a user's name is, as the server says: compare the safety number.
 * @param {import('./module.mjs').LibraryAccount} account
 * @param {string} container
 * @param {{ kind: number, text: string }} handle
 * @returns {Promise<Found | null>} null for an address of nobody who is known
 */
export async function lookUp(account, container, { kind, text }) {
    const { identity } = await account.identify(container);
    const request = account.ask('directoryRequest', writer => writer.string(container).byte(kind).string(text)).blob();
    const bytes = await account.call('directory/lookup', request);
    const answer = account.ask('directoryAnswer', writer => writer.u32(identity).string(container).byte(kind).string(text).blob(bytes));
    if (!answer.flag()) return null;
    return { person: answer.u32(), userRecordName: answer.string(), safetyNumber: answer.string() };
}

export class Share {
    #account;
    #replica;
    #container;
    #place;
    #zoneID;
    #user;
    /** @type {CKShare | undefined} */
    #shown;

    /**
     * @param {import('./module.mjs').LibraryAccount} account
     * @param {import('./replica.mjs').Replica} replica
     * @param {{ container: string, environment: string, database: 'private' | 'shared' }} place
     * @param {CKZoneID} zoneID
     * @param {string} user whose account it is
     */
    constructor(account, replica, place, zoneID, user) {
        this.#account = account;
        this.#replica = replica;
        this.#place = place;
        this.#container = place.container;
        this.#zoneID = zoneID;
        this.#user = user;
    }

    /** @returns {CKShare} as it was read last */
    get shown() {
        if (!this.#shown) throw badRequest('Call refresh first.');
        return this.#shown;
    }

    get #recordName() { return this.#zoneID.shareRecordName || 'cloudkit.zoneshare'; }
    get #zone() { return this.#replica.zone; }

    /** @template T @param {() => Promise<T>} body @returns {Promise<T>} */
    #next(body) { return told(() => this.#replica.next(body)); }

    /** @returns {Promise<CKShare>} as it is by now */
    refresh() { return this.#next(() => this.#read()); }

    // What there is

    async #read() {
        await this.#zone.fetchRecords();
        await this.#zone.refreshRoster();
        const handle = this.#show(0).mayAdminister ? await this.#links() : 0;
        try {
            this.#shown = this.#show(handle);
        } finally {
            if (handle) this.#account.handle('forget', handle);
        }
        return this.#shown;
    }

    /** @returns {Promise<number>} the share with the URLs that this account has of it */
    async #links() {
        const bytes = await this.#account.call('links/fetch', this.#account.handle('linksRequest', this.#zone.handle).blob(), this.#place);
        return this.#account.ask('linksAnswer', writer => writer.u32(this.#zone.handle).u32(this.#account.visitor).blob(bytes)).u32();
    }

    /** @param {number} handle @returns {CKShare} */
    #show(handle) {
        const answer = this.#account.ask('shareShown', writer => writer.u32(this.#zone.handle).u32(handle).string(this.#account.origin));
        const hasURL = answer.flag();
        const role = answer.byte();
        const publicPermission = permissions[answer.byte()];
        // The owner stops sharing by taking the record away: the URL stays for another time.
        const hasRecord = answer.flag();
        const [shareTitle, type, url] = [answer.string(), answer.string(), answer.string()];
        const participants = answer.list((/** @type {Reader} */ reader) => this.#participant(reader));
        return {
            zoneID: this.#zoneID, isShared: hasURL && (hasRecord || participants.length > 1), mayAdminister: role === 1 || role === 2, isOwner: role === 1,
            publicPermission, shareTitle, shareType: type, ...url && { url }, participants,
        };
    }

    /** @param {Reader} reader @returns {CKShareParticipant} */
    #participant(reader) {
        const [participantID, userRecordName] = [reader.string(), reader.string()];
        const [type, permission, isAccepted] = [types[reader.byte()], permissions[reader.byte()], reader.flag()];
        const [address, safetyNumber, expires, oneTimeURL] = [reader.string(), reader.string(), reader.i64(), reader.string()];
        const lookupInfo = address === '' ? undefined : address.startsWith('+') ? { phoneNumber: address } : { emailAddress: address };
        return {
            participantID, userIdentity: { ...userRecordName && { userRecordName }, ...lookupInfo && { lookupInfo } },
            type: type ?? 'USER', permission: permission === 'READ_WRITE' ? 'READ_WRITE' : 'READ_ONLY',
            acceptanceStatus: isAccepted ? 'ACCEPTED' : 'INVITED', isCurrentUser: userRecordName === this.#user, safetyNumber,
            ...expires > 0n && { expirationDate: new Date(Number(expires / 1000n)) }, ...oneTimeURL && { oneTimeURL },
        };
    }

    // Changes

    /**
     * Shares the zone, or calls its share another name.
     * @param {{ shareTitle: string, shareType?: string }} about sealed for whoever is in the share or has its URL
     * @returns {Promise<CKShare>}
     */
    describe({ shareTitle, shareType: type }) {
        return this.#next(async () => {
            const { shareType: before } = await this.#read();
            await this.#saveRecord([['title', shareTitle], ['shareType', type ?? before]]);
            await this.#change({});
            await this.#renewPreviews();
            return this.#read();
        });
    }

    /** @param {[string, string][]} texts */
    async #saveRecord(texts) {
        for (let round = 1; ; round++) {
            const record = this.#recordName;
            /** @type {number} */
            let edit;
            try {
                ({ edit } = this.#zone.beginEdit({ record }));
            } catch (error) {
                if (codeOf(error) !== 'missingKey') throw error;
                ({ edit } = this.#zone.newRecord({ type: shareType, name: record }));
            }
            const changes = texts.map(([name, text]) => ({ name, to: /** @type {const} */ ('sealed'), value: { kind: /** @type {const} */ ('string'), text } }));
            const outcome = await this.#replica.sent(edit, () => this.#zone.save({ edit, changes }));
            if (outcome === 'stored') return;
            // Somebody else has described it meanwhile, or ended it: this is what is wanted now.
            if (round >= mostRounds) throw new CKError('keepsChanging', { recordName: record });
        }
    }

    async #renewPreviews() {
        const share = await this.#links();
        try {
            const answer = this.#account.ask('previewRequest', writer => writer.u32(share).i64(micros()));
            if (answer.flag()) await this.#account.call('links/update', answer.blob(), this.#place);
        } finally {
            this.#account.handle('forget', share);
        }
    }

    /**
     * @param {{
     *     publicPermission?: 'NONE' | CKPermission, invitees?: Invitee[], changed?: Changed[], gone?: string[],
     * }} wish
     * @returns {Promise<string[]>} the ids of the invitations that were made, in the order of those who are invited
     */
    async #change({ publicPermission, invitees = [], changed = [], gone = [] }) {
        /** @type {string[]} */
        let made = [];
        await this.#append(async () => {
            const share = await this.#links();
            try {
                const answer = this.#account.ask('shareRequest', writer => writer.u32(share)
                    .byte(publicPermission ? permissions.indexOf(publicPermission) + 1 : 0)
                    .list(invitees, (/** @type {Writer} */ writer, /** @type {Invitee} */ { person, address, permission, expires }) =>
                        writer.u32(person).string(address).byte(permissions.indexOf(permission)).i64(expires))
                    .list(changed, (/** @type {Writer} */ writer, /** @type {Changed} */ { participantID, type, permission }) =>
                        writer.string(participantID).byte(type ? types.indexOf(type) : 0).byte(permission ? permissions.indexOf(permission) : 0))
                    .list(gone, (/** @type {Writer} */ writer, /** @type {string} */ participantID) => writer.string(participantID))
                    .i64(micros()));
                if (!answer.flag()) return undefined;
                const request = answer.blob();
                // With each round they are others.
                made = answer.list((/** @type {Reader} */ reader) => reader.string());
                return request;
            } finally {
                this.#account.handle('forget', share);
            }
        });
        return made;
    }

    /**
     * Appends an entry to the newest roster.
     * @param {() => Promise<Uint8Array | undefined>} write nothing where there is nothing to change
     */
    async #append(write) {
        for (let round = 1; ; round++) {
            await this.#zone.refreshRoster();
            const request = await write();
            if (!request) return;
            try {
                await this.#account.call('rosters/append', request, this.#place);
                return;
            } catch (error) {
                if (codeOf(error) !== 'rosterChanged' || round >= mostRounds) throw error;
            }
        }
    }

    /**
     * Invites somebody: by address with a URL of its own, which you send; by user name with the share's. Without either, whoever has the URL that
     * comes of it takes the seat.
     * @param {Invitation} [invitation]
     * @returns {Promise<{ share: CKShare, participant: CKShareParticipant, url?: string }>}
     */
    invite(invitation = {}) {
        return this.#next(async () => {
            const { permission = 'READ_ONLY', expirationDate } = invitation;
            if (expirationDate && !(expirationDate.getTime() > Date.now())) throw badRequest('An invitation ends at a time to come, or has no expirationDate.');
            const handle = handleOf(invitation);
            const found = handle ? await lookUp(this.#account, this.#container, handle) : null;
            try {
                return await this.#invite(handle, found, { permission, expires: BigInt(expirationDate?.getTime() ?? 0) * 1000n });
            } finally {
                if (found) this.#account.handle('forget', found.person);
            }
        });
    }

    /** @param {ReturnType<typeof handleOf>} handle @param {Found | null} found @param {Pick<Invitee, 'permission' | 'expires'>} seat */
    async #invite(handle, found, seat) {
        if (found?.userRecordName === this.#user) throw badRequest('You are in the share already.');
        const shownBefore = await this.#read();
        const address = handle && handle.kind !== 3 ? handle.text : '';
        if (shownBefore.participants.some(({ userIdentity: { userRecordName, lookupInfo } }) => found ? userRecordName === found.userRecordName
            : handle && [lookupInfo?.emailAddress, lookupInfo?.phoneNumber].some(one => one?.toLowerCase() === handle.text.toLowerCase()))) {
            throw new CKError('alreadyInvited', { reason: 'That person is in the share already, or invited.' });
        }
        const [made] = await this.#change({ invitees: [{ person: found?.person ?? 0, address, ...seat }] });
        const share = await this.#read();
        const participant = share.participants.find(({ participantID }) => participantID === made);
        if (!participant) throw new CKError('alreadyInvited', { reason: 'That person is in the share, or invited.' });
        const url = participant.oneTimeURL ?? share.url;
        return { share, participant, ...url && { url } };
    }

    /** @param {CKLookupInfo} info @returns {Promise<{ userRecordName: string, safetyNumber: string } | null>} whom an invitation would be for; null for nobody who is known */
    lookUp(info) {
        return this.#next(async () => {
            const handle = handleOf(info);
            if (!handle) throw badRequest('Give emailAddress, phoneNumber or userRecordName.');
            const found = await lookUp(this.#account, this.#container, handle);
            if (!found) return null;
            this.#account.handle('forget', found.person);
            return { userRecordName: found.userRecordName, safetyNumber: found.safetyNumber };
        });
    }

    /**
     * What somebody may do. An open invitation is made anew behind the same URL; taking a right away opens new keys.
     * @param {string} participantID
     * @param {{ permission?: CKPermission, type?: 'USER' | 'ADMINISTRATOR' }} change
     * @returns {Promise<CKShare>}
     */
    setParticipant(participantID, { permission, type }) {
        return this.#next(async () => {
            this.#person(await this.#read(), participantID);
            // An administrator writes.
            await this.#change({ changed: [{ participantID, type, permission: type === 'ADMINISTRATOR' ? 'READ_WRITE' : permission }] });
            return this.#read();
        });
    }

    /** @param {string} participantID of a participant, who can open nothing that is written from now on, or of an open invitation @returns {Promise<CKShare>} */
    removeParticipant(participantID) {
        return this.#next(async () => {
            this.#person(await this.#read(), participantID);
            await this.#change({ gone: [participantID] });
            return this.#read();
        });
    }

    /** @param {CKShare} share @param {string} id */
    #person(share, id) {
        const found = share.participants.find(({ participantID }) => participantID === id);
        if (!found) throw new CKError('unknownItem', { reason: 'That person is in the share no more, and not invited either.' });
        return found;
    }

    /** @param {'NONE' | CKPermission} publicPermission what whoever has the share's URL may do; open invitations are taken back with a change @returns {Promise<CKShare>} */
    setPublicPermission(publicPermission) {
        return this.#next(async () => {
            await this.#change({ publicPermission });
            return this.#read();
        });
    }

    /** Puts everybody out, and takes every invitation back. What the zone holds stays. @returns {Promise<CKShare>} */
    stop() {
        return this.#next(async () => {
            await this.#append(async () => {
                const answer = this.#account.ask('shareEndRequest', writer => writer.u32(this.#zone.handle).i64(micros()));
                return answer.flag() ? answer.blob() : undefined;
            });
            // Whoever waits for an answer does not wait any more, and nobody is told that there was a share.
            const { zoneName } = this.#zoneID;
            await callByMessage(this.#account, 'share/access/update', { zone: { zoneName }, allowsRequests: false }, this.#place);
            await this.#zone.fetchRecords();
            const record = this.#recordName;
            for (let round = 1; ; round++) {
                /** @type {number} */
                let edit;
                try {
                    ({ edit } = this.#zone.beginEdit({ record }));
                } catch (error) {
                    if (codeOf(error) !== 'missingKey') throw error;
                    break;
                }
                if (await this.#replica.sent(edit, () => this.#zone.remove({ edit })) !== 'changed') break;
                if (round >= mostRounds) throw new CKError('keepsChanging', { recordName: record });
            }
            return this.#read();
        });
    }

    /** Leaves a share of somebody else's. @returns {Promise<void>} */
    leave() {
        return this.#next(() => this.#zone.leave());
    }
}
