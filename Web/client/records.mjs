// Records as tables, one a type, and each by itself. What they say is shown as text and never as markup.
import { element, icon } from './dom.mjs';
import { codeOf } from './failure.mjs';
import { largestAsset, largestSaved, picture, shownType } from './media.mjs';
import { explain, texts } from './texts.mjs';

/**
 * @typedef {import('./zone.mjs').OpenedRecord} OpenedRecord
 * @typedef {import('./zone.mjs').OpenedField} OpenedField
 * @typedef {OpenedRecord & { searched: string }} Searched
 * @typedef {(part: number) => void} Progress
 * @typedef {{ openAsset: (record: string, field: string, signal: AbortSignal) => Promise<Uint8Array>,
 *     saveAsset: (record: string, field: string, signal: AbortSignal, tell: Progress) => Promise<Blob> }} AssetTools
 * @typedef {{ urls: string[], running: number, signal: AbortSignal }} Files what has come of those of the record that is shown, how many are on
 *     their way, and what stops them
 * @typedef {AssetTools & { edit?: (record: OpenedRecord) => unknown, remove?: (record: OpenedRecord) => unknown }} Tools the last two where the
 *     reader may write
 */

const rowsAtOnce = 200;
const mostColumns = 5;
// Of a cell, which has three lines.
const mostShown = 999;

const twoDigits = (/** @type {number} */ number) => String(number).padStart(2, '0');
/**
 * By the page's texts: the first use of the browser's own calendar costs as much as all of the tables.
 * @param {number} milliseconds
 */
function when(milliseconds) {
    if (!(Math.abs(milliseconds) < 8.64e15)) return '';
    const date = new Date(milliseconds);
    return texts.date(date.getDate(), date.getMonth(), date.getFullYear(), `${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}`);
}

/** @param {number} bytes */
export function size(bytes) {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10));
    return `${(bytes / 1024 ** power).toFixed(power > 0 && bytes / 1024 ** power < 10 ? 1 : 0)} ${units[power]}`;
}

/**
 * A value in words.
 * @param {import('./values.mjs').Value} value
 * @returns {string}
 */
function words(value) {
    switch (value.kind) {
    case 'string': case 'integer': case 'double': case 'reference': return value.text;
    case 'date': return when(value.milliseconds);
    case 'location': return `${value.latitude.toFixed(5)}, ${value.longitude.toFixed(5)}`;
    case 'data': return texts.bytes(value.bytes.length);
    case 'list': return value.of.map(words).join(', ');
    default: return '';
    }
}

export const fieldWords = (/** @type {OpenedField} */ field) => field.asset !== undefined ? texts.asset(size(field.asset)) : field.value ? words(field.value) : '';
const searched = (/** @type {OpenedRecord} */ record) => [record.name, ...record.fields.map(fieldWords)].join('\n').toLocaleLowerCase();

const plain = (/** @type {string} */ _, /** @type {unknown} */ value) => value instanceof Uint8Array ? [...value] : value;
/** Whether two records, fields or values say the same. */
export const same = (/** @type {unknown} */ one, /** @type {unknown} */ other) => JSON.stringify(one, plain) === JSON.stringify(other, plain);

/**
 * @typedef {ReturnType<typeof recordTables>} Tables
 * @param {OpenedRecord[]} records all of them
 * @param {Tools} tools
 * @param {Map<string, number>} counts how many rows of a type are shown at first
 * @returns {{ element: HTMLElement, filter: (text: string) => void, counts: Map<string, number> }} `counts` as they are by then
 */
export function recordTables(records, tools, counts = new Map()) {
    /** @type {Map<string, Searched[]>} */
    const types = new Map();
    for (const record of records) {
        const type = record.refusal === '' ? record.type : texts.notBelieved;
        const alike = types.get(type) ?? [];
        alike.push({ ...record, searched: searched(record) });
        types.set(type, alike);
    }
    const tables = [...types].map(([type, records]) => typeTable(type, records, tools, counts));
    const nothing = element('p.quiet', { role: 'status' });
    const filter = (/** @type {string} */ text) => {
        const wanted = text.trim().toLocaleLowerCase();
        const found = tables.map(table => table.filter(wanted)).reduce((sum, count) => sum + count, 0);
        nothing.textContent = found > 0 || records.length === 0 ? '' : texts.noneFound;
    };
    return { element: element('div', {}, ...tables.map(({ section }) => section), nothing), filter, counts };
}

