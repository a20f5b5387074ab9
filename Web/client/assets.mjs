// A record's files, down and up, part by part: the module opens and seals them, and never has more of one than a part.
import { codeOf } from './failure.mjs';
import { largestAsset } from './media.mjs';
import { ServerError } from './server.mjs';

/**
 * @typedef {import('./account.mjs').Account} Account
 * @typedef {import('./server.mjs').Place} Place
 * @typedef {import('./server.mjs').Route} Route
 * @typedef {{ container: string, environment: string, database: string }} Database
 * @typedef {{ record: string, field: string }} AssetPlace
 * @typedef {(part: number) => void} Progress is told how much is there: 1 is all
 */

const [chunk, tag] = [65_536, 16];
// What the module is given at once: 1 MiB.
const chunksAtOnce = 16;
const sealedAtOnce = chunksAtOnce * (chunk + tag);
// In a row, where the line breaks.
const tries = 5;
const octets = 'application/octet-stream';

/** @param {Account} account @param {number} zone @param {Database} database @param {AssetPlace} asset */
function begin(account, zone, database, { record, field }) {
    const answer = account.ask('beginAsset', writer => writer.u32(zone).string(record).string(field));
    return {
        asset: answer.u32(), path: { owner: answer.string(), zone: answer.string(), id: answer.string(), ...database },
        size: Number(answer.u64()), sealed: Number(answer.u64()), all: Number(answer.u64()),
    };
}

const takeLeaves = (/** @type {Account} */ account, /** @type {number} */ asset, /** @type {Uint8Array} */ leaves) => account.ask('assetLeaves', writer => writer.u32(asset).blob(leaves));
const openChunks = (/** @type {Account} */ account, /** @type {number} */ asset, /** @type {Uint8Array} */ sealed) =>
    account.ask('openChunks', writer => writer.u32(asset).blob(sealed)).blob();

/**
 * @param {Account} account
 * @param {number} zone
 * @param {Database} database
 * @param {AssetPlace} place
 * @returns {Promise<Uint8Array>} all of an asset that is no larger than `largestAsset`
 */
export async function openAsset(account, zone, database, place) {
    const { asset, path, size, sealed, all } = begin(account, zone, database, place);
    try {
        if (size > largestAsset) throw new ServerError({ code: 'limitExceeded' });
        const blob = await account.call('assets/download', undefined, path, all);
        takeLeaves(account, asset, blob.subarray(sealed));
        const bytes = new Uint8Array(size);
        for (let start = 0, offset = 0; start < sealed; start += sealedAtOnce) {
            const part = openChunks(account, asset, blob.subarray(start, Math.min(start + sealedAtOnce, sealed)));
            bytes.set(part, offset);
            offset += part.length;
        }
        return bytes;
    } finally {
        account.handle('forget', asset);
    }
}

/**
 * @param {Account} account
 * @param {number} zone
 * @param {Database} database
 * @param {AssetPlace} place
 * @param {Progress} tell
 * @returns {Promise<Blob>} an asset of any size, which the browser keeps outside of this worker's memory
 */
export async function saveAsset(account, zone, database, place, tell) {
    const { asset, path, sealed, all } = begin(account, zone, database, place);
    try {
        const leaves = await gathered(account, path, sealed, all);
        takeLeaves(account, asset, leaves);
        /** @type {Blob[]} */
        const parts = [];
        const held = new Uint8Array(sealedAtOnce);
        let [taken, filled] = [0, 0];
        const open = () => {
            parts.push(new Blob([openChunks(account, asset, held.subarray(0, filled))]));
            taken += filled;
            filled = 0;
            tell(taken / sealed);
        };
        await goingOn(account, path, () => taken + filled, sealed, value => {
            for (let start = 0; start < value.length;) {
                const count = Math.min(value.length - start, sealedAtOnce - filled);
                held.set(value.subarray(start, start + count), filled);
                filled += count;
                start += count;
                if (filled === sealedAtOnce) open();
            }
        });
        if (filled > 0) open();
        return new Blob(parts, { type: octets });
    } finally {
        account.handle('forget', asset);
    }
}

