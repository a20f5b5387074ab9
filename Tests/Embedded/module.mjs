// node module.mjs MODULE VECTORS FOLDER: what a guest's page asks of the module, and by the vectors' module the core's single steps,
// with the vectors' people and zone.
import assert from 'node:assert/strict';
import { randomFillSync } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Reader, Writer } from '../../Web/client/canonical.mjs';
import { load } from '../../Web/client/core.mjs';
import { operations } from '../../Web/client/operations.mjs';

const [modulePath, piecesPath, folder] = process.argv.slice(2);
const bytes = fs.readFileSync(piecesPath);
const here = path.dirname(fileURLToPath(import.meta.url));
const recorded = path.join(here, 'sealed.json');
const hex = text => Uint8Array.from(Buffer.from(text, 'hex'));
const toHex = bytes => Buffer.from(bytes).toString('hex');
const core = await load(fs.readFileSync(modulePath), randomFillSync);
let pieces = await load(bytes, randomFillSync);
// The core's single steps, which no page asks for: the numbers of Vectors/Pieces.swift.
const steps = {
    newAccount: 16, recoverAccounts: 17, firstIdentity: 18, readURL: 32, replayRoster: 33, openPreview: 34, openGrant: 35, openInvitation: 36,
    accept: 37, openRecord: 48,
};
const ask = (name, writer = new Writer()) => new Reader(name in steps
    ? pieces.call('vectors_call', writer.bytes, steps[name]) : core.call('core_call', writer.bytes, operations[name]));
const u16 = number => Uint8Array.of(number, number >> 8);
/** Whether an answer has been read to its end: what goes on reading it is refused then. */
const isAtEnd = answer => { try { answer.raw(1); return false; } catch { return true; } };
const refuses = (name, code, writer) => assert.throws(() => ask(name, writer), error => error.code === code, `${name}: ${code}`);

const groups = file => JSON.parse(fs.readFileSync(path.join(folder, `${file}.json`), 'utf8')).testGroups;
const group = (file, type) => groups(file).find(group => group.type === type);
const valid = group => group.tests.find(test => test.result === 'valid').fields;

function replay({ scope, entries }) {
    const writer = new Writer().string(scope.container).byte(scope.environment === 'production' ? 2 : 1).raw(hex(scope.owner.slice(1)))
        .string(scope.zoneName).string(scope.shareRecordName)
        .list(entries, (writer, { entry, signature }) => writer.blob(hex(entry)).blob(hex(signature)));
    const answer = ask('replayRoster', writer);
    const [roster, , sequence, epoch] = [answer.u32(), answer.raw(32), answer.u64(), answer.u32()];
    assert(isAtEnd(answer));
    return { roster, sequence, epoch };
}

/** The accounts of recovery.json's bundle: the owner's and Alice's, by the key's text. */
function recover() {
    const bundle = valid(group('recovery', 'Bundle'));
    const { text } = group('recovery', 'Text').tests.find(({ fields }) => fields.key === bundle.key && fields.text).fields;
    const answer = ask('recoverAccounts', new Writer().string(text).blob(hex(bundle.sealed)));
    return answer.list(answer => answer.u32());
}

test('the module says what libsodium it has', () => assert.match(ask('about').string(), /^1\.0\.(2[2-9]|[3-9]\d)/));

test('host and module have the same numbers', () => {
    const source = fs.readFileSync(path.join(here, '../../Sources/SealWeb/Operation.swift'), 'utf8');
    assert.deepEqual(Object.fromEntries([...source.matchAll(/case (\w+) = (\d+)/g)].map(([, name, number]) => [name, Number(number)])), operations);
});

test('an unknown operation and a handle of nothing are refused', () => {
    assert.throws(() => core.call('core_call', new Uint8Array(0), 9999), error => error.code === 'unsupported');
    refuses('firstIdentity', 'missingKey', new Writer().u32(4711).string('com.example.notes').i64(0));
    refuses('forget', 'malformed', new Writer().u32(1).byte(0));
});

/** Alice's grant, opened: the key of the zone's first epoch. */
function epochKey(account) {
    const { shared, tests: [{ fields }] } = group('grants', 'MemberGrant');
    return ask('openGrant', member(replay(shared).roster, account, fields)).u32();
}
const member = (roster, account, { epoch, userRecordName, sealed }) =>
    new Writer().u32(roster).u32(epoch).u32(account).raw(hex(userRecordName.slice(1))).blob(hex(sealed));

