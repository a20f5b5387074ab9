// The page at a share's URL, screen by screen: no screen has a URL of its own, and what was after the # is in none.
import { secret as first, takeSecret } from './first.mjs';
import { origin, startCore, stretch, VisitError } from './core.client.mjs';
import { openDialog } from './dialog.mjs';
import { element, icon } from './dom.mjs';
import { codeOf } from './failure.mjs';
import { later } from './later.mjs';
import { picture } from './media.mjs';
import * as memory from './memory.mjs';
import { makePasskey, mayHavePasskey, usePasskey } from './passkey.mjs';
import { recordTables, refocus, showAgain } from './records.mjs';
import { explain, language, texts } from './texts.mjs';

/**
 * @typedef {import('./dom.mjs').Child} Child
 * @typedef {import('./memory.mjs').Way} Way
 * @typedef {import('./records.mjs').Tools} Tools
 * @typedef {import('./visit.mjs').ShownShare} ShownShare
 * @typedef {import('./zone.mjs').OpenedRecord} OpenedRecord
 * @typedef {(way?: Way) => unknown} Then is told the way, once the core has its key; nothing to choose anew
 * @typedef {{ screen: typeof screen, button: typeof button, form: typeof form, field: typeof field }} Screens
 */

let secret = first;
const routing = location.pathname.split('/').at(-1) ?? '';
// How long what follows the # is: PROTOCOL.md, "Share URL". The core checks it; this is for the reader of a link that was cut.
const secretCharacters = 66;
const leastCharacters = 12;
const codeTries = 5;
const codePause = 60_000;
const idle = 15 * 60_000;
// Of that: who sits there and reads hears of it first.
const notice = 60_000;
// What the server has to say to the end of a session is not worth more.
const farewell = 2000;
// Where the server tells of no changes they are looked for.
const lookEvery = 60_000;

const core = startCore(hasEnded => {
    if (hasEnded) isWatching = false;
    update();
});
let running = 0;
/** @type {typeof core} */
const ask = async (...asked) => {
    running += 1;
    try {
        return await core(...asked);
    } finally {
        running -= 1;
    }
};
const main = element('main', { id: 'main' });
const accountPlace = element('div.account');
// Of what there is once records are shown.
const leaveButton = element('button.button', { type: 'button', hidden: true, onclick: () => guard(leave) }, texts.leaveShare);
const addButton = element('button.button', { type: 'button', hidden: true, onclick: () => guard(() => addWay()) }, texts.addWay);
const lockButton = element('button.button', { type: 'button', hidden: true, onclick: () => guard(lock) }, texts.lock);
// Of what there is once the whole link is known.
/** @type {HTMLElement[]} */
const appButtons = [];
/**
 * `account` is empty before there is one; without a way the account ends with this visit.
 * @type {{ account: string, way?: Way, place?: import('./visit.mjs').SharePlace, hasSeat: boolean, hasURL: boolean, hasProven: boolean }}
 */
const state = { account: '', hasSeat: false, hasURL: false, hasProven: false };
/** A passkey is the server's own page's. */
const hasPasskeys = origin === location.origin && mayHavePasskey(location.hostname);

// What every screen has

function start() {
    // The operator's, which the page has for those without scripts; the key does not go along.
    /** @type {NodeListOf<HTMLAnchorElement>} */
    const links = document.querySelectorAll('#apps a');
    const apps = [...links].flatMap(link => {
        const open = element('button.button.plain', { type: 'button', hidden: true, onclick: () => guard(async () => (await later('afterwards.mjs')).openInApp(ask, link.href)) }, texts.openInApp);
        appButtons.push(open);
        return [element('a', { rel: 'noreferrer', href: link.href }, link.textContent), ' ', open, ' '];
    });
    document.documentElement.lang = language;
    document.title = texts.title;
    document.getElementById('page')?.append(
        element('header.bar', {}, element('span.mark', {}, icon('lock'), element('span.host', {}, new URL(origin).host)), accountPlace),
        main,
        element('footer', {}, paragraph(origin === location.origin ? texts.trust : texts.trustElsewhere), apps.length > 0 && element('p', {}, texts.apps, ' ', ...apps)));
    addEventListener('pointerdown', awake, { passive: true });
    addEventListener('keydown', awake);
    addEventListener('hashchange', pasted);
    awake();
    return guard(arrive);
}

// Whoever leaves the screen leaves nothing open on it. Before there are records nothing is, and to lock would lose the link.
/** @type {ReturnType<typeof setTimeout> | undefined} */
let sleep;
/** @type {HTMLDialogElement | undefined} */
let warning;
let touched = 0;
/** While a machine sleeps no timer goes on. */
const isLate = () => Date.now() - touched > idle && !isAtWork();
function awake() {
    if (isLate()) {
        lock();
        return;
    }
    touched = Date.now();
    warning?.close();
    clearTimeout(sleep);
    sleep = setTimeout(doze, notice);
}

