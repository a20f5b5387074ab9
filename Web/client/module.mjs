// The core's module as this page's workers have it.
import { moduleIntegrity } from './bundle.mjs';
import { asking, load } from './core.mjs';
import { operations } from './operations.mjs';

/** @returns one operation of the module */
export async function loadModule() {
    const module = new URL('./core.wasm', import.meta.url);
    return asking(await load(await fetch(module, { integrity: moduleIntegrity, credentials: 'omit', referrerPolicy: 'no-referrer' })), operations);
}
