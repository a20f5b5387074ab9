// One visitor and one share: what is asked of the server, and of the module, in which order.
import { micros } from './account.mjs';
import { codeOf } from './failure.mjs';
import { callByMessage, newOperationId } from './messages.mjs';
import { NotificationStream } from './notifications.mjs';
import { Zone } from './zone.mjs';

/**
 * @typedef {import('./canonical.mjs').Writer} Writer
 * @typedef {import('./canonical.mjs').Reader} Reader
 * @typedef {{ owner: string, zone: string }} ZonePlace
 * @typedef {ZonePlace & { container: string, environment: string, share: string }} SharePlace where a share is read without its URL
 * @typedef {SharePlace & {
 *     isVouched: boolean, title: string, type: string, thumbnail: Uint8Array, author: string, isByOwner: boolean,
 *     standing: 'member' | 'invited' | 'everybody', mayWrite: boolean, safetyNumber: string, people: number,
 * }} ShownShare what a URL leads to
 * @typedef {Pick<typeof import('./kept.mjs'), 'exchange' | 'forgotten'>} Keeping
 */

const standings = /** @type {const} */ (['member', 'invited', 'everybody']);

export class Visit {
    #account;
    // Handles of the module; 0 is none of them.
    #url = 0;
    #identity = 0;
    #opening = 0;
    #proof = 0;
    #container = '';
    #environment = '';
    #token = '';
    #text = '';
    /** @type {Zone | undefined} */
    #zone;
    /** @type {ZonePlace | undefined} */
    #place;
    /** @type {import('./notifications.mjs').NotificationStream | undefined} */
    #stream;

    #kept;

    /**
     * @param {import('./account.mjs').Account} account whose visit it is
     * @param {Keeping} [kept] where what was verified is kept for the next visit; without it that is known for this one alone
     */
    constructor(account, kept) {
        this.#account = account;
        this.#kept = kept;
    }

