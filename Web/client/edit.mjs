// A record as its reader changes it: what was sealed stays sealed, and what the reader adds is.
import { element, icon } from './dom.mjs';
import { fieldWords, same, size } from './records.mjs';
import { explain, texts } from './texts.mjs';

// Other elements would come back from the form as more or fewer than they were.
const isLine = ({ text }) => text !== '' && !text.includes('\n');
const isWritable = ({ value }) => value !== undefined
    && (['string', 'integer', 'double', 'date'].includes(value.kind) || (value.kind === 'list' && (value.element ?? 'string') === 'string' && value.of.every(isLine)));

// The form that a date has in an input: the reader's own time, to the minute.
const local = milliseconds => {
    const date = new Date(milliseconds);
    return Number.isNaN(date.getTime()) ? '' : new Date(milliseconds - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};

function typed(value) {
    switch (value.kind) {
    case 'date': return local(value.milliseconds);
    case 'list': return value.of.map(({ text }) => text).join('\n');
    default: return value.text;
    }
}

/** @returns {object | null} what was typed, as a value of the kind; null for what is none */
function parsed(kind, text) {
    const number = text.trim();
    switch (kind) {
    case 'integer': {
        if (!/^[+-]?\d{1,19}$/.test(number)) return null;
        const value = BigInt(number);
        return BigInt.asIntN(64, value) === value ? { kind, text: String(value) } : null;
    }
    case 'double': return number !== '' && Number.isFinite(Number(number)) ? { kind, text: String(Number(number)) } : null;
    case 'date': {
        const milliseconds = new Date(number).getTime();
        return Number.isNaN(milliseconds) ? null : { kind, milliseconds };
    }
    case 'list': return { kind, element: 'string', of: text.split('\n').filter(line => line !== '').map(text => ({ kind: 'string', text })) };
    default: return { kind: 'string', text };
    }
}

function input(kind, properties) {
    if (kind === 'string' || kind === 'list') return element('textarea', { rows: kind === 'list' ? 4 : 2, ...properties });
    if (kind === 'date') return element('input', { type: 'datetime-local', ...properties });
    return element('input', { type: 'text', inputMode: kind === 'integer' ? 'numeric' : 'decimal', ...properties });
}

/**
 * A dialog in which a record is changed.
 * @param {object} record as it is shown; without a name it is new
 * @param {Map<string, object>} given what becomes of fields already, by name
 * @param {(changes: object[], type: string, tell: (part: number) => void) => Promise<void>} save throws what is said in the dialog; `tell`
 *     hears how far a file is
 */
export function editRecord(record, given, save) {
    const rows = element('div');
    const fields = [];
    // Of what was sent and not heard of.
    const sent = new Set();
    const alert = element('p.hint', { role: 'alert' });
    const submit = element('button.button.main', { type: 'submit' }, texts.saveRecord);
    let count = 0;

    function add(name, before, isSealed, change) {
        const id = `edit-${++count}`;
        const kind = before?.kind ?? change?.value?.kind ?? 'string';
        const field = { name: () => name, kind, before, isSealed, isRemoved: change?.to === 'removed' };
        const nameInput = name === null && element('input', { type: 'text', id: `${id}-name`, autocomplete: 'off' });
        if (nameInput) field.name = () => nameInput.value.trim();
        field.input = input(kind, { id, value: change?.value ? typed(change.value) : before ? typed(before) : '', disabled: field.isRemoved });
        field.first = field.input.value;
        field.change = change;
        field.nameInput = nameInput;
        const remove = element('button.button.plain', { type: 'button', onclick: () => {
            field.isRemoved = !field.isRemoved;
            field.input.disabled = field.isRemoved;
            remove.textContent = field.isRemoved ? texts.keepField : texts.removeField;
        } }, field.isRemoved ? texts.keepField : texts.removeField);
        rows.append(element('div.editrow', {},
            nameInput && element('div', {}, element('label', { for: `${id}-name` }, texts.fieldName), nameInput),
            element('div', {}, element('label', { for: id }, name ?? texts.fieldValue, ' ', isSealed && icon('lock', texts.sealedField)), field.input,
                kind === 'list' && element('p.hint', {}, texts.listHint)),
            remove));
        fields.push(field);
        return nameInput || field.input;
    }

    /** A file of the reader's, sealed as all that is added here is. */
    function addFile() {
        const id = `edit-${++count}`;
        const [nameInput, chosen] = [element('input', { type: 'text', id: `${id}-name`, autocomplete: 'off' }), element('input', { type: 'file', id })];
        const row = element('div.editrow', {},
            element('div', {}, element('label', { for: `${id}-name` }, texts.fieldName), nameInput),
            element('div', {}, element('label', { for: id }, texts.fieldValue, ' ', icon('lock', texts.sealedField)), chosen),
            element('button.button.plain', { type: 'button', onclick: () => {
                row.remove();
                fields.splice(fields.indexOf(field), 1);
            } }, texts.removeField));
        const field = { name: () => nameInput.value.trim(), kind: 'file', isSealed: true, input: chosen, nameInput, first: '', change: undefined };
        rows.append(row);
        fields.push(field);
        return nameInput;
    }

    for (const field of record.fields) {
        if (isWritable(field)) {
            add(field.name, field.value, field.isSealed, given.get(field.name));
        } else {
            rows.append(element('div.editrow', {}, element('div', {}, element('span.label', {}, field.name), element('p.quiet', {}, fieldWords(field), ' – ', texts.notHere))));
        }
    }
    for (const [name, change] of given) {
        if (!record.fields.some(field => field.name === name) && change.to !== 'removed') add(name, undefined, change.to === 'sealed', change);
    }
    const typeInput = record.type === '' && element('input', { type: 'text', id: 'edit-type', autocomplete: 'off', value: record.suggested ?? '' });

    /** @returns {object[] | null} null where something that was typed is nothing */
    function changes() {
        const found = [];
        const names = new Set(record.fields.filter(field => !isWritable(field)).map(field => field.name));
        for (const field of fields) {
            const name = field.name();
            const refuse = (input, text) => {
                alert.textContent = text;
                input.setAttribute('aria-invalid', 'true');
                input.focus();
                return null;
            };
            if (name === '' && field.input.value === '') continue;
            if (name === '' || names.has(name)) return refuse(field.nameInput || field.input, texts.fieldNameMissing);
            names.add(name);
            if (field.kind === 'file') {
                const [file] = field.input.files;
                if (!file) return refuse(field.input, texts.fileMissing);
                found.push({ name, to: 'file', file, size: file.size });
                continue;
            }
            if (field.isRemoved) {
                if (field.before) found.push({ name, to: 'removed' });
                continue;
            }
            // What was not touched stays as it is, to the last digit.
            if (field.input.value === field.first) {
                if (field.change) found.push(field.change);
                continue;
            }
            const value = parsed(field.kind, field.input.value);
            if (!value) return refuse(field.input, texts.noSuchValue);
            if (!same(value, field.before)) found.push({ name, to: field.isSealed ? 'sealed' : 'plain', value });
        }
        // It may be stored, so what was typed before is said again as it is now.
        for (const name of sent) {
            if (found.some(change => change.name === name)) continue;
            const field = fields.find(field => field.name() === name && field.before && !field.isRemoved);
            found.push(field ? { name, to: field.isSealed ? 'sealed' : 'plain', value: field.before } : { name, to: 'removed' });
        }
        return found;
    }

    const form = element('form', { noValidate: true, onsubmit: async event => {
        event.preventDefault();
        alert.textContent = '';
        for (const input of form.querySelectorAll('[aria-invalid]')) input.removeAttribute('aria-invalid');
        if (typeInput && typeInput.value.trim() === '') {
            alert.textContent = texts.typeMissing;
            return typeInput.focus();
        }
        const found = changes();
        if (found === null) return;
        for (const { name } of found) sent.add(name);
        submit.disabled = true;
        submit.textContent = texts.savingRecord;
        try {
            await save(found, typeInput ? typeInput.value.trim() : record.type, part => { submit.textContent = texts.uploadingPart(Math.floor(part * 100)); });
            dialog.close();
        } catch (error) {
            alert.textContent = explain(typeof error.code === 'string' ? error.code : 'internalError');
        } finally {
            submit.disabled = false;
            submit.textContent = texts.saveRecord;
        }
    } },
    typeInput && element('div', {}, element('label', { for: 'edit-type' }, texts.typeOfRecord), typeInput),
    rows,
    element('div.actions.row', {}, element('button.button.plain', { type: 'button', onclick: () => add(null, undefined, true).focus() }, texts.addField),
        element('button.button.plain', { type: 'button', onclick: () => addFile().focus() }, texts.addFile)),
    element('p.hint', {}, texts.sealedHere), alert,
    element('div.actions.row', {}, submit, element('button.button', { type: 'button', onclick: () => dialog.close() }, texts.cancel)));
    if (record.type === '' && fields.length === 0) add(null, undefined, true);
    const dialog = open(record.name || texts.newRecord, form);
    return dialog;
}

function open(title, ...content) {
    const dialog = element('dialog', { 'aria-labelledby': 'dialog-title' }, element('h2', { id: 'dialog-title' }, title), ...content);
    dialog.addEventListener('close', () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    return dialog;
}

/** @returns {Promise<boolean>} whether the reader wants it gone */
export function confirmRemoval(record) {
    return new Promise(resolve => {
        let isWanted = false;
        const dialog = open(`${record.name} – ${texts.deleteRecord}`, element('p', {}, texts.deleteForAll),
            element('div.actions.row', {}, element('button.button.main', { type: 'button', onclick: () => {
                isWanted = true;
                dialog.close();
            } }, texts.deleteRecord), element('button.button', { type: 'button', onclick: () => dialog.close() }, texts.cancel)));
        dialog.addEventListener('close', () => resolve(isWanted));
    });
}

/**
 * What two people have made of one record: of each field that they differ in, the reader chooses.
 * @param {object} before what the reader began with
 * @param {Map<string, object>} changes the reader's, by field
 * @param {object} theirs what is there now
 * @returns {{ kept: Map<string, object>, open: { name: string, change: object, before?: object, mine?: object, theirs?: object }[] }} fields,
 *     undefined where there is none
 */
export function compare(before, changes, theirs) {
    const field = (record, name) => record.fields.find(field => field.name === name);
    const content = field => field && (field.value ?? { kind: 'asset', size: field.asset, file: field.file && field.name });
    const kept = new Map();
    const open = [];
    for (const [name, change] of changes) {
        const [first, now] = [field(before, name), field(theirs, name)];
        const mine = change.to === 'removed' ? undefined : change;
        if (same(content(mine), content(now))) continue;
        if (same(content(first), content(now))) kept.set(name, change);
        else open.push({ name, change, before: first, mine, theirs: now });
    }
    return { kept, open };
}

/** Side by side, what was, what the reader made of it, and what somebody else did. @returns {Promise<Map<string, object> | null>} */
export function choose(record, kept, conflicts) {
    return new Promise(resolve => {
        const shown = field => field === undefined ? '–' : field.file ? texts.fileOf(size(field.size)) : fieldWords(field);
        const body = element('div');
        for (const [index, conflict] of conflicts.entries()) {
            const side = (which, label, field) => element('label.side', {},
                element('span.sidehead', {}, element('input', { type: 'radio', name: `choice-${index}`, value: which, checked: which === 'theirs' }), label),
                element('span.sidevalue', {}, shown(field)));
            body.append(element('fieldset.conflict', {}, element('legend', {}, conflict.name),
                element('div.sides', {},
                    element('div.side', {}, element('span.sidehead', {}, texts.conflictBefore), element('span.sidevalue', {}, shown(conflict.before))),
                    side('mine', texts.conflictMine, conflict.mine), side('theirs', texts.conflictTheirs, conflict.theirs))));
        }
        let chosen = null;
        const form = element('form', { onsubmit: event => {
            event.preventDefault();
            chosen = new Map(kept);
            for (const [index, conflict] of conflicts.entries()) {
                if (form.elements.namedItem(`choice-${index}`).value === 'mine') chosen.set(conflict.name, conflict.change);
            }
            dialog.close();
        } },
        element('p', {}, texts.conflict), body,
        element('div.actions.row', {}, element('button.button.main', { type: 'submit' }, texts.saveRecord),
            element('button.button', { type: 'button', onclick: () => dialog.close() }, texts.cancel)));
        const dialog = open(`${record.name} – ${texts.conflictTitle}`, form);
        dialog.classList.add('wide');
        dialog.addEventListener('close', () => resolve(chosen));
    });
}
