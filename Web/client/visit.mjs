// One visitor and one share: what is asked of the server, and of the module, in which order. Every key is in the module, and so is every
// judgement of what the server answers: this hands bytes from the one to the other.
import { largestAsset } from './media.mjs';
import { Server, ServerError } from './server.mjs';
import { readValue, writeValue } from './values.mjs';

const micros = () => BigInt(Date.now()) * 1000n;
const kinds = { recoveryKey: 1, passphrase: 2, passkey: 3 };
const standings = ['member', 'invited', 'everybody'];
const batch = 200;
const editCourses = ['stored', 'goesOn', 'changed', 'deleted'];
// What goes with a deletion comes with the answer that refuses it: up to 16 MiB.
const mostOfEdit = 24 << 20;
// What is sent again by itself: more than a busy share needs.
const mostRounds = 8;
const changeKinds = { plain: 0, sealed: 1, removed: 2 };

export class Visit {
    #ask;
    #server;
    #origin;
    #url;
    #visitor;
    #identity;
    #container;
    #environment;
    #opening;
    #proof;
    #token = '';
    #key;
    #zone;

    /**
     * @param ask one operation of the module
     * @param {string} origin of the server, as the page has it
     * @param {string} calls what stands before the path of a call; empty for where the page comes from
     */
    constructor(ask, origin, calls) {
        this.#ask = ask;
        this.#origin = origin;
        this.#server = new Server(calls, bytes => {
            const failure = ask('failure', writer => writer.blob(bytes));
            return { code: failure.string(), reason: failure.string(), remedy: failure.string(), wait: failure.u32() };
        });
    }

    // The URL

    /** Nothing is asked of anybody yet. */
    open({ url }) { this.#url = this.#ask('visit', writer => writer.string(url).string(this.#origin)).u32(); }

    /** @returns {Promise<{ hasSeat: boolean }>} whether somebody without an account could take a seat */
    async askForSeat() {
        try {
            await this.#server.call('share/newcomer', this.#handle('newcomerRequest', this.#url).blob());
            return { hasSeat: true };
        } catch (error) {
            if (error.code !== 'unknownItem') throw error;
            return { hasSeat: false };
        }
    }

    // Ways back into an account

    passkeyInput() { return this.#ask('passkeyInput').blob().slice(); }

    newRecoveryKey() {
        const answer = this.#ask('newRecoveryKey');
        this.#key = { handle: answer.u32(), kind: kinds.recoveryKey };
        return answer.string();
    }

    isRecoveryKey({ text }) {
        return this.#ask('isRecoveryKey', writer => writer.u32(this.#key.handle).string(text)).flag();
    }

    /** @returns {{ groups: number[] | null }} those that have a typing error; null where it is no key at all */
    mistypedGroups({ text }) {
        const answer = this.#ask('mistypedGroups', writer => writer.string(text));
        const isWhole = answer.flag();
        const groups = answer.list(answer => answer.u32());
        return { groups: isWhole ? groups : null };
    }

    takeRecoveryKey({ text }) {
        this.#key = { handle: this.#ask('readRecoveryKey', writer => writer.string(text)).u32(), kind: kinds.recoveryKey };
    }

    takePasskey({ output }) {
        const handle = this.#ask('takePasskey', writer => writer.blob(output).string(this.#origin)).u32();
        output.fill(0);
        this.#key = { handle, kind: kinds.passkey };
    }

    takePassphrase({ key }) {
        const handle = this.#ask('takePassphrase', writer => writer.blob(key)).u32();
        key.fill(0);
        this.#key = { handle, kind: kinds.passphrase };
    }

    // The account

    /**
     * Makes an account that comes back by the key at hand, or by nothing.
     * @param {{ deviceName: string, isKept: boolean, code: string }} account
     */
    async createAccount({ deviceName, isKept, code }) {
        this.#visitor = this.#ask('newVisitor', writer => writer.string(deviceName).i64(micros())).u32();
        return this.#begin('accounts/create', 'createRequest', writer => {
            writer.flag(isKept);
            if (isKept) writer.u32(this.#key.handle).u32(this.#key.kind);
            writer.string(code);
        });
    }

    /**
     * Brings an account back by the key at hand.
     * @param {{ deviceName: string, devices: Record<string, { id: Uint8Array, name: string, added: bigint }> }} known by the account
     */
    async recoverAccount({ deviceName, devices }) {
        const { handle } = this.#key;
        const answer = await this.#server.call('accounts/recover', this.#handle('recoverRequest', handle).blob());
        this.#visitor = this.#ask('recoverAnswer', writer =>
            writer.u32(handle).blob(answer).string(deviceName).i64(micros())).u32();
        // The same device as before in this browser, not another one at each visit.
        const known = devices[this.device().account];
        if (known) {
            this.#ask('setDevice', writer => writer.u32(this.#visitor).raw(known.id).string(known.name).i64(known.added));
        }
        return this.#logIn();
    }

    /** Gives the account at hand a way back by the key at hand. */
    async keepAccount() {
        const { handle, kind } = this.#key;
        await this.#call('accounts/recovery', this.#ask('bundleRequest', writer =>
            writer.u32(this.#visitor).u32(handle).u32(kind)).blob());
        this.#handle('bundleAnswer', this.#visitor);
    }

    device() {
        const answer = this.#handle('device', this.#visitor);
        const account = [...answer.blob()].map(byte => byte.toString(16).padStart(2, '0')).join('');
        return { account, id: answer.raw(16).slice(), name: answer.string(), added: answer.i64() };
    }

    #logIn() { return this.#begin('accounts/login', 'loginRequest', () => {}); }

    /** A session begins with an answered challenge. */
    async #begin(route, request, write) {
        this.#server.token = '';
        const challenge = await this.#server.call('accounts/challenge', this.#handle('challengeRequest', this.#visitor).blob());
        const answer = await this.#server.call(route, this.#ask(request, writer =>
            write(writer.u32(this.#visitor).blob(challenge).string(this.#origin).i64(micros()))).blob());
        const session = this.#ask('sessionAnswer', writer => writer.u32(this.#visitor).blob(answer));
        this.#server.token = session.string();
        session.i64();
        return { account: session.string() };
    }

    /** With a session that has ended it is begun again, once. */
    async #call(...call) {
        try {
            return await this.#server.call(...call);
        } catch (error) {
            if (error.code !== 'sessionExpired') throw error;
            await this.#logIn();
            return this.#server.call(...call);
        }
    }

    // The share

    async #identify(container) {
        if (this.#identity && this.#container === container) return;
        const answer = this.#ask('identityRequest', writer => writer.u32(this.#visitor).string(container));
        const identity = answer.u32();
        const registered = await this.#call('accounts/identity', answer.blob());
        this.#ask('identityAnswer', writer => writer.u32(identity).blob(registered));
        this.#identity = identity;
        this.#container = container;
    }

    /** What the URL leads to; `participantMayNeedVerification` where an address is to be proven first. */
    async look() {
        const answer = await this.#call('share/place', this.#handle('placeRequest', this.#url).blob());
        const place = this.#ask('placeAnswer', writer => writer.blob(answer));
        const container = place.string();
        this.#environment = place.string();
        await this.#identify(container);
        let next = this.#ask('metadataAnswer', await this.#metadata(0n, (writer, bytes) => writer.u32(this.#url).string(this.#origin)
            .string(container).string(this.#environment).blob(bytes)));
        const opening = next.u32();
        while (next.flag()) {
            next = this.#ask('metadataGoesOn', await this.#metadata(next.u64(), (writer, bytes) => writer.u32(opening).blob(bytes)));
        }
        this.#opening = opening;
        return this.#shown();
    }

    async #metadata(first, write) {
        const request = this.#ask('metadataRequest', writer => writer.u32(this.#url).i64(first)).blob();
        const bytes = await this.#call('share/metadata', request);
        return writer => write(writer, bytes);
    }

    #shown() {
        const preview = this.#handle('preview', this.#opening);
        const shown = {
            isVouched: preview.flag(), title: preview.string(), type: preview.string(), thumbnail: preview.blob().slice(),
            author: preview.string(), isByOwner: preview.flag(), container: this.#container, environment: this.#environment,
        };
        const standing = this.#ask('standing', writer => writer.u32(this.#opening).u32(this.#identity));
        return {
            ...shown, standing: standings[standing.byte()], mayWrite: standing.flag(), owner: standing.string(), zone: standing.string(),
            share: standing.string(), safetyNumber: standing.string(), people: standing.u32(),
        };
    }

    async sendCode({ address, language }) {
        const request = this.#ask('codeRequest', writer =>
            writer.u32(this.#url).string(this.#container).string(address).string(language)).blob();
        const bytes = await this.#call('verification/begin', request);
        const answer = this.#ask('codeAnswer', writer =>
            writer.u32(this.#url).string(this.#origin).string(address).blob(bytes));
        this.#proof = answer.u32();
    }

    async proveCode({ code }) {
        const request = this.#ask('proofRequest', writer => writer.u32(this.#proof).u32(this.#identity).string(code)).blob();
        const answer = await this.#call('verification/complete', request);
        this.#token = this.#ask('proofAnswer', writer => writer.blob(answer)).string();
    }

    async accept() {
        const request = this.#ask('acceptRequest', writer => writer.u32(this.#opening).u32(this.#identity).u32(this.#visitor)
            .string(this.#token).i64(micros())).blob();
        await this.#call('share/accept', request);
    }

    // Records

    /** Where the URL led at another visit: the share is read without it. */
    async comeBack({ container, environment, owner, zone, share }) {
        await this.#identify(container);
        this.#environment = environment;
        this.#zone = this.#ask('comeBack', writer => writer.u32(this.#identity).string(container).string(environment).string(owner)
            .string(zone).string(share)).u32();
    }

    enter() {
        this.#zone = this.#ask('enter', writer => writer.u32(this.#opening).u32(this.#identity)).u32();
    }

    get #database() { return { container: this.#container, environment: this.#environment, database: 'shared' }; }

    async #fetchRosters() {
        for (;;) {
            const request = this.#handle('rosterRequest', this.#zone);
            if (!request.flag()) return;
            const answer = await this.#call('rosters/fetch', request.blob(), this.#database);
            this.#ask('rosterAnswer', writer => writer.u32(this.#zone).blob(answer));
        }
    }

    /**
     * Reads what has changed since the last time, all of it.
     * @returns {Promise<{ count: number, mayWrite: boolean }>} how many records there are to show, and whether they may be changed
     */
    async fetchRecords() {
        await this.#fetchRosters();
        for (let hasStartedOver = false; ;) {
            let answer;
            try {
                answer = await this.#call('records/changes', this.#handle('changesRequest', this.#zone).blob(), this.#database);
            } catch (error) {
                if (error.code !== 'changeTokenExpired' || hasStartedOver) throw error;
                hasStartedOver = true;
                this.#handle('startOver', this.#zone);
                continue;
            }
            let taken;
            for (;;) {
                taken = this.#ask('changesAnswer', writer => writer.u32(this.#zone).blob(answer));
                const course = taken.byte();
                if (course === 2) return { count: taken.u32(), mayWrite: taken.flag() };
                if (course === 1) break;
                await this.#fetchRosters();
            }
        }
    }

    /** @returns some of the records, from one on: opened */
    records({ first, count = batch }) {
        return this.#ask('records', writer => writer.u32(this.#zone).u32(first).u32(count)).list(readRecord);
    }

    /**
     * @param {{ record: string, field: string }} asset
     * @returns {Promise<Uint8Array>} its bytes
     */
    async openAsset({ record, field }) {
        const place = this.#ask('assetPlace', writer => writer.u32(this.#zone).string(record).string(field));
        const path = { owner: place.string(), zone: place.string(), id: place.string(), ...this.#database };
        // The signed record says how large it is.
        if (place.u64() > BigInt(largestAsset)) throw new ServerError({ code: 'limitExceeded' });
        const blob = await this.#call('assets/download', undefined, path, Number(place.u64()));
        return this.#ask('openAsset', writer => writer.u32(this.#zone).string(record).string(field).blob(blob)).blob().slice();
    }

    // Changes

    /** @returns {{ edit: number }} a change of a record, which starts from what is shown now */
    beginEdit({ record }) {
        return { edit: this.#ask('beginEdit', writer => writer.u32(this.#zone).string(record)).u32() };
    }

    /** @returns {{ edit: number, name: string }} a record that is to be made */
    newRecord({ type }) {
        const answer = this.#ask('newRecord', writer => writer.u32(this.#zone).string(type));
        return { edit: answer.u32(), name: answer.string() };
    }

    /**
     * @param {{ edit: number, record: string, changes: { name: string, to: 'plain' | 'sealed' | 'removed', value?: object }[] }} change
     * @returns {Promise<'stored' | 'changed' | 'deleted'>} what became of it; but for the first it is the reader's to say what now
     */
    save({ edit, record, changes }) {
        return this.#edit(edit, record, edit => this.#ask('saveRequest', writer => writer.u32(this.#zone).u32(edit)
            .list(changes, (writer, { name, to, value }) =>
                writer.string(name).byte(changeKinds[to]).blob(value ? writeValue(value) : new Uint8Array(0)))
            .i64(micros())));
    }

    /** @returns {Promise<'stored' | 'changed' | 'deleted'>} as of `save` */
    remove({ edit, record }) {
        return this.#edit(edit, record, edit => this.#ask('deleteRequest', writer => writer.u32(this.#zone).u32(edit).i64(micros())));
    }

    /** Each round goes by the newest roster; what may go again by itself does. */
    async #edit(edit, record, write) {
        for (let round = 1; ; round++) {
            this.#ask('refreshForEdit', writer => writer.u32(this.#zone).u32(edit));
            await this.#fetchRosters();
            let course;
            try {
                const request = write(edit).blob();
                const answer = await this.#call('records/modify', request, this.#database, mostOfEdit);
                course = this.#ask('editAnswer', writer => writer.u32(this.#zone).u32(edit).blob(answer)).byte();
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
                this.#ask('editShown', writer => writer.u32(this.#zone).u32(edit));
                return 'stored';
            }
            const outcome = editCourses[this.#ask('editCourse', writer => writer.u32(this.#zone).u32(edit)).byte()];
            if (outcome !== 'goesOn') return outcome;
            if (round >= mostRounds) throw new ServerError({ code: 'keepsChanging' });
            ({ edit } = this.beginEdit({ record }));
        }
    }

    /** An operation on one handle. */
    #handle(name, handle) { return this.#ask(name, writer => writer.u32(handle)); }
}

function readRecord(reader) {
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
