// A passkey's pseudo-random function (WebAuthn's extension `prf`): 32 bytes that come out of the same passkey alone, each time the same.
// The server is told of no passkey, and none is asked for under another name than the server's host.

/**
 * WebAuthn's extension, which the types of the DOM do not have yet.
 * @typedef {{ prf?: { eval: { first: BufferSource } } }} Asked
 * @typedef {{ prf?: { results?: { first?: ArrayBuffer } } }} Answered
 */

/** Why a passkey was not to be had: 'noPRF' where it answers with no bytes, 'cancelled' for all else, which browsers do not tell apart. */
export class PasskeyError extends Error {
    /** @param {'noPRF' | 'cancelled'} code */
    constructor(code) {
        super(code);
        this.name = 'PasskeyError';
        this.code = code;
    }
}

/**
 * Whether there can be one of this host's here: browsers have none for addresses that are numbers, nor for a host that theirs is not below.
 * @param {string} host the server's
 */
export const mayHavePasskey = host => isSecureContext && 'PublicKeyCredential' in self && !/^[\d.]+$|^\[/.test(host) && `.${location.hostname}`.endsWith(`.${host}`);

const random = (/** @type {number} */ count) => crypto.getRandomValues(new Uint8Array(count));
const output = (/** @type {PublicKeyCredential} */ credential) =>
    /** @type {Answered} */ (credential.getClientExtensionResults()).prf?.results?.first;
const evaluating = (/** @type {Uint8Array} */ input) => /** @type {AuthenticationExtensionsClientInputs & Asked} */ ({ prf: { eval: { first: input } } });

/** @param {() => Promise<Credential | null>} body */
async function ask(body) {
    try {
        const credential = await body();
        if (credential instanceof PublicKeyCredential) return credential;
    } catch {
        // Refused, or given up: no browser tells which.
    }
    throw new PasskeyError('cancelled');
}

/** @param {Uint8Array} input @param {string} host @param {Partial<PublicKeyCredentialRequestOptions>} options */
const evaluated = (input, host, options) => ask(() => navigator.credentials.get({
    publicKey: { challenge: random(32), rpId: host, userVerification: 'required', extensions: evaluating(input), ...options },
}));

/**
 * Makes a passkey.
 * @param {Uint8Array} input
 * @param {string} host
 * @returns {Promise<Uint8Array>} what it answers
 */
export async function makePasskey(input, host) {
    const name = `${host} – ${new Date().toISOString().slice(0, 10)}`;
    const made = await ask(() => navigator.credentials.create({
        publicKey: {
            challenge: random(32), rp: { id: host, name: host },
            user: { id: random(16), name, displayName: name },
            pubKeyCredParams: [-8, -7, -257].map(alg => ({ type: /** @type {const} */ ('public-key'), alg })),
            authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
            extensions: evaluating(input),
        },
    }));
    // Some answer once they are there, and not when they are made.
    const bytes = output(made) ?? output(await evaluated(input, host, { allowCredentials: [{ type: 'public-key', id: made.rawId }] }));
    if (!bytes) throw new PasskeyError('noPRF');
    return new Uint8Array(bytes);
}

/**
 * Asks a passkey that is there.
 * @param {Uint8Array} input
 * @param {string} host
 */
export async function usePasskey(input, host) {
    const bytes = output(await evaluated(input, host, {}));
    if (!bytes) throw new PasskeyError('noPRF');
    return new Uint8Array(bytes);
}
