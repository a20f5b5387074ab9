// What this browser keeps: nothing secret, and nothing of a share but where it is, and by which digits its owner was known. All of it goes by `forget`.
/**
 * @typedef {'passkey' | 'passphrase' | 'recoveryKey' | 'device'} Way how an account comes back
 * @typedef {import('./account.mjs').Device} Device
 * @typedef {import('./visit.mjs').SharePlace} SharePlace
 */

/** @type {Promise<IDBDatabase> | undefined} */
let opened;

/** Once: it is open until somebody forgets all that it has, in this tab or another one. */
const open = () => opened ??= /** @type {Promise<IDBDatabase>} */ (new Promise((resolve, reject) => {
    const request = indexedDB.open('sealkit', 1);
    request.onupgradeneeded = () => request.result.createObjectStore('kept');
    request.onsuccess = () => {
        const database = request.result;
        database.onclose = () => { opened = undefined; };
        database.onversionchange = () => {
            opened = undefined;
            database.close();
        };
        resolve(database);
    };
    request.onerror = () => reject(request.error);
})).catch(error => {
    opened = undefined;
    throw error;
});

/** @param {IDBTransactionMode} mode @param {(store: IDBObjectStore) => IDBRequest} body @returns {Promise<unknown>} */
async function run(mode, body) {
    const database = await open();
    return new Promise((resolve, reject) => {
        const transaction = database.transaction('kept', mode);
        const request = body(transaction.objectStore('kept'));
        transaction.oncomplete = () => resolve(request.result);
        transaction.onerror = transaction.onabort = () => reject(transaction.error);
    });
}

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

/** The digits that an account's reader has compared with an owner. */
export const compared = async (/** @type {string} */ account, /** @type {Owner} */ { owner }) => /** @type {string | undefined} */ (await kept(`compared ${account} ${owner}`));
export const keepCompared = (/** @type {string} */ account, /** @type {Owner} */ { owner, safetyNumber }) => keep(`compared ${account} ${owner}`, safetyNumber);

/** @returns {Promise<void>} */
export const forget = () => new Promise(resolve => {
    const request = indexedDB.deleteDatabase('sealkit');
    request.onsuccess = request.onerror = request.onblocked = () => resolve();
});
