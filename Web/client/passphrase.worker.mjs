// Stretches a passphrase. It takes 256 MiB, which a module never gives back: this worker does it once, and is ended.
import { loadModule } from './module.mjs';

addEventListener('message', async ({ data: { passphrase, name, origin } }) => {
    try {
        const ask = await loadModule();
        const bytes = new TextEncoder().encode(passphrase);
        const key = ask('stretchPassphrase', writer => writer.blob(bytes).string(name).string(origin)).blob().slice();
        postMessage({ key }, [key.buffer]);
    } catch (error) {
        postMessage({ code: typeof error.code === 'string' ? error.code : 'internalError' });
    }
});
