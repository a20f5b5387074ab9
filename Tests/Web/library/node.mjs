// The library in node, against a real server: library.py starts both, and answers what is asked here by lines of JSON.
import assert from 'node:assert/strict';
import { openAsBlob } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const { library, folder, token, server, shy, invited, open, other, owner, ownersKey, nothing } = JSON.parse(process.argv[2]);
const { default: CloudKit, Asset, CKError, Container } = await import(pathToFileURL(`${library}/library/sealkit.mjs`));
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
async function asked(question) {
    console.log(JSON.stringify(question));
    return JSON.parse((await lines.next()).value);
}
const sealkit = (...arguments_) => asked({ sealkit: arguments_ });
const step = name => console.log(JSON.stringify({ step: name }));

// The memory of each module that is loaded; node has one of its own for fetch.
const memories = [];
const { instantiate } = WebAssembly;
WebAssembly.instantiate = async (...source) => {
    const made = await instantiate(...source);
    if (made.instance) memories.push(made.instance.exports.memory);
    return made;
};
const isEmpty = ({ buffer }) => new Uint8Array(buffer).every(byte => byte === 0);

const containerIdentifier = 'org.sealkit.notes';
const configuration = { containerIdentifier, environment: 'development', server };
const refusal = (ckErrorCode, serverErrorCode) => error => {
    assert.ok(error instanceof CKError, `${error.stack}`);
    assert.equal(error.ckErrorCode, ckErrorCode, `${error.serverErrorCode}: ${error.message}`);
    if (serverErrorCode) assert.equal(error.serverErrorCode, serverErrorCode);
    return true;
};

step('what is configured');
assert.throws(() => CloudKit.getDefaultContainer(), refusal('BAD_REQUEST'));
assert.throws(() => CloudKit.configure({ containers: [] }), refusal('BAD_REQUEST'));
assert.throws(() => CloudKit.configure({ containers: [{ containerIdentifier, server: 'nowhere' }] }), refusal('BAD_REQUEST'));
assert.throws(() => CloudKit.configure({ containers: [{ ...configuration, environment: 'test' }] }), refusal('BAD_REQUEST'));
const kept = {};
const devices = { load: async () => kept, keep: async ({ account, ...device }) => { kept[account] = device; } };
CloudKit.configure({ containers: [{ ...configuration, devices }] });
const container = CloudKit.getDefaultContainer();
assert.equal(CloudKit.getContainer(containerIdentifier), container);
assert.deepEqual(CloudKit.getAllContainers(), [container]);
assert.throws(() => CloudKit.getContainer('org.example.none'), refusal('BAD_REQUEST'));

step('an account by a recovery key that was typed once more');
assert.equal(await container.setUpAuth(), null);
await assert.rejects(container.fetchCurrentUserIdentity(), refusal('AUTHENTICATION_REQUIRED', 'notAuthenticated'));
await assert.rejects(container.acceptShares(open).then(({ errors }) => { throw errors[0]; }), refusal('AUTHENTICATION_REQUIRED'));
await assert.rejects(container.createAccount({ recoveryKey: nothing }), refusal('BAD_REQUEST'));
const recoveryKey = await container.newRecoveryKey();
const signedIn = container.whenUserSignsIn();
await assert.rejects(container.createAccount({ recoveryKey: nothing }), refusal('BAD_REQUEST'));
const me = await container.createAccount({ recoveryKey });
assert.deepEqual(await signedIn, me);
assert.deepEqual(await container.setUpAuth(), me);
assert.match(me.userRecordName, /^_[0-9a-f]{32,}$/);

step('a share that is open to everybody');
const cut = await container.acceptShares(open.slice(0, -3));
assert.ok(cut.hasErrors && refusal('BAD_REQUEST', 'invalidURL')(cut.errors[0]));
const infos = await container.fetchRecordInfos(open);
assert.equal(infos.results[0].participantStatus, 'PENDING');
assert.equal(infos.results[0].participantPermission, 'READ_ONLY');
assert.equal(infos.results[0].shareTitle, 'The fair');
assert.equal(infos.results[0].ownerIdentity.userRecordName, owner);
assert.match(infos.results[0].safetyNumber, /^\d{30,}$/);
const fair = await container.acceptShares(open);
assert.equal(fair.results[0].participantStatus, 'ACCEPTED');
const shared = container.sharedCloudDatabase;
const fairZone = { zoneID: fair.results[0].zoneID };
assert.deepEqual(fairZone.zoneID, { zoneName: 'Fair', ownerRecordName: owner });
const mayNot = await shared.saveRecords({ recordType: 'Note', fields: { a: 1 } }, fairZone);
assert.ok(refusal('ACCESS_DENIED', 'mayOnlyRead')(mayNot.errors[0]));

// Calls go by what the test says of them, and as they are after it.
const { fetch } = globalThis;
async function meanwhile(change, body) {
    globalThis.fetch = (url, ...rest) => change(String(url), () => fetch(url, ...rest), ...rest);
    try {
        return await body();
    } finally {
        globalThis.fetch = fetch;
    }
}
/** The answers of so many calls of a route do not arrive; what was sent is told. */
const losing = (route, count, sent = []) => async (url, ask, { body } = {}) => {
    if (!url.includes(route)) return ask();
    sent.push(Buffer.from(body).toString('hex'));
    const answer = await ask();
    if (sent.length <= count) throw new TypeError('fetch failed');
    return answer;
};

step('a share of whoever proves an address');
const unproven = await container.acceptShares(invited);
assert.ok(refusal('AUTHENTICATION_REQUIRED', 'participantMayNeedVerification')(unproven.errors[0]));
// Whoever closes the dialog sends nothing, and what the app throws is its own.
for (const dialog of [{ address: () => null }, { address: () => ' ' }, { address: () => 'vera@example.org', code: () => null }]) {
    const urls = [];
    const cancelled = await meanwhile((url, ask) => { urls.push(url); return ask(); }, () => container.acceptShares(invited, { verify: dialog }));
    assert.ok(refusal('TRY_AGAIN_LATER', 'operationCancelled')(cancelled.errors[0]));
    assert.ok(!urls.some(url => url.includes('/verification/complete')), urls.join(' '));
}
const appsOwn = new TypeError('the app’s own');
await assert.rejects(container.acceptShares([open, invited], { verify: { address: () => { throw appsOwn; } } }), error => error === appsOwn);
const verify = { address: () => 'vera@example.org', code: address => asked({ code: address, after: 1 }) };
// The code is used, and nobody has heard what came of it.
const trip = await meanwhile(losing('/verification/complete', 1), () => container.acceptShares([invited], { verify }));
assert.deepEqual(trip.errors, []);
assert.equal(trip.results[0].participantPermission, 'READ_WRITE');
const zoneID = trip.results[0].zoneID;
const zone = { zoneID };
assert.ok(refusal('INTEGRITY_ERROR', 'otherServer')((await container.acceptShares(other)).errors[0]));

step('records');
const all = await shared.fetchRecordZoneChanges(zone);
assert.deepEqual(all.errors, []);
const first = all.records.find(({ recordName }) => recordName === 'first');
assert.deepEqual(first.encryptedFields.title, { value: 'Before', type: 'STRING' });
assert.deepEqual(first.fields.stars, { value: 5, type: 'INT64' });
assert.equal(first.recordType, 'Note');
assert.equal(first.modified.userRecordName, owner);
assert.deepEqual((await shared.fetchRecordZoneChanges({ ...zone, syncToken: all.syncToken })).records, []);
const some = await shared.fetchRecords(['first', 'none'], { ...zone, desiredKeys: ['stars'] });
assert.deepEqual(some.records.map(({ fields, encryptedFields }) => [fields, encryptedFields]), [[{ stars: { value: 5, type: 'INT64' } }, {}]]);
assert.ok(refusal('NOT_FOUND', 'unknownItem')(some.errors[0]) && some.errors[0].recordName === 'none');
const picture = all.records.find(({ recordName }) => recordName === 'picture').fields.file;
assert.equal(picture.type, 'ASSETID');
assert.equal(Buffer.from(await picture.value.open()).toString(), 'asset '.repeat(1000));
assert.equal(picture.value.size, 6000);
await assert.rejects(shared.fetchRecords('first', { zoneID: { zoneName: 'None', ownerRecordName: owner } }), error => error instanceof CKError);
await assert.rejects(shared.fetchRecords('first', {}), refusal('BAD_REQUEST'));

