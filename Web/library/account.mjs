// An account as web apps have it: nothing is asked for it once it has ended, and what changes something goes again where the line breaks.
import { Account } from '../client/account.mjs';
import { codeOf } from '../client/failure.mjs';
import { ServerError } from '../client/server.mjs';

/** @typedef {import('../client/server.mjs').Route} Route */

/** Of these the server does each once, by the id of its operation or asset, however often it comes. @type {Set<Route>} */
const repeatable = new Set(['assets/begin', 'assets/finish', 'records/modify', 'rosters/append', 'share/accept', 'subscriptions/modify', 'zones/modify']);
const tries = 3;
const pause = 1000;

const ended = () => new ServerError({ code: 'notAuthenticated', reason: 'signOut was called meanwhile.' });

/** @extends {Account<keyof typeof import('./operations.mjs').operations>} one whose module is the library's */
export class LibraryAccount extends Account {
    #hasEnded = false;

    /** Its user has signed out: what still runs for it asks for nothing more. The session ends at the server as well, where that is to be had. */
    async end() {
        this.#hasEnded = true;
        if (this.server.token !== '') await this.logOut().catch(() => undefined);
    }

    get hasEnded() { return this.#hasEnded; }

    /**
     * @template Answer
     * @param {() => Promise<Answer>} ask
     * @returns {Promise<Answer>}
     * @throws {ServerError} `notAuthenticated` once it has ended
     */
    async inSession(ask) {
        if (this.#hasEnded) throw ended();
        const { token } = this.server;
        try {
            return await super.inSession(async () => {
                if (this.#hasEnded) throw ended();
                try {
                    return await ask();
                } catch (error) {
                    // No session is begun for it again.
                    throw this.#hasEnded ? ended() : error;
                }
            });
        } catch (error) {
            // One that was just being begun ends as well.
            if (this.#hasEnded && this.server.token !== token) await this.logOut().catch(() => undefined);
            throw error;
        }
    }

    /** @param {Parameters<import('../client/server.mjs').Server['call']>} call */
    call(...call) { return this.persistently(call[0], () => super.call(...call)); }

    /**
     * Sends the same bytes again where nobody has answered: made anew, they would be another change.
     * @template Answer
     * @param {Route} route
     * @param {() => Promise<Answer>} send
     * @returns {Promise<Answer>}
     */
    async persistently(route, send) {
        for (let left = repeatable.has(route) ? tries : 1; ;) {
            try {
                return await send();
            } catch (error) {
                if (codeOf(error) !== 'networkFailure' || --left === 0) throw error;
                await new Promise(resolve => setTimeout(resolve, pause));
            }
        }
    }
}
