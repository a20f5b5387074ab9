// A record's files, down and up, part by part: the module opens and seals them, and never has more of one than a part.
import { codeOf } from './failure.mjs';
import { largestAsset } from './media.mjs';
import { ServerError } from './server.mjs';

/**
 * @typedef {import('./account.mjs').Account} Account
 * @typedef {import('./canonical.mjs').Reader} Reader
 * @typedef {import('./server.mjs').Place} Place
 * @typedef {import('./server.mjs').Route} Route
 * @typedef {{ container: string, environment: string, database: string }} Database
 * @typedef {{ record: string, field: string }} AssetPlace
 * @typedef {(bytes: number, total: number) => void} Progress is told how much of a file has gone, of how much
 */

/**
 * What the module has of an asset on its way down.
 * @typedef {{
 *     handle: number, path: Place, size: number, content: number, all: number, chunk: number, takeLeaves: (leaves: Uint8Array) => void,
 *     open: (chunks: Uint8Array) => Uint8Array, end: () => void,
 * }} Reading `content`: bytes of its chunks as they are stored, `all`: with the leaves behind them; what `open` gives is the asset's when
 *     `end` does not throw
 */

/**
 * The same of a file on its way up.
 * @typedef {{
 *     handle: number, path: Place, content: number, partChunks: number, request: Uint8Array, takeState: (state: Uint8Array) => void,
 *     seal: (bytes: Uint8Array) => Uint8Array, partRoot: (chunks: number) => Uint8Array, end: () => { tail: Uint8Array, request: Uint8Array },
 * }} Writing `content`: bytes there are to `seal`, zeros behind the file's; `partChunks`: 0 where it goes in one
 */

const [chunk, tag] = [65_536, 16];
// What the module is given at once: 1 MiB.
const chunksAtOnce = 16;
// In a row, where the line breaks, each of which brings less than a chunk.
const tries = 5;
const octets = 'application/octet-stream';

/** @param {Reader} answer where the module's answer begins @param {Database} database @returns {{ handle: number, path: Place }} */
export const placeOf = (answer, database) =>
    ({ handle: answer.u32(), path: { owner: answer.string(), zone: answer.string(), id: answer.string(), ...database } });

/** @param {Account} account @param {number} zone @param {Database} database @param {AssetPlace} asset @returns {Reading} */
export function beginAsset(account, zone, database, { record, field }) {
    const answer = account.ask('beginAsset', writer => writer.u32(zone).string(record).string(field));
    const { handle, path } = placeOf(answer, database);
    return {
        handle, path, size: Number(answer.u64()), content: Number(answer.u64()), all: Number(answer.u64()), chunk: chunk + tag,
        takeLeaves: leaves => { account.ask('assetLeaves', writer => writer.u32(handle).blob(leaves)); },
        // Each chunk is held against its leaf before it is opened.
        open: sealed => account.ask('openChunks', writer => writer.u32(handle).blob(sealed)).blob(), end: () => {},
    };
}

/** @param {Account} account @param {number} zone @param {Database} database @param {Blob} file @returns {Writing} */
export function beginUpload(account, zone, database, file) {
    const answer = account.ask('beginUpload', writer => writer.u32(zone).i64(file.size));
    const { handle, path } = placeOf(answer, database);
    return {
        handle, path, content: Number(answer.u64()), partChunks: answer.u32(), request: answer.blob().slice(),
        takeState: state => { account.ask('uploadState', writer => writer.u32(handle).blob(state)); },
        seal: bytes => account.ask('sealChunks', writer => writer.u32(handle).blob(bytes)).blob(),
        partRoot: count => account.ask('partRoot', writer => writer.u32(handle).u32(count)).blob(),
        end: () => {
            const ended = account.handle('endUpload', handle);
            return { tail: ended.blob(), request: ended.blob() };
        },
    };
}

/**
 * @param {Account} account
 * @param {Reading} reading
 * @param {Progress} tell
 * @returns {Promise<Uint8Array>} all of an asset that is no larger than `largestAsset`
 */
