// Values in their canonical form (PROTOCOL.md, "Values"): a tag, then what it says.
import { Reader, Writer } from './canonical.mjs';

/**
 * What is shown of a value: whole numbers and others as text, to the last digit.
 * @typedef {{ kind: 'string' | 'integer' | 'double', text: string } | { kind: 'data', bytes: Uint8Array } | { kind: 'date', milliseconds: number }
 *     | { kind: 'location', latitude: number, longitude: number } | { kind: 'reference', text: string, action?: number }} Scalar
 * @typedef {Scalar | { kind: 'list', element?: Scalar['kind'], of: Scalar[] }} Value
 */

/** @type {Record<number, Scalar['kind'] | undefined>} */
const kinds = { 1: 'string', 2: 'data', 3: 'integer', 4: 'double', 5: 'date', 6: 'location', 7: 'reference' };
const isList = 0x10;
const emptyList = 0x10;

/** @param {Uint8Array} bytes @returns {Value} */
export function readValue(bytes) {
    const reader = new Reader(bytes);
    const tag = reader.byte();
    const kind = kinds[tag & 0x0f];
    if (!(tag & isList)) return payload(reader, kind);
    return { kind: 'list', element: kind, of: reader.list(reader => payload(reader, kind)) };
}

// Seconds since 2001, as milliseconds since 1970.
const epoch = 978_307_200;
const milliseconds = (/** @type {number} */ seconds) => (seconds + epoch) * 1000;
/** @param {number} milliseconds since 1970 @returns {number} seconds since 2001, as dates are signed and sent */
export const seconds = milliseconds => milliseconds / 1000 - epoch;

/** @param {Reader} reader @param {Scalar['kind'] | undefined} kind @returns {Scalar} */
function payload(reader, kind) {
    switch (kind) {
    case 'string': return { kind, text: reader.string() };
    case 'data': return { kind, bytes: reader.blob().slice() };
    case 'integer': return { kind, text: String(reader.i64()) };
    case 'double': return { kind, text: String(reader.f64()) };
    case 'date': return { kind, milliseconds: milliseconds(reader.f64()) };
    case 'location': {
        const [latitude, longitude] = [reader.f64(), reader.f64()];
        reader.raw(48);
        return { kind, latitude, longitude };
    }
    case 'reference': {
        const text = reader.string();
        return { kind, text, action: reader.byte() };
    }
    default: throw new RangeError('no such kind');
    }
}

/** @type {Partial<Record<Value['kind'], number>>} */
const tags = { string: 1, data: 2, integer: 3, double: 4, date: 5, reference: 7 };

/** @param {Value} value as it is read: any but a location, and lists of those */
export function writeValue(value) {
    const writer = new Writer();
    if (value.kind !== 'list') return write(writer.byte(tag(value)), value).bytes;
    if (value.of.length === 0) return writer.byte(emptyList).u32(0).bytes;
    return writer.byte(isList | tag(value.of[0])).list(value.of, write).bytes;
}

/** @param {Value} value */
function tag({ kind }) {
    const tag = tags[kind];
    if (tag === undefined) throw new RangeError('no such kind');
    return tag;
}

/** @param {Writer} writer @param {Scalar} value */
function write(writer, value) {
    switch (value.kind) {
    case 'string': return writer.string(value.text);
    case 'data': return writer.blob(value.bytes);
    case 'integer': return writer.i64(value.text);
    case 'double': return writer.f64(Number(value.text));
    case 'date': return writer.f64(seconds(value.milliseconds));
    case 'reference': return writer.string(value.text).byte(value.action ?? 0);
    default: throw new RangeError('no such kind');
    }
}
