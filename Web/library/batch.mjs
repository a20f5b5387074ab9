// Records that are gathered and then sent, in CloudKit JS's shape: one after the other, and not all or nothing.
import { asCKError } from './errors.mjs';

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

    /** @param {CKRecordToSave} record one that is to be made @returns {this} */
    create(record) {
        const { recordChangeTag: _, ...rest } = record;
        this.#steps.push({ save: rest });
        return this;
    }

    /** @param {CKRecordToSave} record with its recordChangeTag @returns {this} */
    update(record) {
        this.#steps.push({ save: record });
        return this;
    }

    /** @param {CKRecordToSave} record @returns {this} */
    createOrUpdate(record) { return record.recordChangeTag === undefined ? this.create(record) : this.update(record); }

    /** @param {string | ToDelete} record @returns {this} */
    delete(record) {
        this.#steps.push({ remove: typeof record === 'string' ? { recordName: record } : record });
        return this;
    }

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