step('values of every kind that can be written');
const values = {
    text: { value: '\ufeffübung', type: 'STRING' }, whole: { value: -3, type: 'INT64' }, large: { value: 2n ** 62n, type: 'INT64' }, part: { value: 0.5, type: 'DOUBLE' },
    round: { value: 2, type: 'DOUBLE' }, when: { value: 1_700_000_000_000, type: 'TIMESTAMP' }, bytes: { value: Uint8Array.of(0, 255), type: 'BYTES' },
    link: { value: { recordName: 'first', action: 'NONE' }, type: 'REFERENCE' }, list: { value: ['a', 'b'], type: 'STRING_LIST' },
    numbers: { value: [1, 2], type: 'INT64_LIST' }, none: { value: [], type: 'EMPTY_LIST' },
};
const made = await shared.saveRecords({ recordType: 'Kinds', recordName: 'kinds', fields: values, encryptedFields: { constructor: 'own', sealed: values.bytes } }, zone);
assert.deepEqual(made.errors, []);
assert.deepEqual(made.records[0].fields, values);
assert.deepEqual(Object.keys(made.records[0].encryptedFields).sort(), ['constructor', 'sealed']);
const badName = await shared.saveRecords({ recordType: 'Kinds', fields: { ['__proto__']: 1 } }, zone);
assert.ok(refusal('BAD_REQUEST', 'invalidName')(badName.errors[0]));
const read = JSON.stringify(await sealkit('record', 'get', 'kinds', '--zone', 'Trip'));
assert.match(read, /übung/);
for (const wrong of [{ a: undefined }, { a: NaN }, { a: 2n ** 63n }, { a: [1, 'x'] }, { a: '\ud83d' }, { a: { latitude: 1, longitude: 2 } }, { a: { value: 'x', type: 'INT64' } }, { a: { value: 1, type: 'OTHER' } }]) {
    const refused = await shared.saveRecords({ recordType: 'Kinds', fields: wrong }, zone);
    assert.ok(refusal('BAD_REQUEST')(refused.errors[0]), JSON.stringify(wrong, (_, value) => String(value)));
}
const twice = await shared.saveRecords({ recordType: 'Kinds', fields: { a: 1 }, encryptedFields: { a: 1 } }, zone);
assert.ok(refusal('BAD_REQUEST')(twice.errors[0]));

step('changes and conflicts');
const noted = await shared.saveRecords([{ recordType: 'Note', fields: { stars: 1 }, encryptedFields: { title: 'Mine' } }, { recordType: 'Note', recordName: 'first', fields: {} }], zone);
assert.equal(noted.records.length, 1);
assert.ok(refusal('EXISTS')(noted.errors[0]) && noted.errors[0].serverRecord.recordName === 'first');
const mine = noted.records[0];
assert.equal(mine.modified.userRecordName, me.userRecordName);
const changed = await shared.saveRecords({ ...mine, fields: { stars: null, colour: 'blue' }, encryptedFields: {} }, zone);
assert.deepEqual(Object.keys(changed.records[0].fields), ['colour']);
assert.equal(changed.records[0].encryptedFields.title.value, 'Mine');
const stale = await shared.saveRecords({ ...mine, fields: { colour: 'red' } }, zone);
assert.ok(refusal('CONFLICT')(stale.errors[0]) && stale.errors[0].serverRecord.fields.colour.value === 'blue');
const unsealed = await shared.saveRecords({ ...changed.records[0], fields: { title: 'In the open' }, encryptedFields: {} }, zone);
assert.ok(refusal('BAD_REQUEST', 'unsupported')(unsealed.errors[0]));
const shown = await sealkit('record', 'save', '--zone', 'Trip', '--type', 'Note', '--name', mine.recordName, '--update', '--seal', 'title=Ours');
assert.ok(shown);
const outrun = await shared.saveRecords({ ...changed.records[0], fields: {}, encryptedFields: { title: 'Theirs' } }, zone);
assert.ok(refusal('CONFLICT')(outrun.errors[0]) && outrun.errors[0].serverRecord.encryptedFields.title.value === 'Ours');

step('answers that do not arrive');
const posts = [];
const lost = await meanwhile(losing('/records/modify', 1, posts), () => shared.saveRecords({ recordType: 'Lost', fields: { number: 1 } }, zone));
assert.deepEqual([lost.errors, posts.length, posts[0] === posts[1]], [[], 2, true]);
const unknown = await meanwhile(losing('/records/modify', Infinity), () => shared.saveRecords([{ recordType: 'Lost', fields: { number: 2 } }], zone));
assert.ok(refusal('NETWORK_ERROR', 'networkFailure')(unknown.errors[0]) && unknown.errors[0].recordName);
const known_ = await shared.saveRecords({ recordType: 'Lost', recordName: unknown.errors[0].recordName }, zone);
assert.ok(refusal('EXISTS')(known_.errors[0]) && known_.errors[0].serverRecord.fields.number.value === 2);
const unread = await meanwhile((url, ask) => url.includes('/records/modify') ? ask().then(answer => { posts.length = 0; return answer; })
    : posts.length === 0 ? Promise.reject(new TypeError('fetch failed')) : ask(), () => shared.saveRecords({ recordType: 'Lost', fields: { number: 3 } }, zone));
assert.ok(refusal('NETWORK_ERROR', 'networkFailure')(unread.errors[0]) && unread.errors[0].recordName);
assert.deepEqual((await shared.performQuery({ recordType: 'Lost', sortBy: { fieldName: 'number' } }, zone)).records.map(({ fields }) => fields.number.value), [1, 2, 3]);

step('one that is wrong among others');
const mixed = await shared.saveRecords([{ recordType: 'Mixed', recordName: 'm1', fields: { a: 1 } }, null, { recordType: 'Mixed', fields: null }, { recordType: 'Mixed', recordName: 'm2', fields: { a: 2 } }], zone);
assert.deepEqual(mixed.records.map(({ recordName }) => recordName), ['m1', 'm2']);
assert.deepEqual(mixed.errors.map(error => error instanceof CKError && error.ckErrorCode), ['INTERNAL_ERROR', 'BAD_REQUEST']);
assert.ok(mixed.errors[0].cause instanceof TypeError);
const removed = await shared.deleteRecords(['m1', null, {}, 'm2'], zone);
assert.deepEqual([removed.records.length, removed.errors.map(({ ckErrorCode }) => ckErrorCode)], [2, ['BAD_REQUEST', 'BAD_REQUEST']]);
for (const call of ['fetchRecords', 'performQuery', 'saveRecords', 'deleteRecords', 'fetchRecordZoneChanges']) await assert.rejects(shared[call](call === 'fetchRecordZoneChanges' ? undefined : {}), refusal('BAD_REQUEST'));
assert.ok(refusal('BAD_REQUEST')((await shared.fetchRecordZones([null, {}])).errors[1]));

step('queries');
await shared.saveRecords([3, 1, 2].map(stars => ({ recordType: 'Star', fields: { stars }, encryptedFields: { name: `s${stars}`, tags: ['x', `t${stars}`] } })), zone);
const names = async (query, options) => (await shared.performQuery({ recordType: 'Star', ...query }, { ...zone, ...options })).records.map(record => record.encryptedFields.name.value);
const by = (fieldName, comparator, value) => ({ filterBy: { fieldName, comparator, fieldValue: { value } }, sortBy: { fieldName: 'stars' } });
assert.deepEqual(await names({ sortBy: { fieldName: 'stars', ascending: false } }), ['s3', 's2', 's1']);
assert.deepEqual(await names(by('stars', 'GREATER_THAN', 1)), ['s2', 's3']);
assert.deepEqual(await names(by('stars', 'LESS_THAN_OR_EQUALS', 2)), ['s1', 's2']);
assert.deepEqual(await names(by('name', 'EQUALS', 's2')), ['s2']);
assert.deepEqual(await names(by('name', 'NOT_EQUALS', 's2')), ['s1', 's3']);
assert.deepEqual(await names(by('name', 'BEGINS_WITH', 's')), ['s1', 's2', 's3']);
assert.deepEqual(await names(by('stars', 'IN', [1, 3])), ['s1', 's3']);
assert.deepEqual(await names(by('stars', 'NOT_IN', [1, 3])), ['s2']);
assert.deepEqual(await names(by('tags', 'LIST_CONTAINS', 't3')), ['s3']);
assert.deepEqual(await names(by('none', 'EQUALS', 1)), []);
// As apps and the server compare: without regard to case, and what lacks the value that is sorted by is not found.
assert.deepEqual(await names(by('name', 'EQUALS', 'S2')), ['s2']);
assert.deepEqual(await names(by('name', 'LESS_THAN', 'S3')), ['s1', 's2']);
assert.deepEqual(await names(by('name', 'NOT_EQUALS', 'S2')), ['s1', 's3']);
assert.deepEqual(await names(by('name', 'NOT_BEGINS_WITH', 's1')), ['s2', 's3']);
assert.deepEqual(await names(by('tags', 'NOT_LIST_CONTAINS', 'T3')), ['s1', 's2']);
assert.deepEqual(await names({ sortBy: { fieldName: 'colour' } }), []);
const page = await shared.performQuery({ recordType: 'Star', sortBy: { fieldName: 'stars' } }, { ...zone, resultsLimit: 2 });
assert.deepEqual([page.records.length, page.moreComing], [2, true]);
assert.equal((await shared.performQuery({ recordType: 'Star', sortBy: { fieldName: 'stars' } }, { ...zone, continuationMarker: page.continuationMarker })).records[0].fields.stars.value, 3);
const behind = await shared.performQuery(page);
assert.deepEqual([behind.records.map(({ fields }) => fields.stars.value), behind.moreComing], [[3], false]);
for (const wrong of [{}, { recordType: 'Star', filterBy: { fieldName: 'a', comparator: 'LIKE', fieldValue: { value: 1 } } }, { recordType: 'Star', filterBy: { fieldName: 'a', comparator: 'IN', fieldValue: { value: 1 } } }]) {
    await assert.rejects(shared.performQuery(wrong, zone), refusal('BAD_REQUEST'));
}

