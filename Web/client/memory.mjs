// What the page keeps in this browser: nothing secret, and nothing of a share but where it is, and by which digits its owner was known. What
// its worker keeps beside that, of what was verified, is the module's to read (`Visit`). All of it goes by `forget`.
import { run } from './kept.mjs';

/**
 * @typedef {'passkey' | 'passphrase' | 'recoveryKey' | 'device'} Way how an account comes back
 * @typedef {import('./account.mjs').Device} Device
 * @typedef {import('./visit.mjs').SharePlace} SharePlace
 */

// A browser that keeps nothing, as in some private windows, is one that was never here.
const keep = (/** @type {string} */ key, /** @type {unknown} */ value) => run('readwrite', store => store.put(value, key)).catch(() => undefined);
const kept = (/** @type {string} */ key) => run('readonly', store => store.get(key)).catch(() => undefined);

/** How the account of this browser is unlocked. */
export const way = async () => /** @type {Way | undefined} */ (await kept('way'));
export const keepWay = (/** @type {Way} */ way) => keep('way', way);

/** Where the share behind a routing id is. */
export const place = async (/** @type {string} */ routing) => /** @type {SharePlace | undefined} */ (await kept(`place ${routing}`));
export const keepPlace = (/** @type {string} */ routing, /** @type {SharePlace} */ place) => keep(`place ${routing}`, place);

export const forgetPlace = (/** @type {string} */ routing) => run('readwrite', store => store.delete(`place ${routing}`)).catch(() => undefined);

/** The devices that this browser is to accounts, by what each account has always. */
export const devices = async () => /** @type {Record<string, Device> | undefined} */ (await kept('devices')) ?? {};
export const keepDevice = async (/** @type {Device & { account: string }} */ { account, id, name, added }) =>
    keep('devices', { ...await devices(), [account]: { id, name, added } });

/** @typedef {Pick<import('./visit.mjs').ShownShare, 'owner' | 'safetyNumber'>} Owner */

/** The digits that an account's reader has compared with an owner; `account` is what the account has always. */
export const compared = async (/** @type {string} */ account, /** @type {Owner} */ { owner }) => /** @type {string | undefined} */ (await kept(`compared ${account} ${owner}`));
export const keepCompared = (/** @type {string} */ account, /** @type {Owner} */ { owner, safetyNumber }) => keep(`compared ${account} ${owner}`, safetyNumber);

/** @returns {Promise<unknown>} */
export const forget = () => new Promise(resolve => {
    const request = indexedDB.deleteDatabase('sealkit');
    request.onsuccess = request.onerror = request.onblocked = resolve;
    // Where its user forbids it there is nothing.
}).catch(() => undefined);
