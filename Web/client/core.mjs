// The module from the host's side: memory in and out, and errors by their names.

import { Reader, Writer } from './canonical.mjs';
import { operations } from './operations.mjs';

/** What the core refused, by the name of its `SealError`. */
export class CoreError extends Error {
    constructor(name) {
        super(name);
        this.name = 'CoreError';
        this.code = name;
    }
}

/**
 * @param {BufferSource | Response} source the module
 * @param {(bytes: Uint8Array) => void} [random] fills with random bytes; crypto.getRandomValues where it is not named
 */
export async function load(source, random = fill) {
    let memory;
    const imports = { host: { random: (pointer, count) => random(new Uint8Array(memory.buffer, pointer, count)) } };
    const { instance } = await (source instanceof Response
        ? WebAssembly.instantiateStreaming(source, imports) : WebAssembly.instantiate(source, imports));
    const { exports } = instance;
    memory = exports.memory;
    if (exports.core_start() < 0) throw new Error('libsodium does not start');

    /** Calls an export with bytes, after numbers where it takes some; gives its answer's bytes, or throws `CoreError`. */
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
 * @param {object} [numbers] of the operations
 * @returns {(name: string, write?: (writer: Writer) => unknown) => Reader} one operation of a module that was loaded
 */
export const asking = (core, numbers = operations) => (name, write = () => {}) => {
    const writer = new Writer();
    write(writer);
    return new Reader(core.call('core_call', writer.bytes, numbers[name]));
};

// crypto.getRandomValues takes at most 65,536 bytes a call.
function fill(bytes) {
    for (let start = 0; start < bytes.length; start += 65536) crypto.getRandomValues(bytes.subarray(start, start + 65536));
}
