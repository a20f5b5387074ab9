// How far a file is on its way, as an app hears it.
import { badRequest } from './errors.mjs';

/**
 * @typedef {{ bytes: number, total: number }} CKProgress how much of a file has gone, of how much
 * @typedef {CKProgress & { recordName?: string, fieldName: string }} CKUploadProgress without a name for a record whose name is drawn
 * @typedef {{ onProgress?: (progress: CKProgress) => void }} ReadOptions
 * @typedef {{ onProgress?: (progress: CKUploadProgress) => void }} SaveOptions
 * @typedef {import('../client/assets.mjs').Progress} Progress
 * @typedef {(recordName: string | undefined, fieldName: string) => Progress} Heard
 */

/** @template P @param {{ onProgress?: (progress: P) => void } | undefined} options @returns {(progress: P) => void} */
function listener(options) {
    const onProgress = options?.onProgress;
    if (onProgress === undefined) return () => {};
    if (typeof onProgress !== 'function') throw badRequest('onProgress is a function.');
    // What it throws is its own.
    return progress => queueMicrotask(() => onProgress(progress));
}

/** @param {ReadOptions} [options] @returns {Progress} */
export function heardBy(options) {
    const tell = listener(options);
    return (bytes, total) => tell({ bytes, total });
}

/** @param {SaveOptions} [options] @returns {Heard} */
export function heardOf(options) {
    const tell = listener(options);
    return (recordName, fieldName) => (bytes, total) => tell({ ...recordName && { recordName }, fieldName, bytes, total });
}
