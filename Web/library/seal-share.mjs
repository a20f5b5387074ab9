// <seal-share>: who is in a share, who is invited, and what each may do, as a person sees and changes it. It says what `Share` knows; nothing is
// decided here. No inline script or style, and no markup from text: it runs under a policy that allows neither.
import { qrcode } from './vendor/qrcode.mjs';
import { loadTexts } from './share-texts.mjs';
import { sheet } from './seal-share.style.mjs';

/**
 * @typedef {import('./container.mjs').Container} Container
 * @typedef {import('./record.mjs').CKZoneID} CKZoneID
 * @typedef {import('./share.mjs').CKShare} CKShare
 * @typedef {import('./share.mjs').CKShareParticipant} CKShareParticipant
 * @typedef {import('./share.mjs').CKPermission} CKPermission
 * @typedef {typeof import('./share-texts.mjs').english} Texts
 * @typedef {Node | string | null | undefined | false} Child
 */

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, string | boolean | EventListener | undefined>} [about] attributes; listeners by `on` and the event's name
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
function el(tag, about = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(about)) {
        if (typeof value === 'function') element.addEventListener(name.slice(2), value);
        else if (value === true) element.setAttribute(name, '');
        else if (typeof value === 'string') element.setAttribute(name, value);
    }
    for (const child of children) if (child) element.append(child);
    return element;
}

/** @param {string} text as a picture of squares @param {string} label @returns {SVGSVGElement} */
function qrPicture(text, label) {
    const code = qrcode(0, 'M');
    code.addData(text, 'Byte');
    code.make();
    const count = code.getModuleCount();
    let path = '';
    for (let row = 0; row < count; row += 1) {
        for (let column = 0; column < count; column += 1) if (code.isDark(row, column)) path += `M${column} ${row}h1v1h-1z`;
    }
    const space = 'http://www.w3.org/2000/svg';
    const svg = document.createElementNS(space, 'svg');
    // Four squares of quiet around it, as readers want.
    for (const [name, value] of Object.entries({ viewBox: `-4 -4 ${count + 8} ${count + 8}`, role: 'img', 'aria-label': label, class: 'qr', part: 'qr' })) svg.setAttribute(name, value);
    const [ground, squares] = [document.createElementNS(space, 'rect'), document.createElementNS(space, 'path')];
    for (const [name, value] of Object.entries({ x: '-4', y: '-4', width: `${count + 8}`, height: `${count + 8}`, class: 'ground' })) ground.setAttribute(name, value);
    squares.setAttribute('d', path);
    svg.append(ground, squares);
    return svg;
}

/** @param {string} typed @returns {import('./share.mjs').CKLookupInfo} */
function handle(typed) {
    const text = typed.trim();
    if (/^_[0-9a-f]{32}$/.test(text)) return { userRecordName: text };
    if (text.includes('@')) return { emailAddress: text };
    return { phoneNumber: text.replace(/[\s()/.-]/g, '').replace(/^00/, '+') };
}

export class SealShareElement extends HTMLElement {
    /** @type {Container | undefined} */
    #container;
    /** @type {CKZoneID | undefined} */
    #zoneID;
    /** @type {import('./share.mjs').Share | undefined} */
    #share;
    /** @type {Texts | undefined} */
    #texts;
    #isBusy = false;
    /** What asks to be confirmed: one thing at a time. */
    #asked = '';
    /** Whose link is shown as a picture. */
    #pictured = '';
    /** The invitation that was made last. */
    #made = '';
    /** @type {string | undefined} */
    #problem;
    #said = '';
    #root;
    /** What is drawn anew each time; those beside it stay, since what comes into a page with its text is often not read out. */
    #section = el('section');
    #status = el('p', { role: 'status', class: 'told' });
    #alert = el('p', { role: 'alert', class: 'problem' });
    #frame = el('div', { part: 'share' }, this.#section, this.#status, this.#alert);
    #generation = 0;

    static observedAttributes = ['lang', 'permissions', 'share-title'];

    constructor() {
        super();
        this.#root = this.attachShadow({ mode: 'open', delegatesFocus: true });
        this.#root.adoptedStyleSheets = [sheet()];
        this.#root.append(this.#frame);
    }

