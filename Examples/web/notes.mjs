// Notes that somebody shares, in a terminal: node notes.mjs SERVER CONTAINER [ENVIRONMENT]. It asks for the share's URL, and for an address and the code
// that is sent there where the owner has invited one.
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import CloudKit from './sealkit/library/sealkit.mjs';

const [server, containerIdentifier, environment = 'production'] = process.argv.slice(2);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
async function ask(question) {
    console.log(question);
    const { done, value } = await lines.next();
    if (done) throw new Error('nothing more to read');
    return value;
}

// What was verified is held against what the server shows at the next run.
const memory = join(homedir(), '.sealkit-notes');
CloudKit.configure({ containers: [{ containerIdentifier, environment, server, memory, deviceName: 'Notes in a terminal' }] });
const container = CloudKit.getDefaultContainer();

const url = await ask('The link:');
const key = await ask('Your recovery key, or nothing for a new account:');
if (key === '') {
    console.log(`Write this down: ${await container.newRecoveryKey()}`);
    await container.createAccount({ recoveryKey: await ask('Type it once more:') });
} else {
    await container.signIn({ recoveryKey: key });
}

const verify = { address: () => ask('Where were you invited?'), code: address => ask(`The code that was sent to ${address}:`) };
const { results: [share], errors: [problem] } = await container.acceptShares(url, { verify });
if (problem) throw problem;
const { zoneID } = share;
const notes = container.sharedCloudDatabase;

async function show() {
    const { records, errors } = await notes.performQuery({ recordType: 'Note', sortBy: { fieldName: 'title' } }, { zoneID });
    // Each is of one note alone.
    for (const { message } of errors) console.error(message);
    for (const { encryptedFields, modified } of records) console.log(`- ${encryptedFields.title?.value} (${modified.userRecordName.slice(0, 9)})`);
}

console.log(`${share.shareTitle || 'Shared notes'}:`);
await show();

const title = await ask('A new note, or nothing:');
if (title !== '') {
    const { errors } = await notes.saveRecords({ recordType: 'Note', encryptedFields: { title } }, { zoneID });
    if (errors.length > 0) throw errors[0];
    await show();
}

await notes.saveSubscriptions({ subscriptionID: 'notes', subscriptionType: 'database' });
const changed = new Promise(resolve => container.addNotificationListener(resolve));
await container.registerForNotifications();
console.log('Waiting for somebody else’s…');
await changed;
await show();
await container.signOut();
process.exit(0);