/** Looks at the time of day each minute. */
function doze() {
    if (isLate()) return awake();
    sleep = setTimeout(doze, notice);
    // The look before the lock: a little less than a minute may be left where this one comes early.
    if (Date.now() - touched < idle - notice - 1000) return undefined;
    if (isAtWork()) return awake();
    if (!warning?.open) warning = openDialog(texts.idleTitle, paragraph(texts.idleHint), element('div.actions', {}, button(texts.next, awake, 'main')));
    return undefined;
}

/** Whether there is something that a lock would destroy, or nothing to lock. */
const isAtWork = () => lockButton.hidden || running > 0 || document.querySelector('form') !== null
    || [...document.querySelectorAll('audio, video')].some(media => media instanceof HTMLMediaElement && !media.paused);

/** What is loaded anew is locked. @param {() => unknown} last what is done once nothing goes on any more */
async function lock(last = () => {}) {
    for (const dialog of document.querySelectorAll('dialog')) dialog.close();
    main.replaceChildren();
    await Promise.race([ask('logOut').catch(() => undefined), new Promise(resolve => setTimeout(resolve, farewell))]);
    await last();
    location.reload();
}

/** A link that is pasted into the same tab loads nothing: it is taken out of the address as the first one was, and begun with where none is open. */
async function pasted() {
    const taken = takeSecret();
    if (taken === '' || list || main.inert || spinner.isConnected) return;
    // Whoever opens the same one once more, waiting for a code, goes on waiting.
    if (state.hasURL && await ask('link') === origin + location.pathname + taken) return;
    secret = taken;
    return guard(arrive);
}

/** What comes next is there. */
function ready() {
    clearTimeout(waiting);
    waiting = undefined;
    main.inert = false;
}

/** @param {string} title @param {...Child} content */
function screen(title, ...content) {
    ready();
    list = null;
    main.className = '';
    const heading = element('h1', { tabIndex: -1 }, title);
    main.replaceChildren(element('div.card', {}, heading, ...content));
    heading.focus();
}

/** @typedef {() => unknown} Step what a button does, now or after a while */

const paragraph = (/** @type {string} */ text) => element('p', {}, text);
/** @param {string} text @param {Step} onclick */
const button = (text, onclick, kind = '') => element(`button.button${kind && `.${kind}`}`, { type: 'button', onclick: () => guard(onclick) }, text);
/** @param {string} text @param {string} hint @param {Step} onclick */
const choice = (text, hint, onclick, kind = '') => element(`button.button.choice${kind && `.${kind}`}`,
    { type: 'button', onclick: () => guard(onclick) }, text, element('small', {}, hint));
/** @param {string} text @param {'check' | 'warning'} name */
const note = (text, name = 'check', kind = '') => element(`div.note${kind && `.${kind}`}`, {}, icon(name), paragraph(text));

// What is there before anybody would have read that it is awaited is not announced: most steps are.
const patience = 300;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let waiting;
const doing = element('span');
const spinner = element('div.busy', { role: 'status' }, element('span.spinner'), doing);

/**
 * Nothing of what is on the screen can be chosen any more; in a while it says what is awaited, for as long as that takes.
 * @param {string} text
 */
function busy(text) {
    doing.textContent = text;
    if (waiting !== undefined || spinner.isConnected) return;
    list = null;
    main.inert = true;
    waiting = setTimeout(() => screen(texts.title, spinner), patience);
}

/**
 * A form of fields and one button; what it does may refuse a field, by its name.
 * @template {string} Name
 * @param {Field<Name>[]} fields
 * @param {(values: Record<Name, string>, refuse: (name: Name, text: string) => void) => unknown} submit
 * @param {string} text
 * @param {...Child} beside
 */
function form(fields, submit, text, ...beside) {
    const alert = element('p.hint', { role: 'alert' });
    const action = element('button.button.main', { type: 'submit' }, text);
    const made = element('form', { noValidate: true }, ...fields.map(field => field.element), alert, element('div.actions', {}, action, ...beside));
    made.addEventListener('submit', event => {
        event.preventDefault();
        alert.textContent = '';
        for (const input of made.querySelectorAll('[aria-invalid]')) input.removeAttribute('aria-invalid');
        const inputs = new Map(fields.map(({ name, input }) => [name, input]));
        const values = /** @type {Record<Name, string>} */ (Object.fromEntries(fields.map(({ name, input }) => [name, input.value])));
        const refuse = (/** @type {Name} */ name, /** @type {string} */ text) => {
            alert.textContent = text;
            const input = inputs.get(name);
            input?.setAttribute('aria-invalid', 'true');
            input?.focus();
        };
        return guard(async () => {
            action.disabled = true;
            try {
                await submit(values, refuse);
            } finally {
                action.disabled = false;
            }
        });
    });
    return made;
}

