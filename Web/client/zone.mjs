// A share's records: read, opened and changed. What is believed, signed and shown is the module's to say.
import { micros } from './account.mjs';
import { beginAsset, beginUpload, openAsset, saveAsset, upload } from './assets.mjs';
import { Writer } from './canonical.mjs';
import { codeOf } from './failure.mjs';
import { ServerError } from './server.mjs';
import { readValue, writeValue } from './values.mjs';

/**
 * @typedef {import('./canonical.mjs').Reader} Reader
 * @typedef {import('./values.mjs').Value} Value
 * @typedef {{ name: string, isSealed?: boolean, value?: Value, asset?: number }} OpenedField `asset` in bytes; without value and asset one that
 *     is not shown
 * @typedef {{ name: string, refusal: string, type: string, author: string, modified: number, fields: OpenedField[] }} OpenedRecord `refusal` is
 *     empty for what verifies; `modified` in milliseconds since 1970
 * @typedef {{ name: string, to: 'plain' | 'sealed' | 'removed' | 'file', value?: Value, upload?: number }} Change what becomes of a field
 * @typedef {'stored' | 'changed' | 'deleted'} Outcome
 * @typedef {{ count: number, mayWrite: boolean, hasNews: boolean }} Fetched
 */

const batch = 200;
const editCourses = /** @type {const} */ (['stored', 'goesOn', 'changed', 'deleted']);
// What goes with a deletion comes with the answer that refuses it: up to 16 MiB.
const mostOfEdit = 24 << 20;
/** Of records that are asked for by name the server sends up to 48 MiB at once. */
export const mostOfLookup = 50 << 20;
// What is sent again by itself: more than a busy share needs.
const mostRounds = 8;
/** By the module's numbers. */
const changeKinds = { plain: 0, sealed: 1, removed: 2, file: 3 };
const feedCourses = { needsRosters: 0, isMoreComing: 1, isWhole: 2, misses: 3 };

export class Zone {
    #account;
    #handle;
    #database;
    #remember;

    /**
     * @param {import('./account.mjs').Account} account
     * @param {number} handle the module's
     * @param {import('./assets.mjs').Database} database where it is
     * @param {() => Promise<unknown>} [remember] keeps what was verified
     */
    constructor(account, handle, database, remember) {
        this.#account = account;
        this.#handle = handle;
        this.#database = database;
        this.#remember = remember;
    }

    /** @param {Parameters<import('./account.mjs').Account['ask']>} operation */
    #ask(...operation) { return this.#account.ask(...operation); }
    /** @param {Parameters<import('./account.mjs').Account['call']>} call */
    #call(...call) { return this.#account.call(...call); }

    get handle() { return this.#handle; }

    async fetchRosters() {
        for (;;) {
            const request = this.#account.handle('rosterRequest', this.#handle);
            if (!request.flag()) return;
            const answer = await this.#call('rosters/fetch', request.blob(), this.#database);
            this.#ask('rosterAnswer', writer => writer.u32(this.#handle).blob(answer));
        }
    }

    /** The newest roster of its share, also where it was asked for before. */
    async refreshRoster() {
        this.#account.handle('shareRefresh', this.#handle);
        await this.fetchRosters();
    }

    /**
     * Reads what has changed since the last time, all of it.
     * @returns {Promise<Fetched>} how many records there are to show, whether they may be
     *     changed, and whether something has come since they were read from the first one on
     */
    async fetchRecords() {
        try {
            return await this.#fetchRecords();
        } finally {
            // Before anything of it is shown; and what was verified before something else was refused, too.
            await this.#remember?.();
        }
    }

    /** @returns {Promise<Fetched>} */
    async #fetchRecords() {
        await this.fetchRosters();
        /** @type {'changes' | 'lookup'} */
        let name = 'changes';
        let hasStartedOver = false;
        for (;;) {
            /** @type {Uint8Array} */
            let answer;
            try {
                answer = await this.#call(`records/${name}`, this.#account.handle(`${name}Request`, this.#handle).blob(), this.#database, name === 'lookup' ? mostOfLookup : undefined);
            } catch (error) {
                if (codeOf(error) !== 'changeTokenExpired' || hasStartedOver) throw error;
                hasStartedOver = true;
                this.#account.handle('startOver', this.#handle);
                name = 'changes';
                continue;
            }
            let course;
            for (;;) {
                const taken = this.#ask(`${name}Answer`, writer => writer.u32(this.#handle).blob(answer));
                course = taken.byte();
                if (course === feedCourses.isWhole) return { count: taken.u32(), mayWrite: taken.flag(), hasNews: taken.flag() };
                if (course !== feedCourses.needsRosters) break;
                await this.fetchRosters();
            }
            // What was seen before and has not come is asked for by name.
            name = course === feedCourses.misses ? 'lookup' : 'changes';
        }
    }

