// node vectors.mjs MODULE FOLDER [NAME…]: runs every vector file of a folder, or those named, through a module of the core. What is
// right is the module's to say (SealVectorChecks, as for `sealkit vectors verify`); this hands over JSON's values and prints the account.
import { randomFillSync } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { load } from '../../Web/client/core.mjs';

const [modulePath, folder, ...chosen] = process.argv.slice(2);
const core = await load(fs.readFileSync(modulePath), randomFillSync);
const text = new TextDecoder();

const u32 = number => { const bytes = Buffer.alloc(4); bytes.writeUInt32LE(number); return bytes; };
const string = value => { const bytes = Buffer.from(value, 'utf8'); return [u32(bytes.length), bytes]; };
// A letter, then the value: Tests/Embedded/Vectors reads it.
function encode(value) {
    if (typeof value === 'string') return [Buffer.from('s'), string(value)];
    if (typeof value === 'boolean') return [Buffer.from('b'), Buffer.from([value ? 1 : 0])];
    if (Number.isInteger(value)) {
        const bytes = Buffer.alloc(4);
        bytes.writeInt32LE(value);
        return [Buffer.from('i'), bytes];
    }
    if (Array.isArray(value)) return [Buffer.from('a'), u32(value.length), value.map(encode)];
    if (value !== null && typeof value === 'object') {
        const entries = Object.entries(value);
        return [Buffer.from('o'), u32(entries.length), entries.map(([key, entry]) => [string(key), encode(entry)])];
    }
    return [Buffer.from('n')];
}

let missed = 0;
const names = text.decode(core.call('vectors_names')).split('\n');
for (const name of chosen.length > 0 ? chosen : names) {
    let file;
    try {
        file = JSON.parse(fs.readFileSync(path.join(folder, `${name}.json`), 'utf8'));
    } catch (error) {
        // What is not there or no JSON is for the module to count as well.
        file = null;
        console.log(`${name}: ${error.message}`);
    }
    console.log(text.decode(core.call('vectors_check', Buffer.concat([string(name), encode(file)].flat(Infinity)))));
}
// A file that no construction knows was not run: said by its name, and counted.
for (const other of fs.readdirSync(folder).filter(other => other.endsWith('.json') && !names.includes(other.slice(0, -5)))) {
    console.log(`${other}: not run, no construction of this name`);
    missed += 1;
}
const summary = text.decode(core.call('vectors_summary'));
console.log(summary);
if (missed > 0 || !summary.endsWith(', 0 missed')) process.exit(1);
