// The library's parts that ask nobody: errors by their codes, queries, and texts of the sharing element.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { Reader, Writer } from '../../Web/client/canonical.mjs';
import { ServerError } from '../../Web/client/server.mjs';
import { mostOfLookup, Zone } from '../../Web/client/zone.mjs';
import { readValue, writeValue } from '../../Web/client/values.mjs';
import { asCKError, CKError, known } from '../../Web/library/errors.mjs';
import { folderStore } from '../../Web/library/folder.mjs';
import { Keeping } from '../../Web/library/keeping.mjs';
import { operations as pages } from '../../Web/client/operations.mjs';
import { operations } from '../../Web/library/operations.mjs';
import { Asset } from '../../Web/library/asset.mjs';
import { RecordsBatch } from '../../Web/library/batch.mjs';
import { Container } from '../../Web/library/container.mjs';
import { Database } from '../../Web/library/database.mjs';
import { PublicDatabase } from '../../Web/library/public.mjs';
import { checked, wireQuery, writeQuery } from '../../Web/library/query.mjs';
import { changes } from '../../Web/library/record.mjs';
import { carried, methods } from '../../Web/library/remote.methods.mjs';
import { Replica } from '../../Web/library/replica.mjs';
import { Share } from '../../Web/library/share.mjs';
import { english, languages, loadTexts } from '../../Web/library/share-texts.mjs';

const source = path => fs.readFileSync(new URL(`../../Sources/${path}`, import.meta.url), 'utf8');
const scripts = folder => {
    const place = new URL(`../../Web/${folder}/`, import.meta.url);
    return fs.readdirSync(place).filter(name => name.endsWith('.mjs')).map(name => fs.readFileSync(new URL(name, place), 'utf8'));
};
const all = (text, pattern) => [...text.matchAll(pattern)].map(([, word]) => word);

test('every word of the core and of the server is told as something', () => {
    const words = all(source('SealPrimitives/SealError.swift'), /^    case (\w+)$/gm);
    for (const folder of ['SealWeb', 'SealWebLibrary']) {
        for (const name of fs.readdirSync(new URL(`../../Sources/${folder}/`, import.meta.url))) {
            words.push(...all(source(`${folder}/${name}`), /(?:Refusal|self\.init)\("([a-zA-Z]+)"\)/g));
        }
    }
    words.push(...all(source('SealWeb/Refusal.swift'), /"([a-zA-Z]+)"$/gm));
    words.push(...all(source('SealWire/ErrorCode.swift'), /^    case (\w+)$/gm));
    assert.ok(words.length > 80);
    assert.deepEqual(words.filter(word => !known(word)), []);
});

test('what does not verify is the core’s to say, and no server’s', () => {
    assert.equal(new CKError('rollback').ckErrorCode, 'INTEGRITY_ERROR');
    assert.equal(asCKError(new ServerError({ code: 'rollback' })).ckErrorCode, 'INTERNAL_ERROR');
    assert.equal(asCKError(new ServerError({ code: 'whatever' })).ckErrorCode, 'INTERNAL_ERROR');
    assert.equal(asCKError(new ServerError({ code: 'rotationDue' })).ckErrorCode, 'TRY_AGAIN_LATER');
});

test('module and library have the same numbers', () => {
    const numbers = [...source('SealWebLibrary/LibraryOperation.swift').matchAll(/case (\w+) = (\d+)/g)].map(([, name, number]) => [name, Number(number)]);
    assert.deepEqual(Object.fromEntries(numbers), operations);
});

test('no number and no name of a page’s operation is one of the library’s', () => {
    const [names, numbers] = [Object.keys, Object.values].map(part => [...part(pages), ...part(operations)]);
    assert.ok(names.length > 80);
    assert.deepEqual(names.filter((name, place) => names.indexOf(name) !== place), []);
    assert.deepEqual(numbers.filter((number, place) => numbers.indexOf(number) !== place), []);
});