/** @param {string} type @param {Searched[]} records @param {Tools} tools @param {Map<string, number>} rows */
function typeTable(type, records, tools, rows) {
    // The fields that most records have first: the others are seen in each record by itself.
    /** @type {Map<string, number>} */
    const counts = new Map();
    const sealed = new Set();
    for (const { fields } of records) {
        for (const { name, isSealed, asset } of fields) {
            counts.set(name, (counts.get(name) ?? 0) + 1);
            if (isSealed || asset !== undefined) sealed.add(name);
        }
    }
    const columns = [...counts].sort((one, other) => other[1] - one[1]).map(([name]) => name).slice(0, mostColumns);
    // Where a table is too wide it is shown as lines, and says itself that it is one: by CSS's word it would be none any more.
    const body = element('tbody', { role: 'rowgroup' });
    const more = element('button.button.plain', { type: 'button', onclick: () => show(shown + rowsAtOnce) }, texts.more);
    const title = element('h2');
    const section = element('section.type', {}, title,
        element('div.scroll', {}, element('table', { role: 'table' },
            element('thead', {}, element('tr', {}, element('th', { scope: 'col' }, texts.name),
                ...columns.map(name => element('th', { scope: 'col' }, name, sealed.has(name) && ' ', sealed.has(name) && icon('lock', texts.sealedField))),
                element('th', { scope: 'col' }, texts.changed))),
            body)),
        more);
    let found = records;
    let shown = 0;
    /** @param {number} count */
    function show(count) {
        const first = shown;
        shown = Math.min(count, found.length);
        rows.set(type, Math.max(shown, rowsAtOnce));
        body.append(...found.slice(first, shown).map(record => row(record, columns, tools)));
        more.hidden = shown >= found.length;
    }
    /** @param {string} wanted */
    function filter(wanted) {
        found = wanted === '' ? records : records.filter(record => record.searched.includes(wanted));
        body.replaceChildren();
        shown = 0;
        section.hidden = found.length === 0;
        title.textContent = `${type} – ${texts.count(found.length)}`;
        show(wanted === '' ? rows.get(type) ?? rowsAtOnce : rowsAtOnce);
        return found.length;
    }
    return { section, filter };
}

/** @param {OpenedRecord} record @param {string[]} columns @param {Tools} tools */
function row(record, columns, tools) {
    const label = (/** @type {string} */ name) => ({ role: 'cell', 'data-label': name });
    if (record.refusal !== '') {
        return element('tr', { role: 'row' }, element('td', label(texts.name), record.name),
            element('td', { colSpan: columns.length + 1, ...label('') }, icon('warning'), ' ', texts.refused));
    }
    const open = element('button.open', { type: 'button', onclick: () => showRecord(record, tools) }, record.name);
    open.dataset.record = record.name;
    const fields = new Map(record.fields.map(field => [field.name, field]));
    return element('tr', { role: 'row' }, element('td', label(texts.name), open),
        ...columns.map(name => {
            const field = fields.get(name);
            return element(field ? 'td' : 'td.none', label(name), element('span.clip', {}, field ? fieldWords(field).slice(0, mostShown) : ''));
        }),
        element('td.when', label(texts.changed), when(record.modified)));
}

/**
 * The one that is shown by itself: what is told of it by then.
 * @type {{ record: OpenedRecord, dialog: HTMLDialogElement, files: Files, show: (record: OpenedRecord, tools: Tools) => void } | null}
 */
let showing = null;

/**
 * What has become of the one that is shown by itself. A file that its reader has opened, or is opening, stays.
 * @param {OpenedRecord[]} records
 * @param {Tools} tools
 */
export function showAgain(records, tools) {
    if (!showing) return;
    const { record: { name, fields }, dialog, files, show } = showing;
    const record = records.find(record => record.name === name);
    if (!record || record.refusal !== '') dialog.close();
    else if (files.urls.length + files.running === 0 && !same(record.fields, fields)) show(record, tools);
}

/**
 * A record by itself, with all that it has.
 * @param {OpenedRecord} record
 * @param {Tools} tools
 */
