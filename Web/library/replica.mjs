// One zone as this account sees it: what was verified, by version, so that what has changed can be told.
import { hex } from '../client/canonical.mjs';
import { readRecord } from '../client/zone.mjs';
import { Asset } from './asset.mjs';
import { CKError, asCKError, badRequest } from './errors.mjs';
import { heardBy } from './progress.mjs';
import { writeQuery } from './query.mjs';
import { changes, shown } from './record.mjs';

/**
 * @typedef {import('./record.mjs').CKRecord} CKRecord
 * @typedef {import('./record.mjs').CKDeletedRecord} CKDeletedRecord
 * @typedef {import('./record.mjs').CKRecordToSave} CKRecordToSave
 * @typedef {import('./record.mjs').Change} Change
 * @typedef {import('./record.mjs').Opened} Opened
 * @typedef {import('./asset.mjs').Source} Source
 * @typedef {import('../client/canonical.mjs').Reader} Reader
 * @typedef {import('../client/canonical.mjs').Writer} Writer
 * @typedef {{ version: number, tag: string, isThere: boolean, refusal: string, closed?: string }} Known `tag` is the version's own, and the same at each
 *     visit; `closed`: why it did not open when it was tried last
 */

// What is opened at once.
const batch = 200;

export class Replica {
    #account;
    /** @type {import('../client/zone.mjs').Zone} */
    #zone;
    #place;
    #keeping;
    /** @type {Map<string, Known>} by name; of what is gone, too */
    #known = new Map();
    #version = 0;
    /** @type {Promise<unknown>} */
    #last = Promise.resolve();
    /** Of this replica: tokens of another one, as of a page that was loaded before, have expired. */
    #id = crypto.randomUUID();
    mayWrite = false;

    /**
     * @param {import('./module.mjs').LibraryAccount} account
     * @param {import('../client/zone.mjs').Zone} zone
     * @param {{ scope: 'private' | 'shared', zoneID: import('./record.mjs').CKZoneID }} place
     * @param {import('./keeping.mjs').Keeping} [keeping] where what was verified is kept for the next visit
     */
    constructor(account, zone, place, keeping) {
        this.#account = account;
        this.#zone = zone;
        this.#place = place;
        this.#keeping = keeping;
    }

    get zone() { return this.#zone; }

    /**
     * One after the other: an answer that was asked for before a record was saved is older than what is known by then.
     * @template T
     * @param {() => Promise<T>} body
     * @returns {Promise<T>}
     */
    next(body) {
        const next = this.#last.then(body, body);
        this.#last = next.catch(() => undefined);
        return next;
    }

    /** Reads what has changed. @returns {Promise<void>} */
    refresh() { return this.next(() => this.#refresh()); }

    async #refresh() {
        ({ mayWrite: this.mayWrite } = await this.#zone.fetchRecords());
        this.#read();
    }

    /** Takes in which records are new, another version, or gone: nothing is opened before somebody asks for it. */
    #read() {
        const version = this.#version + 1;
        const news = this.#account.handle('recordNews', this.#zone.handle).list((/** @type {Reader} */ reader) =>
            ({ name: reader.string(), isThere: reader.flag(), refusal: reader.string(), tag: hex(reader.raw(16)) }));
        for (const { name, ...known } of news) this.#known.set(name, { version, ...known });
        if (news.length > 0) this.#version = version;
    }

    /** @param {string[]} names of records that are known @returns {(CKRecord | CKError)[]} */
    #open(names) {
        /** @type {(CKRecord | CKError)[]} */
        const opened = [];
        for (let first = 0; first < names.length; first += batch) {
            const some = names.slice(first, first + batch);
            /** @type {Opened[]} */
            const records = this.#account.ask('namedRecords', (/** @type {Writer} */ writer) => writer.u32(this.#zone.handle)
                .list(some, (/** @type {Writer} */ writer, /** @type {string} */ name) => writer.string(name))).list(readRecord);
            for (const record of records) opened.push(this.#shown(record));
        }
        return opened;
    }

    /** @param {Opened} record @returns {CKRecord | CKError} */
    #shown(record) {
        const known = this.#known.get(record.name);
        // Its key has come since: whoever asks what has changed has not seen it.
        if (known?.closed && !record.refusal) known.version = ++this.#version;
        // It is believed, and does not open: what is missing may come later.
        if (known) known.closed = record.refusal;
        if (record.refusal) return new CKError(record.refusal, { recordName: record.name });
        return shown(record, known?.tag ?? '', (fieldName, size) => this.#asset(record.name, fieldName, size));
    }