/**
 * @template {string} Name
 * @typedef {{ name: Name, element: HTMLElement, input: HTMLInputElement | HTMLTextAreaElement }} Field
 */

/**
 * @template {string} Name
 * @param {Name} name
 * @param {string} label
 * @param {string} hint
 * @param {import('./dom.mjs').Properties} [properties]
 * @returns {Field<Name>}
 */
function field(name, label, hint, properties = {}) {
    const input = element(properties.rows ? 'textarea' : properties.kind === 'code' ? 'input.code' : 'input', {
        id: `field-${name}`, name, type: properties.rows ? undefined : 'text', autocomplete: 'off', spellcheck: false,
        'aria-describedby': hint ? `hint-${name}` : undefined, ...properties, kind: undefined,
    });
    return { name, input, element: element('div', {}, element('label', { for: `field-${name}` }, label), input, hint && element('p.hint', { id: `hint-${name}` }, hint)) };
}

/**
 * Runs a step, and says what became of it where it fails.
 * @param {Step} step
 * @param {Step} [back] where its reader goes who does not try again
 */
async function guard(step, back) {
    try {
        await step();
    } catch (error) {
        failed(error, step, back);
    }
}

// What this browser has kept of the share does not open: whether it goes is its reader's to say.
const damaged = 'memoryDamaged';

/** @param {unknown} error @param {Step} step @param {Step} [back] */
function failed(error, step, back = welcome) {
    const code = codeOf(error);
    // What has ended is told no more, and whoever comes back may be somebody else.
    isWatching = false;
    screen(texts.errorTitle, note(explain(code), 'warning', 'bad'),
        element('div.actions', {}, code === damaged ? button(texts.beginAnew, async () => {
            await ask('beginAnew');
            return step();
        }, 'main') : button(texts.tryAgain, step, 'main'), button(texts.back, back)),
        // What to tell whoever helps: a word, and nothing of the link.
        element('p.quiet.small.told', {}, element('code', {}, code)));
}

// 1. The URL

async function arrive() {
    busy(texts.opening);
    // Whoever is here already comes back by their own way, and not by this browser's.
    if (state.account === '') [state.way, state.place] = await Promise.all([memory.way(), memory.place(routing)]);
    if (secret !== '') {
        const have = secret.length - 1;
        try {
            await ask('open', { url: origin + location.pathname + secret });
        } catch (error) {
            if (codeOf(error) !== 'invalidURL') {
                // Whoever loads the page again has the link still.
                history.replaceState(null, '', secret);
                throw error;
            }
            return incomplete(have === secretCharacters ? texts.incompleteAltered : texts.incompleteCut(have, secretCharacters));
        }
        // From here on the worker alone has it.
        secret = '';
        takeSecret();
        state.hasURL = true;
        for (const open of appButtons) open.hidden = false;
    }
    if (state.account !== '') return look();
    if (state.hasURL) ({ hasSeat: state.hasSeat } = await ask('askForSeat'));
    return welcome();
}

/**
 * Nothing goes on from here but by a link, be it the same one.
 * @param {string} title
 * @param {string} text
 * @param {HTMLElement} [said]
 */
function over(title, text, said = paragraph(text)) {
    state.hasURL = false;
    shutMenu();
    screen(title, said);
}

/** @param {string} text */
function incomplete(text) {
    over(texts.incompleteTitle, text, note(text, 'warning', 'bad'));
}

// 2. The account

const deviceName = () => {
    const { userAgentData } = /** @type {{ userAgentData?: { platform: string } }} */ (navigator);
    const system = userAgentData?.platform ?? navigator.platform ?? '';
    return `Web browser${system && ` (${system})`}`.slice(0, 60);
};

/** An account that was here may be the one, where there is none a new one is. */
function welcome() {
    if (state.place) return unlock(texts.comeBackTitle, texts.comeBack, texts.comeBackHint);
    if (!state.hasURL) return incomplete(texts.incomplete);
    if (state.way) return unlock(texts.unlockTitle);
    return state.hasSeat ? newcomer() : unlock(texts.noSeatTitle, texts.noSeat);
}

function newcomer() {
    screen(texts.welcomeTitle, paragraph(texts.welcome), waysToKeep(way => way ? makeAccount(way) : newcomer()),
        element('div.divider', {}, texts.or),
        element('div.actions', {}, button(texts.haveAccount, () => unlock(texts.unlockTitle)),
            button(texts.thisVisit, () => makeAccount(null), 'plain'),
            element('p.hint', {}, texts.thisVisitHint)));
}

/**
 * What an account comes back by.
 * @param {Then} chosen
 */