test('a recovered account opens its grant, and nobody else opens it', () => {
    const { shared, tests: [{ fields }] } = group('grants', 'MemberGrant');
    const { roster } = replay(shared);
    const [owner, alice] = recover();
    refuses('openGrant', 'authenticationFailed', member(roster, owner, fields));
    ask('openGrant', member(roster, alice, fields));
    refuses('openGrant', 'missingKey', member(roster, alice, { ...fields, epoch: 7 }));
});

test('a passkey and a typed key bring accounts back', () => {
    const recovered = (key, sealed) => {
        const answer = new Writer().raw(Uint8Array.of(0x0a, ...varint(sealed.length))).raw(sealed).bytes;
        return ask('recoverAnswer', new Writer().u32(key).blob(answer).string('a browser').i64(1_700_000_000_000_000)).u32();
    };
    const varint = number => number < 128 ? [number] : [number & 127 | 128, ...varint(number >> 7)];
    for (const { fields, result } of group('recovery', 'Passkey').tests) {
        const take = new Writer().blob(hex(fields.output)).string(fields.origin);
        if (fields.output.length !== 64) {
            refuses('takePasskey', 'invalidLength', take);
            continue;
        }
        const key = ask('takePasskey', take).u32();
        if (result === 'valid') {
            assert.equal(toHex(ask('recoverRequest', new Writer().u32(key)).blob()).slice(4), fields.bundleID);
            const visitor = recovered(key, hex(fields.sealed));
            assert.equal(ask('device', new Writer().u32(visitor)).blob().length, 32);
        } else {
            assert.throws(() => recovered(key, hex(fields.sealed)), error => error.code === 'authenticationFailed');
        }
    }
    assert.equal(new TextDecoder().decode(ask('passkeyInput').blob()), 'sealkit/1/passkey');
    const made = ask('newRecoveryKey');
    const [handle, text] = [made.u32(), made.string()];
    const shown = typed => ask('isRecoveryKey', new Writer().u32(handle).string(typed)).flag();
    assert.equal(shown(text.toLowerCase().replaceAll('-', ' ')), true);
    assert.equal(shown(group('recovery', 'Text').tests[0].fields.text), false);
    refuses('isRecoveryKey', 'mistypedRecoveryKey', new Writer().u32(handle).string(`${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`));
});

test('a URL of another server is not shown to this one', () => {
    const { url } = valid(group('links', 'URL'));
    refuses('visit', 'otherServer', new Writer().string(url).string('https://elsewhere.example.org'));
    const answer = ask('visit', new Writer().string(url).string(new URL(url).origin));
    assert.equal([answer.u32() > 0, answer.raw(16).length, isAtEnd(answer)].join(), 'true,16,true');
});

test('a record opens once all of it is verified', () => {
    const key = epochKey(recover()[1]);
    const { shared, tests: [{ fields: { statement, proof } }] } = group('records', 'Open');
    const { roster } = replay(shared);
    const read = fields => new Writer().u32(roster).u32(key).blob(hex(statement))
        .blob(hex(proof.signature)).raw(u16(proof.leafCount)).raw(u16(proof.index)).list(proof.path, (writer, digest) => writer.raw(hex(digest)))
        .list(fields, (writer, [name, write]) => write(writer.string(name)));
    const record = valid(group('records', 'Seal')).records.find(record => record.statement === statement);
    const text = text => new Writer().byte(1).string(text).bytes;
    const fields = record.fields.map(({ name, type, sealed }) => [
        name, writer => sealed ? writer.byte(2).byte(type).blob(hex(sealed)) : writer.byte(1).blob(text('10115')),
    ]);
    const answer = ask('openRecord', read(fields));
    const values = new Map(answer.list(answer => [answer.string(), (answer.flag(), toHex(answer.blob()))]));
    assert(isAtEnd(answer));
    assert.deepEqual([...values.keys()], ['body', 'count', 'tags', 'when', 'zip']);
    assert.equal(values.get('body'), toHex(text('Dear diary')));
    assert.equal(values.get('zip'), toHex(text('10115')));
    refuses('openRecord', 'fieldMismatch', read(fields.slice(1)));
    refuses('openRecord', 'fieldMismatch', read([...fields.slice(0, 4), ['zip', writer => writer.byte(1).blob(text('10116'))]]));
});

