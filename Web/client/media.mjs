// Which bytes a browser may be shown as what. A file says nothing of its type here: its first bytes do, and only types are in the list
// that run nothing. SVG, HTML and XML are not.

/** Bytes of an asset that are held in one piece. */
export const largestAsset = 32 << 20;
/** Bytes of one that a browser is trusted to keep until it is saved. */
export const largestSaved = 2 ** 31;

/** @typedef {(bytes: Uint8Array) => boolean} Test */

/** @param {Uint8Array} bytes @param {...(number | null)} expected null for any */
const starts = (bytes, ...expected) => expected.every((byte, index) => byte === null || bytes[index] === byte);
const ascii = (/** @type {string} */ text) => [...text].map(letter => letter.charCodeAt(0));

/** @type {[string, Test][]} */
const types = [
    ['image/png', bytes => starts(bytes, 0x89, ...ascii('PNG\r\n'), 0x1a, 0x0a)],
    ['image/jpeg', bytes => starts(bytes, 0xff, 0xd8, 0xff)],
    ['image/gif', bytes => starts(bytes, ...ascii('GIF8'))],
    ['image/webp', bytes => starts(bytes, ...ascii('RIFF'), null, null, null, null, ...ascii('WEBP'))],
    ['audio/mpeg', bytes => starts(bytes, ...ascii('ID3')) || starts(bytes, 0xff, 0xfb)],
    ['audio/wav', bytes => starts(bytes, ...ascii('RIFF'), null, null, null, null, ...ascii('WAVE'))],
    ['audio/ogg', bytes => starts(bytes, ...ascii('OggS'))],
    ['video/webm', bytes => starts(bytes, 0x1a, 0x45, 0xdf, 0xa3)],
    ['video/mp4', bytes => starts(bytes, null, null, null, null, ...ascii('ftyp'))],
];

/** @param {Uint8Array} bytes @returns {string | null} null for what is only saved */
export const shownType = bytes => types.find(([, is]) => is(bytes))?.[0] ?? null;

/**
 * A raster picture, decoded: what is drawn is a bitmap and no document.
 * @param {Uint8Array} bytes
 * @returns {Promise<ImageBitmap | null>}
 */
export async function picture(bytes) {
    const type = shownType(bytes);
    if (!type?.startsWith('image/')) return null;
    try {
        return await createImageBitmap(new Blob([bytes], { type }));
    } catch {
        return null;
    }
}
