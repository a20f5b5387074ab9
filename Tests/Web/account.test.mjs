// node --test account.test.mjs: how an account is made and comes back, and what is left of it, against a module and a server that are none.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { Reader, Writer } from '../../Web/client/canonical.mjs';
import { asking } from '../../Web/client/core.mjs';
import { operations as pages } from '../../Web/client/operations.mjs';
import { Container } from '../../Web/library/container.mjs';
import { CKError } from '../../Web/library/errors.mjs';
import { operations } from '../../Web/library/operations.mjs';

const real = { fetch: globalThis.fetch, setTimeout: globalThis.setTimeout, instantiate: WebAssembly.instantiate };
const names = new Map(Object.entries({ ...pages, ...operations }).map(([name, number]) => [number, name]));
const [encoder, decoder] = [new TextEncoder(), new TextDecoder()];
const json = value => encoder.encode(JSON.stringify(value));
const parsed = bytes => JSON.parse(decoder.decode(bytes));
const secret = 'a secret of the module';

/** Modules that were loaded: what each has under its handles, and its memory. */
let modules;
/** What the server has, and what was asked of it; `meanwhile` is told of each call before it is answered. */
let server;

/** What a module answers: bytes that say what they are of. */
class Module {
    memory = new WebAssembly.Memory({ initial: 1 });
    /** @type {Map<number, { kind: string }>} */
    there = new Map();
    #last = 0;
    #free = 1024;

    get exports() {
        return {
            memory: this.memory, core_start: () => 0, core_release: () => 0,
            core_reserve: count => {
                const start = this.#free;
                this.#free += count + 8;
                return start;
            },
            core_call: (number, pointer, count) => {
                const input = new Uint8Array(this.memory.buffer, pointer, count).slice();
                let [status, output] = [0, new Uint8Array(0)];
                try {
                    const writer = new Writer();
                    this[names.get(number)](new Reader(input), writer);
                    output = writer.bytes;
                } catch (error) {
                    [status, output] = [1, encoder.encode(error.message)];
                }
                const start = this.#free;
                this.#free += output.length + 16;
                new DataView(this.memory.buffer).setUint32(start, output.length + 1, true);
                new Uint8Array(this.memory.buffer, start + 4).set([status, ...output]);
                return start;
            },
        };
    }

