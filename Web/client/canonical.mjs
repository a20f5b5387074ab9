// The core's canonical encoding, as it goes into and comes out of the module: fixed-width little-endian numbers, bytes and text behind
// their LE32 length, flags as one byte.

/** @param {Uint8Array} bytes */
export const hex = bytes => [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('');

const encoder = new TextEncoder();
// A mark at the beginning is part of the text: it was signed as well.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export class Writer {
    /** @type {Uint8Array[]} */
    #parts = [];

    /** @param {Uint8Array} bytes */
    raw(bytes) { this.#parts.push(bytes); return this; }
    /** @param {number} number */
    byte(number) { return this.raw(Uint8Array.of(number)); }
    /** @param {boolean} value */
    flag(value) { return this.byte(value ? 1 : 0); }
    /** @param {number} number */
    u32(number) {
        const bytes = new Uint8Array(4);
        new DataView(bytes.buffer).setUint32(0, number, true);
        return this.raw(bytes);
    }
    /** @param {bigint | number | string} number a whole one */
    i64(number) {
        const bytes = new Uint8Array(8);
        new DataView(bytes.buffer).setBigInt64(0, BigInt(number), true);
        return this.raw(bytes);
    }
    /** @param {number} number */
    f64(number) {
        const bytes = new Uint8Array(8);
        new DataView(bytes.buffer).setFloat64(0, number, true);
        return this.raw(bytes);
    }
    /** @param {Uint8Array} bytes */
    blob(bytes) { return this.u32(bytes.length).raw(bytes); }
    /** @param {string} text */
    string(text) { return this.blob(encoder.encode(text)); }
    /** @template Element @param {readonly Element[]} elements @param {(writer: Writer, element: Element) => unknown} write */
    list(elements, write) {
        this.u32(elements.length);
        for (const element of elements) write(this, element);
        return this;
    }

    get bytes() {
        const bytes = new Uint8Array(this.#parts.reduce((count, part) => count + part.length, 0));
        let offset = 0;
        for (const part of this.#parts) {
            bytes.set(part, offset);
            offset += part.length;
        }
        return bytes;
    }
}

export class Reader {
    #bytes;
    #offset = 0;

    /** @param {Uint8Array} bytes */
    constructor(bytes) { this.#bytes = bytes; }

    /** @param {number} count */
    raw(count) {
        if (count > this.#bytes.length - this.#offset) throw new RangeError('cut short');
        this.#offset += count;
        return this.#bytes.subarray(this.#offset - count, this.#offset);
    }
    /** @param {number} count */
    #view(count) {
        const bytes = this.raw(count);
        return new DataView(bytes.buffer, bytes.byteOffset, count);
    }
    byte() { return this.raw(1)[0]; }
    flag() { return this.byte() === 1; }
    u32() { return this.#view(4).getUint32(0, true); }
    u64() { return this.#view(8).getBigUint64(0, true); }
    i64() { return this.#view(8).getBigInt64(0, true); }
    f64() { return this.#view(8).getFloat64(0, true); }
    blob() { return this.raw(this.u32()); }
    string() { return decoder.decode(this.blob()); }
    /** @template Element @param {(reader: Reader) => Element} read @returns {Element[]} */
    list(read) { return Array.from({ length: this.u32() }, () => read(this)); }
}
