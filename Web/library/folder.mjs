// What node keeps of what was verified: a file for each zone, in a folder of its own. Names are hashes, since a zone's name is somebody's
// words; what is in a file is sealed by the account's key.
import { badRequest } from './errors.mjs';

/** @typedef {import('./keeping.mjs').Store} Store */

/** Milliseconds: so old is what a process has left behind that was ended while it wrote. */
const leftBehind = 3_600_000;

/** @param {string} code @returns {(error: any) => undefined} passes over this failure of node's */
const unless = code => error => {
    if (error?.code !== code) throw error;
    return undefined;
};

/**
 * A file is never written to: what is kept next has the next number, which one process alone can give, so that none writes over what
 * another one has kept. Where power fails, the one before is there.
 * @param {string} folder
 * @returns {Store}
 */
export function folderStore(folder) {
    return {
        // A folder forgets nothing by itself.
        forgotten: () => 0,
        async exchange(key, change) {
            // @ts-ignore: nothing of node has types here.
            const [fs, { join }, { createHash, randomUUID }] = await Promise.all([import('node:fs/promises'), import('node:path'), import('node:crypto')]);
            const start = `${createHash('sha256').update(key).digest('hex')}.`;
            /** @param {string | number} ending */
            const file = ending => join(folder, start + ending);
            /** @returns {Promise<string[]>} */
            const endings = async () => (await fs.readdir(folder)).filter((/** @type {string} */ name) => name.startsWith(start)).map((/** @type {string} */ name) => name.slice(start.length));
            /** @param {string[]} found */
            const newest = found => Math.max(0, ...found.filter(ending => /^\d+$/.test(ending)).map(Number));

            /** @param {string} written @param {Uint8Array} bytes */
            const write = async (written, bytes) => {
                const opened = await fs.open(written, 'wx', 0o600);
                try {
                    await opened.writeFile(bytes);
                    await opened.sync();
                } finally {
                    await opened.close();
                }
            };
            /**
             * Whatever is older than what is kept now.
             * @param {string} ending
             * @param {number} kept
             */
            const clear = async (ending, kept) => {
                const isOld = /^\d+$/.test(ending) ? Number(ending) < kept
                    : Date.now() - ((await fs.stat(file(ending)).catch(unless('ENOENT')))?.mtimeMs ?? Infinity) > leftBehind;
                if (isOld) await fs.rm(file(ending), { force: true });
            };
            /** @returns {Promise<boolean>} false where another process was first */
            const attempt = async () => {
                const last = newest(await endings());
                const there = last > 0 ? await fs.readFile(file(last)).catch(unless('ENOENT')) : new Uint8Array(0);
                if (!there) return false;
                const changed = change(there.length > 0 ? there : undefined);
                if (changed === undefined) return true;
                const written = file(`new-${randomUUID()}`);
                try {
                    // Of nothing that is kept there is an empty file: numbers go on.
                    await write(written, changed ?? new Uint8Array(0));
                    const isFirst = await fs.link(written, file(last + 1)).then(() => true, unless('EEXIST'));
                    if (!isFirst) return false;
                } finally {
                    await fs.rm(written, { force: true });
                }
                const found = await endings();
                // The number was free since others have gone past it.
                if (newest(found) > last + 1) {
                    await fs.rm(file(last + 1), { force: true });
                    return false;
                }
                const opened = await fs.open(folder);
                await opened.sync().finally(() => opened.close());
                for (const ending of found) await clear(ending, last + 1);
                return true;
            };
            try {
                await fs.mkdir(folder, { recursive: true, mode: 0o700 });
                while (!await attempt());
            } catch (error) {
                // What the module refuses is no failure of node's.
                const { code, syscall } = /** @type {{ code?: unknown, syscall?: unknown }} */ (error);
                if (!syscall) throw error;
                throw badRequest(`What was verified cannot be kept in ${folder} (${code}): name a folder that this process may write to, and that has room.`);
            }
        },
    };
}
