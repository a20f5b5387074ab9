// @ts-check
// One zone as this account sees it: what was verified, by version, so that what has changed can be told.
import { CKError, asCKError, badRequest } from './errors.mjs';
import { changes, shown } from './record.mjs';

/**
 * @typedef {import('./record.mjs').CKRecord} CKRecord
 * @typedef {import('./record.mjs').CKDeletedRecord} CKDeletedRecord
 * @typedef {import('./record.mjs').Opened} Opened
 * @typedef {{ version: number, text: string, record?: CKRecord, refusal?: string }} Known
 */

const page = 200;

export class Replica {
    /** @type {import('../client/zone.mjs').Zone} */
    #zone;
    /** @type {Map<string, Known>} by name; without record and refusal one that is gone */
    #known = new Map();
    #version = 0;
    /** @type {Promise<unknown>} */
    #last = Promise.resolve();
    /** Of this replica: tokens of another one, as of a page that was loaded before, begin anew. */
    #id = crypto.randomUUID();
    mayWrite = false;

    /** @param {import('../client/zone.mjs').Zone} zone */
    constructor(zone) { this.#zone = zone; }

    /**
     * One after the other: an answer that was asked for before a record was saved is older than what is known by then.
     * @template T
     * @param {() => Promise<T>} body
     * @returns {Promise<T>}
     */
    #next(body) {
        const next = this.#last.then(body, body);
        this.#last = next.catch(() => undefined);
        return next;
    }

    /** Reads what has changed. @returns {Promise<void>} */
    refresh() { return this.#next(() => this.#refresh()); }

    async #refresh() {
        const { count, mayWrite } = await this.#zone.fetchRecords();
        this.mayWrite = mayWrite;
        this.#read(count);
    }

    /** @param {number} [count] how many there are; until no more come where it is not known */
    #read(count = Infinity) {
        const version = this.#version + 1;
        const seen = new Set();
        for (let first = 0; first < count;) {
            /** @type {Opened[]} */
            const part = this.#zone.records({ first, count: page });
            if (part.length === 0) break;
            first += part.length;
            for (const record of part) {
                seen.add(record.name);
                this.#note(record, version);
            }
        }
        for (const [name, known] of this.#known) {
            if (!seen.has(name) && (known.record || known.refusal)) this.#known.set(name, { version, text: '' });
        }
        if ([...this.#known.values()].some(known => known.version === version)) this.#version = version;
    }

    /** @param {Opened} record @param {number} version */
    #note(record, version) {
        const text = JSON.stringify(record, (_, value) => value instanceof Uint8Array ? [...value].join() : value);
        if (this.#known.get(record.name)?.text === text) return;
        const known = record.refusal !== ''
            ? { refusal: record.refusal }
            : { record: shown(record, String(version), field => this.#next(() => this.#openAsset(record.name, field))) };
        this.#known.set(record.name, { version, text, ...known });
    }

    /** @param {string} record @param {string} field @returns {Promise<Uint8Array>} */
    async #openAsset(record, field) {
        try {
            return await this.#zone.openAsset({ record, field });
        } catch (error) {
            throw asCKError(error, record);
        }
    }

    /** Of what verifies, those that there are, by name. @returns {CKRecord[]} */
    get records() { return [...this.#known.values()].flatMap(({ record }) => record ?? []); }

    /** What the server has and this machine does not believe. @returns {CKError[]} */
    get errors() {
        return [...this.#known].flatMap(([recordName, { refusal }]) => refusal ? new CKError(refusal, { recordName }) : []);
    }

    /** @param {string} name @returns {CKRecord | CKError} */
    record(name) {
        const known = this.#known.get(name);
        return known?.record ?? new CKError(known?.refusal ?? 'unknownItem', { recordName: name });
    }

    get syncToken() { return `${this.#id}:${this.#version}`; }

    /**
     * @param {string} [token] of this replica; any other begins anew
     * @returns {(CKRecord | CKDeletedRecord)[]} what has changed since, oldest change first
     */
    changes(token = '') {
        const [id, number] = token.split(':');
        const since = id === this.#id ? Number(number) : 0;
        return [...this.#known].filter(([, { version, refusal }]) => version > since && !refusal)
            .sort(([, one], [, other]) => one.version - other.version)
            // What came and went before anybody asked was never there.
            .flatMap(([recordName, { record }]) => record ?? (since > 0 ? /** @type {CKDeletedRecord} */ ({ recordName, deleted: true }) : []));
    }

    /**
     * @param {import('./record.mjs').CKRecordToSave} record without a tag one that is to be made
     * @returns {Promise<CKRecord>}
     */
    save(record) {
        return this.#next(async () => {
            const wanted = changes(record);
            const { recordName = '', recordType, recordChangeTag } = record;
            if (recordChangeTag === undefined) {
                if (!recordType) throw badRequest('A record that is to be made has a recordType.', recordName);
                const there = this.#known.get(recordName)?.record;
                if (there) throw new CKError('exists', { recordName, serverRecord: there, reason: 'There is such a record: give its recordChangeTag to change it.' });
                const { edit, name } = this.#zone.newRecord({ type: recordType, name: recordName });
                return this.#settle(name, await this.#zone.save({ edit, record: name, changes: wanted }));
            }
            this.#requireNewest(recordName, recordChangeTag);
            const { edit } = this.#zone.beginEdit({ record: recordName });
            return this.#settle(recordName, await this.#zone.save({ edit, record: recordName, changes: wanted }));
        });
    }

    /**
     * @param {{ recordName: string, recordChangeTag?: string }} record
     * @returns {Promise<CKDeletedRecord>}
     */
    remove({ recordName, recordChangeTag }) {
        return this.#next(async () => {
            this.#requireNewest(recordName, recordChangeTag);
            const { edit } = this.#zone.beginEdit({ record: recordName });
            const outcome = await this.#zone.remove({ edit, record: recordName });
            this.#read();
            if (outcome === 'changed') throw new CKError('changed', { recordName, serverRecord: this.#known.get(recordName)?.record });
            return { recordName, deleted: true };
        });
    }

    /** @param {string} recordName @param {string} [tag] what the app has seen */
    #requireNewest(recordName, tag) {
        const there = this.record(recordName);
        if (there instanceof CKError) throw there;
        if (tag !== undefined && tag !== there.recordChangeTag) throw new CKError('changed', { recordName, serverRecord: there });
    }

    /** @param {string} recordName @param {'stored' | 'changed' | 'deleted'} outcome @returns {CKRecord} */
    #settle(recordName, outcome) {
        this.#read();
        const there = this.record(recordName);
        if (outcome === 'stored' && !(there instanceof CKError)) return there;
        if (outcome === 'deleted' || there instanceof CKError) throw new CKError('deleted', { recordName });
        throw new CKError('changed', { recordName, serverRecord: there });
    }
}
