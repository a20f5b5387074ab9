// One visitor and one share: what is asked of the server, and of the module, in which order.
import { micros } from './account.mjs';
import { Zone } from './zone.mjs';

const standings = ['member', 'invited', 'everybody'];

export class Visit {
    #account;
    #url;
    #identity;
    #container;
    #environment;
    #opening;
    #proof;
    #token = '';
    #zone;
    #place;
    #text;
    #stream;

    /** @param {import('./account.mjs').Account} account whose visit it is */
    constructor(account) { this.#account = account; }

    get account() { return this.#account; }

    #ask(...operation) { return this.#account.ask(...operation); }
    #call(...call) { return this.#account.call(...call); }

    // The URL

    /** Nothing is asked of anybody yet. */
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
            if (error.code !== 'unknownItem') throw error;
            return { hasSeat: false };
        }
    }

    // The share

    /** What the URL leads to; `participantMayNeedVerification` where an address is to be proven first. */
    async look({ check = () => {} } = {}) {
        const answer = await this.#call('share/place', this.#account.handle('placeRequest', this.#url).blob());
        const place = this.#ask('placeAnswer', writer => writer.blob(answer));
        const container = place.string();
        this.#environment = place.string();
        check(container, this.#environment);
        ({ identity: this.#identity } = await this.#account.identify(container));
        this.#container = container;
        let next = this.#ask('metadataAnswer', await this.#metadata(0n, (writer, bytes) => writer.u32(this.#url).string(this.#account.origin)
            .string(container).string(this.#environment).blob(bytes)));
        const opening = next.u32();
        while (next.flag()) {
            next = this.#ask('metadataGoesOn', await this.#metadata(next.u64(), (writer, bytes) => writer.u32(opening).blob(bytes)));
        }
        this.#opening = opening;
        return this.#shown();
    }

    async #metadata(first, write) {
        const request = this.#ask('metadataRequest', writer => writer.u32(this.#url).i64(first)).blob();
        const bytes = await this.#call('share/metadata', request);
        return writer => write(writer, bytes);
    }

    #shown() {
        const preview = this.#account.handle('preview', this.#opening);
        const shown = {
            isVouched: preview.flag(), title: preview.string(), type: preview.string(), thumbnail: preview.blob().slice(),
            author: preview.string(), isByOwner: preview.flag(), container: this.#container, environment: this.#environment,
        };
        const standing = this.#ask('standing', writer => writer.u32(this.#opening).u32(this.#identity));
        const all = {
            ...shown, standing: standings[standing.byte()], mayWrite: standing.flag(), owner: standing.string(), zone: standing.string(),
            share: standing.string(), safetyNumber: standing.string(), people: standing.u32(),
        };
        this.#place = all;
        return all;
    }

    async sendCode({ address, language }) {
        const request = this.#ask('codeRequest', writer =>
            writer.u32(this.#url).string(this.#container).string(address).string(language)).blob();
        const bytes = await this.#call('verification/begin', request);
        const answer = this.#ask('codeAnswer', writer =>
            writer.u32(this.#url).string(this.#account.origin).string(address).blob(bytes));
        this.#proof = answer.u32();
    }

    async proveCode({ code }) {
        const request = this.#ask('proofRequest', writer => writer.u32(this.#proof).u32(this.#identity).string(code)).blob();
        const answer = await this.#call('verification/complete', request);
        this.#token = this.#ask('proofAnswer', writer => writer.blob(answer)).string();
    }

    async accept() {
        const request = this.#ask('acceptRequest', writer => writer.u32(this.#opening).u32(this.#identity).u32(this.#account.visitor)
            .string(this.#token).i64(micros())).blob();
        await this.#call('share/accept', request);
    }

    // Records

    /** Where the URL led at another visit: the share is read without it. */
    async comeBack({ container, environment, owner, zone, share, database = 'shared' }) {
        ({ identity: this.#identity } = await this.#account.identify(container));
        this.#container = container;
        this.#environment = environment;
        this.#place = { owner, zone };
        this.#enter(this.#ask('comeBack', writer => writer.u32(this.#identity).string(container).string(environment).string(owner)
            .string(zone).string(share)).u32(), database);
    }

    enter() {
        this.#enter(this.#ask('enter', writer => writer.u32(this.#opening).u32(this.#identity)).u32());
    }

    #enter(handle, database = 'shared') {
        this.#zone = new Zone(this.#account, handle, { container: this.#container, environment: this.#environment, database });
    }

    /**
     * Hears of what others change in it, from now on, for as long as this lasts.
     * @param {() => void} tell that something may have come
     */
    async watch(_, tell) {
        this.#stream?.close();
        const [{ callByMessage }, { NotificationStream }] = await Promise.all([import('./messages.mjs'), import('./notifications.mjs')]);
        const place = { container: this.#container, environment: this.#environment };
        const operationId = btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(16))));
        // One of the account's, the same at each visit.
        await callByMessage(this.#account, 'subscriptions/modify', { operationId, saves: [{ subscriptionId: 'sealkit-page', kind: 3 }] },
            { ...place, database: 'shared' });
        const { owner, zone } = this.#place;
        this.#stream = new NotificationStream(this.#account, place, told => {
            if (!told?.zoneID || (told.zoneID.zoneName === zone && told.zoneID.ownerRecordName === owner)) tell();
        });
        await this.#stream.open();
    }

    /** What is read and changed in it. */
    get zone() { return this.#zone; }
}
