// A container's public database, in CloudKit JS's shape: everybody may read it as far as its schema says, and whoever has an account may write.
// Nothing there is sealed; each record is signed, and verified here.
import { micros } from '../client/account.mjs';
import { openAsset, saveAsset, upload } from '../client/assets.mjs';
import { mostOfLookup, readRecord, writeChange } from '../client/zone.mjs';
import { Asset } from './asset.mjs';
import { RecordsBatch } from './batch.mjs';
import { asCKError, badRequest, CKError, told } from './errors.mjs';
import { exchange } from './messages.mjs';
import { heardBy, heardOf } from './progress.mjs';
import { beginPublicAsset, beginPublicUpload } from './public-assets.mjs';
import { answered, asked, checked, wireQuery, writeQuery } from './query.mjs';
import { changes, list, named, nameOf, response, shown } from './record.mjs';

/**
 * @typedef {import('./record.mjs').CKRecord} CKRecord
 * @typedef {import('./record.mjs').CKDeletedRecord} CKDeletedRecord
 * @typedef {import('./record.mjs').CKRecordToSave} CKRecordToSave
 * @typedef {import('./record.mjs').RecordsResponse} RecordsResponse
 * @typedef {{ recordName: string, recordType?: string, recordChangeTag?: string }} Target a record that is written: with recordChangeTag one that the app has seen so
 * @typedef {import('../client/canonical.mjs').Writer} Writer
 * @typedef {import('../client/canonical.mjs').Reader} Reader
 * @typedef {import('./module.mjs').LibraryAccount} Account
 */

/** @param {string} marker as an answer has given it @returns {Uint8Array} */
function bytesOf(marker) {
    try {
        return Uint8Array.from(atob(marker), character => character.charCodeAt(0));
    } catch {
        throw badRequest('A continuationMarker goes back as it came.');
    }
}

export class PublicDatabase {
    #container;
    /** @type {Promise<{ account: Account, handle: number }> | undefined} */
    #opening;

    /** @param {import('./container.mjs').Container} container */
    constructor(container) { this.#container = container; }

    get databaseScope() { return 'PUBLIC'; }

    get #place() {
        const { containerIdentifier: container, environment } = this.#container;
        return { container, environment, database: 'public' };
    }

    /** What was seen is this module's: after somebody else has signed in it begins anew. */
    forget() { this.#opening = undefined; }

    async #open() {
        if (this.#opening) return this.#opening;
        const opening = this.#container.account().then(account => {
            const { containerIdentifier: container, environment } = this.#container;
            return { account, handle: account.ask('publicZone', (/** @type {Writer} */ writer) => writer.string(container).string(environment)).u32() };
        }).catch(error => {
            // Another one may have been begun meanwhile.
            if (this.#opening === opening) this.#opening = undefined;
            throw error;
        });
        this.#opening = opening;
        return opening;
    }

    /**
     * @param {{ account: Account, handle: number }} module @param {import('../client/server.mjs').Route} route @param {object} message @param {number} [most] bytes of the answer
     * @returns {Promise<{ bytes: Uint8Array, moment: bigint }>} the answer as the module reads it, and what was known when it was asked for: others may be faster
     */
    async #ask({ account, handle }, route, message, most) {
        const moment = account.ask('publicMoment', (/** @type {Writer} */ writer) => writer.u32(handle)).i64();
        return { moment, bytes: await exchange(account, route, { zone: { zoneName: '_defaultZone' }, ...message }, this.#place, most) };
    }

    /** @param {{ account: Account, handle: number }} module @param {string} name of a record that was just read @returns {CKRecord} as it was verified */
    #record({ account, handle }, name) {
        const answer = account.ask('publicRecord', (/** @type {Writer} */ writer) => writer.u32(handle).string(name));
        const tag = answer.string();
        return shown(readRecord(answer), tag, (fieldName, size) => new Asset(
            size, { scope: 'public', recordName: name, fieldName }, (source, how, options) => this.readAsset(source, how, options)));
    }

