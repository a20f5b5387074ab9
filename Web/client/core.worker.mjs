// Where the core runs: the page talks to it by messages, so that nothing that a script of the page can name holds a key.
import { loadModule } from './module.mjs';
import { Visit } from './visit.mjs';

// What the page may ask for: no other member of a visit, and none that it inherits.
const methods = new Set([
    'open', 'askForSeat', 'passkeyInput', 'newRecoveryKey', 'isRecoveryKey', 'mistypedGroups', 'takeRecoveryKey', 'takePasskey', 'takePassphrase',
    'createAccount', 'recoverAccount', 'keepAccount', 'device', 'look', 'sendCode', 'proveCode', 'accept', 'comeBack', 'enter',
    'fetchRecords', 'records', 'openAsset', 'beginEdit', 'newRecord', 'save', 'remove',
]);
const visit = loadModule().then(ask => new Visit(ask, ...self.name.split(' ')));

async function answer({ id, name, argument }) {
    try {
        if (!methods.has(name)) throw new TypeError('no such method');
        postMessage({ id, value: await (await visit)[name](argument ?? {}) });
    } catch (error) {
        const { code: given, reason = '', remedy = '', wait = 0 } = error;
        // What a browser throws has a number there.
        const code = typeof given === 'string' ? given : 'internalError';
        postMessage({ id, error: { code, reason, remedy, wait } });
    }
}

// One after the other: an answer that was asked for before a record was saved is older than what is known by then.
let last = Promise.resolve();
addEventListener('message', ({ data }) => { last = last.then(() => answer(data)); });
