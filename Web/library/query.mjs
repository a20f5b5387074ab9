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
/** @param {any} one @param {any} other @returns {boolean} */
const equal = (one, other) => {
    if (Array.isArray(one) || Array.isArray(other)) {
        return Array.isArray(one) && Array.isArray(other) && one.length === other.length && one.every((element, index) => equal(element, other[index]));
    }
    if (one instanceof Uint8Array !== other instanceof Uint8Array) return false;
    const [left, right] = [plain(one), plain(other)];
    // Whole numbers come as either kind.
    return typeof left === typeof right ? left === right : isNumber(left) && isNumber(right) && left == right;
};
/** @param {any} value */
const isNumber = value => typeof value === 'number' || typeof value === 'bigint';
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
    BEGINS_WITH: (there, asked) => typeof there === 'string' && typeof asked === 'string' && there.startsWith(asked),
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

/** @param {any} value @returns {object} as the server takes it, in JSON */
function wireValue(value) {
    if (Array.isArray(value)) return { list: { values: value.map(wireValue) } };
    if (value instanceof Date) return { date: value.getTime() / 1000 - 978_307_200 };
    if (value instanceof Uint8Array) return { data: btoa(String.fromCharCode(...value)) };
    if (typeof value === 'bigint' || Number.isSafeInteger(value)) return { int64: String(value) };
    if (typeof value === 'number') return { double: value };
    if (typeof value === 'string') return { string: value };
    if (value && typeof value === 'object' && 'recordName' in value) return { reference: { recordName: value.recordName } };
    throw badRequest('A query compares with text, numbers, dates, bytes, references and lists of them.');
}

const systemNames = new Map([['___recordID', 'recordID'], ['___modTime', 'modificationDate']]);
/** @param {string} name */
const wireName = name => systemNames.get(name) ?? name;

/** @param {Query} query @returns {object} as the server is asked it */
export function wireQuery({ recordType, filterBy, sortBy }) {
    matching([], { recordType, filterBy, sortBy });
    return {
        recordType,
        filterBy: list(filterBy).map(({ fieldName, comparator, fieldValue: { value } }) => {
            const many = comparator === 'IN' || comparator === 'NOT_IN';
            return {
                fieldName: wireName(fieldName), comparator: many ? 'IN' : comparator, values: (many ? value : [value]).map(wireValue),
                ...comparator === 'NOT_IN' && { negated: true },
            };
        }),
        sortBy: list(sortBy).map(({ fieldName, ascending = true }) => ({ fieldName: wireName(fieldName), descending: !ascending })),
    };
}
