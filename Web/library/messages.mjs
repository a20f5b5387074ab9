// Calls of which one side alone is a matter of the core: the question or the answer. The other one is JSON.
import { parsed, refusal } from '../client/messages.mjs';

/** @typedef {import('../client/server.mjs').Route} Route */

const media = 'application/json';

/**
 * A question that is no matter of the core, whose answer is: that comes as the module reads it.
 * @param {import('../client/account.mjs').Account} account
 * @param {Route} route
 * @param {object} message
 * @param {Record<string, string>} place
 * @param {number} [most] bytes of the answer
 * @returns {Promise<Uint8Array>}
 * @throws {ServerError}
 */
export function exchange(account, route, message, place, most) {
    return account.call(route, new TextEncoder().encode(JSON.stringify(message)), place, most, media);
}

/**
 * The other way round: what the module has written, and an answer that nothing is believed of.
 * @param {import('../client/account.mjs').Account} account
 * @param {Route} route
 * @param {Uint8Array} body
 * @param {Record<string, string>} place
 * @returns {Promise<any>}
 * @throws {ServerError}
 */
export function sendFromCore(account, route, body, place) {
    return account.inSession(async () => {
        const { response, bytes } = await account.server.exchange(route, place, { accept: media, 'content-type': 'application/x-protobuf' }, body);
        if (!response.ok) throw refusal(response, bytes);
        return parsed(bytes);
    });
}
