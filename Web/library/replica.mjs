// One zone as this account sees it: what was verified, by version, so that what has changed can be told.
import { CKError, asCKError, badRequest } from './errors.mjs';
import { changes, shown } from './record.mjs';

/**
 * @typedef {import('./record.mjs').CKRecord} CKRecord
 * @typedef {import('./record.mjs').CKDeletedRecord} CKDeletedRecord
 * @typedef {import('./record.mjs').Opened} Opened
 * @typedef {{ version: number, tag: string, record?: CKRecord, refusal?: string }} Known `tag` is the version's own, and the same at each visit
 */

/** @param {Uint8Array} bytes */
const hex = bytes => [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('');

export class Replica {
    #account;
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

    /** @param {import('./module.mjs').LibraryAccount} account @param {import('../client/zone.mjs').Zone} zone */
    constructor(account, zone) {
        this.#account = account;
        this.#zone = zone;
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

    /** Opens what is new or another version; all else is as it was. */
    #read() {
        const version = this.#version + 1;
        const seen = new Set();
        let hasChanged = false;
        /** @type {{ name: string, refusal: string, tag: string }[]} */
        const versions = this.#account.handle('recordVersions', this.#zone.handle).list((/** @type {import('../client/canonical.mjs').Reader} */ reader) =>
            ({ name: reader.string(), refusal: reader.string(), tag: hex(reader.raw(16)) }));
        for (const [first, { name, refusal, tag }] of versions.entries()) {
            seen.add(name);
            const known = this.#known.get(name);
            if (known && known.tag === tag && (known.refusal ?? '') === refusal) continue;
            /** @type {Opened[]} */
            const [record] = refusal ? [] : this.#zone.records({ first, count: 1 });
            this.#known.set(name, { version, tag, ...this.#told(record, refusal, tag) });
            hasChanged = true;
        }
        for (const [name, known] of this.#known) {
            if (seen.has(name) || !(known.record || known.refusal)) continue;
            this.#known.set(name, { version, tag: '' });
            hasChanged = true;
        }
        if (hasChanged) this.#version = version;
    }

    /** @param {Opened | undefined} record @param {string} refusal @param {string} tag */
    #told(record, refusal, tag) {
        const why = refusal || record?.refusal || '';
        if (!record || why) return { refusal: why || 'unknownItem' };
        return { record: shown(record, tag, field => this.next(() => this.#openAsset(record.name, field))) };
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
        return this.next(async () => {
            const wanted = changes(record, this.#known.get(record.recordName ?? '')?.record);
            const { recordName = '', recordType, recordChangeTag } = record;
            if (recordChangeTag === undefined) {
                if (!recordType) throw badRequest('A record that is to be made has a recordType.', recordName);
                const there = this.#known.get(recordName)?.record;
                if (there) throw new CKError('exists', { recordName, serverRecord: there, reason: 'There is such a record: give its recordChangeTag to change it.' });
                const { edit, name } = this.#zone.newRecord({ type: recordType, name: recordName });
                return this.#settle(name, await this.sent(edit, () => this.#zone.save({ edit, changes: wanted })));
            }
            this.#requireNewest(recordName, recordChangeTag);
            const { edit } = this.#zone.beginEdit({ record: recordName });
            return this.#settle(recordName, await this.sent(edit, () => this.#zone.save({ edit, changes: wanted })));
        });
    }

    /**
     * @param {{ recordName: string, recordChangeTag?: string }} record
     * @returns {Promise<CKDeletedRecord>}
     */
    remove({ recordName, recordChangeTag }) {
        return this.next(async () => {
            this.#requireNewest(recordName, recordChangeTag);
            const { edit } = this.#zone.beginEdit({ record: recordName });
            const outcome = await this.sent(edit, () => this.#zone.remove({ edit }));
            this.#read();
            if (outcome === 'changed') throw new CKError('serverRecordChanged', { recordName, serverRecord: this.#known.get(recordName)?.record });
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

    /** @param {string} recordName @param {string} [tag] what the app has seen */
    #requireNewest(recordName, tag) {
        const there = this.record(recordName);
        if (there instanceof CKError) throw there;
        if (tag !== undefined && tag !== there.recordChangeTag) throw new CKError('serverRecordChanged', { recordName, serverRecord: there });
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
