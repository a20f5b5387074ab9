// What stands before the page until it is answered.
import { element } from './dom.mjs';

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
