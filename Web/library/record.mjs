// Records in CloudKit JS's shape, and what the core has of them.
import { Asset } from './asset.mjs';
import { badRequest, CKError } from './errors.mjs';

/**
 * @typedef {{ recordName: string, action?: 'NONE' | 'DELETE_SELF' }} CKReference
 * @typedef {{ latitude: number, longitude: number }} CKLocation
 * @typedef {Asset} CKAsset
 * @typedef {string | number | bigint | Date | Uint8Array | CKReference | CKLocation} CKScalar
 * @typedef {CKScalar | CKScalar[] | CKAsset | Blob | null} CKValue a file is written as a `Blob` (or `File`), or as bytes whose `type` is `ASSETID`
 * @typedef {{ value: CKValue, type?: string }} CKField
 * @typedef {{ timestamp: number, userRecordName: string }} CKTouch
 * @typedef {{
 *     recordName: string, recordType: string, recordChangeTag: string, modified: CKTouch,
 *     fields: Record<string, CKField>, encryptedFields: Record<string, CKField>,
 * }} CKRecord
 * @typedef {{
 *     recordName?: string, recordType?: string, recordChangeTag?: string,
 *     fields?: Record<string, CKField | CKValue>, encryptedFields?: Record<string, CKField | CKValue>,
 * }} CKRecordToSave
 * @typedef {{ recordName: string, deleted: true }} CKDeletedRecord
 * @typedef {{ hasErrors: boolean, errors: CKError[], records: CKRecord[] }} RecordsResponse
 * @typedef {{ zoneName: string, ownerRecordName?: string, shareRecordName?: string }} CKZoneID
 */

/**
 * What the core has of them.
 * @typedef {import('../client/values.mjs').Scalar} Scalar
 * @typedef {import('../client/values.mjs').Value} Value
 * @typedef {import('../client/zone.mjs').OpenedRecord} Opened
 * @typedef {{ name: string, to: 'plain' | 'sealed' | 'removed' | 'file', value?: Value, file?: Blob, upload?: number }} Change
 */

/** @type {Record<Scalar['kind'], string>} */
const types = { string: 'STRING', data: 'BYTES', integer: 'INT64', double: 'DOUBLE', date: 'TIMESTAMP', location: 'LOCATION', reference: 'REFERENCE' };
const kinds = new Map(Object.entries(types).map(([kind, type]) => [type, kind]));
/** @type {('NONE' | 'DELETE_SELF')[]} */
const actions = ['NONE', 'DELETE_SELF'];

/**
 * @param {Opened} record
 * @param {string} tag
 * @param {(fieldName: string, size: number) => Asset} asset
 * @returns {CKRecord}
 */
export function shown(record, tag, asset) {
    /** @type {[string, CKField][]} */
    const fields = [];
    /** @type {[string, CKField][]} */
    const encryptedFields = [];
    for (const { name, isSealed, value, asset: size } of record.fields) {
        if (size !== undefined) fields.push([name, { type: 'ASSETID', value: asset(name, size) }]);
        else if (value) (isSealed ? encryptedFields : fields).push([name, field(value)]);
    }
    return {
        recordName: record.name, recordType: record.type, recordChangeTag: tag,
        modified: { timestamp: record.modified, userRecordName: record.author },
        // A field may be called as what every object has.
        fields: Object.fromEntries(fields), encryptedFields: Object.fromEntries(encryptedFields),
    };
}

/** @param {Value} value @returns {CKField} */
function field(value) {
    if (value.kind !== 'list') return { value: scalar(value), type: types[value.kind] };
    const { of } = value;
    return { value: of.map(scalar), type: of.length === 0 ? 'EMPTY_LIST' : `${types[value.element ?? 'string']}_LIST` };
}

/** @param {Scalar} value @returns {CKScalar} */
function scalar(value) {
    switch (value.kind) {
    case 'integer': {
        const number = BigInt(value.text);
        return number >= Number.MIN_SAFE_INTEGER && number <= Number.MAX_SAFE_INTEGER ? Number(number) : number;
    }
    case 'double': return Number(value.text);
    // As it was written, to the microsecond: as seconds it lies beside that.
    case 'date': return Math.round(value.milliseconds * 1000) / 1000;
    case 'data': return value.bytes;
    case 'location': return { latitude: value.latitude, longitude: value.longitude };
    case 'reference': return { recordName: value.text, action: actions[value.action ?? 0] ?? 'NONE' };
    default: return value.text;
    }
}

/**
 * What becomes of a record's fields: those that are named get the value, or go with `null`; all others stay.
 * @param {CKRecordToSave} record
 * @param {CKRecord} [there] as it was read: what comes back as it is stays as it is
 * @returns {Change[]}
 */
export function changes({ recordName, fields = {}, encryptedFields = {} }, there) {
    /** @type {Change[]} */
    const all = [];
    const names = new Set();
    if (!isObject(fields) || !isObject(encryptedFields)) throw badRequest('fields and encryptedFields are objects, of fields by their names.', recordName);
    for (const [to, given, now] of /** @type {const} */ ([['plain', fields, there?.fields], ['sealed', encryptedFields, there?.encryptedFields]])) {
        for (const [name, one] of Object.entries(given)) {
            if (names.has(name)) throw badRequest(`“${name}” is in fields and in encryptedFields.`, recordName);
            names.add(name);
            const { value, type } = isField(one) ? one : { value: one, type: undefined };
            if (now && Object.hasOwn(now, name) && isSame(value, type, now[name])) continue;
            const file = isFile(value, type);
            if (file && to === 'sealed') throw badRequest(`“${name}” is a file: files stand in fields.`, recordName);
            if (value === null) all.push({ name, to: 'removed' });
            else if (file) all.push({ name, to: 'file', file });
            else all.push({ name, to, value: written(value, type, name, recordName) });
        }
    }
    return all;
}

