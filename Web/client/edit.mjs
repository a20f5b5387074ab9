// A record as its reader changes it: what was sealed stays sealed, and what the reader adds is.
import { agreed } from './agreed.mjs';
import { openDialog } from './dialog.mjs';
import { element, icon } from './dom.mjs';
import { codeOf } from './failure.mjs';
import { fieldWords, same, size } from './records.mjs';
import { explain, texts } from './texts.mjs';

/**
 * @typedef {import('./values.mjs').Scalar} Scalar
 * @typedef {import('./values.mjs').Value} Value
 * @typedef {import('./zone.mjs').OpenedField} OpenedField
 * @typedef {import('./zone.mjs').OpenedRecord} OpenedRecord
 * @typedef {import('./zone.mjs').Change & { file?: File }} Change with the file of a field that is to be one
 * @typedef {Map<string, Change>} Changes by the field's name
 * @typedef {{ name: string, type: string, suggested?: string, fields: OpenedField[] }} Draft a record as its form begins; without a name it is new
 * @typedef {{ name: string, change: Change, before?: OpenedField, mine?: Change, theirs?: OpenedField }} Conflict undefined where there is no field
 * @typedef {{ name: () => string, kind: Value['kind'], before?: Value, isSealed: boolean, isRemoved: boolean,
 *     input: HTMLInputElement | HTMLTextAreaElement, nameInput?: HTMLInputElement, first: string }} Row
 * @typedef {{ name: () => string, kind: 'file', input: HTMLInputElement, nameInput: HTMLInputElement }} FileRow
 * @typedef {{ tell: (part: number) => void, signal: AbortSignal, sending: () => Promise<void> }} Saving `tell` hears how far a file is,
 *     `signal` stops it, and `sending` that it goes where nobody can stop it, once it may
 */

// Other elements would come back from the form as more or fewer than they were.
const isLine = (/** @type {Scalar} */ one) => one.kind === 'string' && one.text !== '' && !/[\r\n]/.test(one.text);
const isWritable = (/** @type {OpenedField} */ { value }) => value !== undefined
    && (['string', 'integer', 'double', 'date'].includes(value.kind) || (value.kind === 'list' && (value.element ?? 'string') === 'string' && value.of.every(isLine)));