step('files');
const bytesOf = async blob => new Uint8Array(await blob.arrayBuffer());
const small = await shared.saveRecords({ recordType: 'Note', recordName: 'filed', fields: { file: new Blob(['a small file']) }, encryptedFields: { title: 'With a file' } }, zone);
assert.deepEqual(small.errors, []);
const { file } = small.records[0].fields;
assert.deepEqual([file.type, file.value.size, file.value instanceof Asset], ['ASSETID', 12, true]);
assert.equal(Buffer.from(await file.value.open()).toString(), 'a small file');
await sealkit('record', 'asset', 'filed', 'file', '--zone', 'Trip', '--output', `${folder}/small`);
assert.equal(await readFile(`${folder}/small`, 'utf8'), 'a small file');
// It comes back as it was read, and stays; another one's is no value.
const titled = await shared.saveRecords({ ...small.records[0], encryptedFields: { title: 'Another title' } }, zone);
assert.deepEqual(titled.errors, []);
assert.equal(Buffer.from(await titled.records[0].fields.file.value.open()).toString(), 'a small file');
const others = await shared.saveRecords({ ...titled.records[0], fields: { file: { value: picture.value } } }, zone);
assert.ok(refusal('BAD_REQUEST')(others.errors[0]));
const elsewhere = new Asset(12, { ...Asset.source(file.value), zoneID: fairZone.zoneID }, () => {});
assert.ok(refusal('BAD_REQUEST')((await shared.saveRecords({ ...titled.records[0], fields: { file: elsewhere } }, zone)).errors[0]));
// In three parts, and more than is opened in one piece.
const large = new Uint8Array(20 * 1024 * 1024 + 7);
for (let start = 0; start < large.length; start += 65536) crypto.getRandomValues(large.subarray(start, start + 65536));
// What an app hears of a file on its way ends with all of it, and never goes back.
const part = 8 * 1024 * 1024;
const hears = (told, total) => {
    assert.deepEqual(told.at(-1), { bytes: total, total });
    for (const [place, { bytes, total: all }] of told.entries()) assert.ok(all === total && bytes <= total && bytes >= (told[place - 1]?.bytes ?? 0), `${bytes} of ${all}`);
};
const sent = [];
const onProgress = told => { sent.push(told); throw new Error('its own'); };
process.on('uncaughtException', error => { if (error.message !== 'its own') throw error; });
const replaced = await shared.saveRecords({ ...titled.records[0], fields: { file: new File([large, large], 'large.bin'), bytes: { value: Uint8Array.of(1, 2), type: 'ASSETID' }, none: new Blob([]) } }, { ...zone, onProgress });
assert.deepEqual(replaced.errors, []);
const total = 2 * large.length;
assert.deepEqual(sent, [
    ...[1, 2, 3, 4, 5].map(count => ({ recordName: 'filed', fieldName: 'file', bytes: count * part, total })), { recordName: 'filed', fieldName: 'file', bytes: total, total },
    { recordName: 'filed', fieldName: 'bytes', bytes: 2, total: 2 }, { recordName: 'filed', fieldName: 'none', bytes: 0, total: 0 },
]);
await assert.rejects(shared.saveRecords({ recordType: 'Note' }, { ...zone, onProgress: 5 }), refusal('BAD_REQUEST'));
await assert.rejects(file.value.open({ onProgress: 'no' }), refusal('BAD_REQUEST'));
const assets = replaced.records[0].fields;
assert.deepEqual([assets.file.value.size, assets.bytes.value.size, assets.none.value.size], [2 * large.length, 2, 0]);
await assert.rejects(assets.file.value.open(), refusal('BAD_REQUEST', 'limitExceeded'));
const fetched = [];
assert.equal(Buffer.compare(await bytesOf(await assets.file.value.blob({ onProgress: told => fetched.push(told) })), Buffer.concat([large, large])), 0);
hears(fetched, total);
assert.ok(fetched.length > 30);
const opened = [];
await picture.value.open({ onProgress: told => opened.push(told) });
hears(opened, 6000);
assert.deepEqual(await assets.bytes.value.open(), Uint8Array.of(1, 2));
assert.equal((await assets.none.value.blob()).size, 0);
await sealkit('record', 'asset', 'filed', 'file', '--zone', 'Trip', '--output', `${folder}/large`);
assert.equal(Buffer.compare(await readFile(`${folder}/large`), Buffer.concat([large, large])), 0);
// One that takes its time holds nobody up.
let goOn;
const slow = new Promise(resolve => { goOn = resolve; });
await meanwhile((url, ask) => url.includes('/assets/') ? slow.then(ask) : ask(), async () => {
    const opening = picture.value.open();
    const first = await Promise.race([shared.fetchRecords('first', zone), new Promise(resolve => setTimeout(resolve, 20_000, 'held up'))]);
    assert.equal(first.records?.length, 1, 'reading waits for a file');
    goOn();
    assert.equal((await opening).length, 6000);
});
// Nor does it go over what others have stored meanwhile, also where a look at the share has read that.
const ours = (await shared.saveRecords({ recordType: 'Note', recordName: 'outrun', encryptedFields: { title: 'Ours' } }, zone)).records[0];
const shareOfTrip = await container.share(zoneID);
let [isOnItsWay, letGo] = [];
const [onItsWay, held_] = [new Promise(resolve => { isOnItsWay = resolve; }), new Promise(resolve => { letGo = resolve; })];
const overtaken = await meanwhile((url, ask) => {
    if (!url.includes('/assets/')) return ask();
    isOnItsWay();
    return held_.then(ask);
}, async () => {
    const saving = shared.saveRecords({ ...ours, fields: { file: new Blob(['x']) } }, zone);
    await onItsWay;
    await sealkit('record', 'save', '--zone', 'Trip', '--type', 'Note', '--name', 'outrun', '--update', '--seal', 'title=Theirs');
    await shareOfTrip.refresh();
    letGo();
    return saving;
});
assert.ok(refusal('CONFLICT')(overtaken.errors[0]) && overtaken.errors[0].serverRecord.encryptedFields.title.value === 'Theirs');
assert.match(JSON.stringify(await sealkit('record', 'get', 'outrun', '--zone', 'Trip')), /Theirs/);
// A file that has changed since it was chosen is an error of its record.
await writeFile(`${folder}/chosen`, 'as it was chosen');
const chosen = await openAsBlob(`${folder}/chosen`);
await writeFile(`${folder}/chosen`, 'and as it is by now');
const spoiled = await shared.saveRecords([{ recordType: 'Note', recordName: 'spoiled', fields: { file: chosen } }, { recordType: 'Note', recordName: 'whole', fields: { file: new Blob(['x']) } }], zone);
assert.ok(refusal('BAD_REQUEST', 'assetFileModified')(spoiled.errors[0]) && spoiled.errors[0].recordName === 'spoiled');
assert.deepEqual(spoiled.records.map(({ recordName }) => recordName), ['whole']);
// Nothing is sent for what could not be saved.
const routes = [];
globalThis.fetch = (url, ...rest) => { routes.push(String(url)); return fetch(url, ...rest); };
assert.ok(refusal('CONFLICT')((await shared.saveRecords({ ...titled.records[0], fields: { file: new Blob(['x']) } }, zone)).errors[0]));
assert.ok(refusal('EXISTS')((await shared.saveRecords({ recordType: 'Note', recordName: 'filed', fields: { file: new Blob(['x']) } }, zone)).errors[0]));
assert.ok(refusal('ACCESS_DENIED', 'mayOnlyRead')((await shared.saveRecords({ recordType: 'Note', fields: { file: new Blob(['x']) } }, fairZone)).errors[0]));
assert.ok(refusal('BAD_REQUEST')((await shared.saveRecords({ recordType: 'Note', encryptedFields: { file: new Blob(['x']) } }, zone)).errors[0]));
globalThis.fetch = fetch;
assert.ok(routes.length > 0 && !routes.some(url => url.includes('/assets/')), routes.join(' '));
const less = await shared.saveRecords({ ...replaced.records[0], fields: { ...assets, file: null } }, zone);
assert.deepEqual([less.errors, Object.keys(less.records[0].fields).sort()], [[], ['bytes', 'none']]);
await assert.rejects(assets.file.value.open(), refusal('NOT_FOUND'));
// The beginning and the end of an upload are said again where their answers do not arrive.
for (const route of ['/begin', '/finish']) {
    const said = [];
    const saidAgain = await meanwhile(losing(route, 1, said), () => shared.saveRecords({ recordType: 'Note', fields: { file: new Blob([large]) } }, zone));
    assert.deepEqual([saidAgain.errors, said.length, said[0] === said[1]], [[], 2, true], route);
}

