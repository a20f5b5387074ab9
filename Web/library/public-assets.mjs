// Assets of the public database on their way: their bytes go as they are, and the module has the tree over them.
import { placeOf } from '../client/assets.mjs';

/**
 * @typedef {import('../client/assets.mjs').Database} Database
 * @typedef {import('../client/assets.mjs').Reading} Reading
 * @typedef {import('../client/assets.mjs').Writing} Writing
 * @typedef {import('../client/canonical.mjs').Writer} Writer
 * @typedef {import('./module.mjs').LibraryAccount} Account
 */

const chunk = 65_536;

/** @param {Account} account @param {number} handle @param {Uint8Array} bytes @returns {Uint8Array} the same */
function pass(account, handle, bytes) {
    account.ask('publicChunks', (/** @type {Writer} */ writer) => writer.u32(handle).blob(bytes));
    return bytes;
}

/**
 * Whether they are the bytes that were signed shows at the end: nothing of them is given out before.
 * @param {Account} account
 * @param {number} zone
 * @param {Database} database
 * @param {import('../client/assets.mjs').AssetPlace} asset
 * @returns {Reading}
 */
export function beginPublicAsset(account, zone, database, { record, field }) {
    const answer = account.ask('publicAsset', (/** @type {Writer} */ writer) => writer.u32(zone).string(record).string(field));
    const { handle, path } = placeOf(answer, database);
    const size = Number(answer.u64());
    return {
        handle, path, size, content: size, all: size, chunk, takeLeaves: () => {}, open: bytes => pass(account, handle, bytes),
        end: () => { account.handle('publicAssetEnd', handle); },
    };
}

/** @param {Account} account @param {number} zone @param {Database} database @param {Blob} file @returns {Writing} */
export function beginPublicUpload(account, zone, database, file) {
    const answer = account.ask('publicUpload', (/** @type {Writer} */ writer) => writer.u32(zone).i64(file.size));
    const { handle, path } = placeOf(answer, database);
    return {
        handle, path, content: Number(answer.u64()), partChunks: answer.u32(), request: answer.blob().slice(),
        takeState: state => { account.ask('publicUploadState', (/** @type {Writer} */ writer) => writer.u32(handle).blob(state)); },
        seal: bytes => pass(account, handle, bytes),
        partRoot: count => account.ask('publicPartRoot', (/** @type {Writer} */ writer) => writer.u32(handle).u32(count)).blob(),
        end: () => ({ tail: new Uint8Array(0), request: account.handle('publicAssetEnd', handle).blob() }),
    };
}