    /** @returns {Container | undefined} whose account it is: somebody is signed in there */
    get container() { return this.#container; }
    set container(container) {
        this.#container = container;
        void this.#open();
    }

    /** @returns {CKZoneID | undefined} the zone whose share is looked after */
    get zoneID() { return this.#zoneID; }
    set zoneID(zoneID) {
        this.#zoneID = zoneID;
        void this.#open();
    }

    /** @returns {CKShare | undefined} as it is shown */
    get share() {
        try {
            return this.#share?.shown;
        } catch {
            return undefined;
        }
    }

    connectedCallback() { void this.#open(); }
    disconnectedCallback() { this.#generation += 1; }
    /** @param {string} name */
    attributeChangedCallback(name) { if (name === 'lang') void this.#speak(); else this.#draw(); }

    /** Reads the share anew, also where it could not be read before. @returns {Promise<void>} */
    async refresh() {
        const share = this.#share;
        await (share ? this.#attempt('', () => share.refresh()) : this.#open());
    }

    get #language() {
        const lang = this.closest('[lang]')?.getAttribute('lang');
        return lang || navigator.language;
    }

    async #speak() {
        this.#texts = await loadTexts(this.#language);
        this.#draw();
    }

    async #open() {
        const [container, zoneID] = [this.#container, this.#zoneID];
        if (!this.isConnected || !container || !zoneID) return;
        const generation = ++this.#generation;
        this.#share = undefined;
        await this.#speak();
        if (generation !== this.#generation) return;
        await this.#attempt('', async () => {
            const share = await container.share(zoneID);
            await share.refresh();
            if (generation === this.#generation) this.#share = share;
        });
    }

    /**
     * Does what somebody asked for, and says what came of it.
     * @param {string} said once it is done
     * @param {() => Promise<unknown>} body
     */
    async #attempt(said, body) {
        if (this.#isBusy) return;
        const generation = this.#generation;
        this.#isBusy = true;
        this.#problem = undefined;
        this.#said = '';
        this.#asked = '';
        this.#draw();
        try {
            await body();
            this.#said = said;
            if (said) this.#tell('sealshare-change', this.share);
        } catch (error) {
            const { serverErrorCode = '', message = '' } = /** @type {{ serverErrorCode?: string, message?: string }} */ (error);
            const texts = this.#texts;
            this.#problem = texts?.errors[/** @type {keyof Texts['errors']} */ (serverErrorCode)] ?? `${texts?.errors.other ?? ''} ${message}`.trim();
            this.#tell('sealshare-error', error);
        } finally {
            this.#isBusy = false;
            this.#draw();
        }
        // Another zone was named meanwhile, for which this one was busy.
        if (generation !== this.#generation) void this.#open();
    }

    /** @param {string} name @param {unknown} detail */
    #tell(name, detail) { this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true })); }

    // What is shown

    /** @param {CKShareParticipant} person */
    #name({ userIdentity: { userRecordName = '', lookupInfo }, isCurrentUser }) {
        const texts = this.#texts;
        if (!texts) return '';
        if (isCurrentUser) return texts.you;
        return lookupInfo?.emailAddress ?? lookupInfo?.phoneNumber ?? (userRecordName ? `${userRecordName.slice(0, 9)}…` : texts.whoeverHasLink);
    }

    get #may() {
        const given = (this.getAttribute('permissions') ?? '').split(/\s+/).filter(Boolean);
        const may = (/** @type {string} */ word) => given.length === 0 || given.includes(word);
        const both = !may('readOnly') && !may('readWrite');
        return { read: both || may('readOnly'), write: both || may('readWrite'), public: given.length === 0 || may('public') };
    }

    #draw() {
        const texts = this.#texts;
        if (!texts) return;
        const focused = this.#root.activeElement?.getAttribute('data-key');
        const typed = /** @type {HTMLInputElement[]} */ ([...this.#root.querySelectorAll('input[data-key]')]).map(input => [input.dataset.key, input.value]);
        const opened = [...this.#root.querySelectorAll('details[open] > summary')].map(summary => summary.getAttribute('data-key'));
        const share = this.share;
        const body = share ? share.isShared ? this.#shared(share, texts) : this.#unshared(share, texts)
            : [this.#problem !== undefined && el('div', { class: 'row' }, this.#button(texts.again, 'again', 'main', () => this.refresh()))];
        this.#frame.lang = texts.language;
        this.#frame.className = 'drawn';
        for (const [name, value] of Object.entries({ 'aria-label': texts.title, 'aria-busy': this.#isBusy ? 'true' : 'false' })) this.#section.setAttribute(name, value);
        this.#section.replaceChildren(.../** @type {Node[]} */ (body.filter(Boolean)));
        this.#status.textContent = this.#isBusy ? texts.busy : this.#said;
        this.#alert.textContent = this.#problem ?? '';
        for (const [key, value] of typed) {
            const input = /** @type {HTMLInputElement | null} */ (this.#root.querySelector(`input[data-key="${CSS.escape(key ?? '')}"]`));
            if (input && !(this.#said && key === 'address')) input.value = value ?? '';
        }
        for (const summary of this.#root.querySelectorAll('details > summary')) if (opened.includes(summary.getAttribute('data-key'))) summary.parentElement?.toggleAttribute('open', true);
        // Whoever works by keyboard stays where they were.
        const next = this.#asked ? '[data-key="confirm"]' : focused && `[data-key="${CSS.escape(focused)}"]`;
        const target = next && /** @type {HTMLElement | null} */ (this.#root.querySelector(next));
        if (target && (focused || this.#asked)) target.focus();
        else if (focused && this.#root.host.matches(':focus-within, :host')) /** @type {HTMLElement | null} */ (this.#root.querySelector('h2'))?.focus();
    }

    /** @param {CKShare} share @param {Texts} texts @returns {Child[]} */
    #unshared(share, texts) {
        const title = el('input', { id: 'title', type: 'text', required: true, autocomplete: 'off', 'data-key': 'title', maxlength: '200' });
        title.value = share.shareTitle || this.getAttribute('share-title') || share.zoneID.zoneName;
        return [
            el('h2', { tabindex: '-1' }, texts.title),
            el('p', {}, share.isOwner ? texts.unshared : texts.ended),
            share.isOwner && el('form', { onsubmit: event => {
                event.preventDefault();
                void this.#attempt(texts.saidShared, async () => { await this.#share?.describe({ shareTitle: title.value.trim() }); });
            } }, el('label', { for: 'title' }, texts.shareTitle), el('p', { class: 'hint' }, texts.shareTitleHint), title,
            el('div', { class: 'row' }, this.#button(texts.start, 'start', 'main', undefined))),
        ];
    }

    /** @param {CKShare} share @param {Texts} texts @returns {Child[]} */
    #shared(share, texts) {
        return [
            el('h2', { tabindex: '-1' }, share.shareTitle || texts.title),
            share.mayAdminister && this.#rename(share, texts),
            el('h3', { id: 'people' }, texts.people(share.participants.length)),
            el('ul', { 'aria-labelledby': 'people', class: 'people' }, ...share.participants.map(person => this.#person(share, person, texts))),
            share.mayAdminister && (share.publicPermission === 'NONE' ? this.#inviting(share, texts) : el('p', { class: 'note' }, texts.publicInvites)),
            share.mayAdminister && this.#link(share, texts),
            this.#end(share, texts),
        ];
    }

    /** @param {CKShare} share @param {Texts} texts */
    #rename(share, texts) {
        const title = el('input', { id: 'title', type: 'text', required: true, autocomplete: 'off', 'data-key': 'title', maxlength: '200' });
        title.value = share.shareTitle;
        return el('details', {}, el('summary', { 'data-key': 'rename' }, texts.rename), el('form', { onsubmit: event => {
            event.preventDefault();
            void this.#attempt(texts.saidChanged, async () => { await this.#share?.describe({ shareTitle: title.value.trim() }); });
        } }, el('label', { for: 'title' }, texts.shareTitle), title, el('div', { class: 'row' }, this.#button(texts.save, 'save-title', '', undefined))));
    }

    /** @param {CKShare} share @param {CKShareParticipant} person @param {Texts} texts */
    #person(share, person, texts) {
        const { participantID: id, type, acceptanceStatus, permission, safetyNumber, isCurrentUser, expirationDate } = person;
        const name = this.#name(person);
        const isPending = acceptanceStatus === 'INVITED';
        const isMine = share.isOwner ? type !== 'OWNER' : share.mayAdminister && type !== 'OWNER' && type !== 'ADMINISTRATOR';
        const state = [
            type === 'OWNER' ? texts.owner : type === 'ADMINISTRATOR' ? texts.administrator : type === 'PUBLIC_USER' ? texts.publicUser : '',
            isPending ? texts.invited : texts.joined,
            !isMine || type !== 'USER' ? permission === 'READ_WRITE' ? texts.mayWrite : texts.mayRead : '',
            expirationDate ? texts.until(expirationDate.toLocaleDateString(texts.language)) : '',
        ].filter(Boolean).join(' · ');
        const url = person.oneTimeURL ?? (isPending && person.userIdentity.userRecordName && !person.userIdentity.lookupInfo ? share.url : undefined);
        return el('li', { 'data-person': id, class: this.#made === id ? 'made' : '' },
            el('div', { class: 'who' }, el('strong', {}, name), el('span', { class: 'state' }, state)),
            isMine && type === 'USER' && this.#choice(texts.mayWhat(name), `permission-${id}`, permission, this.#permissions(texts, permission), texts, value =>
                this.#attempt(texts.saidChanged, async () => {
                    await this.#share?.setParticipant(id, { permission: /** @type {CKPermission} */ (value) });
                    this.#made = '';
                })),
            safetyNumber && !isCurrentUser && el('details', {}, el('summary', { 'data-key': `number-${id}` }, texts.safetyNumber),
                el('p', { class: 'hint' }, texts.compare(name)),
                el('p', { class: 'digits' }, ...(safetyNumber.match(/.{5}/g) ?? []).map(group => el('span', {}, group)))),
            isPending && url && this.#sending(url, id, texts),
            isMine && this.#confirmed(`remove-${id}`, isPending ? texts.takeBack : texts.remove, isPending ? texts.takeBackAsk(name) : texts.removeAsk(name),
                `${isPending ? texts.takeBack : texts.remove}: ${name}`, texts, texts.saidRemoved, async () => { await this.#share?.removeParticipant(id); }));
    }

    /** @param {Texts} texts @param {string} [now] @returns {[string, string][]} */
    #permissions(texts, now) {
        const may = this.#may;
        /** @type {[string, string][]} */
        const all = [];
        if (may.read || now === 'READ_ONLY') all.push(['READ_ONLY', texts.mayRead]);
        if (may.write || now === 'READ_WRITE') all.push(['READ_WRITE', texts.mayWrite]);
        return all;
    }

    /** @param {CKShare} _ @param {Texts} texts */
    #inviting(_, texts) {
        const address = el('input', { id: 'address', type: 'text', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false', required: true, 'data-key': 'address', 'aria-describedby': 'address-hint' });
        const permission = el('select', { id: 'permission', 'data-key': 'permission' }, ...this.#permissions(texts).map(([value, text]) => el('option', { value }, text)));
        const invite = (/** @type {import('./share.mjs').CKLookupInfo} */ info) => this.#attempt(texts.saidInvited, async () => {
            const made = await this.#share?.invite({ ...info, permission: /** @type {CKPermission} */ (permission.value) });
            this.#made = made?.participant.participantID ?? '';
            this.#pictured = '';
        });
        return el('form', { class: 'invite', 'aria-labelledby': 'inviting', onsubmit: event => {
            event.preventDefault();
            void invite(handle(address.value));
        } },
        el('h3', { id: 'inviting' }, texts.inviting),
        el('label', { for: 'address' }, texts.address), address, el('p', { class: 'hint', id: 'address-hint' }, texts.addressHint),
        el('label', { for: 'permission' }, texts.permission), permission,
        el('div', { class: 'row' }, this.#button(texts.invite, 'invite', 'main', undefined),
            this.#button(texts.oneLink, 'one-link', '', () => invite({}))),
        el('p', { class: 'hint' }, texts.oneLinkHint));
    }

    /** @param {CKShare} share @param {Texts} texts */
    #link(share, texts) {
        const mayOpen = share.isOwner && (this.#may.public || share.publicPermission !== 'NONE');
        if (!mayOpen && !share.url) return null;
        return el('div', { class: 'link' }, el('h3', {}, texts.publicTitle),
            mayOpen && this.#choice(texts.publicWhat, 'public', share.publicPermission, [['NONE', texts.nobody], ...this.#permissions(texts, share.publicPermission)], texts, value =>
                this.#attempt(texts.saidChanged, async () => { await this.#share?.setPublicPermission(/** @type {'NONE' | CKPermission} */ (value)); })),
            el('p', { class: 'hint' }, share.publicPermission === 'NONE' ? texts.publicHint : texts.publicOpen),
            share.url && share.publicPermission !== 'NONE' && this.#sending(share.url, 'public', texts));
    }

    /** @param {CKShare} share @param {Texts} texts */
    #end(share, texts) {
        const about = { class: 'end' };
        // A share of some records ends with their moving out of it, which takes an app.
        if (share.isOwner && share.zoneID.shareRecordName) return undefined;
        if (share.isOwner) {
            return el('div', about, this.#confirmed('stop', texts.stop, texts.stopAsk, texts.stop, texts, texts.saidStopped, async () => {
                await this.#share?.stop();
                this.#tell('sealshare-stop', this.share);
            }));
        }
        return el('div', about, this.#confirmed('leave', texts.leave, texts.leaveAsk, texts.leave, texts, texts.saidLeft, async () => {
            await this.#share?.leave();
            this.#share = undefined;
            this.#tell('sealshare-leave', this.#zoneID);
        }));
    }

    // Parts

    /** @param {string} url @param {string} id @param {Texts} texts */
    #sending(url, id, texts) {
        const isPictured = this.#pictured === id;
        return el('div', { class: 'sending' },
            el('p', { class: 'hint' }, id === 'public' ? texts.sendPublic : texts.send),
            el('div', { class: 'row' },
                this.#button(texts.copy, `copy-${id}`, '', () => this.#copy(url, texts)),
                this.#button(isPictured ? texts.hideCode : texts.showCode, `code-${id}`, '', () => {
                    this.#pictured = isPictured ? '' : id;
                    this.#draw();
                }, { 'aria-expanded': isPictured ? 'true' : 'false' })),
            isPictured && qrPicture(url, texts.codeLabel));
    }

    /** @param {string} url @param {Texts} texts */
    async #copy(url, texts) {
        try {
            await navigator.clipboard.writeText(url);
            this.#said = texts.copied;
            this.#problem = undefined;
        } catch {
            // Where an app's page may not write there, people do.
            this.#said = '';
            this.#problem = `${texts.notCopied} ${url}`;
        }
        this.#draw();
    }

    /** @param {string} text @param {string} key @param {string} kind @param {(() => unknown) | undefined} act a form's without one @param {Record<string, string>} [about] */
    #button(text, key, kind, act, about = {}) {
        return el('button', { type: act ? 'button' : 'submit', class: kind, 'data-key': key, 'aria-disabled': this.#isBusy ? 'true' : undefined, ...act && { onclick: () => void act() }, ...about }, text);
    }

    /** @param {string} label @param {string} key @param {string} now @param {[string, string][]} all @param {Texts} texts @param {(value: string) => unknown} act */
    #choice(label, key, now, all, texts, act) {
        // An arrow key chooses as well: nothing comes of it before it is saved.
        const save = this.#button(texts.save, `save-${key}`, 'main', () => {
            // It goes with the saving.
            select.focus();
            return act(select.value);
        });
        const select = el('select', { 'data-key': key, 'aria-label': label, onchange: () => { save.hidden = select.value === now; } }, ...all.map(([value, text]) => el('option', { value }, text)));
        select.value = now;
        save.hidden = true;
        return el('div', { class: 'choice' }, select, save);
    }

    /**
     * @param {string} key @param {string} text @param {string} question @param {string} label @param {Texts} texts @param {string} said
     * @param {() => Promise<void>} act
     */
    #confirmed(key, text, question, label, texts, said, act) {
        if (this.#asked !== key) {
            return el('div', { class: 'row' }, this.#button(text, key, 'quiet', () => {
                this.#asked = key;
                this.#draw();
            }, { 'aria-label': label }));
        }
        const cancel = () => {
            this.#asked = '';
            this.#draw();
            /** @type {HTMLElement | null} */ (this.#root.querySelector(`[data-key="${CSS.escape(key)}"]`))?.focus();
        };
        return el('div', { class: 'ask', role: 'group', 'aria-label': question, onkeydown: event => { if (/** @type {KeyboardEvent} */ (event).key === 'Escape') cancel(); } },
            el('p', {}, question),
            el('div', { class: 'row' }, this.#button(text, 'confirm', 'bad', () => this.#attempt(said, act)), this.#button(texts.cancel, 'cancel', '', cancel)));
    }
}

/**
 * @param {Container} container
 * @param {{ zoneID: CKZoneID, shareTitle?: string, supportedPermissions?: string[], lang?: string }} options
 * @returns {Promise<CKShare | undefined>}
 */
export async function shareSheet(container, { zoneID, shareTitle, supportedPermissions, lang }) {
    const element = /** @type {SealShareElement} */ (document.createElement('seal-share'));
    if (shareTitle) element.setAttribute('share-title', shareTitle);
    if (supportedPermissions) element.setAttribute('permissions', supportedPermissions.join(' '));
    if (lang) element.lang = lang;
    const texts = await loadTexts(lang || document.documentElement.lang || navigator.language);
    const sheet = el('dialog', { 'aria-label': texts.title, class: 'seal-share-sheet' });
    const close = el('button', { type: 'button', onclick: () => sheet.close() }, texts.close);
    sheet.append(element, close);
    document.body.append(sheet);
    element.container = container;
    element.zoneID = zoneID;
    sheet.showModal();
    await new Promise(resolve => sheet.addEventListener('close', resolve, { once: true }));
    sheet.remove();
    return element.share;
}

if (!customElements.get('seal-share')) customElements.define('seal-share', SealShareElement);
