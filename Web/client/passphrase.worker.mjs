// Stretches a passphrase. It takes 256 MiB, which a module never gives back: this worker does it once, and is ended.
import { codeOf } from './failure.mjs';
import { loadModule } from './module.mjs';
import { stretching } from './stretching.mjs';

/** @typedef {{ key: Uint8Array, code?: undefined } | { key?: undefined, code: string }} Stretched */

addEventListener('message', async (/** @type {MessageEvent<{ passphrase: string, name: string, origin: string }>} */ { data: { passphrase, name, origin } }) => {
    try {
        const ask = await loadModule(stretching);
        const bytes = new TextEncoder().encode(passphrase);
        const key = ask('stretchPassphrase', writer => writer.blob(bytes).string(name).string(origin)).blob().slice();
        postMessage({ key }, { transfer: [key.buffer] });
    } catch (error) {
        postMessage({ code: codeOf(error) });
    }
});
