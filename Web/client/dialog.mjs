// What stands before the page until it is answered.
import { element } from './dom.mjs';
import { texts } from './texts.mjs';

// By the browser's own rules the key closes at once all dialogs that were opened without a touch in between, and asks none of them. It is taken
// from the whole page, since a button that is switched off when it was pressed leaves the focus nowhere.
document.addEventListener('keydown', event => {
    const dialog = [.../** @type {NodeListOf<HTMLDialogElement>} */ (document.querySelectorAll('dialog[open]'))].at(-1);
    if (!dialog || event.key !== 'Escape' || event.isComposing) return;
    event.preventDefault();
    if (dialog.dispatchEvent(new Event('cancel', { cancelable: true }))) dialog.close();
});

/** @param {string} title @param {...import('./dom.mjs').Child} content */
export function openDialog(title, ...content) {
    const dialog = element('dialog', { 'aria-label': title }, element('h2', {}, title), ...content);
    dialog.addEventListener('close', () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    return dialog;
}

/** @param {string} title @param {string} hint @param {string} yes @returns {Promise<boolean>} whether the reader wants it */
export function agreed(title, hint, yes) {
    return new Promise(resolve => {
        let isWanted = false;
        const button = (/** @type {string} */ text, /** @type {string} */ kind, /** @type {() => void} */ act) => element(`button.button${kind}`, { type: 'button', onclick: act }, text);
        const dialog = openDialog(title, element('p', {}, hint), element('div.actions.row', {}, button(yes, '.main', () => {
            isWanted = true;
            dialog.close();
        }), button(texts.cancel, '', () => dialog.close())));
        dialog.addEventListener('close', () => resolve(isWanted));
    });
}
