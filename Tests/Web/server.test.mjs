// node --test server.test.mjs: how much the page takes of an answer, and how long it waits for it.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { Account } from '../../Web/client/account.mjs';
import { saveAsset } from '../../Web/client/assets.mjs';
import { Server, ServerError } from '../../Web/client/server.mjs';
import { callByMessage } from '../../Web/client/messages.mjs';
import { LibraryAccount } from '../../Web/library/account.mjs';
import { exchange, sendFromCore } from '../../Web/library/messages.mjs';

const { setTimeout: later, fetch: real } = globalThis;
const { now } = Date;
let time;
let timers;

beforeEach(() => {
    [time, timers] = [0, new Map()];
    Date.now = () => time;
    globalThis.setTimeout = (action, wait) => {
        const timer = {};
        timers.set(timer, [time + wait, action]);
        return timer;
    };
    globalThis.clearTimeout = timer => timers.delete(timer);
});
afterEach(() => {
    Date.now = now;
    globalThis.setTimeout = later;
    globalThis.fetch = real;
});

function pass(milliseconds) {
    time += milliseconds;
    for (const [timer, [due, action]] of timers) {
        if (due > time) continue;
        timers.delete(timer);
        action();
    }
}

/** A server whose answer is what `chunks` gives; undefined is nothing, for good. */
function serving(chunks, status = 200) {
    let signal;
    let taken = 0;
    globalThis.fetch = async (_, options) => {
        ({ signal } = options);
        const body = new ReadableStream({
            async pull(controller) {
                const { done, value } = chunks.next();
                if (done) return controller.close();
                if (value === undefined) await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
                taken += value.length;
                controller.enqueue(value);
            },
        }, { highWaterMark: 0 });
        return new Response(body, { status });
    };
    return { get signal() { return signal; }, get taken() { return taken; } };
}
const server = () => new Server('', () => { throw new Error('no refusal'); });
const fails = (answer, code) => assert.rejects(answer, error => error.name === 'ServerError' && error.code === code);

function* repeated(chunk, each = () => {}) {
    for (;;) {
        each();
        yield chunk;
    }
}

test('an answer is whole, in the order in which it came', async () => {
    serving([Uint8Array.of(1, 2), new Uint8Array(0), Uint8Array.of(3)].values());
    assert.deepEqual([...await server().call('accounts/challenge')], [1, 2, 3]);
});

test('an answer that may have so many bytes has one more', async () => {
    serving([new Uint8Array(10)].values());
    assert.equal((await server().call('assets/download', undefined, {}, 10)).length, 10);
    serving([new Uint8Array(10), Uint8Array.of(1)].values());
    await fails(server().call('assets/download', undefined, {}, 10), 'endless');
});

test('an answer without end is left, and so is a refusal without end', async () => {
    for (const status of [200, 500]) {
        const sent = serving(repeated(new Uint8Array(65_536)), status);
        await fails(server().call('accounts/challenge'), 'endless');
        assert.ok(sent.signal.aborted);
        assert.ok(sent.taken <= 9 << 20, `${sent.taken} bytes`);
    }
});

test('what is no refusal of the server is told by its status, also of a question by message', async () => {
    // The module reads nothing as a refusal that says nothing; a page of HTML it does not read.
    const read = bytes => {
        if (bytes.length > 0) throw new Error('malformed');
        return { code: '' };
    };
    for (const [body, status, code] of [['', 502, 'serviceUnavailable'], ['<html>', 502, 'serviceUnavailable'], ['<html>', 403, 'serverRejectedRequest']]) {
        globalThis.fetch = async () => new Response(body, { status });
        const passing = new Server('', read);
        await fails(passing.call('share/place', new Uint8Array(1)), code);
        const account = { call: (...call) => passing.call(...call) };
        await fails(exchange(account, 'records/query', {}, { container: 'c', environment: 'e', database: 'public' }), code);
        const asking = { inSession: ask => ask(), server: passing };
        const place = { container: 'c', environment: 'e', database: 'private' };
        await fails(callByMessage(asking, 'zones/changes', {}, place), code);
        await fails(sendFromCore(asking, 'zones/modify', new Uint8Array(1), place), code);
    }
});

test('who says nothing is waited for a minute', async () => {
    const sent = serving([Uint8Array.of(1), undefined].values());
    const answer = fails(server().call('accounts/challenge'), 'networkFailure');
    while (sent.taken === 0) await new Promise(setImmediate);
    pass(59_000);
    assert.ok(!sent.signal.aborted);
    pass(2_000);
    await answer;
});

test('who does not answer at all is waited for a minute', async () => {
    let signal;
    globalThis.fetch = (_, options) => new Promise((_, reject) => {
        ({ signal } = options);
        signal.addEventListener('abort', () => reject(signal.reason));
    });
    const answer = fails(server().call('accounts/challenge'), 'networkFailure');
    pass(61_000);
    await answer;
    assert.ok(signal.aborted);
});

test('an answer that trickles is left', async () => {
    const sent = serving(repeated(Uint8Array.of(1), () => pass(30_000)));
    await fails(server().call('accounts/challenge'), 'networkFailure');
    assert.ok(sent.taken < 10, `${sent.taken} bytes`);
});

