// node --test values.test.mjs: values as they go into the module and come out of it, and what was thrown by its code.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOf } from '../../Web/client/failure.mjs';
import { ServerError } from '../../Web/client/server.mjs';
import { readValue, writeValue } from '../../Web/client/values.mjs';

const scalars = [
    { kind: 'string', text: 'Grüße' }, { kind: 'data', bytes: Uint8Array.of(0, 255) }, { kind: 'integer', text: '-9223372036854775808' },
    { kind: 'double', text: '0.1' }, { kind: 'date', milliseconds: 1_796_000_000_000 }, { kind: 'reference', text: 'one', action: 1 },
];

test('a value that is read is the one that was written', () => {
    for (const one of scalars) {
        assert.deepEqual(readValue(writeValue(one)), one);
        assert.deepEqual(readValue(writeValue({ kind: 'list', of: [one, one] })), { kind: 'list', element: one.kind, of: [one, one] });
    }
    assert.deepEqual(readValue(writeValue({ kind: 'list', of: [] })).of, []);
    // A mark at the beginning is a part of it.
    for (const text of ['\ufeffa;b', '\ufeff\ufeff', 'a\ufeff']) assert.equal(readValue(writeValue({ kind: 'string', text })).text, text);
});

test('what is no kind of value is refused, also by a name that every object has', () => {
    for (const kind of ['location', 'toString', 'constructor', '__proto__']) {
        assert.throws(() => writeValue({ kind }), RangeError, kind);
        assert.throws(() => writeValue({ kind: 'list', of: [{ kind }] }), RangeError, kind);
    }
    assert.throws(() => readValue(Uint8Array.of(0x0f)), RangeError);
});

test('what was thrown has a code that is a word, whatever it was', () => {
    assert.equal(codeOf(new ServerError({ code: 'rollback' })), 'rollback');
    for (const one of [new DOMException('gone', 'AbortError'), new Error('no'), 'no', 7, null, undefined]) assert.equal(codeOf(one), 'internalError');
});
