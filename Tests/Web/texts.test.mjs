// node --test texts.test.mjs: each language of the page says all that the English one says.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import english from '../../Web/client/texts.en.mjs';

// What a page has, and the texts go by.
Object.assign(globalThis, { location: { hash: '' }, navigator: { languages: ['en'] } });
const { explain, languages, texts } = await import('../../Web/client/texts.mjs');

const folder = new URL('../../Web/client/', import.meta.url);
const others = languages.filter(language => language !== 'en');

test('there is a file of each language, and no other', () => {
    const files = fs.readdirSync(folder).map(name => /^texts\.([a-z]+)\.mjs$/.exec(name)?.[1]).filter(Boolean);
    assert.deepEqual(files.sort(), [...languages].sort());
});

test('each text is used, and each that is used is there', () => {
    const used = new Set();
    for (const name of fs.readdirSync(folder).filter(name => name.endsWith('.mjs') && !name.startsWith('texts'))) {
        for (const [, key] of fs.readFileSync(new URL(name, folder), 'utf8').matchAll(/\btexts\.([a-zA-Z]+)\b(?!')/g)) used.add(key);
    }
    used.delete('mjs');
    assert.deepEqual([...used].sort(), Object.keys(english).sort());
});

test('what an honest server says in the ordinary way is told as no forgery', () => {
    const codes = [
        'zoneNotFound', 'unknownScope', 'userDeletedZone', 'storageFull', 'zoneBusy', 'quotaExceeded', 'notMember', 'notAuthenticated', 'tooManyParticipants',
        'assetNotAvailable', 'assetFileNotFound', 'incompatibleVersion', 'sessionExpired', 'changeTokenExpired',
    ];
    for (const code of codes) assert.notEqual(explain(code), texts.errors.other, code);
    assert.equal(explain('zoneNotFound'), texts.errors.notMember);
    for (const code of ['integrityFailure', 'constructor', '__proto__', '']) assert.equal(explain(code), texts.errors.other, code);
});

// Words of a familiar tone, where the page is formal, and second words for a record, by the language.
const strange = {
    de: /\b(du|dein|deine|deinen|Ein Eintrag je Zeile)\b/i,
    es: /\b(tú(?!\p{L})|(?:tu|tus|te|ti|elige|díselo|ficha|fichas)\b)/iu,
    it: /\b(tuo|tua|tuoi|tue|ti|scegli|dillo|fallo|voci|finisce con questa scheda(?! del browser))\b/i,
    nl: /\b(je|jij|jouw|records?)\b/i,
    pl: /\bwpis(u|y|ów)?\b/i,
};

for (const [language, pattern] of Object.entries(strange)) {
    test(`${language} speaks to its reader in one tone, and has one word for a record`, async () => {
        const { default: texts } = await import(new URL(`texts.${language}.mjs`, folder));
        const said = [...Object.values(texts), ...Object.values(texts.errors)].filter(text => typeof text !== 'object').map(text => typeof text === 'function' ? text([3]) : text);
        assert.deepEqual(said.filter(text => pattern.test(text)), []);
    });
}

// What is the same word in both languages. Anything longer is a text that nobody has translated.
const alike = ['Name', 'Code', 'Passphrase', 'Account', 'File, 41', '41 bytes'];

for (const language of others) {
    test(`${language} says all that English says`, async () => {
        const { default: texts } = await import(new URL(`texts.${language}.mjs`, folder));
        for (const [one, other] of [[english, texts], [english.errors, texts.errors]]) {
            assert.deepEqual(Object.keys(other).sort(), Object.keys(one).sort());
            for (const [key, text] of Object.entries(one)) {
                assert.equal(typeof other[key], typeof text, key);
                if (typeof text === 'function') assert.equal(other[key].length, text.length, key);
                if (typeof text === 'string') assert.notEqual(other[key].trim(), '', key);
                const said = [text, other[key]].map(one => typeof one === 'function' ? one([41], 66, 2026, '12:00') : one);
                if (typeof said[0] === 'string' && key !== 'date' && !alike.includes(said[0])) assert.notEqual(said[1], said[0], key);
            }
        }
        for (const [key, text] of Object.entries(texts)) {
            if (typeof text !== 'function') continue;
            const said = key === 'recoveryKeyGroups' ? text([3, 7]) : text(41, 66);
            assert.match(said, key === 'recoveryKeyGroups' ? /3.*7/ : /41/, key);
        }
    });
}
