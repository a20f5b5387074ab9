// An account in a browser: how it is made and comes back, its session, and who it is in a container. Every key is in the module, and so is
// every judgement of what the server answers: this hands bytes from the one to the other.
import { hex } from './canonical.mjs';
import { codeOf } from './failure.mjs';
import { Server, ServerError } from './server.mjs';

/**
 * @typedef {import('./canonical.mjs').Writer} Writer
 * @typedef {import('./server.mjs').Route} Route
 * @typedef {{ id: Uint8Array, name: string, added: bigint }} Device
 * @typedef {{ deviceName: string }} Naming what this browser is called among the account's devices
 * @typedef {{ account: string }} Session whose it is
 * @typedef {{ identity: number, user: string }} Identity by the module's handle and by name
 * @typedef {{ handle: number, kind: number }} Key
 */

export const micros = () => BigInt(Date.now()) * 1000n;
const kinds = { recoveryKey: 1, passphrase: 2, passkey: 3 };
// Of this device, by another one of the account's.
const removed = 'deviceRemoved';

/** @template {string} [More=never] what the module can be asked for besides */
export class Account {
    #server;
    #origin;
    /** @type {number | undefined} */
    #visitor;
    /** @type {Map<string, Identity>} */
    #identities = new Map();
    /** @type {Key | undefined} */
    #key;
    /** @type {Key | null | undefined} what the account at hand was made to come back by, where it was made here; null for nothing */
    #madeBy;
    /** @type {{ handle: number, isRevealed: boolean } | undefined} */
    #enrolment;
    /** @type {Promise<Session> | undefined} */
    #login;

    /**
     * @param {import('./core.mjs').Asking<import('./core.mjs').Operation | More>} ask one operation of the module
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

    get visitor() {
        if (this.#visitor === undefined) throw new TypeError('there is no account yet');
        return this.#visitor;
    }

    /** Of the way back that was chosen last. */
    get #chosen() {
        if (!this.#key) throw new TypeError('no way back was chosen');
        return this.#key;
    }

    get #running() {
        if (!this.#enrolment) throw new TypeError('there is no enrolment');
        return this.#enrolment;
    }

    // Ways back into an account

    passkeyInput() { return this.ask('passkeyInput').blob().slice(); }

    newRecoveryKey() {
        const answer = this.ask('newRecoveryKey');
        this.#choose(answer.u32(), kinds.recoveryKey);
        return answer.string();
    }

    /** @param {{ text: string }} key */
    isRecoveryKey({ text }) {
        return this.ask('isRecoveryKey', writer => writer.u32(this.#chosen.handle).string(text)).flag();
    }

    /** @param {{ text: string }} key @returns {{ groups: number[] | null }} those that have a typing error; null where it is no key at all */
    mistypedGroups({ text }) {
        const answer = this.ask('mistypedGroups', writer => writer.string(text));
        const isWhole = answer.flag();
        const groups = answer.list(answer => answer.u32());
        return { groups: isWhole ? groups : null };
    }

    /** @param {{ text: string }} key */
    takeRecoveryKey({ text }) {
        this.#choose(this.ask('readRecoveryKey', writer => writer.string(text)).u32(), kinds.recoveryKey);
    }

    /** @param {{ output: Uint8Array }} passkey */
    takePasskey({ output }) {
        const handle = this.ask('takePasskey', writer => writer.blob(output).string(this.#origin)).u32();
        output.fill(0);
        this.#choose(handle, kinds.passkey);
    }

    /** @param {{ key: Uint8Array }} passphrase */
    takePassphrase({ key }) {
        const handle = this.ask('takePassphrase', writer => writer.blob(key)).u32();
        key.fill(0);
        this.#choose(handle, kinds.passphrase);
    }

    /** @param {number} handle @param {number} kind */
    #choose(handle, kind) {
        this.forgetKey();
        this.#key = { handle, kind };
    }

    /** Whoever is here comes back by it, and by no other. */
    forgetKey() {
        this.#forget(this.#key?.handle);
        this.#key = undefined;
    }

    /** @param {number} [handle] of what nobody needs any more: there are secrets in it */
    #forget(handle = 0) { this.handle('forget', handle); }

    /**
     * @template Answer
     * @param {number} handle of what nobody needs where this fails
     * @param {() => Promise<Answer>} body
     */
    async #orForget(handle, body) {
        try {
            return await body();
        } catch (error) {
            this.#forget(handle);
            throw error;
        }
    }

    // The account

    /**
     * Makes an account that comes back by the key at hand, or by nothing.
     * @param {Naming & { isKept: boolean, code: string }} account
     * @returns {Promise<Session>}
     */
    async createAccount({ deviceName, isKept, code }) {
        const key = isKept ? this.#chosen : null;
        // Where nobody has heard of its making it may be there: asked again by the same key it is the same one.
        if (key !== this.#madeBy) {
            this.#become(this.ask('newVisitor', writer => writer.string(deviceName).i64(micros())).u32());
            this.#madeBy = key;
        }
        const session = await this.#begin('accounts/create', 'createRequest', writer => {
            writer.flag(isKept);
            if (key) writer.u32(key.handle).u32(key.kind);
            writer.string(code);
        });
        // What comes back by nothing is another one each time.
        if (!key) this.#madeBy = undefined;
        return session;
    }

