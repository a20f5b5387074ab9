// An account as web apps have it: nothing is asked for it once it has ended, and what changes something goes again where the line breaks.
import { Account } from '../client/account.mjs';
import { codeOf } from '../client/failure.mjs';
import { ended } from './module.mjs';

/** @typedef {import('../client/server.mjs').Route} Route */

/** Of these the server does each once, by the id of its operation or asset, or by its key, however often it comes. @type {Set<Route>} */
const repeatable = new Set([
    'accounts/create', 'accounts/identity', 'assets/begin', 'assets/finish', 'records/modify', 'rosters/append', 'share/accept', 'subscriptions/modify',
    'zones/modify',
]);
const tries = 3;
const pause = 1000;


/** @extends {Account<keyof typeof import('./operations.mjs').operations>} one whose module is the library's */
export class LibraryAccount extends Account {
    #wipe;
    #hasEnded = false;

    /**
     * @param {Awaited<ReturnType<typeof import('./module.mjs').loadCore>>} core its own module
     * @param {string} origin as of `Account`
     */
    constructor({ ask, wipe }, origin) {
        super(ask, origin, origin);
        this.#wipe = wipe;
    }

    /**
     * Its user has signed out: what still runs for it asks for nothing more. The session ends at the server as well, where that is to be had, and nothing
     * is left in the module, whoever holds something of it.
     * @param {Promise<unknown>} [entering] by which somebody was about to come in
     */
    async end(entering) {
        this.#hasEnded = true;
        const leaving = this.leave();
        // A session that was just being begun ends as well: the module reads which one it is.
        await Promise.allSettled([entering, this.login]);
        const left = this.leave();
        this.#wipe();
        await Promise.all([leaving, left]);
    }

    /** Its session ends at the server, where that is to be had. */
    async leave() {
        if (this.server.token === '') return;
        const leaving = this.logOut();
        this.server.token = '';
        await leaving.catch(() => undefined);
    }

    /** @param {Parameters<Account['createAccount']>[0]} account the same again where nobody has answered, by another challenge */
    createAccount(account) { return this.persistently('accounts/create', () => super.createAccount(account)); }

    get hasEnded() { return this.#hasEnded; }

    /**
     * @template Answer
     * @param {() => Promise<Answer>} ask
     * @returns {Promise<Answer>}
     * @throws {ServerError} `notAuthenticated` once it has ended
     */
    async inSession(ask) {
        if (this.#hasEnded) throw ended();
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
            if (this.#hasEnded) await this.leave();
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
            if (this.#hasEnded) throw ended();
            try {
                return await send();
            } catch (error) {
                if (codeOf(error) !== 'networkFailure' || --left === 0) throw error;
                await new Promise(resolve => setTimeout(resolve, pause));
            }
        }
    }
}
