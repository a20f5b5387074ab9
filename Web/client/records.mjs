// Records as tables, one a type, and each by itself. What they say is shown as text and never as markup.
import { element, icon } from './dom.mjs';
import { largestAsset, largestSaved, picture, shownType } from './media.mjs';
import { explain, texts } from './texts.mjs';

const rowsAtOnce = 200;
const mostColumns = 5;

const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const when = milliseconds => Number.isFinite(milliseconds) && Math.abs(milliseconds) < 8.64e15 ? dates.format(milliseconds) : '';

export function size(bytes) {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10));
    return `${(bytes / 1024 ** power).toFixed(power > 0 && bytes / 1024 ** power < 10 ? 1 : 0)} ${units[power]}`;
}

/** A value in words. */
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

export const fieldWords = field => field.asset !== undefined ? texts.asset(size(field.asset)) : field.value ? words(field.value) : '';
const searched = record => [record.name, ...record.fields.map(fieldWords)].join('\n').toLocaleLowerCase();

const plain = (_, value) => value instanceof Uint8Array ? [...value] : value;
/** Whether two records, fields or values say the same. */
export const same = (one, other) => JSON.stringify(one, plain) === JSON.stringify(other, plain);

/**
 * @param {object[]} records all of them
 * @param {{ openAsset: (record: string, field: string) => Promise<Uint8Array>, saveAsset: (record: string, field: string, tell: (part: number)
 *     => void) => Promise<Blob>, edit?: (record: object) => void, remove?: (record: object) => void }} tools the last two where the reader
 *     may write
 * @param {Map<string, number>} [counts] how many rows of a type are shown at first
 * @returns {{ element: HTMLElement, filter: (text: string) => void, counts: Map<string, number> }} `counts` as they are by then
 */
export function recordTables(records, tools, counts = new Map()) {
    const types = new Map();
    for (const record of records) {
        const type = record.refusal === '' ? record.type : texts.notBelieved;
        if (!types.has(type)) types.set(type, []);
        types.get(type).push({ ...record, searched: searched(record) });
    }
    const tables = [...types].map(([type, records]) => typeTable(type, records, tools, counts));
    const nothing = element('p.quiet', { hidden: true }, texts.noneFound);
    const filter = text => {
        const wanted = text.trim().toLocaleLowerCase();
        const found = tables.map(table => table.filter(wanted)).reduce((sum, count) => sum + count, 0);
        nothing.hidden = found > 0 || records.length === 0;
    };
    return { element: element('div', {}, ...tables.map(({ section }) => section), nothing), filter, counts };
}