step('deletions, as changes');
const before = await shared.fetchRecordZoneChanges(zone);
const gone = await shared.deleteRecords([made.records[0], 'none'], zone);
assert.deepEqual(gone.records, [{ recordName: 'kinds', deleted: true }]);
assert.ok(refusal('NOT_FOUND')(gone.errors[0]));
const after = await shared.fetchRecordZoneChanges({ ...zone, syncToken: before.syncToken });
assert.deepEqual(after.records, [{ recordName: 'kinds', deleted: true }]);
await assert.rejects(shared.fetchRecordZoneChanges({ ...zone, syncToken: 'another:99' }), refusal('BAD_REQUEST', 'changeTokenExpired'));

step('zones');
const zones = await shared.fetchAllRecordZones();
assert.deepEqual(zones.zones.map(({ zoneID }) => zoneID.zoneName).sort(), ['Fair', 'Trip']);
const changedZones = await shared.fetchDatabaseChanges();
assert.ok(changedZones.syncToken.length > 0);
const inEach = await shared.fetchRecordZoneChanges([...changedZones.zones, { zoneID: { zoneName: 'None', ownerRecordName: owner } }]);
assert.deepEqual(inEach.zones.map(({ zoneID, hasErrors }) => [zoneID.zoneName, hasErrors]).sort(), [['Fair', false], ['None', true], ['Trip', false]]);
assert.ok(inEach.zones.find(({ zoneID }) => zoneID.zoneName === 'Trip').records.some(({ recordName }) => recordName === 'first'));
assert.ok(refusal('ZONE_NOT_FOUND')(inEach.errors[0]) && inEach.errors.length === 1);
assert.deepEqual((await container.privateCloudDatabase.fetchAllRecordZones()).zones, []);

step('subscriptions and notifications');
const saved = await shared.saveSubscriptions({ subscriptionID: 'all', subscriptionType: 'database' });
assert.deepEqual(saved, { subscriptions: [{ subscriptionID: 'all', subscriptionType: 'database' }], errors: [], hasErrors: false });
assert.deepEqual((await shared.fetchAllSubscriptions()).subscriptions, saved.subscriptions);
await assert.rejects(shared.saveSubscriptions({ subscriptionID: 'x', subscriptionType: 'query' }), refusal('BAD_REQUEST'));
const told = [];
let wake;
const listener = notification => { told.push(notification); wake?.(); };
container.addNotificationListener(listener);
await container.registerForNotifications();
assert.equal(container.isRegisteredForNotifications, true);
const heard = new Promise(resolve => { wake = resolve; });
await sealkit('record', 'save', '--zone', 'Trip', '--type', 'Note', '--name', 'live', '--seal', 'title=Live');
await heard;
assert.deepEqual(told[0], { notificationType: 'database', subscriptionID: 'all', databaseScope: 'SHARED', zoneID });
const live = await shared.fetchRecordZoneChanges({ ...zone, syncToken: after.syncToken });
assert.deepEqual(live.records.map(({ recordName }) => recordName), ['live']);
container.removeNotificationListener(listener);
container.unregisterForNotifications();
assert.equal(container.isRegisteredForNotifications, false);
assert.deepEqual((await shared.deleteSubscriptions('all')).errors, []);
assert.deepEqual((await shared.fetchAllSubscriptions()).subscriptions, []);

// Twice at once: the one that came last is there, and the other one is none.
const registering = await Promise.allSettled([container.registerForNotifications(), container.registerForNotifications()]);
assert.deepEqual([registering.map(({ status }) => status), container.isRegisteredForNotifications], [['rejected', 'fulfilled'], true]);

step('whoever signs out ends what runs');
const calls = [];
let leaving;
const cutOff = await meanwhile((url, ask) => {
    calls.push(new URL(url).pathname);
    if (url.includes('/parts/1') && !leaving) leaving = container.signOut();
    return ask();
}, async () => {
    const held = await container.share(zoneID);
    const { errors } = await shared.saveRecords({ recordType: 'Note', recordName: 'cut off', fields: { file: new Blob([large, large]) } }, zone);
    await assert.rejects(held.refresh(), refusal('AUTHENTICATION_REQUIRED', 'notAuthenticated'));
    await leaving;
    // The stream of before would be opened again within that.
    await new Promise(resolve => setTimeout(resolve, 1500));
    return errors;
});
assert.ok(refusal('AUTHENTICATION_REQUIRED', 'notAuthenticated')(cutOff[0]));
const afterwards = calls.slice(calls.indexOf('/1/accounts/logout') + 1);
assert.deepEqual(afterwards.filter(path => /accounts|notifications|modify/.test(path)), []);
assert.ok(!afterwards.some(path => path.includes('/parts/2')), afterwards.join(' '));
assert.equal(container.isRegisteredForNotifications, false);
// Nor does anybody come in who was just signing in.
const late = container.signIn({ recoveryKey });
await container.signOut();
await assert.rejects(late, refusal('TRY_AGAIN_LATER', 'operationCancelled'));
assert.deepEqual([container.userRecordName, await container.setUpAuth()], ['', null]);
await container.signIn({ recoveryKey });

step('the same account at another visit');
const out = container.whenUserSignsOut();
assert.ok(!isEmpty(memories.at(-1)));
await container.signOut();
await out;
// No key is left, whoever holds a share or a file of before.
assert.ok(memories.every(isEmpty));
assert.equal(await container.setUpAuth(), null);
await assert.rejects(shared.fetchRecords('first', zone), refusal('AUTHENTICATION_REQUIRED'));
await assert.rejects(container.signIn({ recoveryKey: nothing }), error => error instanceof CKError);
// A device that is waited for takes nobody's place.
let isInvited;
const invitation_ = new Promise(resolve => { isInvited = resolve; });
const waiting = assert.rejects(container.enrol({ verify: { invitation: isInvited, digits: () => true } }), refusal('TRY_AGAIN_LATER', 'operationCancelled'));
assert.match(await invitation_, /./);
assert.deepEqual(await container.signIn({ recoveryKey }), me);
await waiting;
assert.equal(container.userRecordName, me.userRecordName);
assert.equal(Object.keys(kept).length, 1);
assert.equal((await shared.fetchRecords('live', zone)).records[0].encryptedFields.title.value, 'Live');
await assert.rejects(shared.fetchRecordZoneChanges({ ...zone, syncToken: live.syncToken }), refusal('BAD_REQUEST', 'changeTokenExpired'));

step('a hierarchy of records that is shared by itself');
await sealkit('zone', 'create', 'Lists');
for (const [name, ...more] of [['groceries'], ['bread', '--parent', 'groceries'], ['own']]) {
    await sealkit('record', 'save', '--zone', 'Lists', '--type', 'Note', '--name', name, '--seal', `title=${name}`, ...more);
}
await sealkit('share', 'create', 'Lists', '--record', 'groceries', '--title', 'Groceries');
await sealkit('share', 'public', 'Lists', 'readWrite', '--record', 'groceries');
const groceries = await container.acceptShares((await sealkit('share', 'url', 'Lists', '--record', 'groceries'))[0].url);
assert.deepEqual(groceries.errors, []);
const { zoneID: listID } = groceries.results[0];
assert.ok(listID.shareRecordName);
// At another visit the server's list is all that names it.
await container.signOut();
await container.signIn({ recoveryKey });
const list = (await shared.fetchAllRecordZones()).zones.find(({ zoneID }) => zoneID.zoneName === 'Lists');
assert.deepEqual(list.zoneID, listID);
const listed = await shared.fetchRecords(['bread', 'own'], list);
assert.deepEqual(listed.records.map(({ encryptedFields }) => encryptedFields.title.value), ['bread']);
assert.ok(refusal('NOT_FOUND', 'unknownItem')(listed.errors[0]));
const milk = await shared.saveRecords({ recordType: 'Note', recordName: 'milk', encryptedFields: { title: 'milk' } }, list);
assert.deepEqual(milk.errors, []);
// As a notification names it.
const unnamed = await shared.fetchRecordZoneChanges({ zoneID: { zoneName: 'Lists', ownerRecordName: owner } });
assert.deepEqual(unnamed.records.map(({ recordName }) => recordName).sort(), ['bread', 'groceries', 'milk']);

