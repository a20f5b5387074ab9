// Files of records: what was read of one is its size and where it is; its bytes come when they are asked for.

/**
 * Where a file is: a field of a record.
 * @typedef {{ scope: 'private' | 'shared', zoneID: import('./record.mjs').CKZoneID, recordName: string, fieldName: string }} Source
 * @typedef {import('./record.mjs').CKRecord} CKRecord
 */

export class Asset {
    #source;
    #read;

    /**
     * @param {number} size in bytes
     * @param {Source} source
     * @param {(source: Source, how: 'open' | 'blob') => Promise<any>} read
     */
    constructor(size, source, read) {
        this.size = size;
        this.#source = source;
        this.#read = read;
    }

    /** @returns {Promise<Uint8Array>} its bytes, in one piece: up to 32 MiB */
    open() { return this.#read(this.#source, 'open'); }

    /** @returns {Promise<Blob>} a file of any size, which a browser need not hold in memory */
    blob() { return this.#read(this.#source, 'blob'); }

    /** @param {unknown} value @returns {Source | undefined} where it is, if it is one that was read */
    static source(value) { return typeof value === 'object' && value !== null && #source in value ? value.#source : undefined; }
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