    /** @param {{ first: number, count?: number }} range @returns some of the records, from one on: opened */
    records({ first, count = batch }) {
        return this.#ask('records', writer => writer.u32(this.#handle).u32(first).u32(count)).list(readRecord);
    }

    /** @returns {(OpenedRecord | string)[]} all of them, where they were read before: opened what may be another since, of the rest the name */
    news() { return this.#ask('news', writer => writer.u32(this.#handle)).list(reader => reader.flag() ? readRecord(reader) : reader.string()); }

    /** @param {{ name: string }} record @returns {OpenedRecord | null} one of them; null where it is not there */
    record({ name }) {
        const answer = this.#ask('record', writer => writer.u32(this.#handle).string(name));
        return answer.flag() ? readRecord(answer) : null;
    }

    /**
     * @param {import('./assets.mjs').AssetPlace} asset
     * @param {import('./assets.mjs').Progress} tell
     * @returns {Promise<Uint8Array>} its bytes
     */
    openAsset(asset, tell) { return openAsset(this.#account, beginAsset(this.#account, this.#handle, this.#database, asset), tell); }

    /**
     * @param {import('./assets.mjs').AssetPlace} asset
     * @param {import('./assets.mjs').Progress} tell
     * @returns {Promise<Blob>} the same of any size, in no memory of the module
     */
    saveAsset(asset, tell) { return saveAsset(this.#account, beginAsset(this.#account, this.#handle, this.#database, asset), tell); }

    /**
     * @param {{ file: Blob }} file
     * @param {import('./assets.mjs').Progress} tell
     * @returns {Promise<{ upload: number }>} it for a change (`save`), which its bytes are there before
     */
    upload({ file }, tell) { return upload(this.#account, beginUpload(this.#account, this.#handle, this.#database, file), file, tell); }

    /** Leaves the share. @returns {Promise<void>} */
    async leave() {
        for (let round = 1; ; round++) {
            await this.refreshRoster();
            const request = this.#ask('leaveRequest', writer => writer.u32(this.#handle).i64(micros()));
            // Another device has left it already, or somebody has taken the account out.
            if (!request.flag()) return;
            try {
                await this.#call('rosters/append', request.blob(), this.#database);
                return;
            } catch (error) {
                if (!this.#ask('editRefused', writer => writer.string(codeOf(error)).byte(round)).flag()) throw error;
            }
        }
    }

    // Changes

    /** @param {{ record: string }} record @returns {{ edit: number }} a change of a record, which starts from what is shown now */
    beginEdit({ record }) {
        return { edit: this.#ask('beginEdit', writer => writer.u32(this.#handle).string(record)).u32() };
    }

    /** @param {{ record: string }} record @returns {{ edit: number, record: OpenedRecord } | null} the same, with what it starts from; null where it is not there any more */
    begin({ record }) {
        const there = this.record({ name: record });
        if (there === null) return null;
        // It is there, and does not verify: nobody has deleted it.
        if (there.refusal !== '') throw new ServerError({ code: there.refusal });
        return { ...this.beginEdit({ record }), record: there };
    }

    /**
     * Nothing comes of a change any more.
     * @param {{ edit: number }} change
     */
    endEdit({ edit }) { this.#account.handle('forget', edit); }

    /** @param {{ type: string, name?: string }} record @returns {{ edit: number, name: string }} a record that is to be made; its name is drawn where none is given */
    newRecord({ type, name = '' }) {
        const answer = this.#ask('newRecord', writer => writer.u32(this.#handle).string(type).string(name));
        return { edit: answer.u32(), name: answer.string() };
    }

    /**
     * @param {{ edit: number, changes: Change[] }} change
     * @returns {Promise<Outcome>} what became of it, with which the change has ended; but for the first it is the
     *     reader's to say what now. Where it throws, the same change may be sent again.
     */
    save({ edit, changes }) {
        return this.#edit(edit, () => this.#ask('saveRequest', writer => writer.u32(this.#handle).u32(edit)
            .list(changes, writeChange).i64(micros())));
    }

    /** @param {{ edit: number }} change @returns {Promise<Outcome>} as of `save` */
    remove({ edit }) {
        return this.#edit(edit, () => this.#ask('deleteRequest', writer => writer.u32(this.#handle).u32(edit).i64(micros())));
    }

    /**
     * Each round goes by the newest roster; what may go again by itself does.
     * @param {number} edit
     * @param {() => Reader} write
     * @returns {Promise<Outcome>}
     */
    async #edit(edit, write) {
        for (let round = 1; ; round++) {
            this.#ask('refreshForEdit', writer => writer.u32(this.#handle).u32(edit));
            await this.fetchRosters();
            let course;
            try {
                const request = write().blob();
                const answer = await this.#call('records/modify', request, this.#database, mostOfEdit);
                course = this.#ask('editAnswer', writer => writer.u32(this.#handle).u32(edit).blob(answer)).byte();
            } catch (error) {
                if (!this.#ask('editRefused', writer => writer.string(codeOf(error)).byte(round)).flag()) throw error;
                continue;
            }
            if (course === 2) {
                if (round >= mostRounds) throw new ServerError({ code: 'keepsChanging' });
                continue;
            }
            await this.fetchRecords();
            if (course === 0) {
                this.#ask('editShown', writer => writer.u32(this.#handle).u32(edit));
                this.endEdit({ edit });
                return 'stored';
            }
            const outcome = editCourses[this.#ask('editCourse', writer => writer.u32(this.#handle).u32(edit)).byte()];
            if (outcome !== 'goesOn') {
                this.endEdit({ edit });
                if (!outcome) throw new RangeError('no such course');
                return outcome;
            }
            if (round >= mostRounds) throw new ServerError({ code: 'keepsChanging' });
            this.#ask('renewEdit', writer => writer.u32(this.#handle).u32(edit));
        }
    }
}

/** @param {Writer} writer @param {Change} change */
export const writeChange = (writer, { name, to, value, upload }) => writer.string(name).byte(changeKinds[to])
    .blob(to === 'file' ? new Writer().u32(upload ?? 0).bytes : value ? writeValue(value) : new Uint8Array(0));

/** @param {Reader} reader @returns {OpenedRecord} */
export function readRecord(reader) {
    return {
        name: reader.string(), refusal: reader.string(), type: reader.string(), author: reader.string(),
        modified: Number(reader.i64() / 1000n),
        fields: reader.list(readField),
    };
}

/** @param {Reader} reader @returns {OpenedField} */
function readField(reader) {
    const name = reader.string();
    const kind = reader.byte();
    if (kind === 2) return { name, asset: Number(reader.u64()) };
    if (kind === 3) return { name };
    return { name, isSealed: kind === 1, value: readValue(reader.blob()) };
}
