// A database of a container, in CloudKit JS's shape.
import { codeOf } from '../client/failure.mjs';
import { newOperationId } from '../client/messages.mjs';
import { RecordsBatch } from './batch.mjs';
import { asCKError, badRequest, CKError, refused, told } from './errors.mjs';
import { heardBy, heardOf } from './progress.mjs';
import { answered, asked, checked } from './query.mjs';
import { list, named, nameOf, only, response } from './record.mjs';

/**
 * @typedef {import('./record.mjs').CKRecord} CKRecord
 * @typedef {import('./record.mjs').CKDeletedRecord} CKDeletedRecord
 * @typedef {import('./record.mjs').CKRecordToSave} CKRecordToSave
 * @typedef {import('./record.mjs').CKZoneID} CKZoneID
 * @typedef {import('./query.mjs').Query} Query
 * @typedef {import('./query.mjs').QueryResponse} QueryResponse
 * @typedef {{ zoneID: CKZoneID }} InZone
 * @typedef {import('./record.mjs').RecordsResponse} RecordsResponse
 * @typedef {{
 *     subscriptionID: string, subscriptionType: 'query' | 'zone' | 'database', zoneID?: CKZoneID,
 * }} CKSubscription
 * @typedef {{ zoneID: CKZoneID, deleted?: boolean }} CKZone
 * @typedef {{ zones: CKZone[], errors: CKError[], hasErrors: boolean }} ZonesResponse
 * @typedef {InZone & { syncToken?: string, desiredKeys?: string[] }} ZoneChangesOptions without a token: all
 * @typedef {{ zoneID: CKZoneID, records: (CKRecord | CKDeletedRecord)[], syncToken?: string, moreComing: false, hasErrors: boolean, errors: CKError[] }} ZoneChanges
 * @typedef {{ zones: ZoneChanges[], hasErrors: boolean, errors: CKError[] }} ZonesChanges
 */

// More than anybody has: a server that goes on is not followed.
const [mostPages, mostZones] = [1_000, 100_000];
const subscriptionKinds = { query: 1, zone: 2, database: 3 };
/** By the server's numbers. @type {('query' | 'zone' | 'database' | undefined)[]} */
const subscriptionTypes = [undefined, 'query', 'zone', 'database'];

/** What is no answer, though it is JSON. */
const unexpected = () => new CKError('unexpected', { reason: 'The server’s answer is none.' });
/** @param {any} id @returns {{ zoneName: string, ownerName?: string }} as the server names a zone */
function wireZone(id) {
    if (typeof id?.zoneName !== 'string' || !['string', 'undefined'].includes(typeof id.ownerName)) throw unexpected();
    return id;
}
/** @param {{ scope?: unknown, shares?: unknown }} zone the server's @returns {string[]} by their records' names, the shares by which alone it is seen */
function sharesOf({ scope, shares }) {
    return wireList(scope ? [] : shares).map(({ shareRecordName }) => {
        if (typeof shareRecordName !== 'string' || shareRecordName === '') throw unexpected();
        return shareRecordName;
    });
}
/** @param {unknown} given @returns {any[]} a list of objects, which is left out where it is empty */
function wireList(given = []) {
    if (!Array.isArray(given) || !given.every(one => typeof one === 'object' && one !== null)) throw unexpected();
    return given;
}

/** @param {ZoneChangesOptions} options @param {CKError} error why nothing can be read of the zone @returns {ZoneChanges} */
const nothing = (options, error) =>
    ({ zoneID: options?.zoneID, records: [], ...options?.syncToken && { syncToken: options.syncToken }, moreComing: false, hasErrors: true, errors: [error] });

export class Database {
    #container;
    #scope;

    /**
     * @param {import('./container.mjs').Container} container
     * @param {'private' | 'shared'} scope
     */
    constructor(container, scope) {
        this.#container = container;
        this.#scope = scope;
    }