    kept(kind) { return [...this.there.values()].filter(one => one.kind === kind); }
    #insert(one) {
        new Uint8Array(this.memory.buffer, 16).set(encoder.encode(secret));
        this.there.set(++this.#last, one);
        return this.#last;
    }
    #of(handle, kind) {
        const one = this.there.get(handle);
        if (one?.kind !== kind) throw new Error('missingKey');
        return one;
    }

    forget(reader) { this.there.delete(reader.u32()); }
    failure(reader, writer) {
        const { code } = parsed(reader.blob());
        writer.string(code).string('').string('').u32(0);
    }
    newRecoveryKey(_, writer) { writer.u32(this.#insert({ kind: 'key', text: 'KEY' })).string('KEY'); }
    readRecoveryKey(reader, writer) { writer.u32(this.#insert({ kind: 'key', text: reader.string() })); }
    isRecoveryKey(reader, writer) { writer.flag(this.#of(reader.u32(), 'key').text === reader.string()); }
    stretchPassphrase(reader, writer) { writer.blob(reader.blob()); }
    takePassphrase(reader, writer) { writer.u32(this.#insert({ kind: 'key', text: decoder.decode(reader.blob()) })); }
    takePasskey(reader, writer) { writer.u32(this.#insert({ kind: 'key', text: decoder.decode(reader.blob()) })); }
    passkeyInput(_, writer) { writer.blob(new Uint8Array(32)); }
    #visitor(login) { return this.#insert({ kind: 'visitor', login, device: [Math.random().toString(36).padEnd(16, '0').slice(0, 16), 'here', 0n] }); }
    newVisitor(_, writer) { writer.u32(this.#visitor(`login ${++server.drawn}`)); }
    recoverRequest(reader, writer) { writer.blob(json({ key: this.#of(reader.u32(), 'key').text })); }
    recoverAnswer(reader, writer) {
        this.#of(reader.u32(), 'key');
        writer.u32(this.#visitor(parsed(reader.blob()).login));
    }
    device(reader, writer) {
        const { login, device: [id, name, added] } = this.#of(reader.u32(), 'visitor');
        writer.blob(encoder.encode(login)).raw(encoder.encode(id)).string(name).i64(added);
    }
    setDevice(reader) { this.#of(reader.u32(), 'visitor').device = [decoder.decode(reader.raw(16)), reader.string(), reader.i64()]; }
    challengeRequest(reader, writer) { writer.blob(json({ login: this.#of(reader.u32(), 'visitor').login })); }
    #answering(reader) {
        const { login, device } = this.#of(reader.u32(), 'visitor');
        reader.blob();
        reader.string();
        reader.i64();
        return { login, device: device[0] };
    }
    createRequest(reader, writer) {
        const answer = this.#answering(reader);
        writer.blob(json({ ...answer, key: reader.flag() ? this.#of(reader.u32(), 'key').text : '' }));
    }
    loginRequest(reader, writer) { writer.blob(json(this.#answering(reader))); }
    sessionAnswer(reader, writer) {
        this.#of(reader.u32(), 'visitor');
        const { login } = parsed(reader.blob());
        writer.string(`token of ${login}`).i64(0n).string(login);
    }
    identityRequest(reader, writer) { writer.u32(this.#insert({ kind: 'identity', login: this.#of(reader.u32(), 'visitor').login })).blob(json({})); }
    identityAnswer(reader, writer) { writer.string(`_${this.#of(reader.u32(), 'identity').login}`); }
    newEnrolment(_, writer) { writer.u32(this.#insert({ kind: 'enrolment' })).string('invitation').blob(json({})); }
    enrolmentOpened(reader) { this.#of(reader.u32(), 'enrolment'); }
    enrolmentRequest(reader, writer) {
        this.#of(reader.u32(), 'enrolment');
        writer.blob(json({})).blob(json({}));
    }
    enrolmentAnswer(_, writer) { writer.flag(true).string('123456').blob(json({})); }
    enrolledVisitor(_, writer) { writer.flag(true).u32(this.#visitor('login of another device')); }
}

const answers = {
    'accounts/challenge': () => ({}),
    'accounts/create': ({ login, key }) => {
        if (!server.accounts.has(login)) {
            if (key && server.keys.has(key)) return 'serverRejectedRequest';
            server.accounts.add(login);
        }
        if (key) server.keys.set(key, login);
        return { login };
    },
    'accounts/recover': ({ key }) => server.keys.has(key) ? { login: server.keys.get(key) } : 'unknownItem',
    'accounts/login': ({ login, device }) => server.removed.has(device) ? 'permissionFailure' : { login },
    'accounts/identity': () => ({}), 'accounts/logout': () => ({}),
    'devices/enrol/open': () => ({}), 'devices/enrol/state': () => ({}), 'devices/enrol/reveal': () => ({}), 'devices/enrol/end': () => ({}),
};

beforeEach(() => {
    modules = [];
    server = { drawn: 0, accounts: new Set(), keys: new Map(), removed: new Set(), calls: [], meanwhile: () => {} };
    // What is waited for between two tries is no matter here.
    globalThis.setTimeout = (body, time, ...rest) => real.setTimeout(body, time >= 30_000 ? time : time / 200, ...rest);
    WebAssembly.instantiate = async () => {
        const made = new Module();
        modules.push(made);
        return { instance: made };
    };
    globalThis.fetch = async (url, { body }) => {
        const route = new URL(url).pathname.replace('/1/', '');
        server.calls.push(route);
        const asked = body?.length > 0 ? parsed(body) : {};
        // What the answer says may be lost on its way.
        const answer = answers[route](asked);
        await server.meanwhile(route);
        return typeof answer === 'string' ? new Response(json({ code: answer }), { status: 400 }) : new Response(json(answer));
    };
});
afterEach(() => {
    Object.assign(globalThis, { fetch: real.fetch, setTimeout: real.setTimeout });
    WebAssembly.instantiate = real.instantiate;
});

const container = (more = {}) => new Container({ containerIdentifier: 'org.example.notes', server: 'https://notes.example.org', module: new Uint8Array(1), ...more });
/** So many answers of a route are lost. */
const losing = (wanted, count) => route => {
    if (route === wanted && count-- > 0) throw new TypeError('fetch failed');
};
const refusal = (ckErrorCode, serverErrorCode) => error => {
    assert.ok(error instanceof CKError, error.stack);
    assert.deepEqual([error.ckErrorCode, error.serverErrorCode], [ckErrorCode, serverErrorCode]);
    return true;
};
const cancelled = refusal('TRY_AGAIN_LATER', 'operationCancelled');
const unheard = refusal('NETWORK_ERROR', 'networkFailure');
const passphrase = { name: 'Ann', passphrase: 'sailing backwards' };

test('an account whose making nobody has heard of is the one that is made', async () => {
    for (const route of ['accounts/create', 'accounts/identity']) {
        for (const byKey of [true, false]) {
            Object.assign(server, { accounts: new Set(), keys: new Map(), meanwhile: losing(route, 3) });
            const one = container();
            const way = byKey ? { recoveryKey: await one.newRecoveryKey() } : passphrase;
            await assert.rejects(one.createAccount(way), unheard);
            assert.equal(one.userRecordName, '');
            const { userRecordName } = await one.createAccount(way);
            assert.deepEqual([[...server.accounts].map(login => `_${login}`), one.userRecordName], [[userRecordName], userRecordName], `${route} ${byKey}`);
        }
    }
    // Where the answer comes at another try nobody is told of anything.
    Object.assign(server, { accounts: new Set(), keys: new Map(), meanwhile: losing('accounts/create', 2) });
    await container().createAccount(passphrase);
    assert.equal(server.accounts.size, 1);
});

test('whoever makes an account by a key that has one is in it, and another refusal stays one', async () => {
    const first = await container().createAccount(passphrase);
    assert.deepEqual(await container().createAccount(passphrase), first);
    assert.equal(server.accounts.size, 1);
    answers['accounts/recover'] = () => 'unknownItem';
    await assert.rejects(container().createAccount(passphrase), refusal('BAD_REQUEST', 'serverRejectedRequest'));
    answers['accounts/recover'] = ({ key }) => server.keys.has(key) ? { login: server.keys.get(key) } : 'unknownItem';
});

test('a device that was removed comes back by the account’s key as another one', async () => {
    const kept = {};
    const devices = { load: async () => kept, keep: async ({ account, ...device }) => { kept[account] = device; } };
    const one = container({ devices });
    await one.createAccount(passphrase);
    const [[account, { id: before }]] = Object.entries(kept);
    await one.signOut();
    await one.signIn(passphrase);
    assert.deepEqual(kept[account].id, before, 'another device at each visit');
    await one.signOut();
    server.removed.add(decoder.decode(before));
    await one.signIn(passphrase);
    assert.notDeepEqual(kept[account].id, before);
    await one.signOut();
    // Whoever is removed in the middle is told so, and nothing is drawn behind its back.
    await one.signIn(passphrase);
    const { id } = kept[account];
    server.removed.add(decoder.decode(id));
    const { account: inner } = await one.account().then(account => ({ account }));
    await assert.rejects(inner.inSession(async () => { throw Object.assign(new Error(), { code: 'sessionExpired' }); }), { code: 'deviceRemoved' });
    assert.deepEqual(kept[account].id, id);
});

test('nothing is left in the module after signOut, whoever holds what', async () => {
    const one = container();
    await one.createAccount({ recoveryKey: await one.newRecoveryKey() });
    const [module] = modules;
    const bytes = () => new Uint8Array(module.memory.buffer);
    assert.ok(decoder.decode(bytes()).includes(secret));
    // By a key that is there nobody has to come in any more.
    assert.deepEqual([module.kept('key').length, module.kept('visitor').length, module.kept('identity').length], [0, 1, 1]);
    const held = await one.account();
    await one.signOut();
    assert.ok(bytes().every(byte => byte === 0));
    assert.throws(() => held.device(), { code: 'notAuthenticated' });
    await one.signIn({ recoveryKey: 'KEY' });
    assert.equal(modules.length, 2);
    // What a passphrase is stretched in goes at once.
    await one.signOut();
    await one.createAccount(passphrase);
    assert.ok(new Uint8Array(modules.at(-1).memory.buffer).every(byte => byte === 0) && modules.length === 4);
});

test('nothing is left of tries that have failed', async () => {
    const one = container();
    server.meanwhile = losing('accounts/identity', Infinity);
    for (let turn = 0; turn < 5; turn++) {
        await assert.rejects(one.createAccount({ recoveryKey: await one.newRecoveryKey() }), unheard);
        await assert.rejects(one.signIn({ recoveryKey: 'KEY' }), unheard);
    }
    server.meanwhile = losing('devices/enrol/open', Infinity);
    for (let turn = 0; turn < 5; turn++) await assert.rejects(one.enrol({ verify: {} }), unheard);
    const [module] = modules;
    assert.deepEqual(['key', 'visitor', 'identity', 'enrolment'].map(kind => module.kept(kind).length), [0, 1, 0, 0]);
});

test('a way in that was begun earlier takes nobody’s place', async () => {
    await container().createAccount(passphrase);
    const one = container();
    let shown;
    const digits = new Promise(resolve => { shown = resolve; });
    // Its user is asked for the digits, and comes in by another way meanwhile.
    const waiting = assert.rejects(one.enrol({ verify: { invitation: () => {}, digits: () => new Promise(() => shown()) } }), cancelled);
    await digits;
    const me = await one.signIn(passphrase);
    await waiting;
    assert.equal(one.userRecordName, me.userRecordName);
    assert.ok(server.calls.includes('devices/enrol/end'));
    await assert.rejects(one.enrol({ verify: {} }), refusal('BAD_REQUEST', 'invalidArguments'));
    await one.signOut();
});

test('of two ways in at once the later one is the way in', async () => {
    await container().createAccount(passphrase);
    const other = { ...passphrase, passphrase: 'sailing forwards' };
    const { userRecordName } = await container().createAccount(other);
    for (const stopped of ['accounts/recover', 'accounts/challenge', 'accounts/login', 'accounts/identity']) {
        const one = container();
        let goOn;
        const held = new Promise(resolve => { goOn = resolve; });
        let reached;
        const isHeld = new Promise(resolve => { reached = resolve; });
        server.meanwhile = route => {
            if (route !== stopped) return undefined;
            server.meanwhile = () => {};
            reached();
            return held;
        };
        const first = assert.rejects(one.signIn(passphrase), cancelled);
        await isHeld;
        const second = one.signIn(other);
        goOn();
        await first;
        assert.deepEqual([await second, one.userRecordName], [{ userRecordName }, userRecordName], stopped);
        await one.signOut();
    }
    // A form that is sent twice makes one account.
    const twice = container();
    const recoveryKey = await twice.newRecoveryKey();
    const before = server.accounts.size;
    const outcomes = await Promise.allSettled([twice.createAccount({ recoveryKey }), twice.createAccount({ recoveryKey })]);
    assert.deepEqual([outcomes.map(({ status }) => status), server.accounts.size], [['rejected', 'fulfilled'], before + 1]);
    cancelled(outcomes[0].reason);
});

test('whoever signs out comes in by nothing that had begun before', async () => {
    await container().createAccount(passphrase);
    for (const stopped of ['accounts/recover', 'accounts/challenge', 'accounts/login', 'accounts/identity']) {
        const one = container();
        let out;
        server.meanwhile = route => {
            if (route === stopped) out ??= one.signOut();
        };
        await assert.rejects(one.signIn(passphrase), cancelled);
        await out;
        assert.deepEqual([one.userRecordName, await one.setUpAuth()], ['', null], stopped);
        // Its session ends at the server, if there is one.
        const [began, ended] = ['accounts/login', 'accounts/logout'].map(route => server.calls.filter(call => call === route).length);
        assert.equal(began, ended, stopped);
        server.calls.length = 0;
        server.meanwhile = () => {};
    }
});

test('what the module is asked with stays nowhere', () => {
    let given;
    const ask = asking({ call: (_, bytes) => { given = bytes; return Uint8Array.of(...bytes); } }, { takePasskey: 1 });
    assert.equal(ask('takePasskey', writer => writer.string(secret)).string(), secret);
    assert.ok(given.length > secret.length && given.every(byte => byte === 0));
    const refusing = asking({ call: (_, bytes) => { given = bytes; throw new Error('refused'); } }, { takePasskey: 1 });
    assert.throws(() => refusing('takePasskey', writer => writer.string(secret)), /refused/);
    assert.ok(given.every(byte => byte === 0));
});

test('a passkey that was made for an account that is not there yet is asked, and no other one made', async () => {
    const asked = [];
    class PublicKeyCredential {
        rawId = new Uint8Array(1);
        getClientExtensionResults() { return { prf: { results: { first: new Uint8Array(32).fill(65).buffer } } }; }
    }
    let isUsed = true;
    const credentials = Object.fromEntries(['create', 'get'].map(what => [what, async () => {
        asked.push(what);
        return isUsed ? new PublicKeyCredential() : null;
    }]));
    const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
    Object.defineProperty(globalThis, 'navigator', { value: { credentials }, configurable: true });
    Object.assign(globalThis, { self: globalThis, location: { hostname: 'notes.example.org' }, isSecureContext: true, PublicKeyCredential });
    try {
        const one = container();
        server.meanwhile = losing('accounts/create', 6);
        for (let turn = 0; turn < 2; turn++) await assert.rejects(one.createAccount({ passkey: true }), unheard);
        await one.createAccount({ passkey: true });
        assert.deepEqual([asked, server.accounts.size], [['create', 'get', 'get'], 1]);
        await one.signOut();
        // Whoever has thrown it away gets another one.
        asked.length = 0;
        server.meanwhile = losing('accounts/create', 3);
        await assert.rejects(one.createAccount({ passkey: true }), unheard);
        isUsed = false;
        await assert.rejects(one.createAccount({ passkey: true }), cancelled);
        isUsed = true;
        await one.createAccount({ passkey: true });
        assert.deepEqual(asked, ['create', 'get', 'create']);
    } finally {
        for (const name of ['self', 'location', 'isSecureContext', 'PublicKeyCredential']) delete globalThis[name];
        if (before) Object.defineProperty(globalThis, 'navigator', before); else delete globalThis.navigator;
    }
});
