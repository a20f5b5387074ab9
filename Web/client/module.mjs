// The core's module as this page's workers have it.
import { moduleIntegrity } from './bundle.mjs';
import { Reader, Writer } from './canonical.mjs';
import { load } from './core.mjs';
import { operations } from './operations.mjs';

/** @returns {Promise<(name: string, write?: (writer: Writer) => unknown) => Reader>} one operation of the module */
export async function loadModule() {
    const module = new URL('./core.wasm', import.meta.url);
    const core = await load(await fetch(module, { integrity: moduleIntegrity, credentials: 'omit', referrerPolicy: 'no-referrer' }));
    return (name, write = () => {}) => {
        const writer = new Writer();
        write(writer);
        return new Reader(core.call('core_call', writer.bytes, operations[name]));
    };
}
