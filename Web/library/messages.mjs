// @ts-check
// Calls whose messages are no matter of the core: nothing of them is signed or sealed, and nothing they say is believed. In JSON.
import { mostBytes, read, ServerError } from '../client/server.mjs';

const media = 'application/json';
const patience = 60_000;

/**
 * @param {import('../client/account.mjs').Account} account
 * @param {string} route by its name in the table of endpoints
 * @param {object} message
 * @param {Record<string, string>} [place] what stands for the path's parameters
 * @returns {Promise<any>}
 * @throws {ServerError}
 */
export function callByMessage(account, route, message, place = {}) {
    const body = new TextEncoder().encode(JSON.stringify(message));
    return account.inSession(async () => {
        let response;
        let answer;
        const stop = new AbortController();
        /** @type {ReturnType<typeof setTimeout> | undefined} */
        let timer;
        const wait = () => {
            clearTimeout(timer);
            timer = setTimeout(() => stop.abort(), patience);
        };
        try {
            wait();
            response = await account.server.send(route, place, { accept: media, 'content-type': media }, stop.signal, body);
            answer = JSON.parse(new TextDecoder().decode(await read(response, mostBytes, wait)));
        } catch (error) {
            throw error instanceof ServerError ? error : new ServerError({ code: 'networkFailure' });
        } finally {
            clearTimeout(timer);
            stop.abort();
        }
        if (response.ok) return answer;
        throw new ServerError(failure(answer));
    });
}

/** @param {{ code?: string, reason?: string, remedy?: string, retryAfter?: number }} answer the server's `Failure` */
export const failure = ({ code = 'serverRejectedRequest', reason, remedy, retryAfter = 0 }) => ({ code, reason, remedy, wait: retryAfter * 1000 });
