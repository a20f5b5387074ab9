// The library's parts that ask nobody: errors by their codes, queries, and texts of the sharing element.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { ServerError } from '../../Web/client/server.mjs';
import { asCKError, CKError, known } from '../../Web/library/errors.mjs';
import { operations as pages } from '../../Web/client/operations.mjs';
import { operations } from '../../Web/library/operations.mjs';
import { matching } from '../../Web/library/query.mjs';
import { english, languages, loadTexts } from '../../Web/library/share-texts.mjs';

const source = path => fs.readFileSync(new URL(`../../Sources/${path}`, import.meta.url), 'utf8');
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

test('values equal those of their own kind', () => {
    const found = (there, value, comparator = 'EQUALS') => matching([{ recordName: 'r', recordType: 'T', fields: { a: { value: there } }, encryptedFields: {} }],
        { recordType: 'T', filterBy: { fieldName: 'a', comparator, fieldValue: { value } } }).length === 1;
    for (const [one, other] of [['', 0], ['1', 1], [[5], 5], [Uint8Array.of(10), '0a'], [[1, 2], [1]], [true, 1]]) assert.ok(!found(one, other), String(one));
    for (const [one, other] of [[5, 5n], [[5n], [5]], ['a', 'a'], [Uint8Array.of(1), Uint8Array.of(1)], [{ recordName: 'x' }, { recordName: 'x' }], [new Date(7), 7]]) assert.ok(found(one, other), String(one));
    assert.ok(!found('a+', /a/, 'BEGINS_WITH'));
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