/** @param {Account} account @param {Place} path @param {number} first @param {number} end */
async function gathered(account, path, first, end) {
    const bytes = new Uint8Array(end - first);
    let count = 0;
    await goingOn(account, path, () => first + count, end, value => {
        bytes.set(value, count);
        count += value.length;
    });
    return bytes;
}

/**
 * Reads to an end, and where the line breaks from there on.
 * @param {Account} account
 * @param {Place} path
 * @param {() => number} place how far it is
 * @param {number} end
 * @param {(bytes: Uint8Array) => void} take
 */
async function goingOn(account, path, place, end, take) {
    for (let left = tries; place() < end;) {
        const before = place();
        try {
            await account.inSession(async () => {
                for await (const value of account.server.stream('assets/download', path, { first: place(), end })) take(value);
            });
        } catch (error) {
            left = place() > before ? tries : left - 1;
            if (codeOf(error) !== 'networkFailure' || left === 0) throw error;
            await new Promise(resolve => setTimeout(resolve, 1000));
        }
    }
}

/**
 * @param {Account} account
 * @param {number} zone
 * @param {Database} database
 * @param {{ file: Blob }} file
 * @param {Progress} tell
 * @returns {Promise<{ upload: number }>}
 */
export async function upload(account, zone, database, { file }, tell) {
    const answer = account.ask('beginUpload', writer => writer.u32(zone).i64(file.size));
    const upload = answer.u32();
    const path = { owner: answer.string(), zone: answer.string(), id: answer.string(), ...database };
    const [padded, partChunks, request] = [Number(answer.u64()), answer.u32(), answer.blob().slice()];
    try {
        const isInParts = partChunks > 0;
        if (isInParts) {
            const state = await account.call('assets/begin', request, path);
            account.ask('uploadState', writer => writer.u32(upload).blob(state));
        }
        const partBytes = isInParts ? partChunks * chunk : padded;
        for (let start = 0, part = 0; start < padded; start += partBytes, part++) {
            const end = Math.min(start + partBytes, padded);
            const sealed = [];
            for (let offset = start; offset < end; offset += chunksAtOnce * chunk) {
                // Behind the file there are zeros.
                const bytes = new Uint8Array(Math.min(chunksAtOnce * chunk, end - offset));
                bytes.set(new Uint8Array(await file.slice(offset, offset + bytes.length).arrayBuffer()));
                sealed.push(account.ask('sealChunks', writer => writer.u32(upload).blob(bytes)).blob());
            }
            if (isInParts) {
                sealed.push(account.ask('partRoot', writer => writer.u32(upload).u32(Math.ceil((end - start) / chunk))).blob());
                await send(account, 'assets/part', { ...path, part: String(part) }, sealed);
            } else {
                sealed.push(account.handle('endUpload', upload).blob());
                await send(account, 'assets/upload', path, sealed);
            }
            tell(end / padded);
        }
        if (isInParts) {
            const ended = account.handle('endUpload', upload);
            ended.blob();
            await account.call('assets/finish', ended.blob(), path);
        }
        return { upload };
    } catch (error) {
        account.handle('forget', upload);
        throw error;
    }
}

/** @param {Account} account @param {Route} route @param {Place} path @param {Uint8Array[]} parts */
async function send(account, route, path, parts) {
    const body = new Uint8Array(await new Blob(parts).arrayBuffer());
    for (let left = tries; ;) {
        try {
            await account.call(route, body, path, undefined, octets);
            return;
        } catch (error) {
            if (codeOf(error) !== 'networkFailure' || --left === 0) throw error;
            await new Promise(resolve => setTimeout(resolve, 1000));
        }
    }
}