test('an asset says its size, and keeps its key', () => {
    const key = epochKey(recover()[1]);
    const { shared, tests: [{ fields: { statement, proof, name, commitment, size } }] } = group('records', 'Asset');
    const { roster } = replay(shared);
    const stored = new Writer().raw(hex(commitment.salt)).i64(commitment.chunkCount).raw(hex(commitment.root))
        .blob(hex(commitment.descriptor)).bytes;
    const answer = ask('openRecord', new Writer().u32(roster).u32(key).blob(hex(statement)).blob(hex(proof.signature))
        .raw(u16(1)).raw(u16(0)).u32(0).list([name], (writer, name) => writer.string(name).byte(3).blob(stored)));
    assert.deepEqual([answer.u32(), answer.string(), answer.flag(), answer.u64()], [1, name, true, BigInt(size)]);
    assert(isAtEnd(answer));
});

/** Somebody with the URL alone takes the placeholder's seat of a roster in the vectors. */
function accept() {
    const url = ask('readURL', new Writer().string(valid(group('links', 'URL')).url)).u32();
    const { scope, entries } = groups('roster').find(group => group.shared.state === 'a placeholder (01…) and Bob (02…) invited').shared;
    const { roster, epoch } = replay({ scope, entries });
    const { invitationID, sealed } = valid(group('grants', 'InvitationGrant'));
    const key = ask('openInvitation',
        new Writer().u32(url).u32(roster).u32(epoch).raw(hex(invitationID)).blob(hex(sealed)).flag(false)).u32();
    const account = ask('newAccount').u32();
    const identity = ask('firstIdentity', new Writer().u32(account).string(scope.container).i64(1_700_000_000_000_000));
    const [user, statement, signature] = [identity.raw(16), identity.blob(), identity.blob()];
    const seat = ask('accept', new Writer().u32(url).u32(roster).raw(hex(invitationID)).u32(account)
        .list([statement], (writer, statement) => writer.blob(statement).blob(signature).u32(0)).u32(key).i64(1_700_000_000_000_001));
    const taken = { entry: toHex(seat.blob()), signature: toHex(seat.blob()) };
    const grant = { epoch, userRecordName: `_${toHex(user)}`, sealed: toHex(seat.blob()) };
    return { url, account, shared: { scope, entries: [...entries, taken] }, grant };
}

test('whoever has the URL alone accepts, and from then on reads by a grant of its own', () => {
    const { url, account, shared, grant } = accept();
    const { roster, sequence } = replay(shared);
    assert.equal(sequence, BigInt(shared.entries.length - 1));
    ask('openGrant', member(roster, account, grant));
    // A URL's secret is used on the share that it was made for alone.
    const other = replay(group('placement', 'Placement').shared.rosters.share).roster;
    refuses('openPreview', 'invalidURL', new Writer().u32(url).u32(other).blob(new Uint8Array(100)));
});

test('a preview says whether somebody vouches for it', () => {
    const url = ask('readURL', new Writer().string(valid(group('links', 'URL')).url)).u32();
    const { shared, tests: [{ fields }] } = group('links', 'Preview');
    const preview = ask('openPreview', new Writer().u32(url).u32(replay(shared).roster).blob(hex(fields.sealed)));
    assert.deepEqual([preview.flag(), preview.string(), preview.string(), toHex(preview.blob())],
        [fields.isVouched, fields.title, fields.shareType, fields.thumbnail]);
});

test('a URL cut short is refused', () =>
    refuses('readURL', 'invalidURL', new Writer().string(valid(group('links', 'URL')).url.slice(0, -2))));

// With all random bytes alike. SealVectorsTests opens what is recorded by swift-crypto: so each seals what the other opens.
test('it seals what was recorded', async () => {
    const byte = 0x42;
    const before = pieces;
    pieces = await load(bytes, bytes => bytes.fill(byte));
    const { shared, grant } = accept();
    pieces = before;
    const { key } = valid(group('grants', 'InvitationGrant'));
    const sealed = { shared, fields: { ...grant, key, seed: toHex(new Uint8Array(32).fill(byte)) } };
    if (process.env.RECORD) fs.writeFileSync(recorded, `${JSON.stringify(sealed, null, 1)}\n`);
    assert.deepEqual(sealed, JSON.parse(fs.readFileSync(recorded, 'utf8')), 'RECORD=1 records it anew');
});

test('what is forgotten is gone', () => {
    const visitor = ask('newVisitor', new Writer().string('a browser').i64(1_700_000_000_000_000)).u32();
    const device = () => new Writer().u32(visitor);
    assert.equal(ask('device', device()).blob().length, 32);
    ask('forget', new Writer().u32(visitor));
    refuses('device', 'missingKey', device());
});