    /** @param {number} visitor whose account it is from here on: nothing stays of another one's */
    #become(visitor) {
        for (const { identity } of this.#identities.values()) this.#forget(identity);
        this.#identities.clear();
        this.#forget(this.#visitor);
        this.#visitor = visitor;
        this.#madeBy = undefined;
    }

    /**
     * Brings an account back by the key at hand.
     * @param {Naming & { devices: Record<string, Device> }} known by the account
     */
    async recoverAccount({ deviceName, devices }) {
        const { handle } = this.#chosen;
        const answer = await this.#server.call('accounts/recover', this.handle('recoverRequest', handle).blob());
        this.#become(this.ask('recoverAnswer', writer =>
            writer.u32(handle).blob(answer).string(deviceName).i64(micros())).u32());
        const drawn = this.device();
        const known = devices[drawn.account];
        try {
            // The same device as before in this browser, not another one at each visit.
            if (known) this.#setDevice(known);
            return await this.#logIn();
        } catch (error) {
            // Once that was removed from the account, whoever has the account's key comes back as another one.
            if (!known || codeOf(error) !== removed) throw error;
            this.#setDevice(drawn);
            return this.#logIn();
        }
    }

    /** @param {Device} device */
    #setDevice({ id, name, added }) { this.ask('setDevice', writer => writer.u32(this.visitor).raw(id).string(name).i64(added)); }

    /** Gives the account at hand a way back by the key at hand. */
    async keepAccount() {
        const { handle, kind } = this.#chosen;
        await this.call('accounts/recovery', this.ask('bundleRequest', writer =>
            writer.u32(this.visitor).u32(handle).u32(kind)).blob());
        this.handle('bundleAnswer', this.visitor);
    }

    // An account that another device brings here

    /** @returns {Promise<string>} what the other device is to be given */
    async beginEnrolment() {
        await this.endEnrolment();
        const answer = this.ask('newEnrolment');
        const handle = answer.u32();
        const text = answer.string();
        await this.#orForget(handle, async () => {
            const opened = await this.#server.call('devices/enrol/open', answer.blob());
            this.ask('enrolmentOpened', writer => writer.u32(handle).blob(opened));
        });
        this.#enrolment = { handle, isRevealed: false };
        return text;
    }

    /** @param {number} handle */
    async #enrolmentState(handle) {
        return this.#server.call('devices/enrol/state', this.handle('enrolmentRequest', handle).blob());
    }

    /** @returns {Promise<string | null>} the six digits that both devices show; null before the other one has answered */
    async enrolment() {
        const enrolment = this.#running;
        const state = await this.#enrolmentState(enrolment.handle);
        const answer = this.ask('enrolmentAnswer', writer => writer.u32(enrolment.handle).blob(state));
        if (!answer.flag()) return null;
        const digits = answer.string();
        if (!enrolment.isRevealed) await this.#server.call('devices/enrol/reveal', answer.blob());
        enrolment.isRevealed = true;
        return digits;
    }

    /**
     * Its reader has seen the same digits on both devices.
     * @param {Naming} device
     * @returns {Promise<Session | null>} null before the other one's reader has said so as well
     */
    async enrolled({ deviceName }) {
        const { handle } = this.#running;
        const state = await this.#enrolmentState(handle);
        const answer = this.ask('enrolledVisitor', writer => writer.u32(handle).blob(state).string(deviceName).i64(micros()));
        if (!answer.flag()) return null;
        this.#become(answer.u32());
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
        this.#forget(handle);
        await this.#server.call('devices/enrol/end', request.blob()).catch(() => undefined);
    }

    device() {
        const answer = this.handle('device', this.visitor);
        const account = hex(answer.blob());
        return { account, id: answer.raw(16).slice(), name: answer.string(), added: answer.i64() };
    }

    /** Of a session that is being begun. */
    get login() { return this.#login; }

    /** One for all that waits for it. */
    #logIn() {
        this.#login ??= this.#begin('accounts/login', 'loginRequest', () => {}).catch(error => {
            // The server has no other reason there.
            throw codeOf(error) === 'permissionFailure' ? new ServerError({ ...error, code: removed }) : error;
        }).finally(() => { this.#login = undefined; });
        return this.#login;
    }

    /**
     * A session begins with an answered challenge.
     * @param {Route} route
     * @param {'createRequest' | 'loginRequest'} request
     * @param {(writer: Writer) => unknown} write
     * @returns {Promise<Session>}
     */
    async #begin(route, request, write) {
        const challenge = await this.#server.call('accounts/challenge', this.handle('challengeRequest', this.visitor).blob());
        const answer = await this.#server.call(route, this.ask(request, writer =>
            write(writer.u32(this.visitor).blob(challenge).string(this.#origin).i64(micros()))).blob());
        const session = this.ask('sessionAnswer', writer => writer.u32(this.visitor).blob(answer));
        this.#server.token = session.string();
        session.i64();
        return { account: session.string() };
    }

    /** Ends the session: the next call of the account begins another one. */
    async logOut() { await this.#server.call('accounts/logout'); }

    /**
     * With a session that has ended it is begun again, once; what goes beside others does not go with one that is being replaced.
     * @template Answer
     * @param {() => Promise<Answer>} ask
     * @returns {Promise<Answer>}
     */
    async inSession(ask) {
        await this.#login;
        const { token } = this.#server;
        try {
            return await ask();
        } catch (error) {
            if (codeOf(error) !== 'sessionExpired') throw error;
            // Somebody else may have begun the next one meanwhile.
            await (this.#server.token === token ? this.#logIn() : this.#login);
            return ask();
        }
    }

    /** @param {Parameters<Server['call']>} call as the server's */
    call(...call) { return this.inSession(() => this.#server.call(...call)); }

    /**
     * Who the account is in a container: made there the first time.
     * @param {string} container
     * @returns {Promise<Identity>}
     */
    async identify(container) {
        const known = this.#identities.get(container);
        if (known) return known;
        const answer = this.ask('identityRequest', writer => writer.u32(this.visitor).string(container));
        const identity = answer.u32();
        const user = await this.#orForget(identity, async () => {
            const registered = await this.call('accounts/identity', answer.blob());
            return this.ask('identityAnswer', writer => writer.u32(identity).blob(registered)).string();
        });
        this.#identities.set(container, { identity, user });
        return { identity, user };
    }

    /**
     * An operation on one handle.
     * @param {import('./core.mjs').Operation | More} name
     * @param {number} handle
     */
    handle(name, handle) { return this.ask(name, writer => writer.u32(handle)); }
}