function waysToKeep(chosen) {
    // Whoever does not get on with one of them chooses anew, and is who they are.
    const back = () => chosen();
    // A step of its own: what is tried again makes no second passkey.
    const then = (/** @type {Way | undefined} */ way) => guard(() => chosen(way), back);
    return element('div.choices', {},
        hasPasskeys && choice(texts.passkey, texts.passkeyHint, () => guard(() => passkeyMade(then), back), 'main'),
        choice(texts.passphrase, texts.passphraseHint, () => choosePassphrase(then, back), hasPasskeys ? '' : 'main'),
        choice(texts.recoveryKey, texts.recoveryKeyHint, () => showRecoveryKey(then, back)),
        !hasPasskeys && element('p.hint', {}, texts.noPasskeyHere));
}

/** @param {Then} then */
async function passkeyMade(then) {
    const output = await makePasskey(await ask('passkeyInput'), location.hostname);
    await ask('takePasskey', { output }, { transfer: [output.buffer] });
    return then('passkey');
}

const passphraseFields = (/** @type {boolean} */ isNew) => [
    field('name', texts.passphraseName, texts.passphraseNameHint, { autocomplete: 'username', autocapitalize: 'none' }),
    field('passphrase', texts.passphraseField, isNew ? texts.passphraseFieldHint : '', { type: 'password', autocomplete: isNew ? 'new-password' : 'current-password' }),
];

/** @param {string} name @param {string} passphrase */
async function takePassphrase(name, passphrase) {
    busy(texts.stretching);
    const key = await stretch(passphrase, name);
    await ask('takePassphrase', { key }, { transfer: [key.buffer] });
}

/** @param {Then} then @param {Step} back */
function choosePassphrase(then, back) {
    screen(texts.passphraseTitle, form(
        [...passphraseFields(true), field('again', texts.passphraseAgain, '', { type: 'password', autocomplete: 'new-password' })],
        async ({ name, passphrase, again }, refuse) => {
            if (name.trim() === '') return refuse('name', texts.nameMissing);
            if ([...passphrase].length < leastCharacters) return refuse('passphrase', texts.passphraseShort);
            if (passphrase !== again) return refuse('again', texts.passphraseDiffers);
            return guard(async () => {
                await takePassphrase(name, passphrase);
                return then('passphrase');
            }, back);
        },
        texts.next, button(texts.back, back)));
}

/** @param {Then} then @param {Step} back */
async function showRecoveryKey(then, back) {
    const text = await ask('newRecoveryKey');
    /** @type {HTMLButtonElement | undefined} */
    const copy = navigator.clipboard && button(texts.copy, async () => {
        try {
            await navigator.clipboard.writeText(text);
        } catch {
            // The key stays where it can be read and selected: it is shown this once.
            return;
        }
        if (copy) copy.textContent = texts.copied;
    });
    screen(texts.recoveryKeyTitle, paragraph(texts.recoveryKeyIntro),
        element('ol.key', { id: 'recovery-key' }, ...text.split('-').map(group => element('li', {}, group))), copy,
        form([field('text', texts.recoveryKeyConfirm, '', { rows: 3, autocapitalize: 'characters' })],
            async ({ text }, refuse) => {
                if (!await isShown(text)) return refuse('text', texts.recoveryKeyDiffers);
                return then('recoveryKey');
            },
            texts.next, button(texts.back, back)));
}

/** @param {string} text */
async function isShown(text) {
    try {
        return await ask('isRecoveryKey', { text });
    } catch (error) {
        if (codeOf(error) === 'mistypedRecoveryKey') return false;
        throw error;
    }
}

/** @param {Way | null} way null for this visit alone @returns {Promise<unknown>} */
async function makeAccount(way, code = '') {
    busy(texts.opening);
    try {
        const { account } = await ask('createAccount', { deviceName: deviceName(), isKept: way !== null, code });
        // What this browser knows of the share was another account's.
        state.place = undefined;
        return entered(account, way);
    } catch (error) {
        const why = codeOf(error);
        // There is one by this key: it was made, and nobody has heard of it, or it is of another visit.
        if (way !== null && why === 'serverRejectedRequest') return recover(way, error);
        if (why === 'permissionFailure' || (code !== '' && why === 'verificationFailed')) return askForCode(way, code !== '');
        throw error;
    }
}

/** @param {Way | null} way @param {boolean} isAgain */
function askForCode(way, isAgain) {
    screen(texts.registrationCode, paragraph(texts.registrationCodeHint), isAgain && note(texts.errors.verificationFailed, 'warning', 'warn'),
        form([field('code', texts.registrationCode, '')], ({ code }, refuse) =>
            code.trim() === '' ? refuse('code', texts.registrationCodeHint) : makeAccount(way, code.trim()),
        texts.next, button(texts.back, welcome)));
}