    /** @param {string[]} names @returns {Promise<(CKRecord | CKError)[]>} */
    async #look(names) {
        if (names.length === 0) return [];
        const module = await this.#open();
        const { account, handle } = module;
        /** @type {(CKRecord | CKError)[]} */
        const outcomes = [];
        let wanted = names.map((_, index) => index);
        while (wanted.length > 0) {
            const recordNames = wanted.map(index => names[index]);
            const { bytes, moment } = await this.#ask(module, 'records/lookup', { recordNames }, mostOfLookup);
            /** @type {string[]} */
            const refusals = account.ask('publicLookupAnswer', (/** @type {Writer} */ writer) => writer.u32(handle).i64(moment)
                .list(recordNames, (/** @type {Writer} */ writer, /** @type {string} */ name) => writer.string(name)).blob(bytes))
                .list((/** @type {Reader} */ reader) => reader.string());
            recordNames.forEach((recordName, at) => {
                outcomes[wanted[at]] = refusals[at] ? new CKError(refusals[at], { recordName }) : this.#record(module, recordName);
            });
            // What an answer has no room for beside others comes with the next one.
            const leftOut = wanted.filter((_, at) => refusals[at] === 'limitExceeded');
            wanted = leftOut.length < wanted.length ? leftOut : [];
        }
        return outcomes;
    }

    /**
     * @param {string | { recordName: string } | (string | { recordName: string })[]} names
     * @param {{ desiredKeys?: string[] }} [options]
     * @returns {Promise<RecordsResponse>}
     */
    fetchRecords(names, options = {}) {
        return told(async () => response(await this.#look(list(names).map(name => named(name).recordName)), options?.desiredKeys));
    }

    /**
     * The server searches, over fields that its schema has an index of; what it finds is verified and held against the query here. What it leaves
     * out cannot be noticed: this database has no roster.
     * @param {import('./query.mjs').Query | import('./query.mjs').QueryResponse} given a query, or the answer to one: then what comes behind it
     * @param {{ desiredKeys?: string[], resultsLimit?: number, continuationMarker?: string }} [paging]
     * @returns {Promise<import('./query.mjs').QueryResponse>}
     */
    performQuery(given, paging) {
        return told(async () => {
            const { query, options, isAtEnd } = asked(given, paging);
            const { desiredKeys, resultsLimit = 0, continuationMarker = '' } = options;
            if (isAtEnd) return { ...response([]), ...answered(query, options), moreComing: false };
            const module = await this.#open();
            const { account, handle } = module;
            const [wanted, place] = [checked(query), bytesOf(continuationMarker)];
            const { bytes, moment } = await this.#ask(module, 'records/query', { query: wireQuery(wanted), cursor: continuationMarker, resultsLimit });
            const answer = account.ask('publicQueryAnswer', (/** @type {Writer} */ writer) => writeQuery(writer.u32(handle).i64(moment).blob(place), wanted).blob(bytes));
            const marker = btoa(String.fromCharCode(...answer.blob()));
            /** @type {{ recordName: string, refusal: string }[]} */
            const found = answer.list((/** @type {Reader} */ reader) => ({ recordName: reader.string(), refusal: reader.string() }));
            const outcomes = found.map(({ recordName, refusal }) => refusal ? new CKError(refusal, { recordName }) : this.#record(module, recordName));
            return { ...response(outcomes, desiredKeys), ...answered(query, options), moreComing: marker !== '', ...marker && { continuationMarker: marker } };
        });
    }

    /**
     * One after the other, and not all or nothing. Fields that are not named stay as they are; with `null` one goes.
     * @param {CKRecordToSave | CKRecordToSave[]} records with recordChangeTag those that are there, without it those that are to be made
     * @param {import('./progress.mjs').SaveOptions} [options] `onProgress` hears of each part of a file that the server has
     * @returns {Promise<RecordsResponse>}
     */
    saveRecords(records, options) {
        return told(async () => {
            const heard = heardOf(options);
            /** @type {(CKRecord | CKError)[]} */
            const outcomes = [];
            for (const record of list(records)) outcomes.push(await this.#save(record, heard).catch(error => asCKError(error, record?.recordName)));
            return response(outcomes);
        });
    }

    /** @param {CKRecordToSave} record @param {import('./progress.mjs').Heard} heard */
    async #save(record, heard) {
        const { recordName = '', recordType = '', recordChangeTag } = record;
        this.#container.requireSignedIn();
        if (recordChangeTag === undefined && !recordType) throw badRequest('A record that is to be made has a recordType.', recordName);
        const wanted = changes(record, recordName ? await this.#requireNewest(recordName, recordChangeTag) : undefined);
        if (wanted.some(({ to }) => to === 'sealed')) throw badRequest('The public database has no encryptedFields: whoever may read there has no key.', recordName);
        const { name, refusal } = await this.#sendWithFiles({ recordName, recordType, recordChangeTag }, wanted, heard);
        const [there] = await this.#look([name]).catch(error => { throw asCKError(error, name); });
        if (refusal === 'serverRecordChanged' && !(there instanceof CKError)) throw new CKError(refusal, { recordName: name, serverRecord: there });
        if (refusal) throw new CKError(refusal, { recordName: name });
        if (there instanceof CKError) throw there;
        return there;
    }

    /**
     * @param {string} recordName
     * @param {string} [tag] what the app has seen; without it there is to be no such record
     * @returns {Promise<CKRecord | undefined>} what is there
     */
    async #requireNewest(recordName, tag) {
        const [there] = await this.#look([recordName]);
        if (there instanceof CKError) {
            if (tag === undefined && there.serverErrorCode === 'unknownItem') return undefined;
            throw there;
        }
        if (tag === undefined) throw new CKError('exists', { recordName, serverRecord: there, reason: 'There is such a record: give its recordChangeTag to change it.' });
        if (tag !== there.recordChangeTag) throw new CKError('serverRecordChanged', { recordName, serverRecord: there });
        return there;
    }

    /** @param {Target} target @param {import('./record.mjs').Change[]} wanted @param {import('./progress.mjs').Heard} heard */
    async #sendWithFiles(target, wanted, heard) {
        const { recordName, recordChangeTag } = target;
        const opened = this.#open();
        const { account, handle } = await opened;
        /** @type {number[]} */
        const uploads = [];
        try {
            /** @type {import('./record.mjs').Change[]} */
            const sent = [];
            for (const { file, ...change } of wanted) {
                if (!file) {
                    sent.push(change);
                    continue;
                }
                const made = await upload(account, beginPublicUpload(account, handle, this.#place, file), file, heard(recordName, change.name));
                uploads.push(made.upload);
                sent.push({ ...change, ...made });
            }
            // Files take their time: others may have been faster.
            if (uploads.length > 0 && recordName) await this.#requireNewest(recordName, recordChangeTag);
            // Whoever has signed in meanwhile signs nothing of somebody else's.
            if ((await this.#open()).account !== account) throw new CKError('operationCancelled', { recordName, reason: 'Somebody else has signed in meanwhile.' });
            return await this.#write(target, sent, opened);
        } finally {
            for (const one of uploads) account.handle('forget', one);
        }
    }

    /** @param {Target} target @param {import('./record.mjs').Change[] | null} wanted null for its deletion */
    async #write({ recordName, recordType = '', recordChangeTag }, wanted, opened = this.#open()) {
        const module = await opened;
        const { account, handle } = module;
        this.#container.requireSignedIn();
        const { identity } = await account.identify(this.#container.containerIdentifier);
        // The module writes after what it has read last, which may be more than the app has seen. Nothing is waited for between this and the request.
        if (recordChangeTag !== undefined) {
            const there = this.#record(module, recordName);
            if (there.recordChangeTag !== recordChangeTag) throw new CKError('serverRecordChanged', { recordName, serverRecord: there });
        }
        const type = wanted === null || recordChangeTag !== undefined ? '' : recordType;
        const request = account.ask('publicRequest', (/** @type {Writer} */ writer) => writer.u32(handle).u32(identity).string(recordName).flag(wanted === null).string(type)
            .list(wanted ?? [], writeChange).i64(micros()));
        const name = request.string();
        // It may be stored by now: whoever tries again does so by the name that was drawn.
        const answer = await account.call('records/modify', request.blob(), this.#place).catch(error => { throw asCKError(error, name); });
        const refusal = account.ask('publicAnswer', (/** @type {Writer} */ writer) => writer.blob(answer)).string();
        return { name, refusal };
    }

    /**
     * @param {string | { recordName: string, recordChangeTag?: string } | (string | { recordName: string, recordChangeTag?: string })[]} records
     * @returns {Promise<{ hasErrors: boolean, errors: CKError[], records: CKDeletedRecord[] }>}
     */
    deleteRecords(records) {
        return told(async () => {
            /** @type {CKDeletedRecord[]} */
            const deleted = [];
            /** @type {CKError[]} */
            const errors = [];
            for (const given of list(records)) {
                try {
                    const { recordName, recordChangeTag } = named(given);
                    const [there] = await this.#look([recordName]);
                    if (there instanceof CKError) throw there;
                    if (recordChangeTag !== undefined && recordChangeTag !== there.recordChangeTag) throw new CKError('serverRecordChanged', { recordName, serverRecord: there });
                    const { refusal } = await this.#write({ recordName, recordChangeTag }, null);
                    if (refusal) throw new CKError(refusal, { recordName });
                    deleted.push({ recordName, deleted: true });
                } catch (error) {
                    errors.push(asCKError(error, nameOf(given)));
                }
            }
            return { records: deleted, errors, hasErrors: errors.length > 0 };
        });
    }

    /**
     * What an `Asset` is read by: what the field has by now.
     * @param {Pick<import('./asset.mjs').Source, 'recordName' | 'fieldName'>} source
     * @param {'open' | 'blob'} how
     * @param {import('./progress.mjs').ReadOptions} [options]
     * @returns {Promise<Uint8Array | Blob>}
     */
    readAsset({ recordName, fieldName }, how, options) {
        return told(async () => {
            const tell = heardBy(options);
            const [there] = await this.#look([recordName]);
            if (there instanceof CKError) throw there;
            const { account, handle } = await this.#open();
            const reading = beginPublicAsset(account, handle, this.#place, { record: recordName, field: fieldName });
            return (how === 'open' ? openAsset : saveAsset)(account, reading, tell);
        });
    }

    /** @param {import('./progress.mjs').SaveOptions} [options] of each of its calls */
    newRecordsBatch(options) { return new RecordsBatch(this, options); }
}
