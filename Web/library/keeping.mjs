// What a browser or a folder of node's keeps of what was verified, of one zone. All of that is sealed anew each time: where records are saved
// one after the other, once for all of them.
import * as kept from '../client/kept.mjs';
import { folderStore } from './folder.mjs';

/** @typedef {Pick<typeof kept, 'exchange' | 'forgotten'>} Store */

export class Keeping {
    #store;
    #isHeld = false;
    /** @type {{ what: Parameters<Store['exchange']>, times: number } | undefined} */
    #waiting;

    /** @param {Store} store */
    constructor(store) { this.#store = store; }

    /** @param {string} [folder] of node's @returns {Keeping | undefined} nothing where there is nobody to keep it */
    static begin(folder) {
        if (folder) return new Keeping(folderStore(folder));
        return typeof indexedDB === 'object' ? new Keeping(kept) : undefined;
    }

    forgotten() { return this.#store.forgotten(); }

    /** @param {Parameters<Store['exchange']>} what */
    async exchange(...what) {
        this.#waiting = this.#isHeld ? { what, times: this.forgotten() } : undefined;
        if (!this.#isHeld) await this.#store.exchange(...what);
    }

    /**
     * Keeps nothing meanwhile: whoever calls it calls `flush` before anything of it is shown.
     * @template T
     * @param {() => Promise<T>} body
     * @returns {Promise<T>}
     */
    async held(body) {
        this.#isHeld = true;
        try {
            return await body();
        } finally {
            this.#isHeld = false;
        }
    }

    async flush() {
        const waiting = this.#waiting;
        this.#waiting = undefined;
        // Of a browser that was told to forget meanwhile nobody keeps what was verified before.
        if (waiting?.times === this.forgotten()) await this.exchange(...waiting.what);
    }
}