/** @param {string} title @param {...string} said */
function unlock(title, ...said) {
    /** @type {Record<Way, HTMLButtonElement | false>} */
    const ways = {
        passkey: hasPasskeys && choice(texts.unlockPasskey, texts.passkeyHint, unlockByPasskey),
        passphrase: choice(texts.unlockPassphrase, texts.passphraseHint, unlockByPassphrase),
        recoveryKey: choice(texts.unlockRecoveryKey, texts.recoveryKeyHint, unlockByRecoveryKey),
        device: choice(texts.fromDevice, texts.fromDeviceHint, unlockByDevice),
    };
    // The one that was used here last comes first.
    /** @type {Way[]} */
    const order = [state.way ?? 'passkey', 'passkey', 'passphrase', 'recoveryKey', 'device'];
    const shown = [...new Set(order)].flatMap(way => ways[way] || []);
    shown[0]?.classList.add('main');
    screen(title, ...said.map(paragraph), element('div.choices', {}, ...shown),
        element('div.actions', {}, state.hasSeat && button(texts.newAccount, newcomer, 'plain'),
            (state.way ?? state.place) && button(texts.forget, async () => {
                await memory.forget();
                state.way = state.place = undefined;
                // Nothing is open yet, and the link stays at hand.
                return welcome();
            }, 'plain')));
}

async function unlockByPasskey() {
    const output = await usePasskey(await ask('passkeyInput'), location.hostname);
    await ask('takePasskey', { output }, { transfer: [output.buffer] });
    return recover('passkey');
}

function unlockByPassphrase() {
    screen(texts.unlockPassphrase, form(passphraseFields(false), async ({ name, passphrase }, refuse) => {
        if (name.trim() === '') return refuse('name', texts.nameMissing);
        if (passphrase === '') return refuse('passphrase', texts.passphraseShort);
        await takePassphrase(name, passphrase);
        return recover('passphrase');
    }, texts.next, button(texts.back, welcome)));
}

function unlockByRecoveryKey() {
    screen(texts.unlockRecoveryKey, form([field('text', texts.recoveryKeyTyped, texts.recoveryKeyNone, { rows: 3, autocapitalize: 'characters' })],
        async ({ text }, refuse) => {
            const { groups } = await ask('mistypedGroups', { text });
            if (groups === null) return refuse('text', texts.recoveryKeyNone);
            if (groups.length > 0) return refuse('text', texts.recoveryKeyGroups(groups));
            await ask('takeRecoveryKey', { text });
            return recover('recoveryKey');
        }, texts.next, button(texts.back, welcome)));
}

async function unlockByDevice() {
    busy(texts.opening);
    const { enrol } = await later('afterwards.mjs');
    return enrol({ ask, screen, button, form, field, deviceName: deviceName(), back: welcome, then: ({ account }) => entered(account, 'device') });
}

/** @param {Way} way @param {unknown} refusal what it means that there is none */
async function recover(way, refusal = new VisitError('unknownAccount')) {
    busy(texts.opening);
    try {
        const { account } = await ask('recoverAccount', { deviceName: deviceName(), devices: await memory.devices() });
        return await entered(account, way);
    } catch (error) {
        throw codeOf(error) === 'unknownItem' ? refusal : error;
    }
}

/** @param {string} account @param {Way | null} way */
async function entered(account, way) {
    state.account = account;
    state.way = undefined;
    state.hasProven = false;
    if (way) await keepWay(way);
    showAccount();
    // A step of its own: what is tried again makes no second account.
    return guard(look);
}

/** @param {Way} way */
async function keepWay(way) {
    state.way = way;
    await memory.keepWay(way);
    await memory.keepDevice(await ask('device'));
}

function showAccount() {
    const name = state.account.slice(0, 8);
    const ways = { passkey: texts.waysPasskey, passphrase: texts.waysPassphrase, recoveryKey: texts.waysRecoveryKey, device: texts.waysDevice };
    accountPlace.replaceChildren(element('details', {},
        element('summary', { 'aria-label': `${texts.account} ${name}` }, icon('person'), name),
        element('div.menu', {}, paragraph(texts.accountOf(name)), paragraph(state.way ? ways[state.way] : texts.waysNone),
            addButton, leaveButton, lockButton,
            // What is on its way may keep something until then.
            button(texts.forget, () => lock(memory.forget)),
            element('p.hint', {}, texts.forgetHint))));
}

/** On a narrow screen it covers what it has led to. */
const shutMenu = () => accountPlace.querySelector('details')?.removeAttribute('open');

// 3. to 6. The share