// The form that a date has in an input: the reader's own time, to the minute.
const local = (/** @type {number} */ milliseconds) => {
    const date = new Date(milliseconds);
    return Number.isNaN(date.getTime()) ? '' : new Date(milliseconds - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
};

/** @param {Value} value one that is writable @returns {string} */
function typed(value) {
    switch (value.kind) {
    case 'date': return local(value.milliseconds);
    case 'list': return value.of.map(typed).join('\n');
    default: return 'text' in value ? value.text : '';
    }
}

/** What the reader's keypad has between a number's whole and its parts: many have no other there. */
const point = () => (0.5).toLocaleString([...navigator.languages])[1];

/** @param {Value['kind']} kind @param {string} text @returns {Value | null} what was typed, as a value of the kind; null for what is none */
function parsed(kind, text) {
    const number = text.trim();
    switch (kind) {
    case 'integer': {
        if (!/^[+-]?\d{1,19}$/.test(number)) return null;
        const value = BigInt(number);
        return BigInt.asIntN(64, value) === value ? { kind, text: String(value) } : null;
    }
    case 'double': {
        const value = Number(number.replace(point(), '.'));
        return number !== '' && Number.isFinite(value) ? { kind, text: String(value) } : null;
    }
    case 'date': {
        const milliseconds = new Date(number).getTime();
        return Number.isNaN(milliseconds) ? null : { kind, milliseconds };
    }
    case 'list': return { kind, element: 'string', of: text.split('\n').filter(line => line !== '').map(text => ({ kind: 'string', text })) };
    default: return { kind: 'string', text };
    }
}

/** @param {Value['kind']} kind @param {import('./dom.mjs').Properties} properties */
function input(kind, properties) {
    if (kind === 'string' || kind === 'list') return element('textarea', { rows: kind === 'list' ? 4 : 2, ...properties });
    if (kind === 'date') return element('input', { type: 'datetime-local', ...properties });
    return element('input', { type: 'text', inputMode: kind === 'integer' ? 'numeric' : 'decimal', ...properties });
}

/**
 * A dialog in which a record is changed.
 * @param {Draft} record as it is shown
 * @param {(changes: Change[], type: string, saving: Saving) => Promise<void>} save throws what is said in the dialog
 */
export function editRecord(record, save) {
    const rows = element('div');
    /** @type {(Row | FileRow)[]} */
    const fields = [];
    /** Of what was sent and not heard of. @type {Set<string>} */
    const sent = new Set();
    const alert = element('p.hint', { role: 'alert' });
    const actions = saveOrCancel(alert);
    let count = 0;

    /** @param {string | null} name @param {Value | undefined} before @param {boolean} isSealed */
    function add(name, before, isSealed) {
        const id = `edit-${++count}`;
        const kind = before?.kind ?? 'string';
        const nameInput = name === null ? element('input', { type: 'text', id: `${id}-name`, autocomplete: 'off' }) : undefined;
        const made = input(kind, { id, value: before ? typed(before) : '' });
        /** @type {Row} */
        const field = { name: () => nameInput ? nameInput.value.trim() : name ?? '', kind, before, isSealed, isRemoved: false, input: made, nameInput, first: made.value };
        const remove = element('button.button.plain', { type: 'button', onclick: () => {
            field.isRemoved = !field.isRemoved;
            field.input.disabled = field.isRemoved;
            remove.textContent = field.isRemoved ? texts.keepField : texts.removeField;
        } }, texts.removeField);
        rows.append(element('div.editrow', {},
            nameInput && element('div', {}, element('label', { for: `${id}-name` }, texts.fieldName), nameInput),
            element('div', {}, element('label', { for: id }, name ?? texts.fieldValue, ' ', isSealed && icon('lock', texts.sealedField)), made,
                kind === 'list' && element('p.hint', {}, texts.listHint)),
            remove));
        fields.push(field);
        return nameInput ?? made;
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
        /** @type {FileRow} */
        const field = { name: () => nameInput.value.trim(), kind: 'file', input: chosen, nameInput };
        rows.append(row);
        fields.push(field);
        return nameInput;
    }

    for (const field of record.fields) {
        if (isWritable(field)) {
            add(field.name, field.value, field.isSealed === true);
        } else {
            rows.append(element('div.editrow', {}, element('div', {}, element('span.label', {}, field.name), element('p.quiet', {}, fieldWords(field), ' – ', texts.notHere))));
        }
    }
    const typeInput = record.type === '' && element('input', { type: 'text', id: 'edit-type', autocomplete: 'off', value: record.suggested ?? '' });

    /** @returns {Change[] | null} null where something that was typed is nothing */
    function changes() {
        /** @type {Change[]} */
        const found = [];
        const names = new Set(record.fields.filter(field => !isWritable(field)).map(field => field.name));
        for (const field of fields) {
            const name = field.name();
            const refuse = (/** @type {HTMLElement} */ input, /** @type {string} */ text) => {
                alert.textContent = text;
                input.setAttribute('aria-invalid', 'true');
                input.focus();
                return null;
            };
            if (name === '' && field.input.value === '') continue;
            if (name === '' || names.has(name)) return refuse(field.nameInput ?? field.input, texts.fieldNameMissing);
            names.add(name);
            if (field.kind === 'file') {
                const file = field.input.files?.[0];
                if (!file) return refuse(field.input, texts.fileMissing);
                found.push({ name, to: 'file', file });
                continue;
            }
            if (field.isRemoved) {
                if (field.before) found.push({ name, to: 'removed' });
                continue;
            }
            // What was not touched stays as it is, to the last digit.
            if (field.input.value === field.first) continue;
            const value = parsed(field.kind, field.input.value);
            if (!value) return refuse(field.input, texts.noSuchValue);
            if (!same(value, field.before)) found.push({ name, to: field.isSealed ? 'sealed' : 'plain', value });
        }
        // It may be stored, so what was typed before is said again as it is now.
        for (const name of sent) {
            if (found.some(change => change.name === name)) continue;
            const field = fields.find(field => field.name() === name && field.kind !== 'file' && field.before && !field.isRemoved);
            found.push(field && field.kind !== 'file' ? { name, to: field.isSealed ? 'sealed' : 'plain', value: field.before } : { name, to: 'removed' });
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
        await actions.run(saving => save(found, typeInput ? typeInput.value.trim() : record.type, saving));
    } },
    typeInput && element('div', {}, element('label', { for: 'edit-type' }, texts.typeOfRecord), typeInput),
    rows,
    element('div.actions.row', {}, element('button.button.plain', { type: 'button', onclick: () => add(null, undefined, true).focus() }, texts.addField),
        element('button.button.plain', { type: 'button', onclick: () => addFile().focus() }, texts.addFile)),
    element('p.hint', {}, texts.sealedHere), alert,
    actions.element);
    if (record.type === '' && fields.length === 0) add(null, undefined, true);
    return actions.closing(openDialog(record.name || texts.newRecord, form));
}

/**
 * A form's two buttons. What its reader typed goes when they say so, or once it is stored; until it is on its way, giving up stops it.
 * @param {HTMLElement} alert where it says why it was not
 */
