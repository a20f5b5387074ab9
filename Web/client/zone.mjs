// A share's records: read, opened and changed. What is believed, signed and shown is the module's to say.
import { micros } from './account.mjs';
import { largestAsset } from './media.mjs';
import { ServerError } from './server.mjs';
import { readValue, writeValue } from './values.mjs';

const batch = 200;
const editCourses = ['stored', 'goesOn', 'changed', 'deleted'];
// What goes with a deletion comes with the answer that refuses it: up to 16 MiB.
const mostOfEdit = 24 << 20;
// What is sent again by itself: more than a busy share needs.
const mostRounds = 8;
const changeKinds = { plain: 0, sealed: 1, removed: 2 };

export class Zone {
    #account;
    #handle;
    #database;

    /**
     * @param {import('./account.mjs').Account} account
     * @param {number} handle the module's
     * @param {{ container: string, environment: string, database: string }} database where it is
     */
    constructor(account, handle, database) {
        this.#account = account;
        this.#handle = handle;
        this.#database = database;
    }

    #ask(...operation) { return this.#account.ask(...operation); }
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

    /**
     * Reads what has changed since the last time, all of it.
     * @returns {Promise<{ count: number, mayWrite: boolean }>} how many records there are to show, and whether they may be changed
     */
    async fetchRecords() {
        await this.fetchRosters();
        for (let hasStartedOver = false; ;) {
            let answer;
            try {
                answer = await this.#call('records/changes', this.#account.handle('changesRequest', this.#handle).blob(), this.#database);
            } catch (error) {
                if (error.code !== 'changeTokenExpired' || hasStartedOver) throw error;
                hasStartedOver = true;
                this.#account.handle('startOver', this.#handle);
                continue;
            }
            let taken;
            for (;;) {
                taken = this.#ask('changesAnswer', writer => writer.u32(this.#handle).blob(answer));
                const course = taken.byte();
                if (course === 2) return { count: taken.u32(), mayWrite: taken.flag() };
                if (course === 1) break;
                await this.fetchRosters();
            }
        }
    }

    /** @returns some of the records, from one on: opened */
    records({ first, count = batch }) {
        return this.#ask('records', writer => writer.u32(this.#handle).u32(first).u32(count)).list(readRecord);
    }

    /**
     * @param {{ record: string, field: string }} asset
     * @returns {Promise<Uint8Array>} its bytes
     */
    async openAsset({ record, field }) {
        const place = this.#ask('assetPlace', writer => writer.u32(this.#handle).string(record).string(field));
        const path = { owner: place.string(), zone: place.string(), id: place.string(), ...this.#database };
        // The signed record says how large it is.
        if (place.u64() > BigInt(largestAsset)) throw new ServerError({ code: 'limitExceeded' });
        const blob = await this.#call('assets/download', undefined, path, Number(place.u64()));
        return this.#ask('openAsset', writer => writer.u32(this.#handle).string(record).string(field).blob(blob)).blob().slice();
    }

    // Changes

    /** @returns {{ edit: number }} a change of a record, which starts from what is shown now */
    beginEdit({ record }) {
        return { edit: this.#ask('beginEdit', writer => writer.u32(this.#handle).string(record)).u32() };
    }

    /** @returns {{ edit: number, name: string }} a record that is to be made; its name is drawn where none is given */
    newRecord({ type, name = '' }) {
        const answer = this.#ask('newRecord', writer => writer.u32(this.#handle).string(type).string(name));
        return { edit: answer.u32(), name: answer.string() };
    }

    /**
     * @param {{ edit: number, record: string, changes: { name: string, to: 'plain' | 'sealed' | 'removed', value?: object }[] }} change
     * @returns {Promise<'stored' | 'changed' | 'deleted'>} what became of it; but for the first it is the reader's to say what now
     */
    save({ edit, record, changes }) {
        return this.#edit(edit, record, edit => this.#ask('saveRequest', writer => writer.u32(this.#handle).u32(edit)
            .list(changes, (writer, { name, to, value }) =>
                writer.string(name).byte(changeKinds[to]).blob(value ? writeValue(value) : new Uint8Array(0)))
            .i64(micros())));
    }

    /** @returns {Promise<'stored' | 'changed' | 'deleted'>} as of `save` */
    remove({ edit, record }) {
        return this.#edit(edit, record, edit => this.#ask('deleteRequest', writer => writer.u32(this.#handle).u32(edit).i64(micros())));
    }

    /** Each round goes by the newest roster; what may go again by itself does. */
    async #edit(edit, record, write) {
        for (let round = 1; ; round++) {
            this.#ask('refreshForEdit', writer => writer.u32(this.#handle).u32(edit));
            await this.fetchRosters();
            let course;
            try {
                const request = write(edit).blob();
                const answer = await this.#call('records/modify', request, this.#database, mostOfEdit);
                course = this.#ask('editAnswer', writer => writer.u32(this.#handle).u32(edit).blob(answer)).byte();
            } catch (error) {
                if (!this.#ask('editRefused', writer => writer.string(error.code ?? '').byte(round)).flag()) throw error;
                continue;
            }
            if (course === 2) {
                if (round >= mostRounds) throw new ServerError({ code: 'keepsChanging' });
                continue;
            }
            await this.fetchRecords();
            if (course === 0) {
                this.#ask('editShown', writer => writer.u32(this.#handle).u32(edit));
                this.#account.handle('forget', edit);
                return 'stored';
            }
            const outcome = editCourses[this.#ask('editCourse', writer => writer.u32(this.#handle).u32(edit)).byte()];
            if (outcome !== 'goesOn') return outcome;
            if (round >= mostRounds) throw new ServerError({ code: 'keepsChanging' });
            ({ edit } = this.beginEdit({ record }));
        }
    }
}

export function readRecord(reader) {
    return {
        name: reader.string(), refusal: reader.string(), type: reader.string(), author: reader.string(),
        modified: Number(reader.i64() / 1000n),
        fields: reader.list(readField),
    };
}

function readField(reader) {
    const name = reader.string();
    const kind = reader.byte();
    if (kind === 2) return { name, asset: Number(reader.u64()) };
    if (kind === 3) return { name };
    return { name, isSealed: kind === 1, value: readValue(reader.blob()) };
}