/** @param {Step} prove what an address is proven by @returns {Promise<unknown>} */
async function look(prove = () => askAddress(state.hasProven ? texts.addressOther : '')) {
    busy(texts.checking);
    if (!state.hasURL) return comeBack();
    /** @type {ShownShare} */
    let shown;
    try {
        shown = await ask('look');
    } catch (error) {
        if (codeOf(error) === 'participantMayNeedVerification') return prove();
        // A link that is good once was used: by this account, at another visit.
        if (codeOf(error) === 'unknownItem' && state.place) return comeBack();
        throw error;
    }
    if (shown.standing !== 'member') return invitation(shown);
    isNew = !(await ask('enter')).isKnown;
    await remember(shown);
    return records(shown.title);
}

async function comeBack() {
    if (!state.place) return incomplete(texts.incomplete);
    isNew = !(await ask('comeBack', state.place)).isKnown;
    here = state.place;
    return records('');
}

// Its reader was in the share before, and this browser knows nothing of what it held.
let isNew = false;

// Where the records on the screen are.
/** @type {import('./visit.mjs').SharePlace | undefined} */
let here;

/** @param {import('./visit.mjs').SharePlace} place of an account that comes back, this browser remembers it */
async function remember({ container, environment, owner, zone, share }) {
    here = { container, environment, owner, zone, share };
    if (!state.way) return;
    state.place = here;
    await memory.keepPlace(routing, here);
}

/**
 * What the server compares: people part a phone number's digits, and dial 00 for the +.
 * @param {string} typed
 */
const spelled = typed => /^\s*(\+|00)[\d\s()./-]+$/.test(typed) ? typed.replace('(0)', '').replace(/[\s()./-]/g, '').replace(/^00/, '+') : typed.trim();

/** @param {string} problem */
function askAddress(problem) {
    screen(texts.addressTitle, paragraph(texts.address), problem && note(problem, 'warning', 'warn'),
        form([field('address', texts.addressField, '', { type: 'email', autocomplete: 'email', inputMode: 'email' })],
            async (typed, refuse) => {
                const address = spelled(typed.address);
                try {
                    await ask('sendCode', { address, language });
                } catch (error) {
                    if (codeOf(error) !== 'invalidArguments') throw error;
                    return refuse('address', texts.addressBad);
                }
                return askCode(address, codeTries);
            }, texts.sendCode));
}

/** @param {string} address @param {number} left */
function askCode(address, left, problem = '') {
    const again = element('button.button.plain', { type: 'button', disabled: true, onclick: () => guard(resend) }, '');
    const until = Date.now() + codePause;
    const wait = () => {
        const seconds = Math.ceil((until - Date.now()) / 1000);
        again.disabled = seconds > 0;
        again.textContent = seconds > 0 ? texts.codeWait(seconds) : texts.codeAgain;
        return seconds > 0 && again.isConnected;
    };
    const timer = setInterval(() => wait() || clearInterval(timer), 500);
    wait();
    const resend = async () => {
        await ask('sendCode', { address, language });
        return askCode(address, codeTries);
    };
    screen(texts.codeTitle, paragraph(texts.code(address)),
        left < codeTries && note(texts.codeWrong(left), 'warning', 'warn'), problem && note(problem, 'warning', 'warn'),
        form([field('code', texts.codeField, '', { kind: 'code', autocomplete: 'one-time-code', inputMode: 'numeric' })],
            async (typed, refuse) => {
                const code = typed.code.normalize('NFKC').replace(/[^\p{L}\d]/gu, '');
                // Anything else would cost a try.
                if (!/^\d+$/.test(code)) return refuse('code', texts.codeTitle);
                try {
                    await ask('proveCode', { code });
                } catch (error) {
                    // It may have been right, and is used then: whether the address is proven is the server's to say.
                    if (passing.includes(codeOf(error))) return guard(() => look(() => askCode(address, left, explain(codeOf(error)))));
                    if (codeOf(error) !== 'verificationFailed') throw error;
                    return left === 1 ? askAddress(texts.errors.verificationFailed) : askCode(address, left - 1);
                }
                state.hasProven = true;
                // The code is used.
                return guard(look);
            }, texts.next, again, button(texts.otherAddress, () => askAddress(''), 'plain')));
}

