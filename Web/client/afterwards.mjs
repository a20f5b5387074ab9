// What few visits come to: an account that another device brings here, a share that is left, a link that an app is given.
import { agreed } from './agreed.mjs';
import { element } from './dom.mjs';
import { codeOf } from './failure.mjs';
import { texts } from './texts.mjs';

// Whoever leaves a share is asked first.
export { agreed };

/** @typedef {import('./core.client.mjs').Ask} Ask */

const pause = 1000;
const tries = 3;
const later = () => new Promise(resolve => setTimeout(resolve, pause));

/**
 * An app is given the whole link, behind the # of its own address, which no server is sent.
 * @param {Ask} ask
 * @param {string} address
 */
export async function openInApp(ask, address) {
    if (!await agreed(texts.openInApp, texts.openInAppHint, texts.openInApp)) return;
    const place = new URL(address);
    place.hash = `sealkit-share=${encodeURIComponent(await ask('link'))}`;
    location.assign(place.href);
}

/**
 * @param {import('./share.mjs').Screens & { ask: Ask, deviceName: string, back: () => void,
 *     then: (session: import('./account.mjs').Session) => Promise<void> }} page
 */
export async function enrol({ ask, screen, button, form, field, deviceName, back, then }) {
    const invitation = await ask('beginEnrolment');
    let isOn = true;
    const stop = async () => {
        isOn = false;
        await ask('endEnrolment');
        back();
    };
    const waiting = () => element('div.busy', { role: 'status' }, element('span.spinner'), texts.enrolWait);
    // Asks until there is something, for as long as the reader wants it.
    /** @template Answer @param {() => Promise<Answer | null>} look @returns {Promise<Answer | null>} */
    async function wait(look) {
        while (isOn) {
            try {
                const found = await look();
                if (found !== null) return found;
            } catch (error) {
                const code = codeOf(error);
                if (code === 'unknownItem') throw Object.assign(new Error('enrolmentEnded'), { code: 'enrolmentEnded' });
                // What the other device has to say waits there, also while the line is broken.
                if (code !== 'networkFailure') throw error;
            }
            await later();
        }
        return null;
    }
    screen(texts.enrolTitle, element('p', {}, texts.enrolIntro), element('p.invitation', {}, element('code', {}, invitation)),
        waiting(), element('div.actions', {}, button(texts.cancel, stop)));
    const digits = await wait(() => ask('enrolment'));
    if (digits === null) return;
    // To be told the other one's digits, and not just yes, makes people look. They were fixed before they were shown.
    for (let left = tries; ;) {
        /** @type {string | null} */
        const typed = await new Promise(resolve => {
            screen(texts.enrolCompare, element('p.sixdigits', {}, digits), form([field('code', texts.enrolTheirs, '', { kind: 'code', inputMode: 'numeric' })], ({ code }) => resolve(code), texts.next,
                button(texts.cancel, () => resolve(null))),
            left < tries && element('p.hint', { role: 'alert' }, texts.enrolDiffers));
        });
        if (typed === null) return stop();
        // By whatever keys: an input method may write them twice as wide, and what is pasted brings more than digits.
        if (typed.normalize('NFKC').replace(/\D/g, '') === digits) break;
        left -= 1;
        if (left > 0) continue;
        await ask('endEnrolment');
        return screen(texts.errorTitle, element('p', {}, texts.enrolStopped), element('div.actions', {}, button(texts.back, back, 'main')));
    }
    screen(texts.enrolTitle, element('p', {}, texts.enrolConfirm), element('p.sixdigits', {}, digits), waiting(),
        element('div.actions', {}, button(texts.cancel, stop)));
    const session = await wait(() => ask('enrolled', { deviceName }));
    if (session !== null) await then(session);
}