step('an owner’s own zone');
await container.signOut();
assert.deepEqual(await container.signIn({ recoveryKey: ownersKey }), { userRecordName: owner });
const own = { zoneID: { zoneName: 'Trip' } };
const own_ = container.privateCloudDatabase;
assert.deepEqual((await own_.fetchAllRecordZones()).zones.map(({ zoneID }) => zoneID.zoneName).sort(), ['Fair', 'Lists', 'Trip']);
const [there] = (await own_.fetchRecords('first', own)).records;
assert.equal(there.encryptedFields.title.value, 'Before');
const owned = await own_.saveRecords({ ...there, encryptedFields: { title: 'By its owner' } }, own);
assert.deepEqual(owned.errors, []);
assert.match(JSON.stringify(await sealkit('record', 'get', 'first', '--zone', 'Trip')), /By its owner/);

step('a share that its owner looks after');
const share = await container.share(own.zoneID);
assert.throws(() => share.shown, refusal('BAD_REQUEST'));
let looked = await share.refresh();
assert.ok(looked.isShared && looked.isOwner && looked.mayAdminister && looked.publicPermission === 'NONE');
assert.equal(looked.shareTitle, 'The trip');
const vera = looked.participants.find(({ userIdentity }) => userIdentity.userRecordName === me.userRecordName);
assert.deepEqual([vera.acceptanceStatus, vera.permission, vera.type, vera.userIdentity.lookupInfo], ['ACCEPTED', 'READ_WRITE', 'USER', { emailAddress: 'vera@example.org' }]);
assert.match(vera.safetyNumber, /^\d{60}$/);
await assert.rejects(share.invite({ userRecordName: me.userRecordName }), refusal('EXISTS', 'alreadyInvited'));
await assert.rejects(share.invite({ userRecordName: owner }), refusal('BAD_REQUEST'));
await assert.rejects(share.invite({ userRecordName: `_${'0'.repeat(32)}` }), refusal('NOT_FOUND', 'unknownItem'));
const until = new Date(Date.now() + 86_400_000);
for (const never of [new Date(0), new Date(NaN), new Date(Date.now() - 1000)]) {
    await assert.rejects(share.invite({ emailAddress: 'wanda@example.org', expirationDate: never }), refusal('BAD_REQUEST'));
}
const invitation = await share.invite({ emailAddress: 'wanda@example.org', permission: 'READ_WRITE', expirationDate: until });
assert.match(invitation.url, new RegExp(`^${server}/s/`));
assert.equal(invitation.participant.expirationDate.getTime(), until.getTime());
await assert.rejects(share.invite({ emailAddress: 'Wanda@example.org' }), refusal('EXISTS', 'alreadyInvited'));
looked = await share.setParticipant(invitation.participant.participantID, { permission: 'READ_ONLY' });
const wanda = looked.participants.find(({ userIdentity }) => userIdentity.lookupInfo?.emailAddress === 'wanda@example.org');
assert.deepEqual([wanda.permission, wanda.oneTimeURL], ['READ_ONLY', invitation.url]);
await assert.rejects(share.removeParticipant(invitation.participant.participantID), refusal('NOT_FOUND', 'unknownItem'));
looked = await share.removeParticipant(wanda.participantID);
assert.equal(looked.participants.length, 2);
looked = await share.setParticipant(me.userRecordName, { type: 'ADMINISTRATOR' });
assert.equal(looked.participants[1].type, 'ADMINISTRATOR');
looked = await share.setParticipant(me.userRecordName, { type: 'USER', permission: 'READ_WRITE' });
// What another device has changed meanwhile stays, where it is not what is asked for.
looked = await share.setParticipant(me.userRecordName, { permission: 'READ_ONLY' });
assert.deepEqual([looked.participants[1].type, looked.participants[1].permission], ['USER', 'READ_ONLY']);
let wasFirst = false;
globalThis.fetch = async (url, ...rest) => {
    if (!wasFirst && String(url).includes('/rosters/append')) {
        wasFirst = true;
        await sealkit('share', 'permission', 'Trip', me.userRecordName, 'readWrite');
        await sealkit('share', 'role', 'Trip', me.userRecordName, 'administrator');
    }
    return fetch(url, ...rest);
};
looked = await share.setParticipant(me.userRecordName, { permission: 'READ_WRITE' });
globalThis.fetch = fetch;
assert.deepEqual([wasFirst, looked.participants[1].type, looked.participants[1].permission], [true, 'ADMINISTRATOR', 'READ_WRITE']);
looked = await share.setParticipant(me.userRecordName, { type: 'USER' });
assert.deepEqual([looked.participants[1].type, looked.participants[1].permission], ['USER', 'READ_WRITE']);
looked = await share.describe({ shareTitle: 'The long trip' });
assert.equal(looked.shareTitle, 'The long trip');
assert.equal((await sealkit('share', 'show', 'Trip'))[0].title, 'The long trip');
looked = await share.setPublicPermission('READ_ONLY');
await assert.rejects(share.invite(), refusal('BAD_REQUEST', 'shareIsPublic'));
looked = await share.setPublicPermission('NONE');
// Whose invitation it is, where others invite at the same time; and it is one, also where its answer is lost.
let others_ = 0;
const mine_ = await meanwhile(async (url, ask) => {
    if (others_ === 0 && url.includes('/rosters/append')) for (; others_ < 5; others_++) await sealkit('share', 'invite', 'Trip', `other${others_}@example.org`);
    return ask();
}, () => share.invite({ emailAddress: 'mine@example.org', permission: 'READ_WRITE' }));
assert.deepEqual([others_, mine_.participant.userIdentity.lookupInfo, mine_.participant.permission], [5, { emailAddress: 'mine@example.org' }, 'READ_WRITE']);
assert.equal(mine_.url, mine_.participant.oneTimeURL);
const seats = mine_.share.participants.length;
const appended = [];
const once = await meanwhile(losing('/rosters/append', 1, appended), () => share.invite());
assert.deepEqual([appended.length, appended[0] === appended[1], once.share.participants.length], [2, true, seats + 1]);
const found = await container.discoverUserIdentityWithUserRecordName(me.userRecordName);
assert.equal(found.safetyNumber, vera.safetyNumber);
await assert.rejects(container.discoverUserIdentityWithEmailAddress('nobody@example.org'), refusal('NOT_FOUND', 'unknownItem'));
const unsaid = await own_.fetchRecords('cloudkit.zoneshare', own);
assert.ok(unsaid.hasErrors);

step('zones and batches of one’s own');
const made_ = await own_.saveRecordZones([{ zoneName: 'Made' }, { zoneID: { zoneName: '_no' } }]);
assert.deepEqual(made_.zones, [{ zoneID: { zoneName: 'Made', ownerRecordName: owner } }]);
assert.ok(refusal('BAD_REQUEST', 'invalidArguments')(made_.errors[0]));
const inMade = { zoneID: { zoneName: 'Made' } };
// One that is there is left as it is, with all that is known of it.
const { syncToken: sinceMade } = await own_.fetchRecordZoneChanges(inMade);
assert.deepEqual((await own_.saveRecordZones({ zoneName: 'Made' })).errors, []);
assert.deepEqual((await own_.fetchRecordZoneChanges({ ...inMade, syncToken: sinceMade })).records, []);
// A zone that was seen is none that is to be made, whatever the server says.
const sentFor = [];
const hidden = await meanwhile((url, ask) => {
    if (url.includes('/rosters/fetch')) return new Response(new Uint8Array(0), { headers: { 'content-type': 'application/x-protobuf' } });
    sentFor.push(url);
    return ask();
}, () => own_.saveRecordZones({ zoneName: 'Made' }));
assert.ok(refusal('INTEGRITY_ERROR', 'withheld')(hidden.errors[0]));
assert.deepEqual(sentFor, []);
// What was verified of it is forgotten when somebody says so, and read anew.
await assert.rejects(container.forgetVerified(), refusal('BAD_REQUEST'));
await container.forgetVerified(inMade.zoneID);
await assert.rejects(own_.fetchRecordZoneChanges({ ...inMade, syncToken: sinceMade }), refusal('BAD_REQUEST', 'changeTokenExpired'));
const batch = own_.newRecordsBatch(inMade).create({ recordType: 'Note', recordName: 'one', encryptedFields: { title: 'One' } })
    .create({ recordType: 'Note', recordName: 'two', encryptedFields: { title: 'Two' } }).delete('none');