/** @param {ShownShare} shown */
async function invitation(shown) {
    const bitmap = shown.isVouched && shown.thumbnail.length > 0 ? await picture(shown.thumbnail) : null;
    const canvas = bitmap && element('canvas.preview', { width: bitmap.width, height: bitmap.height, role: 'presentation' });
    if (bitmap) canvas?.getContext('2d')?.drawImage(bitmap, 0, 0);
    // By the account's key: its name, by which they were kept before, is the server's to say.
    const { account } = await ask('device');
    const was = await memory.compared(account, shown) ?? await memory.compared(state.account, shown);
    const isCompared = was === shown.safetyNumber;
    const facts = (/** @type {[string, string][]} */ ...pairs) => element('dl.facts', {}, ...pairs.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]));
    screen(shown.isVouched && shown.title !== '' ? shown.title : texts.untitled,
        canvas,
        facts([texts.sharedBy, `${shown.owner.slice(0, 9)}…`], [texts.youMay, shown.mayWrite ? texts.mayWrite : texts.mayRead],
            [texts.people, String(shown.people)], [texts.account, state.account.slice(0, 8)]),
        shown.isVouched ? note(shown.isByOwner ? texts.vouched : texts.vouchedAdministrator) : note(texts.notVouched, 'warning', 'warn'),
        was !== undefined && !isCompared && note(texts.comparedOther, 'warning', 'warn'),
        element('details.more', { open: was !== undefined }, element('summary', {}, texts.safety),
            element('div.digits', {}, ...(shown.safetyNumber.match(/.{5}/g) ?? []).map(group => element('span', {}, group))),
            element('p.hint', {}, isCompared ? texts.comparedBefore : texts.safetyHint),
            !isCompared && state.way && button(texts.compared, async () => {
                await memory.keepCompared(account, shown);
                return invitation(shown);
            })),
        element('div.actions', {}, button(texts.accept, () => accept(shown), 'main'),
            button(texts.leave, () => over(texts.title, texts.left))));
}

/** @param {ShownShare} shown @returns {Promise<unknown>} */
async function accept(shown) {
    busy(texts.checking);
    try {
        await ask('accept');
    } catch (error) {
        const code = codeOf(error);
        if (code === 'notKept') return keepFirst(shown);
        // Another tab of this account was faster, or the list of people went on: it is looked at anew.
        if (['rosterChanged', 'alreadyAccepted', 'invalidArguments'].includes(code)) return look();
        throw error;
    }
    await ask('enter');
    await remember(shown);
    return records(shown.title);
}

/** @param {ShownShare} shown */
function keepFirst(shown) {
    screen(texts.keepTitle, paragraph(texts.keep), waysToKeep(async way => {
        if (way === undefined) return keepFirst(shown);
        busy(texts.checking);
        try {
            await ask('keepAccount');
        } catch (error) {
            // There is one by this key: nothing was accepted yet, and it is the one that is kept.
            if (codeOf(error) !== 'serverRejectedRequest') throw error;
            // A step of its own: whoever is somebody else by then keeps nothing of the other one, and who is not chooses anew.
            const { account } = await ask('device');
            return guard(() => recover(way, error), async () => (await ask('device')).account === account ? keepFirst(shown) : welcome());
        }
        await keepWay(way);
        showAccount();
        // The account is kept, whatever becomes of this.
        return guard(() => accept(shown));
    }));
}

// 7. Records

/**
 * The records that are on the screen.
 * @typedef {{ title: string, all: OpenedRecord[], mayWrite: boolean, tables?: import('./records.mjs').Tables,
 *     show: (all: OpenedRecord[], mayWrite: boolean) => void }} List
 * @type {List | null}
 */
let list = null;

/** @param {number} count */
async function all(count) {
    /** @type {OpenedRecord[]} */
    const all = [];
    while (all.length < count) {
        const part = await ask('records', { first: all.length });
        if (part.length === 0) break;
        all.push(...part);
    }
    return all;
}

/**
 * What there is by now: what is as it was is not opened again.
 * @param {List} shown
 */
async function latest(shown) {
    const news = await core('news');
    const known = new Map(shown.all.map(record => [record.name, record]));
    return news.flatMap(one => typeof one === 'string' ? known.get(one) ?? [] : one);
}

/** @param {string} title @returns {Promise<void>} */
async function records(title) {
    busy(texts.reading);
    const { count, mayWrite } = await ask('fetchRecords');
    const find = element('input', { type: 'search', id: 'find', autocomplete: 'off' });
    const heading = element('h1', { tabIndex: -1 }, title || texts.recordsTitle);
    const [counted, place] = [element('p.quiet', { id: 'count', role: 'status' }), element('div')];
    const make = button(texts.newRecord, async () => (await change(title)).make(list?.all.find(record => record.refusal === '')?.type ?? ''), 'main');
    /** @type {List} */
    const made = { title, all: [], mayWrite, show(all, mayWrite) {
        Object.assign(made, { all, mayWrite });
        const tools = toolsOf(title, mayWrite);
        const { activeElement } = document;
        const focused = activeElement instanceof HTMLElement && place.contains(activeElement) ? activeElement.dataset.record : undefined;
        made.tables = recordTables(all, tools, made.tables?.counts);
        counted.textContent = texts.count(all.length);
        make.hidden = !mayWrite;
        place.replaceChildren(made.tables.element, all.length === 0 ? element('div.card', {}, paragraph(texts.none)) : '');
        made.tables.filter(find.value);
        refocus(focused);
        showAgain(all, tools);
    } };
    made.show(await all(count), mayWrite);
    find.addEventListener('input', () => made.tables?.filter(find.value));
    ready();
    main.className = 'wide';
    main.replaceChildren(
        element('div.head', {},
            element('div', {}, heading, counted),
            element('div.find', {}, element('label', { for: 'find' }, texts.search), find),
            button(texts.refresh, () => records(title)), make),
        isNew && state.way ? note(texts.firstSeen, 'warning', 'warn') : '',
        place);
    list = made;
    leaveButton.hidden = addButton.hidden = lockButton.hidden = false;
    heading.focus();
    // The records are drawn before anything else is asked for.
    requestAnimationFrame(() => setTimeout(watch));
}

