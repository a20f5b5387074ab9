// What a passkey answers for an account. A page has those of its own host, and of one that it is below.
import { makePasskey, mayHavePasskey, PasskeyError, usePasskey } from '../client/passkey.mjs';
import { badRequest, CKError } from './errors.mjs';

/** Of one container. */
export class Passkeys {
    #server;
    /** One was made here, whose account is not there yet. */
    #isMade = false;

    /** @param {string} server whose host they belong to */
    constructor(server) { this.#server = server; }

    /**
     * @param {Uint8Array} input what each of them is asked
     * @param {boolean} isNew one is made, unless one was that no account has come of: that is asked before another one is made; otherwise one
     *     that is there is asked
     * @returns {Promise<Uint8Array>}
     */
    async answer(input, isNew) {
        const isToBeMade = isNew && !this.#isMade;
        // Whoever does not use it gets another one.
        this.#isMade = false;
        const output = await passkeyAnswer(input, this.#server, isToBeMade);
        this.#isMade = isNew;
        return output;
    }

    /** Somebody has come in. */
    haveEntered() { this.#isMade = false; }
}

/**
 * @param {Uint8Array} input
 * @param {string} server
 * @param {boolean} isNew
 * @returns {Promise<Uint8Array>}
 */
async function passkeyAnswer(input, server, isNew) {
    const host = new URL(server).hostname;
    if (typeof location !== 'object' || !mayHavePasskey(host)) throw badRequest('Passkeys are for pages of the server’s own host, or of one below it.');
    try {
        return await (isNew ? makePasskey : usePasskey)(input, host);
    } catch (error) {
        if (!(error instanceof PasskeyError)) throw error;
        if (error.code === 'noPRF') throw new CKError('unsupported', { reason: 'This passkey cannot keep keys.', remedy: 'Use a recovery key or a passphrase.' });
        throw new CKError('operationCancelled', { reason: 'The passkey was not used.' });
    }
}
