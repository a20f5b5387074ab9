// @ts-check
// Queries over records that this machine has verified and opened: sealed fields can be asked for as well.
import { badRequest } from './errors.mjs';

/**
 * @typedef {import('./record.mjs').CKRecord} CKRecord
 * @typedef {'EQUALS' | 'NOT_EQUALS' | 'LESS_THAN' | 'LESS_THAN_OR_EQUALS' | 'GREATER_THAN' | 'GREATER_THAN_OR_EQUALS' | 'IN' | 'NOT_IN'
 *     | 'BEGINS_WITH' | 'LIST_CONTAINS'} Comparator
 * @typedef {{ fieldName: string, comparator: Comparator, fieldValue: { value: any } }} Filter
 * @typedef {{ fieldName: string, ascending?: boolean }} Sort
 * @typedef {{ recordType: string, filterBy?: Filter | Filter[], sortBy?: Sort | Sort[] }} Query
 */

/** @param {any} value one that can be compared */
const plain = value => {
    if (value instanceof Date) return value.getTime();
    if (value instanceof Uint8Array) return [...value].map(byte => byte.toString(16).padStart(2, '0')).join('');
    if (value && typeof value === 'object' && 'recordName' in value) return value.recordName;
    return value;
};
/** @param {any} one @param {any} other */
const equal = (one, other) => Array.isArray(one) && Array.isArray(other)
    ? one.length === other.length && one.every((element, index) => plain(element) == plain(other[index])) : plain(one) == plain(other);
/** @param {any} one @param {any} other whether the two have an order */
const comparable = (one, other) => [typeof plain(one), typeof plain(other)].every(type => ['number', 'bigint'].includes(type))
    || (typeof plain(one) === 'string' && typeof plain(other) === 'string');

/** @type {Record<Comparator, (there: any, asked: any) => boolean>} */
const comparators = {
    EQUALS: equal,
    NOT_EQUALS: (there, asked) => !equal(there, asked),
    LESS_THAN: (there, asked) => comparable(there, asked) && plain(there) < plain(asked),
    LESS_THAN_OR_EQUALS: (there, asked) => comparable(there, asked) && plain(there) <= plain(asked),
    GREATER_THAN: (there, asked) => comparable(there, asked) && plain(there) > plain(asked),
    GREATER_THAN_OR_EQUALS: (there, asked) => comparable(there, asked) && plain(there) >= plain(asked),
    IN: (there, asked) => asked.some((/** @type {any} */ one) => equal(there, one)),
    NOT_IN: (there, asked) => !asked.some((/** @type {any} */ one) => equal(there, one)),
    BEGINS_WITH: (there, asked) => typeof there === 'string' && there.startsWith(asked),
    LIST_CONTAINS: (there, asked) => Array.isArray(there) && there.some(one => equal(one, asked)),
};

/** @param {CKRecord} record @param {string} name */
function valueOf(record, name) {
    if (name === '___recordID') return record.recordName;
    if (name === '___modTime') return record.modified.timestamp;
    for (const fields of [record.fields, record.encryptedFields]) if (Object.hasOwn(fields, name)) return fields[name].value;
    return undefined;
}

/** @template T @param {T | T[] | undefined} given @returns {T[]} */
const list = given => given === undefined ? [] : Array.isArray(given) ? given : [given];

/**
 * @param {CKRecord[]} records
 * @param {Query} query
 * @returns {CKRecord[]}
 */
export function matching(records, { recordType, filterBy, sortBy }) {
    if (!recordType) throw badRequest('A query has a recordType.');
    const filters = list(filterBy).map(({ fieldName, comparator, fieldValue }) => {
        if (!Object.hasOwn(comparators, comparator)) throw badRequest(`There is no comparator ${comparator}. There are ${Object.keys(comparators).join(', ')}.`);
        if (fieldValue === undefined) throw badRequest(`The filter of “${fieldName}” has no fieldValue.`);
        if (['IN', 'NOT_IN'].includes(comparator) && !Array.isArray(fieldValue.value)) throw badRequest(`The value of ${comparator} is a list.`);
        return (/** @type {CKRecord} */ record) => {
            const there = valueOf(record, fieldName);
            return there !== undefined && comparators[comparator](there, fieldValue.value);
        };
    });
    const found = records.filter(record => record.recordType === recordType && filters.every(holds => holds(record)));
    const order = list(sortBy);
    return found.sort((one, other) => {
        for (const { fieldName, ascending = true } of order) {
            const [left, right] = [plain(valueOf(one, fieldName)), plain(valueOf(other, fieldName))];
            // What does not have it comes last.
            if (left === undefined || right === undefined) {
                if (left !== right) return left === undefined ? 1 : -1;
            } else if (left < right || left > right) {
                return (left < right ? -1 : 1) * (ascending ? 1 : -1);
            }
        }
        return one.recordName < other.recordName ? -1 : 1;
    });
}