test('the beginning and the end of an upload go again where the line breaks, and a file in one piece does not', async () => {
    for (const [route, tries] of [['assets/begin', 3], ['assets/finish', 3], ['assets/upload', 1]]) {
        const sent = [];
        const one = new LibraryAccount(() => ({}), 'https://notes.example.org', '');
        one.server.call = async (name, body) => {
            sent.push(body);
            throw new ServerError({ code: 'networkFailure' });
        };
        let isDone = false;
        const answer = fails(one.call(route, Uint8Array.of(7)), 'networkFailure').finally(() => { isDone = true; });
        while (!isDone) {
            await new Promise(setImmediate);
            pass(1000);
        }
        await answer;
        assert.deepEqual([sent.length, new Set(sent).size], [tries, 1], route);
    }
});

test('what is read as it comes is left as well where it trickles', async () => {
    const read = async (size, each) => {
        const sent = serving(repeated(new Uint8Array(size), each), 206);
        let count = 0;
        const all = (async () => { for await (const part of server().stream('assets/download', {}, { first: 0, end: 1 << 30 })) count += part.length; })();
        await fails(all, 'networkFailure');
        return { sent, count };
    };
    const { sent, count } = await read(1, () => pass(50_000));
    assert.ok(count < 5 && sent.signal.aborted, `${count} bytes`);
    // At the pace that is taken it goes on: until it stops.
    let chunks = 0;
    const steady = await read(60 << 10, () => { pass(++chunks > 100 ? 70_000 : 30_000); });
    assert.ok(steady.count >= 100 * (60 << 10), `${steady.count} bytes`);
});

test('a file of which little comes with each try is left', async () => {
    // Tries are a second apart.
    globalThis.setTimeout = action => { queueMicrotask(action); };
    const size = 64 << 20;
    const saving = bytesATry => {
        let [place, tried] = [0, 0];
        const account = {
            inSession: ask => ask(), handle: () => {},
            server: {
                async *stream(_, __, { first, end }) {
                    tried++;
                    const count = Math.min(bytesATry, end - first);
                    place = first + count;
                    yield new Uint8Array(count);
                    if (place < end) throw new ServerError({ code: 'networkFailure' });
                },
            },
        };
        const reading = { handle: 1, path: {}, size, content: size, all: size, chunk: 65_536, takeLeaves: () => {}, open: bytes => bytes, end: () => {} };
        return { saved: saveAsset(account, reading, () => {}), get tried() { return tried; } };
    };
    for (const bytes of [1, 1000, 60_000]) {
        const one = saving(bytes);
        await fails(one.saved, 'networkFailure');
        assert.equal(one.tried, 5, `${bytes} bytes each time`);
    }
    const broken = saving(750_000);
    assert.equal((await broken.saved).size, size);
    assert.equal(broken.tried, Math.ceil(size / 750_000));
});

/** An account at a server that knows no session but the one of its last login, and is slow to begin one. */
async function account() {
    const asked = { logins: 0, without: 0 };
    let session = 'old';
    const ask = name => ({ u32: () => 1, blob: () => new Uint8Array(1), string: () => name === 'sessionAnswer' ? session : '', i64: () => 0n, flag: () => true });
    const one = new Account(name => ask(name), 'https://notes.example.org', '');
    one.server.call = async name => {
        await new Promise(resolve => setImmediate(resolve));
        if (name === 'accounts/login') session = `${++asked.logins}`;
        if (name.startsWith('accounts/')) return new Uint8Array(1);
        if (one.server.token === '') asked.without++;
        if (one.server.token !== session) throw new ServerError({ code: 'sessionExpired' });
        return new Uint8Array(1);
    };
    await one.createAccount({ deviceName: 'Web browser', isKept: false, code: '' });
    one.server.token = 'older';
    return { one, asked };
}

test('a session that has ended is begun once for all that go beside each other', async () => {
    const { one, asked } = await account();
    await Promise.all(Array.from({ length: 5 }, () => one.call('records/changes')));
    await one.call('records/changes');
    assert.deepEqual(asked, { logins: 1, without: 0 });
});

test('what comes in a server’s place is no success', async () => {
    const answered = (body, status, type) => {
        globalThis.fetch = async () => new Response(body, { status, headers: type ? { 'content-type': type } : {} });
        return server().call('accounts/recovery', Uint8Array.of(1));
    };
    const media = 'application/x-protobuf';
    for (const type of [media, `${media}; charset=binary`, 'application/protobuf']) {
        assert.equal((await answered(new Uint8Array(0), 200, type)).length, 0, type);
    }
    assert.equal((await answered(Uint8Array.of(8, 1), 200)).length, 2);
    for (const [body, status, type] of [[null, 204], [null, 204, media], [new Uint8Array(0), 200], ['<html>', 200, 'text/html'], [new Uint8Array(0), 201, media]]) {
        await fails(answered(body, status, type), 'networkFailure');
    }
    globalThis.fetch = async () => new Response(null, { status: 201 });
    assert.equal((await server().call('assets/upload', Uint8Array.of(1), {}, undefined, 'application/octet-stream')).length, 0);
    globalThis.fetch = async () => new Response(null, { status: 200 });
    await fails(server().call('assets/upload', Uint8Array.of(1), {}, undefined, 'application/octet-stream'), 'networkFailure');
});