/** @param {string} title @param {boolean} mayWrite @returns {Tools} */
const toolsOf = (title, mayWrite) => ({
    openAsset: (record, field, signal) => ask('openAsset', { record, field }, { signal }),
    saveAsset: (record, field, signal, tell) => ask('saveAsset', { record, field }, { tell, signal }),
    ...mayWrite && {
        edit: record => guard(async () => (await change(title)).change(record)),
        remove: record => {
            /** @type {Step | undefined} */
            let step;
            return guard(async () => {
                step ??= (await change(title)).remove(record);
                return step();
            });
        },
    },
});

// What others change

let isWatching = false;

/** Once, for as long as nothing fails: from then on the server tells. What has come before it told is looked for. */
function watch() {
    if (isWatching) return;
    isWatching = true;
    core('watch').then(update, () => { isWatching = false; });
}

// Where it does not tell, it is asked now and then.
setInterval(() => isWatching || document.hidden || update(), lookEvery);

addEventListener('visibilitychange', () => {
    if (document.hidden) return undefined;
    return isLate() ? lock() : update();
});

// One look at a time; what is told meanwhile is looked at after it.
/** @type {Promise<void> | null} */
let looking = null;
let isLookedForAgain = false;

/** What others have changed is shown where its reader is, and nothing is taken out of their hands. */
async function update() {
    if (looking) {
        isLookedForAgain = true;
        return;
    }
    do {
        isLookedForAgain = false;
        looking = lookAgain();
        await looking;
    } while (isLookedForAgain);
    looking = null;
}

// The next time that it is told, or looked at, it may be there.
const passing = ['networkFailure', 'serviceUnavailable', 'requestRateLimited'];

async function lookAgain() {
    const shown = list;
    if (!shown) return;
    try {
        // By no `ask`: a look is nothing that a lock would destroy.
        const { mayWrite, hasNews } = await core('fetchRecords');
        if (list !== shown || (!hasNews && mayWrite === shown.mayWrite)) return;
        const found = await latest(shown);
        if (list === shown) shown.show(found, mayWrite);
    } catch (error) {
        if (list === shown && !passing.includes(codeOf(error))) failed(error, () => records(shown.title));
    }
}

// 8. Afterwards

// Shown again is a step of its own: what is tried again stores nothing twice.
const change = async (/** @type {string} */ title) => (await later('changes.mjs')).changes({ ask, done: () => guard(() => shownAgain(title)), said: text => said(title, text) });

/**
 * The records, as they are by now.
 * @param {string} title
 */
async function shownAgain(title) {
    const shown = list;
    if (!shown) return records(title);
    const { mayWrite } = await core('fetchRecords');
    const found = await latest(shown);
    return list === shown ? shown.show(found, mayWrite) : records(title);
}

/** @param {string} title @param {string} text */
function said(title, text) {
    screen(texts.errorTitle, note(text, 'warning', 'warn'), element('div.actions', {}, button(texts.next, () => records(title), 'main')));
}

/** Another way back, for where the one that there is does not work. */
function addWay(title = list?.title ?? '') {
    const back = () => records(title);
    shutMenu();
    screen(texts.addWay, paragraph(texts.addWayHint), waysToKeep(async way => {
        if (way === undefined) return addWay(title);
        busy(texts.checking);
        await ask('keepAccount').catch(error => {
            throw codeOf(error) === 'serverRejectedRequest' ? new VisitError('wayTaken') : error;
        });
        // The first one is how this browser unlocks it.
        if (!state.way) await keepWay(way);
        if (here) await remember(here);
        showAccount();
        screen(texts.addWay, note(texts.wayAdded), element('div.actions', {}, button(texts.next, back, 'main')));
    }), element('div.actions', {}, button(texts.back, back)));
}

async function leave() {
    const { agreed } = await later('afterwards.mjs');
    if (!await agreed(texts.leaveShare, texts.leaveHint, texts.leaveShare)) return;
    busy(texts.checking);
    await ask('leave');
    // Of an account of one visit nothing is kept: what is there is another's, which has left nothing.
    if (state.place) await memory.forgetPlace(routing);
    state.place = undefined;
    leaveButton.hidden = addButton.hidden = true;
    over(texts.leaveShare, texts.hasLeft);
}

start();
