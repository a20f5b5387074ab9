// What a browser keeps, of the page and of its worker: one store of one database.

/** @type {Promise<IDBDatabase> | undefined} */
let opened;
let times = 0;

/** How often all that was kept has been forgotten since this script began, in whichever tab. */
export const forgotten = () => times;

/** Once: it is open until somebody forgets all that it has, in this tab or another one. */
const open = () => opened ??= /** @type {Promise<IDBDatabase>} */ (new Promise((resolve, reject) => {
    const request = indexedDB.open('sealkit', 1);
    request.onupgradeneeded = () => request.result.createObjectStore('kept');
    request.onsuccess = () => {
        const database = request.result;
        database.onclose = () => { opened = undefined; };
        database.onversionchange = () => {
            times += 1;
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
export async function run(mode, body) {
    const database = await open();
    return new Promise((resolve, reject) => {
        const transaction = database.transaction('kept', mode);
        const request = body(transaction.objectStore('kept'));
        transaction.oncomplete = () => resolve(request.result);
        transaction.onerror = transaction.onabort = () => reject(transaction.error);
    });
}

/**
 * @typedef {(key: string, change: (there: Uint8Array | undefined) => Uint8Array | null | undefined) => Promise<void>} Exchange `change` is told
 *     what is there, and gives what is to be there, null for nothing, or undefined for the same; what it throws is thrown
 */

/** @type {Exchange} in one transaction, so that no tab writes over what another one has kept; `change` is told of nothing in a browser that keeps nothing */
export async function exchange(key, change) {
    /** @type {{ error?: unknown, isAsked?: boolean }} */
    const told = {};
    const changed = (/** @type {Uint8Array | undefined} */ there) => {
        told.isAsked = true;
        try {
            return change(there);
        } catch (error) {
            told.error = error;
            return undefined;
        }
    };
    await run('readwrite', store => {
        const request = store.get(key);
        request.onsuccess = () => {
            const next = changed(request.result);
            if (next === null) store.delete(key); else if (next) store.put(next, key);
        };
        return request;
    }).catch(() => told.isAsked ?? changed(undefined));
    if (told.error) throw told.error;
}
