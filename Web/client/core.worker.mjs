// Where the core runs: the page talks to it by messages, so that nothing that a script of the page can name holds a key.
import { Account } from './account.mjs';
import { codeOf } from './failure.mjs';
import * as kept from './kept.mjs';
import { loadModule } from './module.mjs';
import { operations } from './operations.mjs';
import { Visit } from './visit.mjs';

/**
 * @typedef {{ id: number, name?: string, argument?: unknown }} Question without a name it says that nobody waits for that answer any more
 * @typedef {{ id?: undefined, hasEnded: boolean } | { id: number, part: number } | { id: number, value: unknown }
 *     | { id: number, error: string }} Answer the first says that something may have come, or that no more is told, the last why there is none, by its code
 */

// What the page may ask for: no other member, and none that is inherited.
export const methods = /** @type {const} */ ({
    account: ['passkeyInput', 'newRecoveryKey', 'isRecoveryKey', 'mistypedGroups', 'takeRecoveryKey', 'takePasskey', 'takePassphrase',
        'createAccount', 'recoverAccount', 'keepAccount', 'logOut', 'device', 'beginEnrolment', 'enrolment', 'enrolled', 'endEnrolment'],
    visit: ['open', 'link', 'askForSeat', 'look', 'sendCode', 'proveCode', 'accept', 'comeBack', 'enter', 'watch', 'beginAnew'],
    zone: ['fetchRecords', 'records', 'news', 'openAsset', 'saveAsset', 'upload', 'begin', 'endEdit', 'newRecord', 'save', 'remove', 'leave'],
});
// They take as long as a file or a stream does, and change nothing that others go by.
const beside = ['openAsset', 'saveAsset', 'upload', 'watch', 'logOut'];
const places = new Map(Object.entries(methods).flatMap(([place, names]) => names.map(name => /** @type {[string, string]} */ ([name, place]))));
const [origin = '', calls = ''] = self.name.split(' ');
/** @type {Promise<Visit> | undefined} */
let visit;
/** What could not be loaded is loaded again for whoever asks again. */
const begun = () => visit ??= loadModule(operations).then(ask => new Visit(new Account(ask, origin, calls), kept)).catch(error => {
    visit = undefined;
    throw error;
});
begun().catch(() => {});

const say = (/** @type {Answer} */ answer) => postMessage(answer);

// What has not ended yet, and whether anybody waits for it.
/** @type {Map<number, boolean>} */
const awaited = new Map();

/** @param {Question & { name: string }} question */
async function answer({ id, name, argument }) {
    try {
        const place = places.get(name);
        if (place === undefined) throw new TypeError('no such method');
        const one = await begun();
        /** @type {unknown} */
        const owner = place === 'account' ? one.account : place === 'visit' ? one : one.zone;
        const called = /** @type {Record<string, (argument: unknown, tell: import('./assets.mjs').Progress) => unknown>} */ (owner);
        // Of a file without bytes all has gone.
        const tell = (/** @type {number} */ bytes, /** @type {number} */ total) => {
            if (!awaited.get(id)) throw Object.assign(new Error('stopped'), { code: 'stopped' });
            say({ id, part: total > 0 ? bytes / total : 1 });
        };
        say({ id, value: await called[name](argument ?? {}, name === 'watch' ? hasEnded => say({ hasEnded: !!hasEnded }) : tell) });
    } catch (error) {
        say({ id, error: codeOf(error) });
    } finally {
        awaited.delete(id);
    }
}

// One after the other: an answer that was asked for before a record was saved is older than what is known by then.
let last = Promise.resolve();
addEventListener('message', (/** @type {MessageEvent<Question>} */ { data }) => {
    const { id, name, argument } = data;
    if (name === undefined) {
        // It ends at its next part.
        if (awaited.has(id)) awaited.set(id, false);
        return;
    }
    awaited.set(id, true);
    const asked = () => answer({ id, name, argument });
    if (beside.includes(name)) asked(); else last = last.then(asked);
});