const committed = await batch.commit();
assert.deepEqual(committed.records.map(({ recordName }) => recordName), ['one', 'two']);
assert.ok(refusal('NOT_FOUND')(committed.errors[0]));
assert.deepEqual((await own_.newRecordsBatch(inMade).delete('one').commit()).deleted, [{ recordName: 'one', deleted: true }]);
const twoAtOnce = await own_.newRecordsBatch(inMade).create(['three', 'four'].map(recordName => ({ recordType: 'Note', recordName }))).delete(['two', 'four']).commit();
assert.deepEqual([twoAtOnce.errors, twoAtOnce.records.length, twoAtOnce.deleted.map(({ recordName }) => recordName)], [[], 2, ['two', 'four']]);
// A name of a record that was deleted goes on counting.
const again = await own_.newRecordsBatch(inMade).create({ recordType: 'Note', recordName: 'one', encryptedFields: { title: 'Again' } }).commit();
assert.deepEqual(again.errors, []);
assert.match(JSON.stringify(await sealkit('record', 'get', 'one', '--zone', 'Made')), /Again/);
assert.deepEqual((await own_.fetchRecordZones([inMade, { zoneName: 'Nowhere' }])).zones.length, 1);
assert.ok(refusal('BAD_REQUEST')((await shared.saveRecordZones({ zoneName: 'Made' })).errors[0]));
assert.deepEqual((await own_.deleteRecordZones('Made' && inMade)).zones, [{ ...inMade, deleted: true }]);
assert.ok(!(await own_.fetchAllRecordZones()).zones.some(({ zoneID }) => zoneID.zoneName === 'Made'));
assert.deepEqual((await own_.saveRecordZones(inMade)).errors, []);
assert.deepEqual((await own_.fetchRecordZoneChanges(inMade)).records, []);
await own_.deleteRecordZones(inMade);

step('the public database');
const everybody = container.publicCloudDatabase;
assert.ok(refusal('BAD_REQUEST')((await everybody.saveRecords({ recordType: 'News', encryptedFields: { a: 1 } })).errors[0]));
const posted = await everybody.saveRecords([{ recordType: 'News', recordName: 'n1', fields: { title: 'Open', stars: 3 } }, { recordType: 'News', fields: { title: 'Late', stars: 1 } }]);
assert.deepEqual(posted.errors, []);
assert.deepEqual(posted.records[0].fields, { title: { value: 'Open', type: 'STRING' }, stars: { value: 3, type: 'INT64' } });
assert.equal(posted.records[0].modified.userRecordName, owner);
assert.match(JSON.stringify(await sealkit('record', 'get', 'n1', '--database', 'public')), /Open/);
assert.ok(refusal('EXISTS')((await everybody.saveRecords({ recordType: 'News', recordName: 'n1' })).errors[0]));
const publicPosts = [];
const publicly_ = await meanwhile(losing('/records/modify', 1, publicPosts), () => everybody.saveRecords({ recordType: 'News', fields: { title: 'Lost', stars: 0 } }));
assert.deepEqual([publicly_.errors, publicPosts.length, publicPosts[0] === publicPosts[1]], [[], 2, true]);
assert.equal((await everybody.deleteRecords(publicly_.records[0])).records.length, 1);
const nobodyKnows = await meanwhile(losing('/records/modify', Infinity), () => everybody.saveRecords({ recordType: 'News', fields: { stars: 0 } }));
assert.ok(refusal('NETWORK_ERROR')(nobodyKnows.errors[0]));
assert.equal((await everybody.deleteRecords(nobodyKnows.errors[0].recordName)).records.length, 1);
assert.ok(refusal('INTERNAL_ERROR')((await everybody.saveRecords([null])).errors[0]));
const edited = await everybody.saveRecords({ ...posted.records[0], fields: { stars: 5 } });
assert.deepEqual([edited.records[0].fields.title.value, edited.records[0].fields.stars.value], ['Open', 5]);
assert.ok(refusal('CONFLICT')((await everybody.saveRecords({ ...posted.records[0], fields: { stars: 6 } })).errors[0]));
const searched = await everybody.performQuery({ recordType: 'News', filterBy: { fieldName: 'stars', comparator: 'GREATER_THAN', fieldValue: { value: 2 } } });
assert.deepEqual([searched.errors, searched.records.map(({ recordName }) => recordName), searched.moreComing], [[], ['n1'], false]);
// What was changed while a file was on its way is not written over, also where the app has read it meanwhile.
const [still] = (await everybody.saveRecords({ recordType: 'News', recordName: 'held', fields: { title: 'Held' } })).records;
let [sendOn, isUnderWay] = [() => undefined, () => undefined];
const [sendingOn, underWay] = [new Promise(resolve => { sendOn = resolve; }), new Promise(resolve => { isUnderWay = resolve; })];
const publicOvertaken = await meanwhile((url, ask) => {
    if (!url.includes('/assets/')) return ask();
    isUnderWay();
    return sendingOn.then(ask);
}, async () => {
    const saving = everybody.saveRecords({ ...still, fields: { title: 'Mine', scan: new Blob(['a scan']) } });
    await underWay;
    await sealkit('record', 'save', '--database', 'public', '--type', 'News', '--name', 'held', '--update', '--set', 'title=Theirs');
    await everybody.fetchRecords('held');
    sendOn();
    return saving;
});
assert.ok(refusal('CONFLICT')(publicOvertaken.errors[0]) && publicOvertaken.errors[0].serverRecord.fields.title.value === 'Theirs');
assert.equal((await everybody.deleteRecords('held')).records.length, 1);
// As many bytes as the server sends at once, and after them what was read long before.
const heavy = Array.from({ length: 10 }, (_, number) => ({ recordType: 'Heavy', recordName: `heavy${number}`, fields: { bytes: new Uint8Array(1_000_000).fill(number), number } }));
const heavyAsSaved = await everybody.saveRecords(heavy);
assert.deepEqual(heavyAsSaved.errors, []);
for (const _ of [1, 2, 3]) {
    const { records, errors } = await everybody.fetchRecords(heavy.map(({ recordName }) => recordName));
    assert.deepEqual([errors, records.map(({ fields }) => [fields.bytes.value.length, fields.bytes.value[0], fields.number.value])], [[], heavy.map((_, number) => [1_000_000, number, number])]);
}
const lightened = await everybody.saveRecords({ ...edited.records[0], fields: { stars: 5 } });
assert.deepEqual([lightened.errors, lightened.records[0].fields.title.value], [[], 'Open']);
assert.equal((await everybody.deleteRecords(heavyAsSaved.records)).records.length, 10);
const both = await everybody.performQuery({ recordType: 'News', sortBy: { fieldName: 'stars' } });
const firstOfBoth = await everybody.performQuery({ recordType: 'News', sortBy: { fieldName: 'stars' } }, { resultsLimit: 1 });
const secondOfBoth = await everybody.performQuery(firstOfBoth);
assert.deepEqual([firstOfBoth, secondOfBoth].map(({ records }) => records.map(({ fields }) => fields.stars.value)), [[1], [5]]);
assert.deepEqual(both.records.map(({ fields }) => fields.stars.value), [1, 5]);
// What the server finds is held against the query as the server compares: without regard to case, and to the microsecond.
const cities = await everybody.saveRecords([['c1', 'Berlin', 1.25], ['c2', 'Ülzen', 2.5], ['c3', 'zwolle', 0.5]].map(([recordName, city, part]) =>
    ({ recordType: 'City', recordName, fields: { city, part, tags: [city, 'Town'], since: { value: 1_700_000_000_123 + part, type: 'TIMESTAMP' } } })));