function showRecord(record, tools) {
    const stop = new AbortController();
    /** @type {Files} */
    const files = { urls: [], running: 0, signal: stop.signal };
    const dialog = element('dialog', { 'aria-labelledby': 'record-name' });
    const show = (/** @type {OpenedRecord} */ record, /** @type {Tools} */ { edit, remove, ...assets }) => {
        const hadFocus = dialog.contains(document.activeElement);
        const fields = element('dl.fields');
        for (const field of record.fields) {
            fields.append(element('dt', {}, field.name, ' ', (field.isSealed || field.asset !== undefined) && icon('lock', texts.sealedField)),
                element('dd', {}, field.asset !== undefined ? asset(record.name, field.name, field.asset, assets, files) : field.value ? words(field.value) : '–'));
        }
        const close = element('button.button', { type: 'button', onclick: () => dialog.close() }, texts.close);
        /** @param {string} kind @param {string} text @param {(record: OpenedRecord) => unknown} act */
        const leading = (kind, text, act) => element(`button.button.${kind}`, { type: 'button', onclick: () => {
            dialog.close();
            act(record);
        } }, text);
        dialog.replaceChildren(
            element('div.dialogbar', {}, element('h2', { id: 'record-name' }, record.name), close),
            element('p.quiet.small', {}, `${record.type} · ${texts.changed} ${when(record.modified)} · ${texts.author} ${record.author.slice(0, 9)}…`),
            fields,
            edit && remove ? element('div.actions.row', {}, leading('main', texts.editRecord, edit), leading('plain', texts.deleteRecord, remove)) : '');
        if (hadFocus) close.focus();
        showing = { record, dialog, files, show };
    };
    show(record, tools);
    dialog.addEventListener('close', () => {
        showing = null;
        stop.abort();
        for (const url of files.urls) URL.revokeObjectURL(url);
        dialog.remove();
        refocus(record.name);
    });
    document.body.append(dialog);
    dialog.showModal();
}

/**
 * The row of a record has the focus where nothing has it: a dialog gives it back to no row that was drawn anew meanwhile.
 * @param {string | undefined} name
 */
export function refocus(name) {
    /** @type {NodeListOf<HTMLElement>} */
    const rows = document.querySelectorAll('.open');
    if (document.activeElement === document.body) [...rows].find(row => row.dataset.record === name)?.focus();
}

/** @param {string} record @param {string} field @param {number} bytes @param {AssetTools} tools @param {Files} files */
function asset(record, field, bytes, { openAsset, saveAsset }, files) {
    const place = element('div', {}, texts.asset(size(bytes)), ' ');
    if (bytes > largestSaved) {
        place.append(element('p.hint', {}, texts.assetTooLarge));
        return place;
    }
    const button = element('button.button', { type: 'button', onclick: open }, icon('file'), texts.openAsset);
    place.append(button);
    const name = `${record}-${field}`;
    async function open() {
        const { signal } = files;
        button.disabled = true;
        button.replaceChildren(texts.openingAsset);
        files.running += 1;
        try {
            if (bytes > largestAsset) {
                const blob = await saveAsset(record, field, signal, part => button.replaceChildren(texts.openingPart(Math.floor(part * 100))));
                if (!signal.aborted) place.append(saving(blob, name, files));
            } else {
                const opened = await openAsset(record, field, signal);
                if (!signal.aborted) await showBytes(opened, name, place, files);
            }
            button.remove();
        } catch (error) {
            button.disabled = false;
            button.replaceChildren(icon('file'), texts.openAsset);
            place.append(element('p.hint', { role: 'alert' }, explain(codeOf(error))));
        } finally {
            files.running -= 1;
        }
    }
    return place;
}

/** @param {Blob} blob @param {Files} files */
function url(blob, { urls }) {
    const url = URL.createObjectURL(blob);
    urls.push(url);
    return url;
}

/** @param {Blob} blob @param {string} name @param {Files} files */
const saving = (blob, name, files) => element('a.button', { href: url(blob, files), download: name }, texts.saveAsset);

/** @param {Uint8Array} bytes @param {string} name @param {HTMLElement} place @param {Files} files */
async function showBytes(bytes, name, place, files) {
    const type = shownType(bytes);
    const bitmap = await picture(bytes);
    if (files.signal.aborted) return;
    if (bitmap) {
        const canvas = element('canvas', { width: bitmap.width, height: bitmap.height, role: 'img', 'aria-label': name });
        canvas.getContext('2d')?.drawImage(bitmap, 0, 0);
        place.append(canvas);
    } else if (type?.startsWith('audio/') || type?.startsWith('video/')) {
        place.append(element(type.startsWith('audio/') ? 'audio' : 'video', { src: url(new Blob([bytes], { type }), files), controls: true }));
    }
    // Whatever it is, saved it is bytes.
    place.append(saving(new Blob([bytes], { type: 'application/octet-stream' }), name, files));
}
