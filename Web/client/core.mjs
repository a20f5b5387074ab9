// The module from the host's side: memory in and out, and errors by their names.

import { Reader, Writer } from './canonical.mjs';

/** What the core refused, by the name of its `SealError`. */
export class CoreError extends Error {
    /** @param {string} name */
    constructor(name) {
        super(name);
        this.name = 'CoreError';
        this.code = name;
    }
}

/**
 * @typedef {Awaited<ReturnType<typeof load>>} Core a module that was loaded
 * @param {BufferSource | Response} source the module
 * @param {(bytes: Uint8Array) => void} [random] fills with random bytes; crypto.getRandomValues where it is not named
 */
export async function load(source, random = fill) {
    /** @type {WebAssembly.Memory} */
    let memory;
    const imports = { host: { random: (/** @type {number} */ pointer, /** @type {number} */ count) => random(new Uint8Array(memory.buffer, pointer, count)) } };
    const { instance } = await (source instanceof Response
        ? WebAssembly.instantiateStreaming(source, imports) : WebAssembly.instantiate(source, imports));
    memory = /** @type {WebAssembly.Memory} */ (instance.exports.memory);
    const exports = /** @type {Record<string, (...numbers: number[]) => number>} */ (instance.exports);
    if (exports.core_start() < 0) throw new Error('libsodium does not start');

    /**
     * Calls an export with bytes, after numbers where it takes some.
     * @param {string} name
     * @param {Uint8Array} [input]
     * @param {...number} numbers
     * @returns its answer's bytes
     * @throws {CoreError}
     */
    function call(name, input = new Uint8Array(0), ...numbers) {
        const pointer = exports.core_reserve(input.length);
        // A view is made anew each time: memory that has grown is another buffer.
        new Uint8Array(memory.buffer, pointer, input.length).set(input);
        let answer;
        try {
            answer = exports[name](...numbers, pointer, input.length);
        } finally {
            exports.core_release(pointer, input.length);
        }
        const count = new DataView(memory.buffer).getUint32(answer, true);
        const [status, output] = [new Uint8Array(memory.buffer, answer + 4, 1)[0], new Uint8Array(memory.buffer, answer + 5, count - 1).slice()];
        exports.core_release(answer, count + 4);
        if (status !== 0) throw new CoreError(new TextDecoder().decode(output));
        return output;
    }
    return { call, exports, memory };
}

/**
 * @template {string} Name
 * @typedef {(name: Name, write?: (writer: Writer) => unknown) => Reader} Asking one operation of a module that was loaded
 */

/** @typedef {keyof typeof import('./operations.mjs').operations} Operation one that every module has */

/**
 * @template {string} Name
 * @param {Core} core
 * @param {Record<Name, number>} numbers of the operations
 * @returns {Asking<Name>}
 */
export const asking = (core, numbers) => (name, write = () => {}) => {
    const writer = new Writer();
    write(writer);
    const { bytes } = writer;
    try {
        return new Reader(core.call('core_call', bytes, numbers[name]));
    } finally {
        // There may be a key in it.
        bytes.fill(0);
    }
};

// crypto.getRandomValues takes at most 65,536 bytes a call.
/** @param {Uint8Array} bytes */
function fill(bytes) {
    for (let start = 0; start < bytes.length; start += 65536) crypto.getRandomValues(bytes.subarray(start, start + 65536));
}
