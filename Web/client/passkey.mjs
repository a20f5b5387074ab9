// A passkey's pseudo-random function (WebAuthn's extension `prf`): 32 bytes that come out of the same passkey alone, each time the same.
// The server is told of no passkey, and none is asked for under another name than the server's host.

import { origin } from './core.client.mjs';

/** Why a passkey was not to be had: 'noPRF' where it answers with no bytes, 'cancelled' for all else, which browsers do not tell apart. */
export class PasskeyError extends Error {
    constructor(code) {
        super(code);
        Object.assign(this, { name: 'PasskeyError', code });
    }
}

/** Whether there can be one here: browsers have none for addresses that are numbers, nor for another host than the server's. */
export const mayHavePasskey = () => origin === location.origin && isSecureContext && 'PublicKeyCredential' in self
    && !/^[\d.]+$|^\[/.test(location.hostname);

const random = count => crypto.getRandomValues(new Uint8Array(count));
const output = credential => credential.getClientExtensionResults().prf?.results?.first;

async function ask(body) {
    try {
        return await body();
    } catch {
        throw new PasskeyError('cancelled');
    }
}

const evaluated = (input, options) => ask(() => navigator.credentials.get({
    publicKey: { challenge: random(32), rpId: location.hostname, userVerification: 'required', extensions: { prf: { eval: { first: input } } }, ...options },
}));

/** Makes a passkey. @returns {Promise<Uint8Array>} what it answers */
export async function makePasskey(input, name) {
    const made = await ask(() => navigator.credentials.create({
        publicKey: {
            challenge: random(32), rp: { id: location.hostname, name: location.hostname },
            user: { id: random(16), name, displayName: name },
            pubKeyCredParams: [-8, -7, -257].map(alg => ({ type: 'public-key', alg })),
            authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
            extensions: { prf: { eval: { first: input } } },
        },
    }));
    // Some answer once they are there, and not when they are made.
    const bytes = output(made) ?? output(await evaluated(input, { allowCredentials: [{ type: 'public-key', id: made.rawId }] }));
    if (!bytes) throw new PasskeyError('noPRF');
    return new Uint8Array(bytes);
}

/** Asks a passkey that is there. */
export async function usePasskey(input) {
    const bytes = output(await evaluated(input, {}));
    if (!bytes) throw new PasskeyError('noPRF');
    return new Uint8Array(bytes);
}
