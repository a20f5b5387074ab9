// What a reader changes: one record at a time, from what is shown. Loaded with the first change.
import { agreed } from './agreed.mjs';
import { choose, compare, editRecord } from './edit.mjs';
import { codeOf } from './failure.mjs';
import { refocus, same } from './records.mjs';
import { texts } from './texts.mjs';

/**
 * @typedef {import('./edit.mjs').Change} Change
 * @typedef {import('./edit.mjs').Changes} Changes
 * @typedef {import('./zone.mjs').OpenedRecord} OpenedRecord
 * @typedef {import('./zone.mjs').Outcome} Outcome
 * @typedef {Map<File, number>} Uploads
 */

const closed = (/** @type {HTMLDialogElement} */ dialog) => new Promise(resolve => dialog.addEventListener('close', resolve));

/**
 * @param {{ ask: import('./core.client.mjs').Ask, done: () => Promise<void>, said: (text: string) => void }} page `done` shows the records again, `said` a word in their place
 */
export const changes = ({ ask, done, said }) => {
    /**
     * Its files are there before the record is, each once; what the server has no longer goes once more.
     * @param {number} edit
     * @param {Change[]} made
     * @param {Uploads} uploads
     * @param {import('./edit.mjs').Saving} saving
     */
    async function save(edit, made, uploads, { tell, signal, sending }) {
        for (let isAgain = false; ; isAgain = true) {
            for (const change of made) {
                const { file } = change;
                if (!file) continue;
                change.upload = uploads.get(file) ?? (await ask('upload', { file }, { tell, signal })).upload;
                uploads.set(file, change.upload);
            }
            await sending();
            try {
                return await ask('save', { edit, changes: made.map(({ name, to, value, upload }) => ({ name, to, value, upload })) });
            } catch (error) {
                // A file without its record is there for a day, and what was stored unheard has it in the field that it had then.
                if (codeOf(error) !== 'assetFileNotFound' || isAgain || uploads.size === 0) throw error;
                uploads.clear();
            }
        }
    }

    /**
     * Somebody else was faster.
     * @param {OpenedRecord} before
     * @param {Changes} made
     * @param {Uploads} uploads
     * @param {Outcome} outcome
     * @returns {Promise<void>}
     */
    async function settle(before, made, uploads, outcome) {
        const begun = outcome === 'deleted' ? null : await ask('begin', { record: before.name });
        if (begun === null) return said(texts.deletedMeanwhile);
        const { edit, record: theirs } = begun;
        const { kept, open } = compare(before, made, theirs);
        /** @type {{ outcome: Outcome | null, made: Changes }} */
        const form = { outcome: null, made: kept };
        // What the reader typed is in the dialog until it is stored, or given up.
        if (kept.size + open.length > 0) {
            await closed(choose(theirs, kept, open, async (chosen, saving) => {
                form.made = chosen;
                if (chosen.size > 0) form.outcome = await save(edit, [...chosen.values()], uploads, saving);
            }));
        }
        if (form.outcome === null) {
            await ask('endEdit', { edit });
            return done();
        }
        return form.outcome === 'stored' ? done() : settle(theirs, form.made, uploads, form.outcome);
    }

    return {
        /**
         * Done again, it starts from what is there by then.
         * @param {{ name: string }} record
         */
        async change({ name }) {
            // What the form shows is what the change is one of, whatever has come since the record was looked at.
            const begun = await ask('begin', { record: name });
            if (begun === null) return said(texts.deletedMeanwhile);
            const { edit, record } = begun;
            /** @type {Uploads} */
            const uploads = new Map();
            /** @type {{ outcome: Outcome | 'nothing' | null, made: Change[] }} */
            const form = { outcome: null, made: [] };
            await closed(editRecord(record, async (changes, _, saving) => {
                form.made = changes;
                form.outcome = changes.length === 0 ? 'nothing' : await save(edit, changes, uploads, saving);
            }));
            refocus(name);
            const { outcome, made } = form;
            if (outcome === null || outcome === 'nothing') {
                await ask('endEdit', { edit });
                return done();
            }
            return outcome === 'stored' ? done() : settle(record, new Map(made.map(one => [one.name, one])), uploads, outcome);
        },

        /** @param {string} suggested a type of records */
        async make(suggested) {
            /** @type {Uploads} */
            const uploads = new Map();
            // What nobody has answered may have been stored: tried again it is the same record.
            /** @type {{ begun: { type: string, edit: number } | null, isDone: boolean }} */
            const form = { begun: null, isDone: false };
            await closed(editRecord({ name: '', type: '', suggested, fields: [] }, async (changes, type, saving) => {
                let { begun } = form;
                if (begun?.type !== type) {
                    if (begun) await ask('endEdit', { edit: begun.edit });
                    begun = { type, ...await ask('newRecord', { type }) };
                    form.begun = begun;
                }
                await save(begun.edit, changes, uploads, saving);
                form.isDone = true;
            }));
            if (form.begun && !form.isDone) await ask('endEdit', { edit: form.begun.edit });
            return done();
        },

        /**
         * A step that deletes a record; done again, it still deletes what its reader saw alone.
         * @param {OpenedRecord} record
         */
        remove(record) {
            /** @type {number | undefined} */
            let edit;
            return async () => {
                if (edit === undefined) {
                    const begun = await ask('begin', { record: record.name });
                    if (begun === null) return said(texts.deletedMeanwhile);
                    if (!same(begun.record.fields, record.fields)) {
                        await ask('endEdit', { edit: begun.edit });
                        return said(texts.changedMeanwhile);
                    }
                    edit = begun.edit;
                    if (!await agreed(`${record.name} – ${texts.deleteRecord}`, texts.deleteForAll, texts.deleteRecord)) {
                        await ask('endEdit', { edit });
                        return done();
                    }
                }
                const outcome = await ask('remove', { edit });
                return outcome === 'changed' ? said(texts.changedMeanwhile) : done();
            };
        },
    };
};