function saveOrCancel(alert) {
    /** @type {HTMLDialogElement} */
    let dialog;
    /** @type {AbortController | null} */
    let stop = null;
    const submit = element('button.button.main', { type: 'submit' }, texts.saveRecord);
    const giveUp = () => {
        stop?.abort();
        dialog.close();
    };
    const cancel = element('button.button', { type: 'button', onclick: giveUp }, texts.cancel);
    // The key that closes dialogs is hit by mistake, too.
    let question = Promise.resolve(false);
    const asked = async (/** @type {Event} */ event) => {
        event.preventDefault();
        if (cancel.disabled) return;
        question = agreed(texts.discard, texts.discardHint, texts.discard);
        if (await question) giveUp();
    };
    return {
        element: element('div.actions.row', {}, submit, cancel),
        /** @param {HTMLDialogElement} made */
        closing(made) {
            dialog = made;
            dialog.addEventListener('cancel', asked);
            return dialog;
        },
        /** @param {(saving: Saving) => Promise<void>} save */
        async run(save) {
            const { signal } = stop = new AbortController();
            submit.disabled = true;
            submit.textContent = texts.savingRecord;
            try {
                await save({
                    signal, tell: part => {
                        // A file that goes once more can be given up like before.
                        cancel.disabled = false;
                        submit.textContent = texts.uploadingPart(Math.floor(part * 100));
                    },
                    // Whoever is asked whether to give it up has the word first.
                    sending: async () => {
                        await question;
                        signal.throwIfAborted();
                        cancel.disabled = true;
                        submit.textContent = texts.savingRecord;
                    },
                });
                dialog.close();
            } catch (error) {
                alert.textContent = explain(codeOf(error));
            } finally {
                submit.disabled = cancel.disabled = false;
                submit.textContent = texts.saveRecord;
                // Switched off, it lost the focus of whoever pressed it.
                if (dialog.open && document.activeElement === document.body) submit.focus();
            }
        },
    };
}

/**
 * What two people have made of one record: of each field that they differ in, the reader chooses.
 * @param {OpenedRecord} before what the reader began with
 * @param {Changes} changes the reader's
 * @param {OpenedRecord} theirs what is there now
 * @returns {{ kept: Changes, open: Conflict[] }}
 */
export function compare(before, changes, theirs) {
    const field = (/** @type {OpenedRecord} */ record, /** @type {string} */ name) => record.fields.find(field => field.name === name);
    const content = (/** @type {OpenedField & Change | OpenedField | Change | undefined} */ field) =>
        field && (field.value ?? ('to' in field ? { kind: 'asset', file: field.name } : { kind: 'asset', size: field.asset }));
    /** @type {Changes} */
    const kept = new Map();
    /** @type {Conflict[]} */
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

/**
 * Side by side, what was, what the reader made of it, and what somebody else did.
 * @param {OpenedRecord} record
 * @param {Changes} kept
 * @param {Conflict[]} conflicts none where each has changed fields of their own: it is saved, and the reader hears of it
 * @param {(chosen: Changes, saving: Saving) => Promise<void>} save as of `editRecord`
 */
export function choose(record, kept, conflicts, save) {
    const shown = (/** @type {OpenedField | Change | undefined} */ field) =>
        field === undefined ? '–' : 'file' in field && field.file ? texts.fileOf(size(field.file.size)) : fieldWords(field);
    const body = element('div');
    for (const [index, conflict] of conflicts.entries()) {
        const side = (/** @type {string} */ which, /** @type {string} */ label, /** @type {OpenedField | Change | undefined} */ field) => element('label.side', {},
            element('span.sidehead', {}, element('input', { type: 'radio', name: `choice-${index}`, value: which, checked: which === 'theirs' }), label),
            element('span.sidevalue', {}, shown(field)));
        body.append(element('fieldset.conflict', {}, element('legend', {}, conflict.name),
            element('div.sides', {},
                element('div.side', {}, element('span.sidehead', {}, texts.conflictBefore), element('span.sidevalue', {}, shown(conflict.before))),
                side('mine', texts.conflictMine, conflict.mine), side('theirs', texts.conflictTheirs, conflict.theirs))));
    }
    const alert = element('p.hint', { role: 'alert' });
    const actions = saveOrCancel(alert);
    // What was sent may be stored: tried again it is the same.
    /** @type {Changes | undefined} */
    let chosen;
    const form = element('form', { onsubmit: event => {
        event.preventDefault();
        alert.textContent = '';
        if (!chosen) {
            const wanted = new FormData(form);
            chosen = new Map(kept);
            for (const [index, conflict] of conflicts.entries()) {
                if (wanted.get(`choice-${index}`) === 'mine') chosen.set(conflict.name, conflict.change);
            }
            for (const input of body.querySelectorAll('input')) input.disabled = true;
        }
        const all = chosen;
        return actions.run(saving => save(all, saving));
    } },
    element('p', {}, conflicts.length > 0 ? texts.conflict : texts.conflictMerged), body, alert, actions.element);
    const dialog = actions.closing(openDialog(`${record.name} – ${texts.conflictTitle}`, form));
    dialog.classList.add('wide');
    if (conflicts.length === 0) form.requestSubmit();
    return dialog;
}
