// Where the core runs: the page talks to it by messages, so that nothing that a script of the page can name holds a key.
import { Account } from './account.mjs';
import { loadModule } from './module.mjs';
import { Visit } from './visit.mjs';

// What the page may ask for: no other member, and none that is inherited.
const methods = {
    account: ['passkeyInput', 'newRecoveryKey', 'isRecoveryKey', 'mistypedGroups', 'takeRecoveryKey', 'takePasskey', 'takePassphrase',
        'createAccount', 'recoverAccount', 'keepAccount', 'device', 'beginEnrolment', 'enrolment', 'enrolled', 'endEnrolment'],
    visit: ['open', 'link', 'askForSeat', 'look', 'sendCode', 'proveCode', 'accept', 'comeBack', 'enter', 'watch'],
    zone: ['fetchRecords', 'records', 'openAsset', 'saveAsset', 'upload', 'begin', 'endEdit', 'newRecord', 'save', 'remove', 'leave'],
};
// They take as long as a file or a stream does, and change nothing that others go by.
const beside = ['saveAsset', 'upload', 'watch'];
const places = new Map(Object.entries(methods).flatMap(([place, names]) => names.map(name => [name, place])));
const visit = loadModule().then(ask => new Visit(new Account(ask, ...self.name.split(' '))));

async function answer({ id, name, argument }) {
    try {
        if (!places.has(name)) throw new TypeError('no such method');
        const one = await visit;
        const parts = { account: one.account, visit: one, zone: one.zone };
        const tell = name === 'watch' ? () => postMessage({}) : part => postMessage({ id, part });
        postMessage({ id, value: await parts[places.get(name)][name](argument ?? {}, tell) });
    } catch (error) {
        const { code: given, reason = '', remedy = '', wait = 0 } = error;
        // What a browser throws has a number there.
        const code = typeof given === 'string' ? given : 'internalError';
        postMessage({ id, error: { code, reason, remedy, wait } });
    }
}

// One after the other: an answer that was asked for before a record was saved is older than what is known by then.
let last = Promise.resolve();
addEventListener('message', ({ data }) => {
    if (beside.includes(data.name)) answer(data); else last = last.then(() => answer(data));
});