/** @param {CKValue} value @param {string | undefined} type @param {CKField} there what was read @returns {boolean} whether it is that */
function isSame(value, type, { value: before, type: kind }) {
    if (type !== undefined && type !== kind) return false;
    return isEqual(value, before);
}

/** @param {any} one @param {any} other @returns {boolean} whether they say the same */
function isEqual(one, other) {
    // What is no number says the same as what is none.
    if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return one === other || Object.is(one, other);
    const [source, known] = [Asset.source(one), Asset.source(other)];
    if (source || known) return source !== undefined && known !== undefined && Asset.isSame(source, known);
    if (Array.isArray(one) || one instanceof Uint8Array) {
        return one.constructor === other.constructor && one.length === other.length && Array.from(one).every((element, place) => isEqual(element, other[place]));
    }
    if ('latitude' in one) return one.latitude === other.latitude && one.longitude === other.longitude;
    return 'recordName' in one && one.recordName === other.recordName && (one.action ?? 'NONE') === other.action;
}

/** @param {CKValue} value @param {string | undefined} type @returns {Blob | undefined} */
function isFile(value, type) {
    if (value instanceof Blob) return value;
    return type === 'ASSETID' && value instanceof Uint8Array ? new Blob([value]) : undefined;
}

const isObject = (/** @type {unknown} */ given) => typeof given === 'object' && given !== null;

/** @param {CKField | CKValue} one @returns {one is CKField} */
const isField = one => typeof one === 'object' && one !== null && 'value' in one;

/**
 * @param {CKValue} value
 * @param {string | undefined} type CloudKit JS's; for a number without one a whole one is INT64
 * @param {string} name
 * @param {string} [recordName]
 * @returns {Value}
 */
export function written(value, type, name, recordName) {
    if (!Array.isArray(value)) return writtenScalar(value, type, name, recordName);
    const of = value.map(element => writtenScalar(element, type?.replace(/_LIST$/, ''), name, recordName));
    if (new Set(of.map(({ kind }) => kind)).size > 1) throw badRequest(`The list “${name}” has values of several kinds.`, recordName);
    return { kind: 'list', of };
}

/**
 * @param {CKValue} value
 * @param {string | undefined} type
 * @param {string} name
 * @param {string} [recordName]
 * @returns {Scalar}
 */
function writtenScalar(value, type, name, recordName) {
    const made = convert(value, type === undefined ? undefined : kinds.get(type));
    if (made && (type === undefined || types[made.kind] === type)) return made;
    throw badRequest(
        `The value of “${name}” cannot be written${type ? ` as ${type}` : ''}: text of whole characters, whole numbers of 64 bits, numbers, dates, bytes, references, files and lists of one kind can.`,
        recordName);
}

/** @param {string} text @returns {boolean} whether it can be written: half of a character would become another one without a word */
const isText = text => !/\p{Surrogate}/u.test(text);

/**
 * @param {CKValue} value
 * @param {string | undefined} kind
 * @returns {Scalar | undefined}
 */
function convert(value, kind) {
    if (typeof value === 'string') return isText(value) ? { kind: 'string', text: value } : undefined;
    if (typeof value === 'bigint') return BigInt.asIntN(64, value) === value ? { kind: 'integer', text: String(value) } : undefined;
    if (typeof value === 'number') {
        if (kind === 'date') return Number.isFinite(value) ? { kind, milliseconds: value } : undefined;
        const isWhole = Number.isSafeInteger(value);
        if (kind === 'double' || (kind === undefined && !isWhole)) return Number.isNaN(value) ? undefined : { kind: 'double', text: String(value) };
        return isWhole ? { kind: 'integer', text: String(value) } : undefined;
    }
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : { kind: 'date', milliseconds: value.getTime() };
    if (value instanceof Uint8Array) return { kind: 'data', bytes: value };
    if (value && typeof value === 'object' && 'recordName' in value) {
        const action = actions.indexOf(value.action ?? 'NONE');
        return action < 0 || !isText(value.recordName) ? undefined : { kind: 'reference', text: value.recordName, action };
    }
    return undefined;
}

/** @template {{ recordName: string }} One @param {string | One} one @returns {One | { recordName: string, recordChangeTag?: string }} */
export function named(one) {
    const named = typeof one === 'string' ? { recordName: one } : one;
    if (typeof named?.recordName !== 'string') throw badRequest('A record is named by its recordName, a text.');
    return named;
}
/** @param {string | { recordName?: string } | null} one @returns {string | undefined} its name, where it has one */
export const nameOf = one => typeof one === 'string' ? one : one?.recordName;
/** @template T @param {T | T[]} given @returns {T[]} */
export const list = given => Array.isArray(given) ? given : [given];

/** @param {CKRecord} record @param {string[]} [keys] those of its fields that are wanted */
export function only(record, keys) {
    if (!keys) return record;
    /** @param {Record<string, CKField>} fields */
    const some = fields => Object.fromEntries(Object.entries(fields).filter(([name]) => keys.includes(name)));
    return { ...record, fields: some(record.fields), encryptedFields: some(record.encryptedFields) };
}

/** @param {(CKRecord | CKError)[]} outcomes @param {string[]} [keys] @returns {RecordsResponse} */
export function response(outcomes, keys) {
    const errors = outcomes.filter(one => one instanceof CKError);
    const records = outcomes.flatMap(one => one instanceof CKError ? [] : only(one, keys));
    return { records, errors: /** @type {CKError[]} */ (errors), hasErrors: errors.length > 0 };
}
