// node --test bundle.test.mjs: what Web/bundle.py packs of the page's scripts is the sources, but for their comments.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ts = createRequire(import.meta.url)('/usr/share/nodejs/typescript');
const web = fileURLToPath(new URL('../../Web/', import.meta.url));

/** A script as TypeScript prints it, from what it has understood: without comments, and in one form. */
const printed = text => ts.createPrinter({ removeComments: true }).printFile(ts.createSourceFile('script.mjs', text, ts.ScriptTarget.ES2022, false, ts.ScriptKind.JS));

/** What of an archive has a name, as Web/bundle.py writes it. */
function unpacked(archive) {
    let offset = 0;
    const take = count => archive.subarray(offset, offset += count);
    const number = () => take(4).readUInt32LE();
    const blob = () => take(number());
    blob();
    take(32);
    const files = new Map();
    for (let count = number(); count > 0; count--) {
        const name = blob().toString();
        blob();
        take(32);
        files.set(name, blob().toString());
        blob();
        blob();
    }
    return files;
}

test('scripts travel as they are, but for their comments', () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'bundle-'));
    try {
        fs.writeFileSync(path.join(folder, 'core.wasm'), 'no module');
        execFileSync('/usr/bin/python3', ['-B', path.join(web, 'bundle.py'), path.join(web, 'client'), path.join(folder, 'core.wasm'), folder]);
        const files = unpacked(fs.readFileSync(path.join(folder, 'bundle')));
        const names = fs.readdirSync(path.join(web, 'client')).filter(name => name.endsWith('.mjs'));
        assert.ok(names.length > 30);
        for (const name of names) {
            const source = fs.readFileSync(path.join(web, 'client', name), 'utf8');
            const sent = files.get(name);
            assert.equal(printed(sent), printed(source), name);
            assert.equal(sent.split('\n').length, source.split('\n').length, name);
            assert.doesNotMatch(sent, /\/\*\*|^\s*\/\//m, name);
        }
        assert.equal(files.has('bundle.d.mts'), false);
    } finally {
        fs.rmSync(folder, { recursive: true });
    }
});