    get databaseScope() { return this.#scope.toUpperCase(); }

    /** @param {InZone | undefined} options */
    async #replica(options) {
        const zoneID = options?.zoneID;
        if (!zoneID?.zoneName) throw badRequest('Say with zoneID in which zone: { zoneName, ownerRecordName }.');
        return this.#container.replica(this.#scope, zoneID);
    }

    /** @param {InZone | undefined} options @returns {Promise<import('./replica.mjs').Replica>} as it is by now */
    async #read(options) {
        const replica = await this.#replica(options);
        try {
            await replica.refresh();
            return replica;
        } catch (error) {
            if (codeOf(error) !== 'unknownScope' || this.#scope !== 'shared') throw error;
            const share = await this.#shareIn(replica, /** @type {InZone} */ (options).zoneID);
            if (!share) throw error;
            await share.refresh();
            return share;
        }
    }

    /**
     * Whoever takes part in one hierarchy of a zone's records alone sees it by its share. Where that is not said, as a notification does not, the server is asked.
     * @param {import('./replica.mjs').Replica} replica of the zone, of which the server shows no list of people
     * @param {CKZoneID} zoneID
     * @returns {Promise<import('./replica.mjs').Replica | undefined>} nothing for a zone that is not there, or is no longer shown
     * @throws {CKError} `BAD_REQUEST` where there are several
     */
    async #shareIn(replica, zoneID) {
        const account = await this.#container.account();
        // Whoever has seen the zone's own list is not shown a part of it in its place.
        if (zoneID.shareRecordName || account.handle('isWithheld', replica.zone.handle).flag()) return undefined;
        const { results } = await this.#message('zones/lookup', { zones: [this.#wire(zoneID)] });
        const [share, ...others] = wireList(results).flatMap(({ zone }) => zone ? sharesOf(zone) : []);
        if (others.length > 0) throw badRequest(`Say with shareRecordName which one: ${[share, ...others].join(', ')} are shared of ${zoneID.zoneName}. fetchAllRecordZones gives each.`);
        return share === undefined ? undefined : this.#container.replica('shared', { ...zoneID, shareRecordName: share });
    }

    /** @param {import('../client/server.mjs').Route} route @param {object} message @returns {Promise<any>} */
    #message(route, message) { return told(() => this.#container.message(route, message, this.#scope)); }

    // Zones

    /**
     * @param {{ syncToken?: string }} [options]
     * @returns {Promise<{ zones: CKZone[], syncToken: string, moreComing: boolean }>} as the server says: what a zone has is verified when it is read
     */
    async fetchDatabaseChanges(options = {}) {
        const { syncToken = '' } = options;
        const { modifications, deletions, token = '', moreComing = false } = await this.#message('zones/changes', { token: syncToken });
        if (typeof token !== 'string' || typeof moreComing !== 'boolean') throw unexpected();
        return {
            zones: [
                ...wireList(modifications).flatMap(zone => this.#zones(zone)),
                ...wireList(deletions).map(({ zoneId }) => ({ zoneID: this.#zoneID(zoneId), deleted: true })),
            ],
            syncToken: token, moreComing,
        };
    }

    /** @param {any} wire @returns {CKZone[]} of hierarchies that are shared in it each for itself, where that is all that this account sees of it */
    #zones(wire) {
        const zoneID = this.#zoneID(wire.zoneId);
        const shares = sharesOf(wire);
        return shares.length === 0 ? [{ zoneID }] : shares.map(shareRecordName => ({ zoneID: { ...zoneID, shareRecordName } }));
    }

    /** @param {unknown} wire @returns {CKZoneID} */
    #zoneID(wire) {
        const { zoneName, ownerName } = wireZone(wire);
        return { zoneName, ownerRecordName: ownerName || this.#container.userRecordName };
    }

    /** @returns {Promise<{ zones: CKZone[], hasErrors: false, errors: [] }>} */
    async fetchAllRecordZones() {
        /** @type {Map<string, CKZone[]>} what is seen of each, as it was said last */
        const zones = new Map();
        for (let [syncToken, more, pages] = ['', true, 0]; more; pages += 1) {
            if (pages >= mostPages || zones.size > mostZones) throw new CKError('endless', { reason: 'The list of zones does not end.' });
            const part = await this.fetchDatabaseChanges({ syncToken });
            /** @type {Map<string, CKZone[]>} */
            const news = new Map();
            for (const zone of part.zones) {
                const key = JSON.stringify([zone.zoneID.zoneName, zone.zoneID.ownerRecordName]);
                const seen = news.get(key);
                if (zone.deleted) news.set(key, []); else if (seen) seen.push(zone); else news.set(key, [zone]);
            }
            for (const [key, seen] of news) if (seen.length > 0) zones.set(key, seen); else zones.delete(key);
            more = part.moreComing && part.syncToken !== syncToken;
            syncToken = part.syncToken;
        }
        return { zones: [...zones.values()].flat(), hasErrors: false, errors: [] };
    }

    /**
     * @param {CKZoneID | { zoneID: CKZoneID } | (CKZoneID | { zoneID: CKZoneID })[]} zones
     * @returns {Promise<ZonesResponse>} those that there are, verified
     */
    fetchRecordZones(zones) {
        return this.#eachZone(zones, async zoneID => {
            await this.#read({ zoneID });
            return { zoneID: { ...zoneID, ownerRecordName: zoneID.ownerRecordName ?? this.#container.userRecordName } };
        });
    }

    /** @param {CKZoneID | { zoneID: CKZoneID } | (CKZoneID | { zoneID: CKZoneID })[]} zones to be made; one that exists is left as it is @returns {Promise<ZonesResponse>} */
    saveRecordZones(zones) {
        return this.#eachZone(zones, async zoneID => {
            await this.#container.makeZone(this.#scope, zoneID);
            return { zoneID: { zoneName: zoneID.zoneName, ownerRecordName: this.#container.userRecordName } };
        });
    }

    /** @param {CKZoneID | { zoneID: CKZoneID } | (CKZoneID | { zoneID: CKZoneID })[]} zones that go with all their records and shares @returns {Promise<ZonesResponse>} */
    deleteRecordZones(zones) {
        return this.#eachZone(zones, async zoneID => {
            await this.#container.deleteZone(this.#scope, zoneID);
            return { zoneID, deleted: true };
        });
    }

    /** @param {CKZoneID | { zoneID: CKZoneID } | (CKZoneID | { zoneID: CKZoneID })[]} given @param {(zoneID: CKZoneID) => Promise<CKZone>} body @returns {Promise<ZonesResponse>} */
    async #eachZone(given, body) {
        /** @type {CKZone[]} */
        const zones = [];
        /** @type {CKError[]} */
        const errors = [];
        for (const one of list(given)) {
            try {
                const zoneID = 'zoneID' in one ? one.zoneID : one;
                if (!zoneID?.zoneName) throw badRequest('A zone is named by its zoneName.');
                zones.push(await body(zoneID));
            } catch (error) {
                errors.push(asCKError(error));
            }
        }
        return { zones, errors, hasErrors: errors.length > 0 };
    }

    /**
     * Of one zone it says what has changed beside `zones`, too. Of several one that cannot be read has its error among `errors`, and holds up no other.
     * @template {ZoneChangesOptions | ZoneChangesOptions[]} Given
     * @param {Given} options of a zone, or of several, as `fetchDatabaseChanges` gives them
     * @returns {Promise<Given extends any[] ? ZonesChanges : ZoneChanges & ZonesChanges>}
     * @throws {CKError} of one zone: `BAD_REQUEST`, `changeTokenExpired`, for a token of before the page was loaded, or somebody signed in
     */
    fetchRecordZoneChanges(options) {
        /** @returns {Promise<any>} */
        const changes = async () => {
            if (!Array.isArray(options)) {
                const one = await this.#changes(/** @type {ZoneChangesOptions} */ (options));
                return { ...one, zones: [one] };
            }
            /** @type {ZoneChanges[]} */
            const zones = [];
            for (const one of options) zones.push(await this.#changes(one).catch(error => nothing(one, asCKError(error))));
            const errors = zones.flatMap(({ errors }) => errors);
            return { zones, errors, hasErrors: errors.length > 0 };
        };
        return told(changes);
    }

    /** @param {ZoneChangesOptions} options @returns {Promise<ZoneChanges>} */
    async #changes(options) {
        const replica = await this.#read(options);
        const records = replica.changes(options.syncToken).map(record => 'deleted' in record ? record : only(record, options.desiredKeys));
        const { syncToken, errors } = replica;
        return { zoneID: options.zoneID, records, syncToken, moreComing: false, hasErrors: errors.length > 0, errors };
    }

    // Records

    /**
     * @param {string | { recordName: string } | (string | { recordName: string })[]} names
     * @param {InZone & { desiredKeys?: string[] }} options
     * @returns {Promise<RecordsResponse>}
     */
    fetchRecords(names, options) {
        return told(async () => {
            const replica = await this.#read(options);
            return response(replica.records(list(names).map(name => named(name).recordName)), options.desiredKeys);
        });
    }

    /**
     * Over what is verified and opened here, so sealed fields can be asked for as well. The next page is of what there is by then.
     * @param {Query | QueryResponse} given a query, or the answer to one: then what comes behind it
     * @param {InZone & { desiredKeys?: string[], resultsLimit?: number, continuationMarker?: string }} [paging]
     * @returns {Promise<QueryResponse>}
     */
    performQuery(given, paging) {
        return told(async () => {
            const { query, options, isAtEnd } = asked(given, paging);
            const { zoneID, resultsLimit = Infinity, continuationMarker = '0', desiredKeys } = options;
            const first = Number(continuationMarker);
            if (!Number.isSafeInteger(first) || first < 0) throw badRequest('That is no continuationMarker of a query.');
            if (!(resultsLimit >= 1)) throw badRequest('resultsLimit is 1 or more.');
            const wanted = checked(query);
            if (isAtEnd) return { ...response([]), ...answered(query, options), moreComing: false };
            const replica = await this.#read(/** @type {InZone} */ ({ zoneID }));
            const found = replica.matching(wanted);
            const end = first + resultsLimit;
            const moreComing = end < found.length;
            return { ...response(replica.records(found.slice(first, end)), desiredKeys), ...answered(query, options), moreComing, ...moreComing && { continuationMarker: String(end) } };
        });
    }

    /**
     * One after the other, and not all or nothing. Fields that are not named stay as they are; with `null` one goes.
     * @param {CKRecordToSave | CKRecordToSave[]} records with recordChangeTag those that are there, without it those that are to be made
     * @param {InZone & import('./progress.mjs').SaveOptions} options `onProgress` hears of each part of a file that the server has
     * @returns {Promise<RecordsResponse>}
     */
    saveRecords(records, options) {
        return told(async () => {
            const heard = heardOf(options);
            const replica = await this.#read(options);
            /** @type {(CKRecord | CKError)[]} */
            const outcomes = [];
            for (const record of list(records)) outcomes.push(await replica.save(record, heard).catch(error => asCKError(error, record?.recordName)));
            const failure = await replica.keep().catch(error => error);
            return response(failure ? outcomes.map(one => asCKError(one instanceof CKError ? one : failure, nameOf(one))) : outcomes);
        });
    }

    /**
     * @param {string | { recordName: string, recordChangeTag?: string } | (string | { recordName: string, recordChangeTag?: string })[]} records
     * @param {InZone} options
     * @returns {Promise<{ hasErrors: boolean, errors: CKError[], records: CKDeletedRecord[] }>}
     */
    deleteRecords(records, options) {
        return told(async () => {
            const replica = await this.#read(options);
            /** @type {CKDeletedRecord[]} */
            const deleted = [];
            /** @type {CKError[]} */
            const errors = [];
            for (const given of list(records)) {
                try {
                    deleted.push(await replica.remove(named(given)));
                } catch (error) {
                    errors.push(asCKError(error, nameOf(given)));
                }
            }
            const failure = await replica.keep().catch(error => error);
            if (failure) errors.push(...deleted.splice(0).map(one => asCKError(failure, one.recordName)));
            return { records: deleted, errors, hasErrors: errors.length > 0 };
        });
    }

    /**
     * What an `Asset` is read by.
     * @param {import('./asset.mjs').Source & InZone} source
     * @param {'open' | 'blob'} how
     * @param {import('./progress.mjs').ReadOptions} [options]
     * @returns {Promise<Uint8Array | Blob>}
     */
    readAsset(source, how, options) { return told(async () => (await this.#replica(source)).readAsset(source, how, heardBy(options))); }

    /** @param {InZone & import('./progress.mjs').SaveOptions} options of each of its calls */
    newRecordsBatch(options) { return new RecordsBatch(this, options); }

    /** @param {Parameters<import('./container.mjs').Container['shareWithUI']>[0]} options */
    shareWithUI(options) { return this.#container.shareWithUI(options); }

    // Subscriptions

    /** @param {CKSubscription | CKSubscription[]} subscriptions @returns {Promise<{ subscriptions: CKSubscription[], hasErrors: boolean, errors: CKError[] }>} */
    saveSubscriptions(subscriptions) {
        return told(async () => {
            const saves = list(subscriptions).map(({ subscriptionID, subscriptionType, zoneID }) => {
                if (subscriptionType !== 'zone' && subscriptionType !== 'database') throw badRequest('A subscription is of subscriptionType zone or database.');
                return { subscriptionId: subscriptionID, kind: subscriptionKinds[subscriptionType], ...zoneID && { zone: this.#wire(zoneID) } };
            });
            return this.#subscribed(await this.#modify({ saves }));
        });
    }

    /** @param {string | string[]} ids */
    async deleteSubscriptions(ids) { return this.#subscribed(await this.#modify({ deletes: list(ids) })); }

    /** @returns {Promise<{ subscriptions: CKSubscription[], hasErrors: boolean, errors: CKError[] }>} */
    async fetchAllSubscriptions() {
        const { subscriptions } = await this.#message('subscriptions/list', {});
        return { subscriptions: wireList(subscriptions).map(one => this.#subscription(one)), hasErrors: false, errors: [] };
    }

    /** @param {object} message */
    #modify(message) {
        const operationId = newOperationId();
        return this.#message('subscriptions/modify', { operationId, ...message });
    }

    /** @param {{ results?: unknown }} answer */
    #subscribed({ results }) {
        const all = wireList(results);
        const errors = all.flatMap(({ failure }) => failure ? refused(failure) : []);
        return { subscriptions: all.flatMap(({ subscription }) => subscription ? this.#subscription(subscription) : []), errors, hasErrors: errors.length > 0 };
    }

    /** @param {any} wire @returns {CKSubscription} */
    #subscription({ subscriptionId, kind, zone }) {
        if (typeof subscriptionId !== 'string') throw unexpected();
        return {
            subscriptionID: subscriptionId, subscriptionType: subscriptionTypes[kind] ?? 'database',
            ...zone && { zoneID: this.#zoneID(zone) },
        };
    }

    /** @param {CKZoneID} zoneID */
    #wire({ zoneName, ownerRecordName = '' }) {
        return { zoneName, ownerName: ownerRecordName === this.#container.userRecordName ? '' : ownerRecordName };
    }
}