test('every word that scripts throw is told as something', () => {
    const words = ['client', 'library'].flatMap(folder => scripts(folder).flatMap(text => all(text, /(?:ServerError\(\{ code: |CKError\()'([a-zA-Z]+)'/g)));
    assert.ok(words.length > 20);
    assert.deepEqual(words.filter(word => !known(word)), []);
});

test('a query is asked of the module and of the server alike', () => {
    const by = (fieldName, comparator, value, type) => checked({ recordType: 'T', filterBy: { fieldName, comparator, fieldValue: { value, ...type && { type } } } });
    const asked = query => wireQuery(query).filterBy[0];
    const values = query => {
        const reader = new Reader(writeQuery(new Writer(), query).bytes);
        assert.equal(reader.string(), 'T');
        return reader.list(reader => ({ name: reader.string(), number: reader.byte(), isNegated: reader.flag(), values: reader.list(reader => readValue(reader.blob())) }))[0];
    };
    const time = 1_700_000_000_123;
    for (const query of [by('___modTime', 'GREATER_THAN', time), by('when', 'GREATER_THAN', new Date(time)), by('when', 'GREATER_THAN', time, 'TIMESTAMP')]) {
        assert.deepEqual(asked(query).values, [{ date: time / 1000 - 978_307_200 }]);
        assert.equal(Math.round(values(query).values[0].milliseconds), time);
        assert.equal(values(query).number, 5);
    }
    assert.deepEqual(asked(by('a', 'NOT_IN', [1, 2n, 0.5])), { fieldName: 'a', comparator: 'IN', values: [{ int64: '1' }, { int64: '2' }, { double: 0.5 }], negated: true });
    assert.deepEqual(values(by('a', 'NOT_IN', [1])), { name: 'a', number: 7, isNegated: true, values: [{ kind: 'integer', text: '1' }] });
    assert.deepEqual(asked(by('a', 'EQUALS', Infinity)).values, [{ double: 'Infinity' }]);
    assert.deepEqual(asked(by('a', 'EQUALS', Uint8Array.of(0, 255))).values, [{ data: 'AP8=' }]);
    assert.deepEqual(asked(by('a', 'LIST_CONTAINS', { recordName: 'x' })).values, [{ reference: { recordName: 'x' } }]);
    const wrong = [['a', 'LIKE', 1], ['a', 'IN', 1], ['a', 'EQUALS', [1]], ['a', 'EQUALS', null], ['a', 'EQUALS', true], ['a', 'BEGINS_WITH', /a/], ['___modTime', 'EQUALS', 'now']];
    for (const [name, comparator, value] of wrong) assert.throws(() => by(name, comparator, value), { ckErrorCode: 'BAD_REQUEST' }, `${comparator} ${value}`);
});

test('what comes back as it was read is no change', () => {
    const asset = (recordName, fieldName, zoneID = { zoneName: 'Z' }, scope = 'private') => new Asset(3, { scope, zoneID, recordName, fieldName }, async () => new Uint8Array(3));
    const there = { fields: { file: { value: asset('r', 'file'), type: 'ASSETID' }, place: { value: { latitude: 1, longitude: 2 }, type: 'LOCATION' }, n: { value: 2, type: 'INT64' } }, encryptedFields: { t: { value: 'x', type: 'STRING' } } };
    assert.deepEqual(changes({ ...there, fields: { ...there.fields, file: { value: asset('r', 'file') } } }, there), []);
    assert.deepEqual(changes({ fields: { n: { value: 2, type: 'DOUBLE' } } }, there).map(({ name, to }) => [name, to]), [['n', 'plain']]);
    assert.deepEqual(changes({ fields: { file: new Blob(['a']), other: { value: Uint8Array.of(1), type: 'ASSETID' }, bytes: Uint8Array.of(1) } }, there).map(({ to }) => to), ['file', 'file', 'plain']);
    const numbers = { fields: { none: { value: NaN, type: 'DOUBLE' }, some: { value: [0.5, NaN], type: 'DOUBLE_LIST' } } };
    assert.deepEqual(changes(structuredClone(numbers), numbers), []);
    const [one, other] = [{ latitude: 1, longitude: 2 }, { latitude: 3, longitude: 4 }];
    const lists = { fields: {
        places: { value: [one, other], type: 'LOCATION_LIST' }, bytes: { value: Uint8Array.of(1, 2), type: 'BYTES' }, link: { value: { recordName: 'a', action: 'NONE' }, type: 'REFERENCE' },
    }, encryptedFields: { texts: { value: ['a', 'b'], type: 'STRING_LIST' } } };
    assert.deepEqual(changes(structuredClone(lists), lists), []);
    for (const wrong of [{ places: [other, one] }, { places: [one] }]) assert.throws(() => changes({ fields: wrong }, lists), { ckErrorCode: 'BAD_REQUEST' });
    assert.deepEqual(changes({ fields: { bytes: Uint8Array.of(1, 3), link: { recordName: 'b' } }, encryptedFields: { texts: ['a'] } }, lists).map(({ name }) => name), ['bytes', 'link', 'texts']);
    for (const wrong of [{ fields: null }, { encryptedFields: 5 }, { fields: { file: asset('other', 'file') } }, { fields: { file: asset('r', 'file', { zoneName: 'Y' }) } }, { fields: { file: asset('r', 'file', undefined, 'public') } }, { fields: { place: { latitude: 1, longitude: 3 } } }, { encryptedFields: { file: new Blob([]) } }, { fields: { t: 'x' }, encryptedFields: { t: 'x' } }]) {
        assert.throws(() => changes(wrong, there), { ckErrorCode: 'BAD_REQUEST' });
    }
});

test('half of a character is no text', () => {
    const text = 'a😀';
    assert.deepEqual(changes({ fields: { text } }).map(({ value }) => value), [{ kind: 'string', text }]);
    for (const half of [text.slice(0, 2), text.slice(2)]) {
        for (const wrong of [half, ['a', half], { recordName: half }]) assert.throws(() => changes({ fields: { text: wrong } }), { ckErrorCode: 'BAD_REQUEST' });
        assert.throws(() => checked({ recordType: 'T', filterBy: { fieldName: 'text', comparator: 'EQUALS', fieldValue: { value: half } } }), { ckErrorCode: 'BAD_REQUEST' });
    }
});

test('a record that is saved is opened once before, and once after', async () => {
    // A module in which one record is, that counts what is opened of it.
    let opened = 0;
    const record = () => new Reader(new Writer().list(['r'], (writer, name) => {
        opened++;
        writer.string(name).string('').string('Note').string('_me').i64(0).list([], () => {});
    }).bytes);
    const news = tag => new Reader(new Writer().list(['r'], (writer, name) => writer.string(name).flag(true).string('').raw(new Uint8Array(16).fill(tag))).bytes);
    let tag = 1;
    const account = { handle: () => news(tag), ask: record };
    const zone = { handle: 1, fetchRecords: async () => ({ mayWrite: true }), beginEdit: () => ({ edit: 2 }), save: async () => { tag++; return 'stored'; } };
    const replica = new Replica(account, zone, { scope: 'private', zoneID: { zoneName: 'Z' } });
    await replica.refresh();
    const { recordChangeTag } = replica.record('r');
    opened = 0;
    const saved = await replica.save({ recordName: 'r', recordChangeTag, fields: { a: 1 } }, () => () => {});
    assert.notEqual(saved.recordChangeTag, recordChangeTag);
    assert.equal(opened, 2);
});

test('what was read beside it is not saved over by a change that began before', async () => {
    // A module whose record somebody else changes, and that was told so by a look at the share.
    let [tag, title, begun] = [1, 'old', 0];
    const record = () => new Reader(new Writer().list(['r'], (writer, name) => writer.string(name).string('').string('Note').string('_me').i64(0)
        .list([title], (writer, text) => writer.string('title').byte(1).blob(writeValue({ kind: 'string', text })))).bytes);
    const news = () => new Reader(new Writer().list(['r'], (writer, name) => writer.string(name).flag(true).string('').raw(new Uint8Array(16).fill(tag))).bytes);
    const account = { handle: name => name === 'recordNews' ? news() : undefined, ask: record };
    const zone = {
        handle: 1, fetchRecords: async () => ({ mayWrite: true }), beginEdit: () => ({ edit: ++begun }), save: async () => 'stored', remove: async () => 'stored',
        upload: () => new Promise(resolve => setTimeout(resolve, 20, { upload: 2 })),
    };
    const replica = new Replica(account, zone, { scope: 'private', zoneID: { zoneName: 'Z' } });
    await replica.refresh();
    const seen = replica.record('r');
    const othersChange = () => replica.next(async () => { [tag, title] = [tag + 1, 'theirs']; });
    const conflict = error => error.ckErrorCode === 'CONFLICT' && error.serverRecord.encryptedFields.title.value === 'theirs';
    const saving = replica.save({ ...seen, fields: { file: new Blob(['x']) } }, () => () => {});
    await othersChange();
    await assert.rejects(saving, conflict);
    // So is what waits for its turn behind such a look.
    const stale = replica.record('r');
    const [, saved, removed] = await Promise.allSettled([othersChange(), replica.save(stale, () => () => {}), replica.remove(stale)]);
    assert.ok(conflict(saved.reason) && conflict(removed.reason), `${saved.reason} ${removed.reason}`);
    assert.equal(begun, 0);
});

test('a browser that is told to forget is told so by what was held back as well', async () => {
    let [times, made] = [0, []];
    const keeping = new Keeping({ forgotten: () => times, exchange: async key => { made.push(key); } });
    const save = key => keeping.held(() => keeping.exchange(key, () => undefined));
    await save('a');
    assert.deepEqual(made, []);
    await keeping.flush();
    await keeping.flush();
    assert.deepEqual(made, ['a']);
    await save('b');
    times += 1;
    await keeping.flush();
    await keeping.flush();
    assert.deepEqual(made, ['a']);
    await save('c');
    await keeping.flush();
    assert.deepEqual(made, ['a', 'c']);
});

test('whoever is signed in is signed out where containers are configured again', async () => {
    const { configure } = await import('../../Web/library/sealkit.mjs');
    const given = { containers: [{ containerIdentifier: 'org.example.notes', server: 'https://notes.example.org' }] };
    const { getDefaultContainer } = configure(given);
    const before = getDefaultContainer();
    const out = before.whenUserSignsOut();
    assert.throws(() => configure({ containers: [{ containerIdentifier: '' }] }), { ckErrorCode: 'BAD_REQUEST' });
    assert.equal(getDefaultContainer(), before);
    configure(given);
    await out;
    assert.notEqual(getDefaultContainer(), before);
});

test('a record that did not open is shown once its key has come', async () => {
    let refusal = 'missingKey';
    const record = () => new Reader(new Writer().list(['r'], (writer, name) => writer.string(name).string(refusal).string('Note').string('_me').i64(0).list([], () => {})).bytes);
    let isNew = true;
    const news = () => new Reader(new Writer().list(isNew ? ['r'] : [], (writer, name) => writer.string(name).flag(true).string('').raw(new Uint8Array(16))).bytes);
    const account = { handle: () => { const all = news(); isNew = false; return all; }, ask: record };
    const replica = new Replica(account, { handle: 1, fetchRecords: async () => ({ mayWrite: true }) }, { scope: 'shared', zoneID: { zoneName: 'Z' } });
    await replica.refresh();
    assert.deepEqual(replica.changes(''), []);
    assert.deepEqual(replica.errors.map(({ serverErrorCode }) => serverErrorCode), ['missingKey']);
    const { syncToken } = replica;
    assert.equal(replica.record('r').serverErrorCode, 'missingKey');
    refusal = '';
    assert.deepEqual(replica.changes(syncToken).map(({ recordName }) => recordName), ['r']);
    assert.deepEqual(replica.errors, []);
    // Also where somebody else was shown it first.
    assert.deepEqual(replica.changes(syncToken).map(({ recordName }) => recordName), ['r']);
    assert.deepEqual(replica.changes(replica.syncToken), []);
    for (const token of ['another:1', `${syncToken}9`, syncToken.replace(/:.*/, ':x')]) assert.throws(() => replica.changes(token), { serverErrorCode: 'changeTokenExpired' }, token);
});

/** A public database with one record, whose module knows what it was shown last; `hold` is waited for by whatever sends a file. */
function publicly({ hold = async () => undefined, identify = async () => undefined } = {}) {
    const [server, sent] = [{ tag: 't1', stars: 5n }, []];
    let known;
    const answer = write => { const writer = new Writer(); write?.(writer); return new Reader(writer.bytes); };
    const asked = {
        publicZone: () => answer(writer => writer.u32(1)),
        publicMoment: () => answer(writer => writer.i64(0)),
        publicLookupAnswer: () => { known = { ...server }; return answer(writer => writer.list([''], (writer, refusal) => writer.string(refusal))); },
        publicRecord: () => answer(writer => writer.string(known.tag).string('p').string('').string('Post').string('_x').i64(0)
            .list(['stars'], (writer, name) => writer.string(name).byte(0).blob(new Writer().byte(3).i64(known.stars).bytes))),
        publicUpload: () => answer(writer => writer.u32(9).string('o').string('z').string('id').i64(1).u32(0).blob(new Uint8Array(0))),
        publicChunks: () => answer(),
        publicRequest: () => { sent.push(known.tag); return answer(writer => writer.string('p').blob(new Uint8Array(1))); },
        publicAnswer: () => answer(writer => writer.string('')),
    };
    const account = {
        ask: name => asked[name](), handle: () => answer(writer => writer.blob(new Uint8Array(0))),
        identify: async () => { await identify(); return { identity: 1, user: '_me' }; },
        call: async route => { if (route === 'assets/upload') await hold(); return new Uint8Array(0); },
    };
    const container = { account: async () => account, containerIdentifier: 'c', environment: 'production', requireSignedIn() {} };
    return { everybody: new PublicDatabase(container), server, sent };
}

test('a public record that somebody has changed meanwhile is not written over, also where it was read meanwhile', async () => {
    for (const isRead of [true, false]) {
        let goOn;
        const held = new Promise(resolve => { goOn = resolve; });
        const { everybody, server, sent } = publicly({ hold: () => held });
        const { records: [seen] } = await everybody.fetchRecords('p');
        const saving = everybody.saveRecords({ ...seen, fields: { stars: 6, file: new Blob(['x']) } });
        await new Promise(resolve => setTimeout(resolve));
        Object.assign(server, { tag: 't2', stars: 9n });
        if (isRead) await everybody.fetchRecords('p');
        goOn();
        const { errors: [error] } = await saving;
        assert.deepEqual([error?.ckErrorCode, error?.serverRecord.fields.stars.value, sent], ['CONFLICT', 9, []], `read meanwhile: ${isRead}`);
    }
    // Nor between the look at it and what is sent, without a file and as a deletion.
    for (const change of [one => ({ saveRecords: { ...one, fields: { stars: 6 } } }), one => ({ deleteRecords: one })]) {
        const made = publicly({ identify: async () => { Object.assign(made.server, { tag: 't2', stars: 9n }); await made.everybody.fetchRecords('p'); } });
        const { records: [seen] } = await made.everybody.fetchRecords('p');
        const [[method, record]] = Object.entries(change(seen));
        const { errors: [error] } = await made.everybody[method](record);
        assert.deepEqual([error?.ckErrorCode, error?.serverRecord.fields.stars.value, made.sent], ['CONFLICT', 9, []], method);
    }
    const { everybody, sent } = publicly();
    const { records: [seen] } = await everybody.fetchRecords('p');
    assert.deepEqual([(await everybody.saveRecords({ ...seen, fields: { stars: 6, file: new Blob(['x']) } })).errors, sent], [[], ['t1']]);
});

test('a batch loses nothing that it has not sent', async () => {
    const [sent, broken] = [[], new Set(['c'])];
    const send = async ([{ recordName }]) => {
        if (recordName === 'bad') throw new CKError('invalidArguments');
        if (broken.has(recordName)) throw new CKError('networkFailure');
        sent.push(recordName);
        return { records: [{ recordName }], errors: [], hasErrors: false };
    };
    const batch = new RecordsBatch({ saveRecords: send, deleteRecords: send });
    for (const recordName of ['a', 'bad', 'b', 'c', 'd']) batch.create({ recordType: 'T', recordName });
    batch.delete('e');
    const names = answer => [...answer.records, ...answer.deleted].map(({ recordName }) => recordName);
    const first = await batch.commit();
    assert.deepEqual([names(first), first.hasErrors], [['a', 'b'], true]);
    assert.deepEqual(first.errors.map(({ ckErrorCode }) => ckErrorCode), ['BAD_REQUEST', 'NETWORK_ERROR']);
    // Nothing can be sent at all: that is no answer, and what is added meanwhile comes last.
    await assert.rejects(batch.commit(), { ckErrorCode: 'NETWORK_ERROR' });
    batch.create({ recordType: 'T', recordName: 'f' });
    broken.clear();
    assert.deepEqual([names(await batch.commit()), sent], [['c', 'd', 'f', 'e'], ['a', 'b', 'c', 'd', 'e', 'f']]);
    assert.deepEqual((await batch.commit()).records, []);
});

test('a module that cannot be had is a failure like any other', async () => {
    const of = module => new Container({ containerIdentifier: 'org.example.notes', server: 'http://localhost:1', module });
    for (const call of [one => one.setUpAuth(), one => one.newRecoveryKey(), one => one.publicCloudDatabase.fetchRecords('a'), one => one.signIn({ passphrase: 'a', name: 'b' })]) {
        await assert.rejects(call(of('http://localhost:1/core.wasm')), { name: 'CKError', ckErrorCode: 'NETWORK_ERROR' });
        await assert.rejects(call(of(new URL('file:///nowhere/core.wasm'))), { name: 'CKError', ckErrorCode: 'NETWORK_ERROR' });
        await assert.rejects(call(of(new TextEncoder().encode('<html>'))), { name: 'CKError', ckErrorCode: 'BAD_REQUEST' });
    }
});

test('an answer has as many bytes as the server sends of records that are asked for by name', async () => {
    const [, mebibytes] = /answerBytes = (\d+) \* 1024 \* 1024/.exec(source('SealService/Records/RecordLookup.swift'));
    assert.ok(mostOfLookup > mebibytes << 20);
    const asked = [];
    const call = async (route, _, __, most) => { asked.push([route, most]); throw new ServerError({ code: 'networkFailure' }); };
    const everybody = new PublicDatabase({ account: async () => ({ call, ask: () => new Reader(new Writer().i64(1).bytes) }), containerIdentifier: 'c', environment: 'production' });
    await assert.rejects(everybody.fetchRecords('a'), { ckErrorCode: 'NETWORK_ERROR' });
    // A zone whose feed has left something out, which is asked for by name.
    const zone = new Zone({
        call: async (...parts) => parts[0] === 'records/changes' ? new Uint8Array(1) : call(...parts),
        handle: name => new Reader((name === 'rosterRequest' ? new Writer().flag(false) : new Writer().blob(new Uint8Array(1))).bytes),
        ask: () => new Reader(new Writer().byte(3).bytes),
    }, 1, {});
    await assert.rejects(zone.fetchRecords(), { code: 'networkFailure' });
    assert.deepEqual(asked, [['records/lookup', mostOfLookup], ['records/lookup', mostOfLookup]]);
});

test('what an answer has no room for beside other records comes with the next one', async () => {
    for (const [room, expected] of [[2, ['abcde', 'cde', 'e']], [0, ['abcde']]]) {
        const requests = [];
        const asked = {
            publicZone: writer => writer.u32(1),
            publicMoment: writer => writer.i64(0),
            publicLookupAnswer: writer => writer.list(requests.at(-1), (one, name) => one.string(requests.at(-1).indexOf(name) < room ? '' : 'limitExceeded')),
            publicRecord: (writer, given) => {
                given.u32();
                writer.string('t').string(given.string()).string('').string('Post').string('_x').i64(0).list([], () => {});
            },
        };
        const ask = (name, write) => {
            const writer = new Writer();
            asked[name](writer, new Reader(write(new Writer()).bytes));
            return new Reader(writer.bytes);
        };
        const call = async (_, body) => {
            requests.push(JSON.parse(new TextDecoder().decode(body)).recordNames);
            return new Uint8Array(0);
        };
        const everybody = new PublicDatabase({ account: async () => ({ call, ask }), containerIdentifier: 'c', environment: 'production' });
        const { records, errors } = await everybody.fetchRecords([...'abcde']);
        assert.deepEqual(requests.map(names => names.join('')), expected);
        assert.deepEqual(records.map(({ recordName }) => recordName), room ? [...'abcde'] : []);
        assert.deepEqual(errors.map(({ ckErrorCode }) => ckErrorCode), room ? [] : Array(5).fill('BAD_REQUEST'));
    }
});

test('a batch takes one or several, as CloudKit JS does', async () => {
    const [saved, gone] = [[], []];
    const batch = new RecordsBatch({
        saveRecords: async ([record]) => { saved.push(record); return { records: [record], errors: [] }; },
        deleteRecords: async ([record]) => { gone.push(record); return { records: [record], errors: [] }; },
    });
    const [a, b, c] = ['a', 'b', 'c'].map(recordName => ({ recordType: 'T', recordName }));
    const tagged = one => ({ ...one, recordChangeTag: 't' });
    await batch.create([a, tagged(b)]).update([tagged(c)]).createOrUpdate([a, tagged(b)]).delete(['a', tagged(b)]).delete('c').forceDelete([tagged(a), 'b']).forceDelete(tagged(c)).commit();
    assert.deepEqual(saved, [a, b, tagged(c), a, tagged(b)]);
    assert.deepEqual(gone, [{ recordName: 'a' }, tagged(b), ...['c', 'a', 'b', 'c'].map(recordName => ({ recordName }))]);
});

/** A database of zones that have these records, by their names; what is no list is why a zone cannot be read. */
function zones(all, { message, isWithheld = false } = {}) {
    const asked = [];
    const replica = async (_, { zoneName, shareRecordName }) => {
        const there = all[shareRecordName ?? zoneName];
        return {
            zone: { handle: 1 }, refresh: async () => { asked.push(shareRecordName ?? zoneName); if (!Array.isArray(there)) throw new ServerError({ code: there }); },
            changes: () => there.map(recordName => ({ recordName, fields: {}, encryptedFields: {} })), errors: [], syncToken: `${zoneName}:1`,
            matching: () => there, records: names => names.map(recordName => ({ recordName, fields: {}, encryptedFields: {} })),
        };
    };
    const account = async () => ({ handle: () => new Reader(new Writer().flag(isWithheld).bytes) });
    return { asked, shared: new Database({ replica, message, account, userRecordName: '_me' }, 'shared') };
}
const names = ({ records }) => records.map(({ recordName }) => recordName);

test('what has changed in zones is said of one and of several', async () => {
    const { shared } = zones({ A: ['a1', 'a2'], B: ['b1'], C: 'zoneGone' });
    const [A, B, C] = ['A', 'B', 'C'].map(zoneName => ({ zoneID: { zoneName } }));
    const one = await shared.fetchRecordZoneChanges(A);
    assert.deepEqual([names(one), one.syncToken, one.zones.map(names), one.zones[0].syncToken, one.hasErrors], [['a1', 'a2'], 'A:1', [['a1', 'a2']], 'A:1', false]);
    await assert.rejects(shared.fetchRecordZoneChanges(C), { ckErrorCode: 'ZONE_NOT_FOUND' });
    const several = await shared.fetchRecordZoneChanges([A, { ...C, syncToken: 'C:7' }, null, B]);
    assert.deepEqual(several.zones.map(zone => [zone.zoneID?.zoneName, names(zone), zone.syncToken, zone.hasErrors]),
        [['A', ['a1', 'a2'], 'A:1', false], ['C', [], 'C:7', true], [undefined, [], undefined, true], ['B', ['b1'], 'B:1', false]]);
    assert.deepEqual([several.hasErrors, several.errors.map(({ ckErrorCode }) => ckErrorCode)], [true, ['ZONE_NOT_FOUND', 'BAD_REQUEST']]);
    assert.deepEqual((await shared.fetchRecordZoneChanges([])).zones, []);
});

test('the answer to a query asks for what comes behind it', async () => {
    const { shared } = zones({ A: ['a1', 'a2', 'a3'] });
    const [query, zoneID] = [{ recordType: 'T' }, { zoneName: 'A' }];
    let answer = await shared.performQuery(query, { zoneID, resultsLimit: 2, desiredKeys: ['x'] });
    assert.deepEqual([names(answer), answer.moreComing, answer.query, answer.zoneID, answer.resultsLimit, answer.desiredKeys], [['a1', 'a2'], true, query, zoneID, 2, ['x']]);
    assert.deepEqual(names(await shared.performQuery(answer, { resultsLimit: 1 })), ['a3']);
    assert.deepEqual(names(await shared.performQuery(answer, { continuationMarker: '0' })), ['a1', 'a2']);
    answer = await shared.performQuery(answer);
    assert.deepEqual([names(answer), answer.moreComing], [['a3'], false]);
    const { errors, ...after } = await shared.performQuery(answer);
    assert.deepEqual([after, errors], [{ records: [], hasErrors: false, moreComing: false, query, zoneID, resultsLimit: 2, desiredKeys: ['x'] }, []]);
    await assert.rejects(shared.performQuery(query), { ckErrorCode: 'BAD_REQUEST' });
});

test('hierarchies of a zone are listed each by its share, and the only one is found by its zone', async () => {
    const wire = (...shares) => ({ zoneId: { zoneName: 'Z', ownerName: '_a' }, shares: shares.map(shareRecordName => ({ shareRecordName })) });
    const whole = { zoneId: { zoneName: 'W', ownerName: '_a' }, scope: {} };
    const pages = [
        { modifications: [wire('s0'), whole, { ...wire(), zoneId: { zoneName: 'G', ownerName: '_a' }, shares: [{ shareRecordName: 's3' }] }], token: 'a', moreComing: true },
        { modifications: [wire('s1', 's2')], deletions: [{ zoneId: { zoneName: 'G', ownerName: '_a' } }], token: 'b' },
    ];
    const listed = await zones({}, { message: async () => pages.shift() }).shared.fetchAllRecordZones();
    const zoneID = { zoneName: 'Z', ownerRecordName: '_a' };
    assert.deepEqual(listed.zones.map(zone => zone.zoneID), [{ ...zoneID, shareRecordName: 's1' }, { ...zoneID, shareRecordName: 's2' }, { zoneName: 'W', ownerRecordName: '_a' }]);
    for (const shares of [{}, [null], [{}], [{ shareRecordName: '' }]]) {
        await assert.rejects(zones({}, { message: async () => ({ modifications: [{ ...wire(), shares }] }) }).shared.fetchDatabaseChanges(), { serverErrorCode: 'unexpected' });
    }
    // As a notification names it.
    const all = { Z: 'unknownScope', s1: ['r'] };
    const lookup = zone => ({ message: async (route, { zones: [{ zoneName }] }) => { assert.deepEqual([route, zoneName], ['zones/lookup', 'Z']); return { results: [{ zoneId: {}, ...zone && { zone } }] }; } });
    const { shared, asked } = zones(all, lookup(wire('s1')));
    assert.deepEqual([names(await shared.fetchRecords('r', { zoneID })), names(await shared.fetchRecordZoneChanges({ zoneID })), asked], [['r'], ['r'], ['Z', 's1', 'Z', 's1']]);
    await assert.rejects(zones(all, lookup(wire('s1', 's2'))).shared.fetchRecords('r', { zoneID }), { ckErrorCode: 'BAD_REQUEST' });
    for (const [zone, more] of [[undefined], [wire()], [whole], [wire('s1'), { isWithheld: true }]]) {
        await assert.rejects(zones(all, { ...lookup(zone), ...more }).shared.fetchRecords('r', { zoneID }), { ckErrorCode: 'ZONE_NOT_FOUND' });
    }
});

test('an answer goes to another thread with each of its zones, and what is said twice once', () => {
    const records = [{ recordName: 'a' }];
    const one = { zoneID: { zoneName: 'Z' }, records, errors: ['no'] };
    const [record, failure] = [({ recordName }) => ({ recordName, isCarried: true }), error => ({ error })];
    const made = carried({ ...one, zones: [one, { zoneID: {}, records: [{ recordName: 'b' }], errors: ['never'] }, { zoneID: {} }] }, record, failure);
    assert.deepEqual([made.records, made.errors, made.zones[1].records, made.zones[1].errors, made.zones[2]], [[{ recordName: 'a', isCarried: true }], [{ error: 'no' }], [{ recordName: 'b', isCarried: true }], [{ error: 'never' }], { zoneID: {} }]);
    assert.ok(made.zones[0].records === made.records && made.zones[0].errors === made.errors);
});

/** A database whose server says what the test has it say. */
const database = message => new Database({ message, userRecordName: '_me' }, 'private');

test('a list of zones that does not end is not followed', async () => {
    let calls = 0;
    const endless = database(async () => ({ modifications: [{ zoneId: { zoneName: `z${calls}` } }], token: `t${++calls}`, moreComing: true }));
    await assert.rejects(endless.fetchAllRecordZones(), { ckErrorCode: 'INTERNAL_ERROR', serverErrorCode: 'endless' });
    assert.equal(calls, 1000);
    const many = Array.from({ length: 30_000 }, (_, index) => ({ zoneId: { zoneName: `z${index}` } }));
    calls = 0;
    const large = database(async () => ({ modifications: many.map(({ zoneId: { zoneName } }) => ({ zoneId: { zoneName: `${calls}${zoneName}` } })), token: `t${++calls}`, moreComing: true }));
    await assert.rejects(large.fetchAllRecordZones(), { serverErrorCode: 'endless' });
    assert.equal(calls, 4);
});

test('an answer that is none ends in an error that says so', async () => {
    const none = { name: 'CKError', serverErrorCode: 'unexpected' };
    const zone = { zoneName: 'Z', ownerName: 7 };
    for (const answer of [{ modifications: {} }, { modifications: [null] }, { modifications: [{}] }, { deletions: [{ zoneId: zone }] }, { token: 5 }, { moreComing: 'yes' }]) {
        await assert.rejects(database(async () => answer).fetchDatabaseChanges(), none, JSON.stringify(answer));
        await assert.rejects(database(async () => answer).fetchAllRecordZones(), none);
    }
    for (const answer of [{ subscriptions: 1 }, { subscriptions: [null] }, { subscriptions: [{}] }, { subscriptions: [{ subscriptionId: 's', zone: 'Z' }] }]) {
        await assert.rejects(database(async () => answer).fetchAllSubscriptions(), none, JSON.stringify(answer));
    }
    for (const answer of [{ results: {} }, { results: [null] }, { results: [{ subscription: 3 }] }]) {
        await assert.rejects(database(async () => answer).deleteSubscriptions('a'), none, JSON.stringify(answer));
    }
    const kinds = await database(async () => ({ subscriptions: [1, 2, 3].map(kind => ({ subscriptionId: 's', kind })) })).fetchAllSubscriptions();
    assert.deepEqual(kinds.subscriptions.map(({ subscriptionType }) => subscriptionType), ['query', 'zone', 'database']);
    const { errors } = await database(async () => ({ results: [{ failure: { code: 5 } }] })).deleteSubscriptions('a');
    assert.equal(errors[0].serverErrorCode, 'serverRejectedRequest');
});

test('a page may ask its worker for all that there is, and for nothing of the inside', () => {
    const of = kind => Object.getOwnPropertyNames(kind.prototype).filter(name => name !== 'constructor' && typeof Object.getOwnPropertyDescriptor(kind.prototype, name).value === 'function').sort();
    // What the page does by itself, and what the parts of a container ask one another for.
    const pages = ['whenUserSignsIn', 'whenUserSignsOut', 'shareWithUI', 'addNotificationListener', 'removeNotificationListener', 'getDatabaseWithDatabaseScope'];
    const inner = ['account', 'requireSignedIn', 'makeZone', 'deleteZone', 'replica', 'message'];
    assert.deepEqual([...methods.container, ...pages, ...inner].sort(), of(Container));
    for (const name of ['privateCloudDatabase', 'sharedCloudDatabase']) assert.deepEqual([...methods[name], 'newRecordsBatch', 'shareWithUI'].sort(), of(Database));
    assert.deepEqual([...methods.publicCloudDatabase, 'newRecordsBatch', 'forget'].sort(), of(PublicDatabase));
    assert.deepEqual([...methods.share].sort(), of(Share));
});

for (const language of languages) {
    test(`${language} says all that English says`, async () => {
        const texts = await loadTexts(`${language}-XX`);
        assert.equal(texts.language, language);
        for (const [one, other] of [[english, texts], [english.errors, texts.errors]]) {
            assert.deepEqual(Object.keys(other).sort(), Object.keys(one).sort());
            for (const [key, text] of Object.entries(one)) {
                assert.equal(typeof other[key], typeof text, key);
                if (typeof text === 'function') assert.match(other[key](41), /41/, key);
                else if (typeof text === 'string') assert.notEqual(other[key].trim(), '', key);
            }
        }
    });
}

/** @param {(folder: string) => Promise<void>} body */
async function inFolder(body) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sealkit-memory-'));
    try { await body(folder); } finally { fs.rmSync(folder, { recursive: true, force: true }); }
}
const text = bytes => bytes === undefined ? undefined : Buffer.from(bytes).toString();

test('a folder keeps of each zone what was kept last, and nothing where that was forgotten', () => inFolder(async folder => {
    const store = folderStore(path.join(folder, 'made', 'anew'));
    const seen = [];
    for (const next of ['one', undefined, 'two', null, 'three']) {
        await store.exchange('zone', there => {
            seen.push(text(there));
            return typeof next === 'string' ? Buffer.from(next) : next;
        });
    }
    await store.exchange('another', there => { seen.push(text(there)); return undefined; });
    assert.deepEqual(seen, [undefined, 'one', 'one', 'two', undefined, undefined]);
    assert.equal(fs.readdirSync(path.join(folder, 'made', 'anew')).length, 1);
}));

test('whoever shares a folder loses nothing that another one has kept', () => inFolder(async folder => {
    const stores = Array.from({ length: 8 }, () => folderStore(folder));
    const add = (store, number) => store.exchange('zone', there => Buffer.from(JSON.stringify([...JSON.parse(text(there) ?? '[]'), number])));
    await Promise.all(stores.map(async (store, place) => {
        for (let turn = 0; turn < 10; turn++) await add(store, place * 10 + turn);
    }));
    await stores[0].exchange('zone', there => {
        // One that others went past is made again, and may be there already.
        assert.deepEqual([...new Set(JSON.parse(text(there)))].sort((a, b) => a - b), Array.from({ length: 80 }, (_, number) => number));
        return undefined;
    });
    assert.equal(fs.readdirSync(folder).length, 1);
}));

test('what a process left behind in a folder goes, and what was kept stays where nothing can be written', () => inFolder(async folder => {
    const store = folderStore(folder);
    await store.exchange('zone', () => Buffer.from('one'));
    const [kept] = fs.readdirSync(folder);
    const [old, fresh] = ['old', 'fresh'].map(word => path.join(folder, kept.replace(/\d+$/, `new-${word}`)));
    for (const file of [old, fresh]) fs.writeFileSync(file, 'cut off');
    fs.utimesSync(old, 0, 0);
    await store.exchange('zone', () => Buffer.from('two'));
    assert.deepEqual([fs.existsSync(old), fs.existsSync(fresh), fs.readdirSync(folder).length], [false, true, 2]);
    const refusal = new CKError('rollback');
    await assert.rejects(store.exchange('zone', () => { throw refusal; }), error => error === refusal);
    const file = path.join(folder, 'file');
    fs.writeFileSync(file, '');
    for (const wrong of [file, path.join(file, 'below')]) {
        await assert.rejects(folderStore(wrong).exchange('zone', () => Buffer.from('x')), { ckErrorCode: 'BAD_REQUEST' });
    }
    await store.exchange('zone', there => { assert.equal(text(there), 'two'); return undefined; });
}));