export async function openAsset(account, { handle, path, size, content, all, chunk, takeLeaves, open, end }, tell) {
    try {
        if (size > largestAsset) throw new ServerError({ code: 'limitExceeded' });
        const blob = await account.call('assets/download', undefined, path, all, undefined, count => tell(Math.floor(size * Math.min(count / all, 1)), size));
        takeLeaves(blob.subarray(content));
        const bytes = new Uint8Array(size);
        const atOnce = chunksAtOnce * chunk;
        for (let start = 0, offset = 0; start < content; start += atOnce) {
            const part = open(blob.subarray(start, Math.min(start + atOnce, content)));
            bytes.set(part, offset);
            offset += part.length;
        }
        end();
        return bytes;
    } finally {
        account.handle('forget', handle);
    }
}

/**
 * @param {Account} account
 * @param {Reading} reading
 * @param {Progress} tell
 * @returns {Promise<Blob>} an asset of any size, which the browser keeps outside of this worker's memory
 */
export async function saveAsset(account, { handle, path, size, content, all, chunk, takeLeaves, open, end }, tell) {
    try {
        takeLeaves(await gathered(account, path, content, all));
        /** @type {Blob[]} */
        const parts = [];
        const held = new Uint8Array(chunksAtOnce * chunk);
        let [taken, filled, opened] = [0, 0, 0];
        const openHeld = () => {
            const part = open(held.subarray(0, filled));
            parts.push(new Blob([part]));
            taken += filled;
            opened += part.length;
            filled = 0;
            tell(opened, size);
        };
        await goingOn(account, path, () => taken + filled, content, value => {
            for (let start = 0; start < value.length;) {
                const count = Math.min(value.length - start, held.length - filled);
                held.set(value.subarray(start, start + count), filled);
                filled += count;
                start += count;
                if (filled === held.length) openHeld();
            }
        });
        if (filled > 0) openHeld();
        end();
        return new Blob(parts, { type: octets });
    } finally {
        account.handle('forget', handle);
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
            // By a byte each time it would never end.
            left = place() >= before + chunk ? tries : left - 1;
            if (codeOf(error) !== 'networkFailure' || left === 0) throw error;
            await new Promise(resolve => setTimeout(resolve, 1000));
        }
    }
}

/**
 * @param {Account} account
 * @param {Writing} writing
 * @param {Blob} file
 * @param {Progress} tell hears of each part that the server has
 * @returns {Promise<{ upload: number }>}
 */
export async function upload(account, { handle, path, content, partChunks, request, takeState, seal, partRoot, end }, file, tell) {
    try {
        const isInParts = partChunks > 0;
        if (isInParts) takeState(await account.call('assets/begin', request, path));
        const partBytes = isInParts ? partChunks * chunk : content;
        // A file without bytes is sent as well.
        for (let start = 0, part = 0; start < content || part === 0; start += partBytes, part++) {
            const stop = Math.min(start + partBytes, content);
            const sealed = [];
            for (let offset = start; offset < stop; offset += chunksAtOnce * chunk) {
                // Behind the file there are zeros.
                const bytes = new Uint8Array(Math.min(chunksAtOnce * chunk, stop - offset));
                bytes.set(new Uint8Array(await file.slice(offset, offset + bytes.length).arrayBuffer()));
                sealed.push(seal(bytes));
            }
            if (isInParts) {
                sealed.push(partRoot(Math.ceil((stop - start) / chunk)));
                await send(account, 'assets/part', { ...path, part: String(part) }, sealed);
            } else {
                sealed.push(end().tail);
                await send(account, 'assets/upload', path, sealed);
            }
            tell(Math.min(stop, file.size), file.size);
        }
        if (isInParts) await account.call('assets/finish', end().request, path);
        return { upload: handle };
    } catch (error) {
        account.handle('forget', handle);
        throw error;
    }
}

/** @param {Account} account @param {Route} route @param {Place} path @param {Uint8Array[]} parts */
async function send(account, route, path, parts) {
    // Not by a blob: where a browser keeps those in memory alone, one waits for room while a large one that was closed is still there.
    const body = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let filled = 0;
    for (const part of parts) {
        body.set(part, filled);
        filled += part.length;
    }
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
