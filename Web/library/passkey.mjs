// What a passkey answers for an account. A page has those of its own host, and of one that it is below.
import { makePasskey, mayHavePasskey, PasskeyError, usePasskey } from '../client/passkey.mjs';
import { badRequest, CKError } from './errors.mjs';

/**
 * @param {Uint8Array} input what each of them is asked
 * @param {string} server whose host it belongs to
 * @param {boolean} isNew one is made; otherwise one that is there is asked
 * @returns {Promise<Uint8Array>}
 */
export async function passkeyAnswer(input, server, isNew) {
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
