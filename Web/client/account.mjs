// An account in a browser: how it is made and comes back, its session, and who it is in a container. Every key is in the module, and so is
// every judgement of what the server answers: this hands bytes from the one to the other.
import { Server } from './server.mjs';

export const micros = () => BigInt(Date.now()) * 1000n;
const kinds = { recoveryKey: 1, passphrase: 2, passkey: 3 };

export class Account {
    #server;
    #origin;
    #visitor;
    #identities = new Map();
    #key;
    #enrolment;
    #login;

    /**
     * @param {ReturnType<typeof import('./core.mjs').asking>} ask one operation of the module
     * @param {string} origin of the server, as it is signed at a login
     * @param {string} calls what stands before the path of a call; empty for where the page comes from
     */
    constructor(ask, origin, calls) {
        this.ask = ask;
        this.#origin = origin;
        this.#server = new Server(calls, bytes => {
            const failure = ask('failure', writer => writer.blob(bytes));
            return { code: failure.string(), reason: failure.string(), remedy: failure.string(), wait: failure.u32() };
        });
    }

    get origin() { return this.#origin; }
    get server() { return this.#server; }
    get visitor() { return this.#visitor; }

    // Ways back into an account

    passkeyInput() { return this.ask('passkeyInput').blob().slice(); }

    newRecoveryKey() {
        const answer = this.ask('newRecoveryKey');
        this.#key = { handle: answer.u32(), kind: kinds.recoveryKey };
        return answer.string();
    }

    isRecoveryKey({ text }) {
        return this.ask('isRecoveryKey', writer => writer.u32(this.#key.handle).string(text)).flag();
    }

    /** @returns {{ groups: number[] | null }} those that have a typing error; null where it is no key at all */
    mistypedGroups({ text }) {
        const answer = this.ask('mistypedGroups', writer => writer.string(text));
        const isWhole = answer.flag();
        const groups = answer.list(answer => answer.u32());
        return { groups: isWhole ? groups : null };
    }

    takeRecoveryKey({ text }) {
        this.#key = { handle: this.ask('readRecoveryKey', writer => writer.string(text)).u32(), kind: kinds.recoveryKey };
    }

    takePasskey({ output }) {
        const handle = this.ask('takePasskey', writer => writer.blob(output).string(this.#origin)).u32();
        output.fill(0);
        this.#key = { handle, kind: kinds.passkey };
    }

    takePassphrase({ key }) {
        const handle = this.ask('takePassphrase', writer => writer.blob(key)).u32();
        key.fill(0);
        this.#key = { handle, kind: kinds.passphrase };
    }

    // The account

    /**
     * Makes an account that comes back by the key at hand, or by nothing.
     * @param {{ deviceName: string, isKept: boolean, code: string }} account
     */
    async createAccount({ deviceName, isKept, code }) {
        this.#identities.clear();
        this.#visitor = this.ask('newVisitor', writer => writer.string(deviceName).i64(micros())).u32();
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
        const answer = await this.#server.call('accounts/recover', this.handle('recoverRequest', handle).blob());
        this.#identities.clear();
        this.#visitor = this.ask('recoverAnswer', writer =>
            writer.u32(handle).blob(answer).string(deviceName).i64(micros())).u32();
        // The same device as before in this browser, not another one at each visit.
        const known = devices[this.device().account];
        if (known) {
            this.ask('setDevice', writer => writer.u32(this.#visitor).raw(known.id).string(known.name).i64(known.added));
        }
        return this.#logIn();
    }

    /** Gives the account at hand a way back by the key at hand. */
    async keepAccount() {
        const { handle, kind } = this.#key;
        await this.call('accounts/recovery', this.ask('bundleRequest', writer =>
            writer.u32(this.#visitor).u32(handle).u32(kind)).blob());
        this.handle('bundleAnswer', this.#visitor);
    }

    // An account that another device brings here

    /** @returns {Promise<string>} what the other device is to be given */
    async beginEnrolment() {
        await this.endEnrolment();
        const answer = this.ask('newEnrolment');
        const handle = answer.u32();
        const text = answer.string();
        const opened = await this.#server.call('devices/enrol/open', answer.blob());
        this.ask('enrolmentOpened', writer => writer.u32(handle).blob(opened));
        this.#enrolment = { handle, isRevealed: false };
        return text;
    }

    async #enrolmentState() {
        return this.#server.call('devices/enrol/state', this.handle('enrolmentRequest', this.#enrolment.handle).blob());
    }

    /** @returns {Promise<string | null>} the six digits that both devices show; null before the other one has answered */
    async enrolment() {
        const state = await this.#enrolmentState();
        const answer = this.ask('enrolmentAnswer', writer => writer.u32(this.#enrolment.handle).blob(state));
        if (!answer.flag()) return null;
        const digits = answer.string();
        if (!this.#enrolment.isRevealed) await this.#server.call('devices/enrol/reveal', answer.blob());
        this.#enrolment.isRevealed = true;
        return digits;
    }

    /**
     * Its reader has seen the same digits on both devices.
     * @returns {Promise<{ account: string } | null>} null before the other one's reader has said so as well
     */
    async enrolled({ deviceName }) {
        const state = await this.#enrolmentState();
        const answer = this.ask('enrolledVisitor', writer => writer.u32(this.#enrolment.handle).blob(state).string(deviceName).i64(micros()));
        if (!answer.flag()) return null;
        this.#identities.clear();
        this.#visitor = answer.u32();
        const session = await this.#logIn();
        await this.endEnrolment();
        return session;
    }

    /** Nothing of it is left at the server, or it goes by itself. */
    async endEnrolment() {
        if (!this.#enrolment) return;
        const { handle } = this.#enrolment;
        this.#enrolment = undefined;
        const request = this.handle('enrolmentRequest', handle);
        request.blob();
        await this.#server.call('devices/enrol/end', request.blob()).catch(() => undefined);
        this.handle('forget', handle);
    }

    device() {
        const answer = this.handle('device', this.#visitor);
        const account = [...answer.blob()].map(byte => byte.toString(16).padStart(2, '0')).join('');
        return { account, id: answer.raw(16).slice(), name: answer.string(), added: answer.i64() };
    }

    /** One for all that waits for it. */
    #logIn() {
        this.#login ??= this.#begin('accounts/login', 'loginRequest', () => {}).finally(() => { this.#login = undefined; });
        return this.#login;
    }

    /** A session begins with an answered challenge. */
    async #begin(route, request, write) {
        const challenge = await this.#server.call('accounts/challenge', this.handle('challengeRequest', this.#visitor).blob());
        const answer = await this.#server.call(route, this.ask(request, writer =>
            write(writer.u32(this.#visitor).blob(challenge).string(this.#origin).i64(micros()))).blob());
        const session = this.ask('sessionAnswer', writer => writer.u32(this.#visitor).blob(answer));
        this.#server.token = session.string();
        session.i64();
        return { account: session.string() };
    }

    /** With a session that has ended it is begun again, once; what goes beside others does not go with one that is being replaced. */
    async inSession(ask) {
        await this.#login;
        const { token } = this.#server;
        try {
            return await ask();
        } catch (error) {
            if (error.code !== 'sessionExpired') throw error;
            // Somebody else may have begun the next one meanwhile.
            await (this.#server.token === token ? this.#logIn() : this.#login);
            return ask();
        }
    }

    call(...call) { return this.inSession(() => this.#server.call(...call)); }

    /** Who the account is in a container: made there the first time. @returns {Promise<{ identity: number, user: string }>} */
    async identify(container) {
        if (this.#identities.has(container)) return this.#identities.get(container);
        const answer = this.ask('identityRequest', writer => writer.u32(this.#visitor).string(container));
        const identity = answer.u32();
        const registered = await this.call('accounts/identity', answer.blob());
        const user = this.ask('identityAnswer', writer => writer.u32(identity).blob(registered)).string();
        this.#identities.set(container, { identity, user });
        return { identity, user };
    }

    /** An operation on one handle. */
    handle(name, handle) { return this.ask(name, writer => writer.u32(handle)); }
}
