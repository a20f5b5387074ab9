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
        reader.byte();
        return { kind, text };
    }
    default: throw new RangeError('no such kind');
    }
}

/** @param {object} value of those that a reader may write: text, numbers, dates, and lists of text */
export function writeValue(value) {
    const writer = new Writer();
    switch (value.kind) {
    case 'string': return writer.byte(1).string(value.text).bytes;
    case 'integer': return writer.byte(3).i64(value.text).bytes;
    case 'double': return writer.byte(4).f64(Number(value.text)).bytes;
    case 'date': return writer.byte(5).f64(value.milliseconds / 1000 - epoch).bytes;
    case 'list': {
        if (value.of.length === 0) return writer.byte(emptyList).u32(0).bytes;
        return writer.byte(isList | 1).list(value.of, (writer, { text }) => writer.string(text)).bytes;
    }
    default: throw new RangeError('no such kind');
    }
}