assert.deepEqual(cities.errors, []);
const found_ = async (fieldName, comparator, value, sortBy = { fieldName: 'city' }) => {
    const { errors, records } = await everybody.performQuery({ recordType: 'City', filterBy: { fieldName, comparator, fieldValue: { value } }, sortBy });
    assert.deepEqual(errors, [], `${fieldName} ${comparator} ${value}`);
    return records.map(({ recordName }) => recordName);
};
assert.deepEqual(await found_('city', 'EQUALS', 'berlin'), ['c1']);
assert.deepEqual(await found_('city', 'EQUALS', 'U\u0308LZEN'), ['c2']);
assert.deepEqual(await found_('city', 'NOT_EQUALS', 'BERLIN'), ['c3', 'c2']);
assert.deepEqual(await found_('city', 'IN', ['BERLIN', 'ülzen']), ['c1', 'c2']);
assert.deepEqual(await found_('city', 'NOT_IN', ['BERLIN', 'ülzen']), ['c3']);
assert.deepEqual(await found_('city', 'LESS_THAN', 'ZWOLLE'), ['c1']);
assert.deepEqual(await found_('city', 'GREATER_THAN_OR_EQUALS', 'ZWOLLE'), ['c3', 'c2']);
assert.deepEqual(await found_('city', 'BEGINS_WITH', 'Be'), ['c1']);
assert.deepEqual(await found_('tags', 'LIST_CONTAINS', 'town'), ['c1', 'c3', 'c2']);
assert.deepEqual(await found_('tags', 'LIST_CONTAINS', 'ülzen'), ['c2']);
assert.deepEqual(await found_('part', 'GREATER_THAN', 1), ['c1', 'c2']);
assert.deepEqual(await found_('since', 'EQUALS', new Date(1_700_000_000_125)), []);
const [newest] = cities.records.slice(-1);
const management = ['--server', server, '--management-token-file', token];
const [{ schema }] = await sealkit('schema', 'export', ...management);
await writeFile(`${folder}/library.ckdb`, schema.replace(/RECORD TYPE City \(/, '$&"___modTime" TIMESTAMP QUERYABLE SORTABLE,'));
await sealkit('schema', 'import', '--file', `${folder}/library.ckdb`, ...management);
// The index is made behind the answer to the schema.
for (;;) {
    const asked = await found_('___modTime', 'GREATER_THAN', newest.modified.timestamp).catch(error => error);
    if (asked.ckErrorCode !== 'TRY_AGAIN_LATER') { assert.deepEqual(asked, ['c3']); break; }
    await new Promise(resolve => setTimeout(resolve, 1000 * asked.retryAfter));
}
assert.deepEqual(await found_('___modTime', 'GREATER_THAN', new Date(newest.modified.timestamp + 1)), []);
// A server that finds something else, or in another order, is not believed.
const lie = async (change, asked) => {
    globalThis.fetch = (url, { body, ...rest } = {}) => {
        if (!String(url).includes('/records/query')) return fetch(url, { body, ...rest });
        const message = JSON.parse(new TextDecoder().decode(body));
        change(message.query);
        return fetch(url, { ...rest, body: JSON.stringify(message) });
    };
    try {
        return await everybody.performQuery({ recordType: 'City', ...asked });
    } finally {
        globalThis.fetch = fetch;
    }
};
const otherCity = await lie(query => { query.filterBy[0].comparator = 'NOT_EQUALS'; }, { filterBy: by('city', 'EQUALS', 'berlin').filterBy });
assert.deepEqual([otherCity.records, otherCity.errors.map(error => refusal('INTEGRITY_ERROR', 'unexpected')(error))], [[], [true, true]]);
const turned = await lie(query => { query.sortBy[0].descending = true; }, { sortBy: { fieldName: 'part' } });
assert.deepEqual([turned.records.map(({ recordName }) => recordName), turned.errors.length], [['c2'], 2]);
// Nor one that gives a page again, or pages in another order.
const pagesOfCities = [];
const replaying = (pages, asked) => meanwhile(async (url, ask) => {
    if (!url.includes('/records/query')) return ask();
    if (pages.length > 0) return pages.shift().clone();
    const answer = await ask();
    pagesOfCities.push(answer.clone());
    return answer;
}, asked);
const [byPart, one] = [{ recordType: 'City', sortBy: { fieldName: 'part' } }, { resultsLimit: 1 }];
const firstCity = await replaying([], () => everybody.performQuery(byPart, one));
await replaying([], () => everybody.performQuery(firstCity));
await assert.rejects(replaying([pagesOfCities[0]], () => everybody.performQuery(firstCity)), refusal('INTEGRITY_ERROR', 'circle'));
const swapped = await replaying([pagesOfCities[1]], () => everybody.performQuery(byPart, one));
const pageBefore = await replaying([pagesOfCities[0]], () => everybody.performQuery(swapped));
assert.deepEqual([pageBefore.records, pageBefore.errors.map(error => refusal('INTEGRITY_ERROR', 'unexpected')(error))], [[], [true]]);
await assert.rejects(everybody.performQuery(byPart, { continuationMarker: 'ä' }), refusal('BAD_REQUEST', 'invalidArguments'));
// What was written while the server was asked is newer than its answer, which accuses nobody.
const races = await everybody.saveRecords([1, 2].map(stars => ({ recordType: 'Race', recordName: `race${stars}`, fields: { stars } })));
assert.deepEqual(races.errors, []);
const overtaking = async (route, read, write) => {
    let [isHeld, arrive, goOn] = [false, () => undefined, () => undefined];
    const [there, released] = [new Promise(resolve => { arrive = resolve; }), new Promise(resolve => { goOn = resolve; })];
    return meanwhile(async (url, ask) => {
        if (isHeld || !url.includes(route)) return ask();
        isHeld = true;
        const answer = await ask();
        arrive();
        await released;
        return answer;
    }, async () => {
        const reading = read();
        await there;
        const written = await write();
        assert.deepEqual(written.errors, []);
        goOn();
        return [(await reading), written.records[0]];
    });
};
const starsOf = ({ records, errors }) => [errors, records.map(({ recordName, fields }) => [recordName, fields.stars.value])];
const allRaces = () => everybody.performQuery({ recordType: 'Race', sortBy: { fieldName: 'stars' } });
// The index of a new type is made beside what goes on.
for (;;) {
    const asked = await allRaces().catch(error => error);
    if (asked.ckErrorCode !== 'TRY_AGAIN_LATER') break;
    await new Promise(resolve => setTimeout(resolve, 200));
}
const [foundLate, faster] = await overtaking('/records/query', allRaces, () => everybody.saveRecords({ ...races.records[0], fields: { stars: 9 } }));
assert.deepEqual(starsOf(foundLate), [[], [['race1', 9], ['race2', 2]]]);
const [readLate] = await overtaking('/records/lookup', () => everybody.fetchRecords('race1'), () => everybody.saveRecords({ ...faster, fields: { stars: 10 } }));
assert.deepEqual(starsOf(readLate), [[], [['race1', 10]]]);
const [noneYet] = await overtaking('/records/lookup', () => everybody.fetchRecords('race3'), () => everybody.saveRecords({ recordType: 'Race', recordName: 'race3', fields: { stars: 3 } }));
assert.deepEqual(starsOf(noneYet), [[], [['race3', 3]]]);
const [goneLate] = await overtaking('/records/query', allRaces, async () => {
    const deleted = await everybody.deleteRecords('race3');
    assert.ok(refusal('NOT_FOUND', 'unknownItem')((await everybody.fetchRecords('race3')).errors[0]));
    return deleted;
});
assert.deepEqual(starsOf(goneLate), [[], [['race2', 2], ['race1', 10]]]);
// Whoever may not read a record any more is told that, and not that it was held back.
const onlooker = new Container(configuration).publicCloudDatabase;
assert.deepEqual(starsOf(await onlooker.fetchRecords('race2')), [[], [['race2', 2]]]);
const [{ schema: withRights }] = await sealkit('schema', 'export', ...management);
const withoutRights = withRights.replace(/(RECORD TYPE Race \([^;]*?),\s*GRANT READ TO "_world"/, '$1');
assert.notEqual(withoutRights, withRights);
await writeFile(`${folder}/rights.ckdb`, withoutRights);
await sealkit('schema', 'import', '--file', `${folder}/rights.ckdb`, ...management);
assert.ok(refusal('ACCESS_DENIED', 'permissionFailure')((await onlooker.fetchRecords('race2')).errors[0]));
// Its files are no secrets: in one part, in several, and without a byte.
const [photo, film] = [Buffer.from('a photo'), Buffer.from(large)];
const publicly = [];
const exhibits = await everybody.saveRecords({ recordType: 'Exhibit', recordName: 'e1', fields: { photo: new Blob([photo]), film: new Blob([film]), none: new Blob([]), title: 'An exhibit' } },
    { onProgress: told => publicly.push(told) });
assert.deepEqual(exhibits.errors, []);
assert.deepEqual(publicly, [['photo', 7, 7], ...[1, 2].map(count => ['film', count * part, large.length]), ['film', large.length, large.length], ['none', 0, 0]]
    .map(([fieldName, bytes, total]) => ({ recordName: 'e1', fieldName, bytes, total })));
const shows = async ({ fields }) => {
    for (const [name, bytes] of [['photo', photo], ['film', film], ['none', Buffer.alloc(0)]]) {
        const { value, type } = fields[name];
        assert.deepEqual([type, value.size, value instanceof Asset], ['ASSETID', bytes.length, true]);
        for (const how of ['open', 'blob']) {
            const told = [];
            const read = await value[how]({ onProgress: one => told.push(one) });
            assert.equal(Buffer.compare(how === 'open' ? read : await bytesOf(read), bytes), 0, `${name} ${how}`);
            if (bytes.length > 0) hears(told, bytes.length);
        }
    }
};
await shows(exhibits.records[0]);
await sealkit('record', 'asset', 'e1', 'film', '--database', 'public', '--output', `${folder}/film`);
assert.equal(Buffer.compare(await readFile(`${folder}/film`), film), 0);
// It comes back as it was read, and stays; a file of another record is no value, and one that is there can go.
const retitled = await everybody.saveRecords({ ...exhibits.records[0], fields: { ...exhibits.records[0].fields, title: 'The exhibit' } });
assert.deepEqual([retitled.errors, retitled.records[0].fields.title.value], [[], 'The exhibit']);
await shows(retitled.records[0]);
for (const wrong of [exhibits.records[0].fields.film, file]) {
    assert.ok(refusal('BAD_REQUEST')((await everybody.saveRecords({ ...retitled.records[0], fields: { photo: wrong } })).errors[0]));
}
await sealkit('record', 'save', '--database', 'public', '--type', 'Exhibit', '--name', 'e2', '--asset', `photo=${folder}/small`);
const theirs = (await everybody.fetchRecords('e2')).records[0];
assert.equal(Buffer.from(await theirs.fields.photo.value.open()).toString(), 'a small file');
// Other bytes than were signed, fewer, or another file's are not given out.
const answerWith = async (change, asked) => {
    globalThis.fetch = async (url, options) => {
        const response = await fetch(url, options);
        if (options.method !== 'GET' || !String(url).includes('/assets/')) return response;
        return new Response(change(new Uint8Array(await response.arrayBuffer())), { status: response.status });
    };
    try { return await asked(); } finally { globalThis.fetch = fetch; }
};
for (const how of ['open', 'blob']) {
    for (const [change, word] of [[bytes => { bytes[0] ^= 1; return bytes; }, 'invalidProof'], [bytes => { bytes[bytes.length - 1] ^= 1; return bytes; }, 'invalidProof'], [() => photo.map(() => 65), 'invalidProof']]) {
        await assert.rejects(answerWith(change, () => retitled.records[0].fields.photo.value[how]()), refusal('INTEGRITY_ERROR', word));
    }
    await assert.rejects(answerWith(bytes => Buffer.concat([bytes, bytes]), () => retitled.records[0].fields.photo.value[how]()), refusal('INTERNAL_ERROR', 'endless'));
}
await assert.rejects(answerWith(bytes => bytes.subarray(1), () => retitled.records[0].fields.photo.value.open()), refusal('INTEGRITY_ERROR', 'invalidProof'));
// A sealed one that is cut short is not what was signed either.
const pictured = (await own_.fetchRecords('picture', own)).records[0].fields.file.value;
await assert.rejects(answerWith(bytes => bytes.subarray(1), () => pictured.open()), refusal('INTEGRITY_ERROR', 'invalidProof'));
assert.deepEqual((await everybody.saveRecords({ ...retitled.records[0], fields: { film: null } })).errors, []);
await assert.rejects(retitled.records[0].fields.film.value.open(), refusal('NOT_FOUND'));
// Whoever has no account reads it as well, and writes nothing.
const stranger = new Container(configuration).publicCloudDatabase;
assert.equal((await stranger.fetchRecords('n1')).records[0].fields.title.value, 'Open');
assert.equal(Buffer.from(await (await stranger.fetchRecords('e1')).records[0].fields.photo.value.open()).toString(), 'a photo');
assert.ok(refusal('AUTHENTICATION_REQUIRED')((await stranger.saveRecords({ recordType: 'News', fields: { a: 1 } })).errors[0]));
assert.deepEqual((await everybody.deleteRecords(['n1', 'n2'])).records, [{ recordName: 'n1', deleted: true }]);
assert.ok(refusal('NOT_FOUND', 'unknownItem')((await everybody.fetchRecords('n1')).errors[0]));
assert.deepEqual((await everybody.saveRecords({ recordType: 'News', recordName: 'n1', fields: { title: 'Back' } })).errors, []);

step('an account by a passphrase, the module from bytes');
const module = await readFile(`${library}/core.wasm`);
CloudKit.configure({ containers: [{ ...configuration, module }] });
const second = CloudKit.getDefaultContainer();
// Nobody has those of before any more to sign out by.
await container.whenUserSignsOut();
const way = { name: 'Vera', passphrase: 'correct horse battery staple' };
await assert.rejects(second.createAccount({ name: '', passphrase: 'x' }), refusal('BAD_REQUEST'));
// It is made, and nobody hears of it: the same way in leads to it, and makes no other one.
await assert.rejects(meanwhile(losing('/accounts/create', 3), () => second.createAccount(way)), refusal('NETWORK_ERROR', 'networkFailure'));
await assert.rejects(meanwhile(losing('/accounts/identity', 3), () => second.createAccount(way)), refusal('NETWORK_ERROR', 'networkFailure'));
const other_ = await second.createAccount(way);
await second.signOut();
assert.deepEqual(await second.signIn(way), other_);
await second.signOut();
await assert.rejects(second.signIn({ ...way, passphrase: 'another' }), refusal('NOT_FOUND', 'unknownItem'));

step('what was verified is known at the next run');
const memory = `${folder}/verified`;
for (const wrong of ['', 7]) assert.throws(() => CloudKit.configure({ containers: [{ ...configuration, memory: wrong }] }), refusal('BAD_REQUEST'));
/** A process that is started anew, as far as the library can tell. */
async function started(more = {}) {
    CloudKit.configure({ containers: [{ ...configuration, ...more }] });
    await CloudKit.getDefaultContainer().signIn({ recoveryKey });
    return CloudKit.getDefaultContainer();
}
const diary = { zoneID: { zoneName: 'Diary' } };
const entry = async () => (await CloudKit.getDefaultContainer().privateCloudDatabase.fetchRecords('entry', diary));
const writing = (await started({ memory })).privateCloudDatabase;
assert.deepEqual((await writing.saveRecordZones({ zoneID: diary.zoneID })).errors, []);
const written = await writing.saveRecords({ recordType: 'Entry', recordName: 'entry', encryptedFields: { text: { value: 'old' } } }, diary);
/** As the server has answered it once, it answers it again. */
const answers = new Map();
const isOfRecords = url => /\/records\/(changes|lookup)$/.test(url);
await started();
await meanwhile(async (url, ask) => {
    const answer = await ask();
    if (isOfRecords(url)) answers.set(url, { body: await answer.clone().arrayBuffer(), headers: answer.headers });
    return answer;
}, entry);
const goingBack = (url, ask) => {
    const old = answers.get(url);
    return isOfRecords(url) && old ? Promise.resolve(new Response(old.body, { headers: old.headers })) : ask();
};
const rewritten = await (await started({ memory })).privateCloudDatabase.saveRecords({ ...written.records[0], encryptedFields: { text: { value: 'new' } } }, diary);
assert.deepEqual(rewritten.errors, []);
await started();
assert.equal((await meanwhile(goingBack, entry)).records[0].encryptedFields.text.value, 'old', 'without a memory nobody can know');
await started({ memory });
assert.ok(refusal('INTEGRITY_ERROR')((await meanwhile(goingBack, entry)).errors[0]));
// Nothing of it can be read there, not even what the zone is called; and what is damaged is told.
const files = await readdir(memory);
assert.ok(files.length === 1 && /^[0-9a-f]{64}\.\d+$/.test(files[0]), `${files}`);
assert.equal((await stat(`${memory}/${files[0]}`)).mode & 0o077, 0);
assert.equal((await started({ memory })).userRecordName, me.userRecordName);
assert.equal((await entry()).records[0].encryptedFields.text.value, 'new');
const [place] = await readdir(memory);
const altered = await readFile(`${memory}/${place}`);
altered[altered.length - 1] ^= 1;
await writeFile(`${memory}/${place}`, altered);
await started({ memory });
await assert.rejects(entry(), refusal('INTEGRITY_ERROR', 'memoryDamaged'));
await CloudKit.getDefaultContainer().forgetVerified(diary.zoneID);
assert.equal((await entry()).records[0].encryptedFields.text.value, 'new');
await started({ memory: `${folder}/picture.txt` });
await assert.rejects(entry(), refusal('BAD_REQUEST'));

step('a server that is not there');
CloudKit.configure({ containers: [{ ...configuration, server: shy }] });
await CloudKit.getDefaultContainer().newRecoveryKey().then(recoveryKey =>
    assert.rejects(CloudKit.getDefaultContainer().createAccount({ recoveryKey }), refusal('NETWORK_ERROR', 'networkFailure')));
console.log(JSON.stringify({ done: true }));
process.exit(0);
