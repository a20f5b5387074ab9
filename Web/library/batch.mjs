// Records that are gathered and then sent, in CloudKit JS's shape: one after the other, and not all or nothing.
import { asCKError } from './errors.mjs';
import { list } from './record.mjs';

/**
 * @typedef {import('./record.mjs').CKRecordToSave} CKRecordToSave
 * @typedef {import('./record.mjs').RecordsResponse} RecordsResponse
 * @typedef {import('./errors.mjs').CKError} CKError
 * @typedef {{ recordName: string, recordChangeTag?: string }} ToDelete
 * @typedef {{ saveRecords: (records: CKRecordToSave[], options: any) => Promise<RecordsResponse>, deleteRecords: (records: ToDelete[], options: any) => Promise<{ errors: any[], records: any[] }> }} Target
 */

export class RecordsBatch {
    #database;
    #options;
    /** @type {({ save: CKRecordToSave } | { remove: ToDelete })[]} */
    #steps = [];

    /** @param {Target} database @param {object} [options] of each of its calls: `zoneID` */
    constructor(database, options = {}) {
        this.#database = database;
        this.#options = options;
    }

    /** @param {CKRecordToSave | CKRecordToSave[]} records that are to be made @returns {this} */
    create(records) {
        for (const { recordChangeTag: _, ...rest } of list(records)) this.#steps.push({ save: rest });
        return this;
    }

    /** @param {CKRecordToSave | CKRecordToSave[]} records each with its recordChangeTag @returns {this} */
    update(records) {
        for (const record of list(records)) this.#steps.push({ save: record });
        return this;
    }

    /** @param {CKRecordToSave | CKRecordToSave[]} records @returns {this} */
    createOrUpdate(records) {
        for (const record of list(records)) {
            if (record.recordChangeTag === undefined) this.create(record); else this.update(record);
        }
        return this;
    }

    /** @param {string | ToDelete | (string | ToDelete)[]} records @returns {this} */
    delete(records) {
        for (const record of list(records)) this.#steps.push({ remove: typeof record === 'string' ? { recordName: record } : record });
        return this;
    }

    /** @param {string | ToDelete | (string | ToDelete)[]} records that go whatever they are by now @returns {this} */
    forceDelete(records) { return this.delete(list(records).map(record => typeof record === 'string' ? record : { recordName: record.recordName })); }

    /**
     * Where nothing can be sent any more, as without a network, it ends there: that is the last of `errors`, and what was not sent stays in the
     * batch, for the next `commit`.
     * @returns {Promise<RecordsResponse & { deleted: { recordName: string, deleted: true }[] }>}
     * @throws {CKError} where nothing of it could be sent
     */
    async commit() {
        /** @type {any[]} */
        const [records, deleted, errors] = [[], [], []];
        const steps = this.#steps.splice(0);
        for (const [place, step] of steps.entries()) {
            try {
                const answer = 'save' in step
                    ? await this.#database.saveRecords([step.save], this.#options) : await this.#database.deleteRecords([step.remove], this.#options);
                ('save' in step ? records : deleted).push(...answer.records);
                errors.push(...answer.errors);
            } catch (error) {
                const failure = asCKError(error, ('save' in step ? step.save : step.remove).recordName);
                // What is wrong with one step holds up no other.
                if (failure.ckErrorCode !== 'BAD_REQUEST') {
                    // What was gathered meanwhile comes after it.
                    this.#steps.unshift(...steps.slice(place));
                    if (records.length + deleted.length + errors.length === 0) throw failure;
                    errors.push(failure);
                    break;
                }
                errors.push(failure);
            }
        }
        return { records, deleted, errors, hasErrors: errors.length > 0 };
    }
}