    get account() { return this.#account; }

    /** @param {Parameters<import('./account.mjs').Account['ask']>} operation */
    #ask(...operation) { return this.#account.ask(...operation); }
    /** @param {Parameters<import('./account.mjs').Account['call']>} call */
    #call(...call) { return this.#account.call(...call); }

    // The URL

    /**
     * Nothing is asked of anybody yet.
     * @param {{ url: string }} share
     */
    open({ url }) {
        this.#url = this.#ask('visit', writer => writer.string(url).string(this.#account.origin)).u32();
        this.#text = url;
    }

    /** All of it, for an app that the reader opens it in. */
    link() { return this.#text; }

    /** @returns {Promise<{ hasSeat: boolean }>} whether somebody without an account could take a seat */
    async askForSeat() {
        try {
            await this.#account.server.call('share/newcomer', this.#account.handle('newcomerRequest', this.#url).blob());
            return { hasSeat: true };
        } catch (error) {
            if (codeOf(error) !== 'unknownItem') throw error;
            return { hasSeat: false };
        }
    }

    // The share

    /**
     * What the URL leads to; `participantMayNeedVerification` where an address is to be proven first.
     * @param {{ check?: (container: string, environment: string) => void } | undefined} wish `check` throws where it is not to be looked at
     */
    async look(wish) {
        const answer = await this.#call('share/place', this.#account.handle('placeRequest', this.#url).blob());
        const place = this.#ask('placeAnswer', writer => writer.blob(answer));
        const container = place.string();
        this.#environment = place.string();
        wish?.check?.(container, this.#environment);
        ({ identity: this.#identity } = await this.#account.identify(container));
        this.#container = container;
        let next = this.#ask('metadataAnswer', await this.#metadata(0n, (writer, bytes) => writer.u32(this.#url).string(this.#account.origin)
            .string(container).string(this.#environment).blob(bytes)));
        this.#account.handle('forget', this.#opening);
        const opening = this.#opening = next.u32();
        while (next.flag()) {
            next = this.#ask('metadataGoesOn', await this.#metadata(next.u64(), (writer, bytes) => writer.u32(opening).blob(bytes)));
        }
        const shown = this.#shown();
        // Whoever was in it is shown no older state in which it is to be accepted.
        if (shown.standing !== 'member' && this.#kept) {
            const zone = this.#entered();
            try {
                await this.#remembering(zone, true)();
            } finally {
                this.#account.handle('forget', zone);
            }
        }
        return shown;
    }

    /**
     * @param {bigint} first
     * @param {(writer: Writer, bytes: Uint8Array) => unknown} write
     * @returns {Promise<(writer: Writer) => unknown>}
     */
    async #metadata(first, write) {
        const request = this.#ask('metadataRequest', writer => writer.u32(this.#url).i64(first)).blob();
        const bytes = await this.#call('share/metadata', request);
        return writer => write(writer, bytes);
    }

    /** @returns {ShownShare} */
    #shown() {
        const preview = this.#account.handle('preview', this.#opening);
        const shown = {
            isVouched: preview.flag(), title: preview.string(), type: preview.string(), thumbnail: preview.blob().slice(),
            author: preview.string(), isByOwner: preview.flag(), container: this.#container, environment: this.#environment,
        };
        const standing = this.#ask('standing', writer => writer.u32(this.#opening).u32(this.#identity));
        const is = standings[standing.byte()];
        if (!is) throw new RangeError('no such standing');
        const all = {
            ...shown, standing: is, mayWrite: standing.flag(), owner: standing.string(), zone: standing.string(),
            share: standing.string(), safetyNumber: standing.string(), people: standing.u32(),
        };
        this.#place = all;
        return all;
    }

    /** @param {{ address: string, language: string }} wish */
    async sendCode({ address, language }) {
        const request = this.#ask('codeRequest', writer =>
            writer.u32(this.#url).string(this.#container).string(address).string(language)).blob();
        const bytes = await this.#call('verification/begin', request);
        const answer = this.#ask('codeAnswer', writer =>
            writer.u32(this.#url).string(this.#account.origin).string(address).blob(bytes));
        this.#account.handle('forget', this.#proof);
        this.#proof = answer.u32();
    }

    /** @param {{ code: string }} proof */
    async proveCode({ code }) {
        const request = this.#ask('proofRequest', writer => writer.u32(this.#proof).u32(this.#identity).string(code)).blob();
        const answer = await this.#call('verification/complete', request);
        this.#token = this.#ask('proofAnswer', writer => writer.blob(answer)).string();
    }

    async accept() {
        const request = this.#ask('acceptRequest', writer => writer.u32(this.#opening).u32(this.#identity).u32(this.#account.visitor)
            .string(this.#token).i64(micros())).blob();
        // It is of one invitation; the address is known from here on.
        this.#token = '';
        await this.#call('share/accept', request);
    }

    // Records

    /**
     * Where the URL led at another visit: the share is read without it.
     * @param {SharePlace & { database?: string }} place
     * @returns {Promise<{ isKnown: boolean }>} as of `enter`
     */
    async comeBack({ container, environment, owner, zone, share, database = 'shared' }) {
        ({ identity: this.#identity } = await this.#account.identify(container));
        this.#container = container;
        this.#environment = environment;
        this.#place = { owner, zone };
        return this.#enter(this.#ask('comeBack', writer => writer.u32(this.#identity).string(container).string(environment).string(owner)
            .string(zone).string(share)).u32(), database);
    }

    /** @returns {Promise<{ isKnown: boolean }>} whether this browser remembers what was verified of it before */
    enter() { return this.#enter(this.#entered()); }

    #entered() { return this.#ask('enter', writer => writer.u32(this.#opening).u32(this.#identity)).u32(); }

    /** @param {number} handle */
    async #enter(handle, database = 'shared') {
        const remember = this.#kept && this.#remembering(handle);
        const isKnown = await remember?.().catch(error => {
            this.#account.handle('forget', handle);
            throw error;
        }) ?? false;
        this.#zone = new Zone(this.#account, handle, { container: this.#container, environment: this.#environment, database }, remember);
        return { isKnown };
    }

    // What is known at the next visit

    get #key() {
        const { owner, zone } = this.#place ?? {};
        return ['verified', this.#account.device().account, this.#container, this.#environment, owner, zone].join(' ');
    }

    /** @param {number} zone @param {boolean} isPreview it leaves nothing @returns {() => Promise<boolean>} brings what is verified of it and what is kept of it together; whether something was kept */
    #remembering(zone, isPreview = false) {
        const [kept, key] = [this.#kept, this.#key];
        const times = kept?.forgotten();
        return async () => {
            let isKnown = false;
            // Of a browser that was told to forget nobody keeps what was begun before.
            if (kept?.forgotten() !== times) return isKnown;
            await kept?.exchange(key, there => {
                const answer = this.#ask('remember', writer => writer.u32(this.#account.visitor).u32(zone).flag(isPreview).blob(there ?? new Uint8Array(0)));
                isKnown = answer.flag();
                const next = answer.blob();
                return next.length > 0 ? next.slice() : undefined;
            });
            return isKnown;
        };
    }

    /** What is kept of it is damaged: nothing is known of it any more. */
    async beginAnew() { await this.#kept?.exchange(this.#key, () => null); }

    /** The module forgets the URL and what it led to; the zone it has still. */
    close() { for (const handle of [this.#url, this.#opening, this.#proof]) this.#account.handle('forget', handle); }

    /**
     * Hears of what others change in it, from now on, for as long as this lasts.
     * @param {undefined} _
     * @param {(hasEnded?: boolean) => void} tell that something may have come, or that no more is told
     */
    async watch(_, tell) {
        if (!this.#place) throw new TypeError('there is no share yet');
        const place = { container: this.#container, environment: this.#environment };
        // One of the account's, the same at each visit.
        await callByMessage(this.#account, 'subscriptions/modify', { operationId: newOperationId(), saves: [{ subscriptionId: 'sealkit-page', kind: 3 }] },
            { ...place, database: 'shared' });
        const { owner, zone } = this.#place;
        // After what is waited for: two that watch at once leave one.
        this.#stream?.close();
        this.#stream = new NotificationStream(this.#account, place, told => {
            if (!told?.zoneID || (told.zoneID.zoneName === zone && told.zoneID.ownerRecordName === owner)) tell();
            // Whoever looks then is told why there is nothing to hear any more.
        }, () => tell(true));
        await this.#stream.open();
    }

    /** What is read and changed in it. */
    get zone() {
        if (!this.#zone) throw new TypeError('there is no share yet');
        return this.#zone;
    }
}
