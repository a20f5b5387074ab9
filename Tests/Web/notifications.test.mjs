// The library's event stream, by answers that are played to it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Server, ServerError } from '../../Web/client/server.mjs';
import { callByMessage } from '../../Web/client/messages.mjs';
import { NotificationStream } from '../../Web/client/notifications.mjs';
import { Visit } from '../../Web/client/visit.mjs';

const place = { container: 'org.example.notes', environment: 'production' };
const notification = { subscriptionId: 'all', kind: 3, database: 'shared', zone: { zoneName: 'Trip', ownerName: '_a' } };
const told = { notificationType: 'database', subscriptionID: 'all', databaseScope: 'SHARED', zoneID: { zoneName: 'Trip', ownerRecordName: '_a' } };

/** An account whose server answers with these, one a request; each is the stream's parts, or a refusal. */
function account(answers, asked) {
    return {
        inSession: ask => ask(),
        server: {
            async send(name, where, headers, signal) {
                assert.equal(name, 'notifications');
                assert.equal(where, place);
                asked.push(headers['last-event-id']);
                const answer = answers.shift();
                if (answer instanceof Response) return answer;
                if (answer === undefined) return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
                return new Response(new ReadableStream({
                    start(controller) {
                        for (const part of answer) controller.enqueue(new TextEncoder().encode(part));
                        controller.close();
                    },
                }));
            },
        },
    };
}

/** What a stream tells of such answers, until it has told so much. */
async function heard(answers, count) {
    const [asked, all] = [[], []];
    let enough;
    const all_ = new Promise(resolve => { enough = resolve; });
    const stream = new NotificationStream(account(answers, asked), place, one => { if (all.push(one) === count) enough(); });
    await stream.open();
    if (count > 0) await all_;
    stream.close();
    return { asked, all };
}

/** A server that answers this to whatever is asked. */
const answering = response => Object.assign(Object.create(Server.prototype), { send: async () => response });

test('events are read however they are cut', async () => {
    const text = `retry: 3000\n\nevent: ready\nid: 41\ndata: {}\n\n:\nid: 41\n\nevent: notification\nid: 42\ndata: ${JSON.stringify(notification)}\n\n`;
    for (const parts of [[text], [...text], text.split(/(?<=\n)/)]) {
        assert.deepEqual((await heard([parts], 1)).all, [told]);
    }
});

test('a stream that ends is opened again from where it was', async () => {
    const { asked, all } = await heard([
        ['event: ready\nid: 41\ndata: {}\n\n'], [`event: ready\nid: 41\ndata: {}\n\nevent: notification\nid: 42\ndata: ${JSON.stringify(notification)}\n\n`],
    ], 1);
    assert.deepEqual(all, [told]);
    assert.deepEqual(asked, [undefined, '41']);
});

test('what was missed is told as nothing', async () => {
    const { all } = await heard([['event: reset\nid: 7\ndata: {"code":"changeTokenExpired"}\n\n']], 1);
    assert.deepEqual(all, [null]);
});

test('a first refusal is told to whoever opens the stream, a later one is waited out', async () => {
    const refusal = () => new Response('{"code":"requestRateLimited","reason":"Too many.","retryAfter":2}', { status: 429 });
    const stream = new NotificationStream(account([refusal()], []), place, () => undefined);
    await assert.rejects(stream.open(), error => error instanceof ServerError && error.code === 'requestRateLimited' && error.wait === 2000);
    const { asked, all } = await heard([['event: ready\nid: 1\ndata: {}\n\n'], refusal(), [`event: notification\nid: 2\ndata: ${JSON.stringify(notification)}\n\n`]], 1);
    assert.deepEqual([asked, all], [[undefined, '1', '1'], [told]]);
});

test('what is no notification ends that stream and no other', async () => {
    const { all } = await heard([['event: ready\nid: 1\ndata: {}\n\nevent: notification\ndata: {\n\n'], [`event: notification\nid: 2\ndata: ${JSON.stringify(notification)}\n\n`]], 1);
    assert.deepEqual(all, [told]);
});

test('an event without end is not listened to', async () => {
    const part = 'x'.repeat(1 << 19);
    const { asked, all } = await heard([
        ['event: ready\nid: 1\ndata: {}\n\n', 'data: ', part, part, part, `\n\nevent: notification\nid: 2\ndata: ${JSON.stringify(notification)}\n\n`],
        [`event: notification\nid: 3\ndata: ${JSON.stringify(notification)}\n\n`],
    ], 1);
    assert.deepEqual([asked, all], [[undefined, '1'], [told]]);
});

test('an answer without end is given up', async () => {
    const endless = new Response(new ReadableStream({ pull: controller => controller.enqueue(new Uint8Array(1 << 20)) }));
    const server = answering(endless);
    await assert.rejects(callByMessage({ inSession: ask => ask(), server }, 'subscriptions/list', {}, {}), error => error.code === 'endless');
    await assert.rejects(callByMessage({ inSession: ask => ask(), server: answering(new Response('<html>')) }, 'subscriptions/list', {}, {}),
        error => error instanceof ServerError && error.code === 'networkFailure');
});

test('of streams that are opened at once the last one is left', async () => {
    /** @type {Map<AbortSignal, ReadableStreamDefaultController>} */
    const open = new Map();
    let isOver = false;
    const visit = new Visit({
        inSession: ask => ask(), identify: async () => ({ identity: 1 }), ask: () => ({ u32: () => 1 }),
        server: {
            exchange: async () => ({ response: new Response('{}'), bytes: new TextEncoder().encode('{}') }),
            async send(name, where, headers, signal) {
                if (isOver) throw new ServerError({ code: 'permissionFailure' });
                return new Response(new ReadableStream({
                    start(controller) {
                        open.set(signal, controller);
                        controller.enqueue(new TextEncoder().encode('event: ready\ndata: {}\n\n'));
                        signal.addEventListener('abort', () => {
                            open.delete(signal);
                            controller.error();
                        });
                    },
                }));
            },
        },
    });
    let hasEnded = () => {};
    const end = new Promise(resolve => { hasEnded = resolve; });
    const watch = () => visit.watch(undefined, isEnd => isEnd && hasEnded());
    await visit.comeBack({ ...place, owner: '_a', zone: 'Trip', share: 'share' });
    await Promise.allSettled([watch(), watch()]);
    assert.equal(open.size, 1);
    await watch();
    assert.equal(open.size, 1);
    isOver = true;
    for (const controller of open.values()) controller.close();
    // Whoever looks at nothing then hears of it nevertheless.
    await end;
});
