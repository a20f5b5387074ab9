// What a reader changes: one record at a time, from what is shown. Loaded with the first change.
import { choose, compare, confirmRemoval, editRecord } from './edit.mjs';
import { same } from './records.mjs';
import { texts } from './texts.mjs';

const closed = dialog => new Promise(resolve => dialog.addEventListener('close', resolve));

/**
 * @param {{ ask: (name: string, argument?: object, options?: object) => Promise<any>, done: () => Promise<void>, said: (text: string) => void }}
 *     page `done` shows the records again, `said` a word in their place
 */
export const changes = ({ ask, done, said }) => {
    /** Its files are there before the record is, each once. */
    async function save(edit, made, uploads, tell) {
        for (const change of made) {
            if (change.to !== 'file') continue;
            if (!uploads.has(change.file)) uploads.set(change.file, (await ask('upload', { file: change.file }, { tell })).upload);
            change.upload = uploads.get(change.file);
        }
        return ask('save', { edit, changes: made.map(({ name, to, value, upload }) => ({ name, to, value, upload })) });
    }

    /** Somebody else was faster. */
    async function settle(before, made, uploads, outcome) {
        const begun = outcome === 'deleted' ? null : await ask('begin', { record: before.name });
        if (begun === null) return said(texts.deletedMeanwhile);
        const { edit, record: theirs } = begun;
        const { kept, open } = compare(before, made, theirs);
        const chosen = open.length === 0 ? kept : await choose(theirs, kept, open);
        if (chosen === null || chosen.size === 0) {
            await ask('endEdit', { edit });
            return done();
        }
        const next = await save(edit, [...chosen.values()], uploads);
        return next === 'stored' ? done() : settle(theirs, chosen, uploads, next);
    }

    return {
        /** Done again, it starts from what is there by then. */
        async change({ name }) {
            // What the form shows is what the change is one of, whatever has come since the record was looked at.
            const begun = await ask('begin', { record: name });
            if (begun === null) return said(texts.deletedMeanwhile);
            const { edit, record } = begun;
            const uploads = new Map();
            let [outcome, made] = [null, []];
            await closed(editRecord(record, new Map(), async (changes, _, tell) => {
                made = changes;
                outcome = changes.length === 0 ? 'nothing' : await save(edit, changes, uploads, tell);
            }));
            if (outcome === null || outcome === 'nothing') {
                await ask('endEdit', { edit });
                return done();
            }
            return outcome === 'stored' ? done() : settle(record, new Map(made.map(one => [one.name, one])), uploads, outcome);
        },

        /** @param {string} suggested a type of records */
        async make(suggested) {
            const uploads = new Map();
            // What nobody has answered may have been stored: tried again it is the same record.
            let begun = null;
            let isDone = false;
            await closed(editRecord({ name: '', type: '', suggested, fields: [] }, new Map(), async (changes, type, tell) => {
                if (begun?.type !== type) {
                    if (begun) await ask('endEdit', { edit: begun.edit });
                    begun = { type, ...await ask('newRecord', { type }) };
                }
                await save(begun.edit, changes, uploads, tell);
                isDone = true;
            }));
            if (begun && !isDone) await ask('endEdit', { edit: begun.edit });
            return done();
        },

        /** A step that deletes a record; done again, it still deletes what its reader saw alone. */
        remove(record) {
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
                    if (!await confirmRemoval(record)) {
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