function typeTable(type, records, tools, rows) {
    // The fields that most records have first: the others are seen in each record by itself.
    const counts = new Map();
    const sealed = new Set();
    for (const { fields } of records) {
        for (const { name, isSealed, asset } of fields) {
            counts.set(name, (counts.get(name) ?? 0) + 1);
            if (isSealed || asset !== undefined) sealed.add(name);
        }
    }
    const columns = [...counts].sort((one, other) => other[1] - one[1]).map(([name]) => name).slice(0, mostColumns);
    const body = element('tbody');
    const more = element('button.button.plain', { type: 'button', onclick: () => show(shown + rowsAtOnce) }, texts.more);
    const title = element('h2');
    const section = element('section.type', {}, title,
        element('div.scroll', {}, element('table', {},
            element('thead', {}, element('tr', {}, element('th', { scope: 'col' }, texts.name),
                ...columns.map(name => element('th', { scope: 'col' }, name, sealed.has(name) && ' ', sealed.has(name) && icon('lock', texts.sealedField))),
                element('th', { scope: 'col' }, texts.changed))),
            body)),
        more);
    let found = records;
    let shown = 0;
    function show(count) {
        const first = shown;
        shown = Math.min(count, found.length);
        rows.set(type, Math.max(shown, rowsAtOnce));
        body.append(...found.slice(first, shown).map(record => row(record, columns, tools)));
        more.hidden = shown >= found.length;
    }
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

function row(record, columns, tools) {
    const label = name => ({ 'data-label': name });
    if (record.refusal !== '') {
        return element('tr', {}, element('td', label(texts.name), record.name),
            element('td', { colSpan: columns.length + 1, ...label('') }, icon('warning'), ' ', texts.refused));
    }
    const open = element('button.open', { type: 'button', onclick: () => showRecord(record, tools) }, record.name);
    open.dataset.record = record.name;
    const fields = new Map(record.fields.map(field => [field.name, field]));
    return element('tr', {}, element('td', label(texts.name), open),
        ...columns.map(name => element(fields.has(name) ? 'td' : 'td.none', label(name),
            element('span.clip', {}, fields.has(name) ? fieldWords(fields.get(name)) : ''))),
        element('td.when', label(texts.changed), when(record.modified)));
}

/** The one that is shown by itself: what is told of it by then. */
let showing = null;

/** What has become of the one that is shown by itself. A file that its reader has opened stays. */
export function showAgain(records, tools) {
    if (!showing) return;
    const record = records.find(({ name }) => name === showing.record.name);
    if (!record || record.refusal !== '') showing.dialog.close();
    else if (showing.made.length === 0 && !same(record.fields, showing.record.fields)) showing.show(record, tools);
}

/** A record by itself, with all that it has. */
function showRecord(record, tools) {
    const made = [];
    const dialog = element('dialog', { 'aria-labelledby': 'record-name' });
    const show = (record, { edit, remove, ...assets }) => {
        const hadFocus = dialog.contains(document.activeElement);
        const fields = element('dl.fields');
        for (const field of record.fields) {
            fields.append(element('dt', {}, field.name, ' ', (field.isSealed || field.asset !== undefined) && icon('lock', texts.sealedField)),
                element('dd', {}, field.asset !== undefined ? asset(record, field, assets, made) : field.value ? words(field.value) : '–'));
        }
        const close = element('button.button', { type: 'button', onclick: () => dialog.close() }, texts.close);
        const leading = (kind, text, act) => element(`button.button.${kind}`, { type: 'button', onclick: () => {
            dialog.close();
            act(record);
        } }, text);
        dialog.replaceChildren(
            element('div.dialogbar', {}, element('h2', { id: 'record-name' }, record.name), close),
            element('p.quiet.small', {}, `${record.type} · ${texts.changed} ${when(record.modified)} · ${texts.author} ${record.author.slice(0, 9)}…`),
            fields,
            edit ? element('div.actions.row', {}, leading('main', texts.editRecord, edit), leading('plain', texts.deleteRecord, remove)) : '');
        if (hadFocus) close.focus();
        showing = { record, dialog, made, show };
    };
    show(record, tools);
    dialog.addEventListener('close', () => {
        showing = null;
        for (const url of made) URL.revokeObjectURL(url);
        dialog.remove();
    });
    document.body.append(dialog);
    dialog.showModal();
}

function asset(record, field, { openAsset, saveAsset }, made) {
    const place = element('div', {}, texts.asset(size(field.asset)), ' ');
    if (field.asset > largestSaved) {
        place.append(element('p.hint', {}, texts.assetTooLarge));
        return place;
    }
    const button = element('button.button', { type: 'button', onclick: open }, icon('file'), texts.openAsset);
    place.append(button);
    const name = `${record.name}-${field.name}`;
    async function open() {
        button.disabled = true;
        button.replaceChildren(texts.openingAsset);
        try {
            if (field.asset > largestAsset) {
                const blob = await saveAsset(record.name, field.name, part => button.replaceChildren(texts.openingPart(Math.floor(part * 100))));
                place.append(saving(blob, name, made));
            } else {
                await showBytes(await openAsset(record.name, field.name), name, place, made);
            }
            button.remove();
        } catch (error) {
            button.disabled = false;
            button.replaceChildren(icon('file'), texts.openAsset);
            place.append(element('p.hint', { role: 'alert' }, explain(typeof error.code === 'string' ? error.code : 'internalError')));
        }
    }
    return place;
}

function url(blob, made) {
    made.push(URL.createObjectURL(blob));
    return made.at(-1);
}

const saving = (blob, name, made) => element('a.button', { href: url(blob, made), download: name }, texts.saveAsset);

async function showBytes(bytes, name, place, made) {
    const type = shownType(bytes);
    const bitmap = await picture(bytes);
    if (bitmap) {
        const canvas = element('canvas', { width: bitmap.width, height: bitmap.height, role: 'img', 'aria-label': name });
        canvas.getContext('2d').drawImage(bitmap, 0, 0);
        place.append(canvas);
    } else if (type?.startsWith('audio/') || type?.startsWith('video/')) {
        place.append(element(type.slice(0, 5), { src: url(new Blob([bytes], { type }), made), controls: true }));
    }
    // Whatever it is, saved it is bytes.
    place.append(saving(new Blob([bytes], { type: 'application/octet-stream' }), name, made));
}