    /** What the server has and this machine does not believe. @returns {CKError[]} */
    get errors() {
        return [...this.#known].flatMap(([recordName, { isThere, refusal, closed }]) => {
            const why = refusal || closed;
            return isThere && why ? new CKError(why, { recordName }) : [];
        });
    }

    /** @param {string[]} names @returns {(CKRecord | CKError)[]} */
    records(names) {
        const outcomes = names.map(name => {
            const known = this.#known.get(name);
            return known?.isThere && !known.refusal ? undefined : new CKError(known?.refusal || 'unknownItem', { recordName: name });
        });
        const opened = this.#open(names.filter((_, index) => !outcomes[index])).values();
        return outcomes.map(outcome => outcome ?? /** @type {CKRecord | CKError} */ (opened.next().value));
    }

    /** @param {string} name @returns {CKRecord | CKError} */
    record(name) { return this.records([name])[0]; }

    /** @param {string} name @returns {CKRecord | undefined} */
    #there(name) {
        const there = this.record(name);
        return there instanceof CKError ? undefined : there;
    }

    /** @param {import('./query.mjs').Checked} query @returns {string[]} names of the records that it asks for, in its order */
    matching(query) {
        return this.#account.ask('queryRecords', (/** @type {Writer} */ writer) => writeQuery(writer.u32(this.#zone.handle), query))
            .list((/** @type {Reader} */ reader) => reader.string());
    }

    get syncToken() { return `${this.#id}:${this.#version}`; }

    /**
     * @param {string} [token] of this replica; without one all that there is
     * @returns {(CKRecord | CKDeletedRecord)[]} what has changed since, oldest change first
     * @throws {CKError} `changeTokenExpired` for any other: what has gone since then nobody could tell
     */
    changes(token) {
        const [id, number] = token ? token.split(':') : [this.#id, '0'];
        const since = Number(number);
        if (id !== this.#id || !(since >= 0 && since <= this.#version)) {
            throw new CKError('changeTokenExpired', { reason: 'The syncToken is of another visit.', remedy: 'Fetch without one, and take what comes for all that there is.' });
        }
        const changed = [...this.#known].filter(([, { version, refusal, isThere, closed }]) => !refusal && (version > since ? isThere || since > 0 : closed))
            .sort(([, one], [, other]) => one.version - other.version);
        const opened = this.#open(changed.flatMap(([name, { isThere }]) => isThere ? name : [])).values();
        // What came and went before anybody asked was never there.
        return changed.flatMap(([recordName, { isThere }]) => {
            const record = isThere ? opened.next().value : /** @type {CKDeletedRecord} */ ({ recordName, deleted: true });
            return record instanceof CKError ? [] : record;
        });
    }

    // Files

    /** @param {string} recordName @param {string} fieldName @param {number} size */
    #asset(recordName, fieldName, size) {
        return new Asset(size, { ...this.#place, recordName, fieldName }, async (source, how, options) => this.readAsset(source, how, heardBy(options)));
    }

    /**
     * @param {Pick<Source, 'recordName' | 'fieldName'>} source
     * @param {'open' | 'blob'} how
     * @param {import('../client/assets.mjs').Progress} tell
     * @returns {Promise<Uint8Array | Blob>} what the field has by now
     */
    async readAsset({ recordName, fieldName }, how, tell) {
        const place = { record: recordName, field: fieldName };
        try {
            // It takes its time, and nothing waits for it.
            return await (how === 'open' ? this.#zone.openAsset(place, tell) : this.#zone.saveAsset(place, tell));
        } catch (error) {
            throw asCKError(error, recordName);
        }
    }

    // Changes

    /**
     * Keeps what was verified with changes (`save`, `remove`): before anything of them is shown.
     * @returns {Promise<void>}
     */
    keep() { return this.next(async () => this.#keeping?.flush()); }

    /** @template T @param {() => Promise<T>} body @returns {Promise<T>} */
    #held(body) { return this.#keeping ? this.#keeping.held(body) : body(); }

    /**
     * Whoever calls it calls `keep` as well.
     * @param {CKRecordToSave} record without a tag one that is to be made
     * @param {import('./progress.mjs').Heard} tell
     * @returns {Promise<CKRecord>}
     */
    async save(record, tell) {
        const first = await this.next(async () => {
            const wanted = this.#wanted(record);
            return wanted.some(({ file }) => file) ? { wanted } : { saved: await this.#save(record, wanted) };
        });
        return first.saved ?? this.#saveWithFiles(record, first.wanted ?? [], tell);
    }

    /**
     * Files take their time, and nothing waits for them.
     * @param {CKRecordToSave} record
     * @param {Change[]} wanted
     * @param {import('./progress.mjs').Heard} tell
     * @returns {Promise<CKRecord>}
     */
    async #saveWithFiles(record, wanted, tell) {
        if (!this.mayWrite) throw new CKError('mayOnlyRead', { recordName: record.recordName });
        /** @type {Change[]} */
        const sent = [];
        try {
            for (const { name, to, file } of wanted) {
                if (!file) continue;
                const { upload } = await this.#zone.upload({ file }, tell(record.recordName, name));
                sent.push({ name, to, upload });
            }
            return await this.next(async () => {
                // Others may have been faster.
                const rest = this.#wanted(record).filter(({ file }) => !file);
                return this.#save(record, [...rest, ...sent]);
            });
        } finally {
            for (const { upload = 0 } of sent) this.#account.handle('forget', upload);
        }
    }

    /**
     * What is to change of it: no file is sent for what could not be saved.
     * @param {CKRecordToSave} record
     * @returns {Change[]}
     */
    #wanted(record) {
        // What a look at the share has read, or a reading that broke off: a change begins with the newest that there is here.
        this.#read();
        const { recordName = '', recordType, recordChangeTag } = record;
        if (recordChangeTag !== undefined) return changes(record, this.#requireNewest(recordName, recordChangeTag));
        if (!recordType) throw badRequest('A record that is to be made has a recordType.', recordName);
        const there = this.#there(recordName);
        if (there) throw new CKError('exists', { recordName, serverRecord: there, reason: 'There is such a record: give its recordChangeTag to change it.' });
        return changes(record);
    }

    /** @param {CKRecordToSave} record @param {Change[]} wanted @returns {Promise<CKRecord>} */
    async #save(record, wanted) {
        const { recordName = '', recordType = '', recordChangeTag } = record;
        const { edit, name = recordName } = recordChangeTag === undefined
            ? this.#zone.newRecord({ type: recordType, name: recordName }) : { ...this.#zone.beginEdit({ record: recordName }), name: recordName };
        try {
            return this.#settle(name, await this.#held(() => this.sent(edit, () => this.#zone.save({ edit, changes: wanted }))));
        } catch (error) {
            // It may be stored by now: whoever tries again does so by the name that was drawn.
            throw asCKError(error, name);
        }
    }

    /**
     * Whoever calls it calls `keep` as well.
     * @param {{ recordName: string, recordChangeTag?: string }} record
     * @returns {Promise<CKDeletedRecord>}
     */
    remove({ recordName, recordChangeTag }) {
        return this.next(async () => {
            this.#read();
            this.#requireNewest(recordName, recordChangeTag);
            const { edit } = this.#zone.beginEdit({ record: recordName });
            const outcome = await this.#held(() => this.sent(edit, () => this.#zone.remove({ edit })));
            this.#read();
            if (outcome === 'changed') throw new CKError('serverRecordChanged', { recordName, serverRecord: this.#there(recordName) });
            return { recordName, deleted: true };
        });
    }

    /**
     * Nobody sends a change again that has failed here.
     * @template T
     * @param {number} edit
     * @param {() => Promise<T>} send
     */
    async sent(edit, send) {
        try {
            return await send();
        } catch (error) {
            this.#zone.endEdit({ edit });
            throw error;
        }
    }

    /** @param {string} recordName @param {string} [tag] what the app has seen @returns {CKRecord} what is there */
    #requireNewest(recordName, tag) {
        const there = this.record(recordName);
        if (there instanceof CKError) throw there;
        if (tag !== undefined && tag !== there.recordChangeTag) throw new CKError('serverRecordChanged', { recordName, serverRecord: there });
        return there;
    }

    /** @param {string} recordName @param {'stored' | 'changed' | 'deleted'} outcome @returns {CKRecord} */
    #settle(recordName, outcome) {
        this.#read();
        const there = this.record(recordName);
        if (outcome === 'stored' && !(there instanceof CKError)) return there;
        if (outcome === 'deleted' || there instanceof CKError) throw new CKError('deleted', { recordName });
        throw new CKError('serverRecordChanged', { recordName, serverRecord: there });
    }
}
