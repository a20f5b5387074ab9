// What this browser keeps: nothing secret, and nothing of a share but where it is. All of it goes by `forget`.
const open = () => new Promise((resolve, reject) => {
    const request = indexedDB.open('sealkit', 1);
    request.onupgradeneeded = () => request.result.createObjectStore('kept');
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
});

async function run(mode, body) {
    const database = await open();
    try {
        return await new Promise((resolve, reject) => {
            const transaction = database.transaction('kept', mode);
            const request = body(transaction.objectStore('kept'));
            transaction.oncomplete = () => resolve(request.result);
            transaction.onerror = transaction.onabort = () => reject(transaction.error);
        });
    } finally {
        database.close();
    }
}

// A browser that keeps nothing, as in some private windows, is one that was never here.
const keep = (key, value) => run('readwrite', store => store.put(value, key)).catch(() => undefined);
const kept = key => run('readonly', store => store.get(key)).catch(() => undefined);

/** How the account of this browser is unlocked: 'passkey', 'passphrase', 'recoveryKey' or 'device'. */
export const way = () => kept('way');
export const keepWay = way => keep('way', way);

/** Where the share behind a routing id is. */
export const place = routing => kept(`place ${routing}`);
export const keepPlace = (routing, place) => keep(`place ${routing}`, place);

export const forgetPlace = routing => run('readwrite', store => store.delete(`place ${routing}`)).catch(() => undefined);

/** The devices that this browser is to accounts, by what each account has always. */
export const devices = async () => (await kept('devices')) ?? {};
export const keepDevice = async ({ account, id, name, added }) =>
    keep('devices', { ...await devices(), [account]: { id, name, added } });

export const forget = () => new Promise(resolve => {
    const request = indexedDB.deleteDatabase('sealkit');
    request.onsuccess = request.onerror = request.onblocked = () => resolve();
});
