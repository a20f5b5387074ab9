// What is asked before something is done that nobody takes back. Loaded with what asks.
import { openDialog } from './dialog.mjs';
import { element } from './dom.mjs';
import { texts } from './texts.mjs';

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
