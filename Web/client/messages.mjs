// Calls whose messages are no matter of the core: nothing of them is signed or sealed, and nothing they say is believed. In JSON.
import { ServerError } from './server.mjs';

/** @typedef {import('./server.mjs').Route} Route */

const media = 'application/json';

/** @returns {string} what a change is known by when it is sent again: 16 random bytes, as JSON has them */
export const newOperationId = () => btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(16))));

/**
 * @param {import('./account.mjs').Account} account
 * @param {Route} route
 * @param {object} message
 * @param {Record<string, string>} [place] what stands for the path's parameters
 * @returns {Promise<any>}
 * @throws {ServerError}
 */
export function callByMessage(account, route, message, place = {}) {
    const body = new TextEncoder().encode(JSON.stringify(message));
    return account.inSession(async () => {
        const { response, bytes } = await account.server.exchange(route, place, { accept: media, 'content-type': media }, body);
        if (!response.ok) throw refusal(response, bytes);
        return parsed(bytes);
    });
}

/** @param {Uint8Array} bytes @returns {any} an object @throws {ServerError} for what is no message: whatever is before a server says such things */
export function parsed(bytes) {
    let message;
    try {
        message = JSON.parse(new TextDecoder().decode(bytes));
    } catch {
        throw new ServerError({ code: 'networkFailure' });
    }
    if (typeof message !== 'object' || message === null || Array.isArray(message)) throw new ServerError({ code: 'networkFailure' });
    return message;
}

/**
 * @param {Response} response
 * @param {Uint8Array} bytes of a refusal; others than the server's own come from what is before it, and are known by their status
 * @returns {ServerError}
 */
export function refusal({ status }, bytes) {
    try {
        return new ServerError(failure(parsed(bytes)));
    } catch {
        return new ServerError({ code: status >= 500 ? 'serviceUnavailable' : 'serverRejectedRequest' });
    }
}

/** @param {{ code?: string, reason?: string, remedy?: string, retryAfter?: number }} answer the server's `Failure` */
const failure = ({ code, reason, remedy, retryAfter }) => ({
    code: typeof code === 'string' ? code : 'serverRejectedRequest', reason: String(reason ?? ''), remedy: String(remedy ?? ''),
    wait: Number(retryAfter) * 1000 || 0,
});
