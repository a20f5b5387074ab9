// The core's module as this page's workers have it.
import { moduleIntegrity } from './bundle.mjs';
import { asking, load } from './core.mjs';

/**
 * @template {string} Name
 * @param {Record<Name, number>} operations those that are asked for, by their numbers
 * @returns one operation of the module
 */
export async function loadModule(operations) {
    const module = new URL('./core.wasm', import.meta.url);
    return asking(await load(await fetch(module, { integrity: moduleIntegrity, credentials: 'omit', referrerPolicy: 'no-referrer' })), operations);
}
