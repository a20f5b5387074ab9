// Files of records: what was read of one is its size and where it is; its bytes come when they are asked for.

/**
 * Where a file is: a field of a record, which in the public database is in no zone.
 * @typedef {({ scope: 'private' | 'shared', zoneID: import('./record.mjs').CKZoneID } | { scope: 'public', zoneID?: undefined })
 *     & { recordName: string, fieldName: string }} Source
 * @typedef {import('./progress.mjs').ReadOptions} ReadOptions
 * @typedef {import('./record.mjs').CKRecord} CKRecord
 */

export class Asset {
    #source;
    #read;

    /**
     * @param {number} size in bytes
     * @param {Source} source
     * @param {(source: Source, how: 'open' | 'blob', options?: ReadOptions) => Promise<any>} read
     */
    constructor(size, source, read) {
        this.size = size;
        this.#source = source;
        this.#read = read;
    }

    /** @param {ReadOptions} [options] @returns {Promise<Uint8Array>} its bytes, in one piece: up to 32 MiB */
    open(options) { return this.#read(this.#source, 'open', options); }

    /** @param {ReadOptions} [options] @returns {Promise<Blob>} a file of any size, which a browser need not hold in memory */
    blob(options) { return this.#read(this.#source, 'blob', options); }

    /** @param {unknown} value @returns {Source | undefined} where it is, if it is one that was read */
    static source(value) { return typeof value === 'object' && value !== null && #source in value ? value.#source : undefined; }

    /** @param {Source} one @param {Source} other @returns {boolean} whether they are the same field of the same record */
    static isSame(one, other) {
        const [first, second] = [one, other].map(({ scope, zoneID, recordName, fieldName }) =>
            JSON.stringify([scope, zoneID?.zoneName, zoneID?.ownerRecordName, zoneID?.shareRecordName ?? '', recordName, fieldName]));
        return first === second;
    }
}

/**
 * The same record with other values for its files, as it goes from one thread to the other.
 * @template {{ fields?: Record<string, any> }} R
 * @param {R} record
 * @param {(value: any) => any} convert what is no such value stays
 * @returns {R}
 */
export function withAssets(record, convert) {
    if (!record?.fields) return record;
    const fields = Object.entries(record.fields).map(([name, field]) => {
        const isField = typeof field === 'object' && field !== null && 'value' in field;
        const value = isField ? field.value : field;
        const converted = convert(value);
        return [name, converted === value ? field : isField ? { ...field, value: converted } : converted];
    });
    return { ...record, fields: Object.fromEntries(fields) };
}
