// A page that edits one shared zone, live. The server is the link's.
import CloudKit from './sealkit/library/sealkit.mjs';

const [containerIdentifier, environment] = ['org.sealkit.notes', 'development'];
const $ = id => document.getElementById(id);

/** Runs what somebody asked for, and says what became of it where it fails. */
async function attempt(body) {
    $('problem').textContent = '';
    try {
        await body();
    } catch (error) {
        $('problem').textContent = error.message;
    }
}

const required = ({ errors, records, results }) => {
    if (errors.length > 0) throw errors[0];
    return records ?? results;
};

$('enter').addEventListener('submit', event => {
    event.preventDefault();
    const { url, name, passphrase } = Object.fromEntries(new FormData(event.target));
    return attempt(() => enter(url, { name, passphrase }, event.submitter?.value === 'new'));
});

async function enter(url, way, isNew) {
    CloudKit.configure({ containers: [{ containerIdentifier, environment, server: new URL(url).origin }] });
    const container = CloudKit.getDefaultContainer();
    await (isNew ? container.createAccount(way) : container.signIn(way));
    const verify = { address: () => prompt('Where were you invited?') ?? '', code: address => prompt(`The code that was sent to ${address}`) ?? '' };
    const [{ zoneID, shareTitle }] = required(await container.acceptShares(url, { verify }));
    $('enter').hidden = true;
    $('notes').hidden = false;
    $('title').textContent = shareTitle || 'Notes';
    const database = container.sharedCloudDatabase;
    const show = () => attempt(() => list(database, zoneID));
    $('add').addEventListener('submit', event => {
        event.preventDefault();
        const { title, file } = Object.fromEntries(new FormData(event.target));
        return attempt(async () => {
            // A file is sealed here as well, whatever its size.
            required(await database.saveRecords({ recordType: 'Note', fields: file.size > 0 ? { file } : {}, encryptedFields: { title } }, { zoneID }));
            event.target.reset();
            await show();
        });
    });
    await show();
    await database.saveSubscriptions({ subscriptionID: 'notes', subscriptionType: 'database' });
    container.addNotificationListener(show);
    await container.registerForNotifications();
}

async function list(database, zoneID) {
    const records = required(await database.performQuery({ recordType: 'Note', sortBy: { fieldName: 'title' } }, { zoneID }));
    $('list').replaceChildren(...records.map(record => {
        const input = Object.assign(document.createElement('input'), { value: record.encryptedFields.title?.value ?? '' });
        input.setAttribute('aria-label', 'Note');
        input.addEventListener('change', () => attempt(async () => {
            const { recordName, recordChangeTag } = record;
            const { errors } = await database.saveRecords({ recordName, recordChangeTag, encryptedFields: { title: input.value } }, { zoneID });
            await list(database, zoneID);
            if (errors.length > 0) throw errors[0];
        }));
        const gone = Object.assign(document.createElement('button'), { textContent: 'Delete', type: 'button' });
        gone.addEventListener('click', () => attempt(async () => {
            required(await database.deleteRecords(record, { zoneID }));
            await list(database, zoneID);
        }));
        const item = document.createElement('li');
        item.append(input, gone, ...record.fields.file ? [keeping(record.fields.file.value)] : []);
        return item;
    }));
}

/** A button that saves a note's file. */
function keeping(asset) {
    const button = Object.assign(document.createElement('button'), { textContent: 'Save the file', type: 'button' });
    button.addEventListener('click', () => attempt(async () => {
        const href = URL.createObjectURL(await asset.blob());
        Object.assign(document.createElement('a'), { href, download: 'file' }).click();
        setTimeout(() => URL.revokeObjectURL(href), 60_000);
    }));
    return button;
}
