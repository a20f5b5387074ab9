// node --test bundle.test.mjs: what Web/bundle.py packs of the page's scripts is the sources, but for comments and blanks, in few scripts.
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
const source = name => fs.readFileSync(path.join(web, 'client', name), 'utf8');

const parsed = text => ts.createSourceFile('script.mjs', text, ts.ScriptTarget.ES2022, false, ts.ScriptKind.JS);
/** A script as TypeScript prints it, from what it has understood: without comments, and in one form, on however many lines it was. */
function printed(text) {
    const script = parsed(text);
    const part = node => {
        if ('multiLine' in node) node.multiLine = true;
        ts.forEachChild(node, part);
    };
    part(script);
    return ts.createPrinter({ removeComments: true }).printFile(script);
}
/** The same of what exports nothing. */
const unexported = text => printed(text).replace(/^export \{.*\};\n/gm, '').replace(/^export (?!default)/gm, '');

/** What a module exports, by name. */
const exported = text => parsed(text).statements.flatMap(statement => {
    if (ts.isExportDeclaration(statement)) return statement.exportClause.elements.map(({ name }) => name.text);
    if (!statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
    return statement.name ? [statement.name.text] : statement.declarationList.declarations.map(({ name }) => name.text);
});

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

function packed() {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'bundle-'));
    try {
        fs.writeFileSync(path.join(folder, 'core.wasm'), 'no module');
        execFileSync('/usr/bin/python3', ['-B', path.join(web, 'bundle.py'), path.join(web, 'client'), path.join(folder, 'core.wasm'), folder]);
        return unpacked(fs.readFileSync(path.join(folder, 'bundle')));
    } finally {
        fs.rmSync(folder, { recursive: true });
    }
}

/** The modules of a script, each with what it says and gives, and at last the script's own; what a module imports as it stands in the source. */
function apart(name, script) {
    const parts = [];
    const imports = text => text.replace(/^const (?:(\w+)|(\{.*\})) = modules\['([a-z.]+)'\];$/gm, (_, whole, some, other) =>
        `import ${whole ? `* as ${whole}` : some.replaceAll(': ', ' as ')} from './${other}';`);
    const own = script.replace(/^modules\['([a-z.]+)'\] = (await )?\((async )?\(\) => \{\n([^]*?)^return \{ (.*) \};\n\}\)\(\);\n/gm, (_, module, wait, kind, text, given) => {
        assert.equal(wait === undefined, kind === undefined, module);
        parts.push({ module, text: imports(text), given: given.split(', ') });
        return '';
    });
    const text = own.replace(/^(const modules = \{\};|import \{ modules \} from '\.\/share\.mjs';)\n/, '').replace(/^export \{ modules \};\n/m, '');
    return [...parts, { module: name, text: imports(text) }];
}

/** Texts of a script, and what one begins with that is filled in. */
function texts(text) {
    const found = [];
    const look = node => {
        if (ts.isStringLiteralLike(node)) found.push(node.text);
        if (ts.isTemplateExpression(node) && node.head.text.includes('/')) found.push(`${node.head.text}*`);
        ts.forEachChild(node, look);
    };
    look(parsed(text));
    return found;
}
const modules = fs.readdirSync(path.join(web, 'client')).filter(name => name.endsWith('.mjs'));
const said = new Set(modules.filter(name => name !== 'routes.mjs').flatMap(name => texts(source(name))));
/** The table of routes with those alone that a script names. */
const named = table => table.replace(/^ +'([a-z/-]+)': .*\n/gm, (line, route) =>
    [...said].some(text => text.endsWith('*') ? route.startsWith(text.slice(0, -1)) : text === route) ? line : '');

const files = packed();
const scripts = [...files.keys()].filter(name => name.endsWith('.mjs'));

test('scripts are the modules as they are, but for what is for readers of the source', () => {
    const seen = new Set();
    for (const name of scripts) {
        for (const { module, text, given } of apart(name, files.get(name))) {
            seen.add(module);
            // Written by Web/bundle.py.
            if (module === 'bundle.mjs') continue;
            const [was, place] = [source(module), `${module} in ${name}`];
            assert.equal(given ? printed(text) : unexported(text), unexported(module === 'routes.mjs' ? named(was) : was), place);
            if (given) assert.deepEqual(given.sort(), exported(was).sort(), place); else assert.deepEqual(exported(text), exported(was), place);
            assert.doesNotMatch(text, /^[ \t]/m, place);
            assert.doesNotMatch(text, /\/\*\*|^\s*\/\//m, place);
            assert.doesNotMatch(text, /\bmodules\b/, place);
        }
    }
    assert.ok(modules.length > 30);
    assert.deepEqual([...seen].sort(), [...modules, 'bundle.mjs'].sort());
    assert.equal(files.has('bundle.d.mts'), false);
});

test('of the table of routes the page has those that it asks for', () => {
    const kept = named(source('routes.mjs'));
    for (const route of ['accounts/create', 'records/changes', 'records/lookup', 'notifications']) assert.ok(kept.includes(`'${route}'`), route);
    for (const route of ['server-keys/create', 'accounts/rotate']) assert.ok(!kept.includes(`'${route}'`), route);
});

test('a module runs once, after those that it imports, and the fragment is taken before all else', () => {
    const page = apart('share.mjs', files.get('share.mjs')).map(({ module }) => module);
    assert.equal(page[0], 'first.mjs');
    for (const name of scripts) {
        const script = files.get(name);
        const isLater = script.startsWith('import { modules }');
        const there = new Set(isLater ? page : []);
        for (const { module, text } of apart(name, script)) {
            for (const [, other] of text.matchAll(/^import .* from '\.\/([a-z.]+)';$/gm)) {
                // Of a script by itself there is one, whoever imports it.
                assert.ok(there.has(other) || (isLater && scripts.includes(other)), `${module} in ${name}: ${other}`);
            }
            assert.equal(there.has(module), false, `${module} in ${name}`);
            there.add(module);
        }
    }
});
