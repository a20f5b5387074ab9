// Values in their canonical form (PROTOCOL.md, "Values"): a tag, then what it says.
import { Reader, Writer } from './canonical.mjs';

const kinds = { 1: 'string', 2: 'data', 3: 'integer', 4: 'double', 5: 'date', 6: 'location', 7: 'reference' };
const isList = 0x10;
const emptyList = 0x10;

/** @param {Uint8Array} bytes @returns {object} its kind, and what is shown of it; `bytes` are those that it came as */
export function readValue(bytes) {
    const reader = new Reader(bytes);
    const tag = reader.byte();
    const kind = kinds[tag & 0x0f];
    if (!(tag & isList)) return payload(reader, kind);
    return { kind: 'list', element: kind, of: reader.list(reader => payload(reader, kind)) };
}

// Seconds since 2001, as milliseconds since 1970.
const epoch = 978_307_200;
const milliseconds = seconds => (seconds + epoch) * 1000;

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

const tags = { string: 1, data: 2, integer: 3, double: 4, date: 5, reference: 7 };

/** @param {object} value as it is read: any but a location, and lists of those */
export function writeValue(value) {
    const writer = new Writer();
    if (value.kind !== 'list') return write(writer.byte(tag(value)), value).bytes;
    if (value.of.length === 0) return writer.byte(emptyList).u32(0).bytes;
    return writer.byte(isList | tag(value.of[0])).list(value.of, write).bytes;
}

function tag({ kind }) {
    if (!(kind in tags)) throw new RangeError('no such kind');
    return tags[kind];
}

function write(writer, value) {
    switch (value.kind) {
    case 'string': return writer.string(value.text);
    case 'data': return writer.blob(value.bytes);
    case 'integer': return writer.i64(value.text);
    case 'double': return writer.f64(Number(value.text));
    case 'date': return writer.f64(value.milliseconds / 1000 - epoch);
    default: return writer.string(value.text).byte(value.action ?? 0);
    }
}
