// Records that are gathered and then sent, in CloudKit JS's shape: one after the other, and not all or nothing.

/**
 * @typedef {import('./record.mjs').CKRecordToSave} CKRecordToSave
 * @typedef {import('./record.mjs').RecordsResponse} RecordsResponse
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

    /** @returns {Promise<RecordsResponse & { deleted: { recordName: string, deleted: true }[] }>} */
    async commit() {
        /** @type {any[]} */
        const [records, deleted, errors] = [[], [], []];
        for (const step of this.#steps.splice(0)) {
            const answer = 'save' in step
                ? await this.#database.saveRecords([step.save], this.#options) : await this.#database.deleteRecords([step.remove], this.#options);
            ('save' in step ? records : deleted).push(...answer.records);
            errors.push(...answer.errors);
        }
        return { records, deleted, errors, hasErrors: errors.length > 0 };
    }
}
