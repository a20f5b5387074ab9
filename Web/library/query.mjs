// Queries: what is asked, as the module and as the server take it. What a record has to be to be found is the module's to say, by the rules of
// the server and of apps: of the public database it holds what the server finds against them, of zones it searches what it has opened.
import { seconds, writeValue } from '../client/values.mjs';
import { badRequest } from './errors.mjs';
import { list, written } from './record.mjs';

/**
 * @typedef {'EQUALS' | 'NOT_EQUALS' | 'LESS_THAN' | 'LESS_THAN_OR_EQUALS' | 'GREATER_THAN' | 'GREATER_THAN_OR_EQUALS' | 'IN' | 'NOT_IN'
 *     | 'BEGINS_WITH' | 'NOT_BEGINS_WITH' | 'LIST_CONTAINS' | 'NOT_LIST_CONTAINS'} Comparator
 * @typedef {{ fieldName: string, comparator: Comparator, fieldValue: { value: any, type?: string } }} Filter
 * @typedef {{ fieldName: string, ascending?: boolean }} Sort
 * @typedef {{ recordType: string, filterBy?: Filter | Filter[], sortBy?: Sort | Sort[] }} Query
 * @typedef {{ zoneID?: import('./record.mjs').CKZoneID, desiredKeys?: string[], resultsLimit?: number, continuationMarker?: string }} Paging
 * @typedef {{ query: Query } & Paging} Answered what the answer to a query says of it, by which the rest is asked for
 * @typedef {import('./record.mjs').RecordsResponse & Answered & { moreComing: boolean }} QueryResponse
 * @typedef {import('./record.mjs').Value} Value
 * @typedef {import('../client/canonical.mjs').Writer} Writer
 * @typedef {{ fieldName: string, number: number, comparator: string, isNegated: boolean, values: Value[] }} Condition
 * @typedef {{ recordType: string, conditions: Condition[], order: { fieldName: string, ascending: boolean }[] }} Checked
 */

/** By the module's numbers (Sources/SealWebLibrary/Query+Library.swift). */
const comparators = new Map(Object.entries({
    EQUALS: 1, NOT_EQUALS: 2, LESS_THAN: 3, LESS_THAN_OR_EQUALS: 4, GREATER_THAN: 5, GREATER_THAN_OR_EQUALS: 6, IN: 7, BEGINS_WITH: 8, LIST_CONTAINS: 9,
}));
const negated = new Map([['NOT_IN', 'IN'], ['NOT_BEGINS_WITH', 'BEGINS_WITH'], ['NOT_LIST_CONTAINS', 'LIST_CONTAINS']]);
/** Dates of every record: a number is one of them in milliseconds. */
const dates = new Set(['___createTime', '___modTime', 'creationDate', 'modificationDate']);

/** @param {Query} query @returns {Checked} */
export function checked({ recordType, filterBy, sortBy }) {
    if (!recordType) throw badRequest('A query has a recordType.');
    return {
        recordType, conditions: list(filterBy ?? []).map(condition),
        order: list(sortBy ?? []).map(({ fieldName, ascending = true }) => ({ fieldName, ascending })),
    };
}

/**
 * A query, or the answer to one: that asks for what comes behind it.
 * @param {Query | Answered} given
 * @param {Paging} [options] for an answer those that are other than it was asked by
 * @returns {{ query: Query, options: Paging, isAtEnd: boolean }} `isAtEnd`: nothing comes behind that answer
 */
export function asked(given, options = {}) {
    if (typeof given !== 'object' || given === null || !('query' in given)) return { query: given, options, isAtEnd: false };
    const { query, zoneID, desiredKeys, resultsLimit, continuationMarker } = given;
    const all = { zoneID, desiredKeys, resultsLimit, continuationMarker, ...options };
    return { query, options: all, isAtEnd: all.continuationMarker === undefined };
}

/** @param {Query} query @param {Paging} options @returns {Answered} what an answer says of what was asked */
export const answered = (query, { zoneID, desiredKeys, resultsLimit }) =>
    ({ query, ...zoneID && { zoneID }, ...desiredKeys && { desiredKeys }, ...resultsLimit !== undefined && { resultsLimit } });

/** @param {Filter} filter @returns {Condition} */
function condition({ fieldName, comparator: asked, fieldValue }) {
    const comparator = negated.get(asked) ?? asked;
    const number = comparators.get(comparator);
    if (number === undefined) throw badRequest(`There is no comparator ${asked}. There are ${[...comparators.keys(), ...negated.keys()].join(', ')}.`);
    if (fieldValue === undefined) throw badRequest(`The filter of “${fieldName}” has no fieldValue.`);
    const { value, type = dates.has(fieldName) ? 'TIMESTAMP' : undefined } = fieldValue;
    if (comparator === 'IN' && !Array.isArray(value)) throw badRequest(`The value of ${asked} is a list.`);
    if (comparator === 'BEGINS_WITH' && typeof value !== 'string') throw badRequest(`The value of ${asked} is a text.`);
    const values = (comparator === 'IN' ? value : [value]).map((/** @type {any} */ one) => {
        if (Array.isArray(one)) throw badRequest('A query compares with text, numbers, dates, bytes and references.');
        return written(one, comparator === 'IN' ? type?.replace(/_LIST$/, '') : type, fieldName);
    });
    return { fieldName, number, comparator, isNegated: negated.has(asked), values };
}

/** @param {Writer} writer @param {Checked} query @returns {Writer} */
export const writeQuery = (writer, { recordType, conditions, order }) => writer.string(recordType)
    .list(conditions, (/** @type {Writer} */ writer, /** @type {Condition} */ { fieldName, number, isNegated, values }) =>
        writer.string(fieldName).byte(number).flag(isNegated)
            .list(values, (/** @type {Writer} */ writer, /** @type {Value} */ value) => writer.blob(writeValue(value))))
    .list(order, (/** @type {Writer} */ writer, /** @type {{ fieldName: string, ascending: boolean }} */ { fieldName, ascending }) =>
        writer.string(fieldName).flag(ascending));

/** @param {Value} value @returns {object} as the server takes it, in JSON */
function wireValue(value) {
    switch (value.kind) {
    case 'string': return { string: value.text };
    case 'integer': return { int64: value.text };
    case 'double': return { double: Number.isFinite(Number(value.text)) ? Number(value.text) : value.text };
    case 'date': return { date: seconds(value.milliseconds) };
    case 'data': return { data: btoa(Array.from(value.bytes, byte => String.fromCharCode(byte)).join('')) };
    case 'reference': return { reference: { recordName: value.text } };
    default: throw badRequest('A query of the public database compares with texts, numbers, dates, bytes and references.');
    }
}

/** @param {Checked} query @returns {object} as the server is asked it */
export const wireQuery = ({ recordType, conditions, order }) => ({
    recordType,
    filterBy: conditions.map(({ fieldName, comparator, isNegated, values }) =>
        ({ fieldName, comparator, values: values.map(wireValue), ...isNegated && { negated: true } })),
    sortBy: order.map(({ fieldName, ascending }) => ({ fieldName, descending: !ascending })),
});
