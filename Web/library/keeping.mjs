// What a browser keeps of what was verified (`kept.mjs`), of one zone. All of that is sealed anew each time: where records are saved one after
// the other, once for all of them.
import * as kept from '../client/kept.mjs';

export class Keeping {
    #isHeld = false;
    /** @type {Parameters<typeof kept.exchange> | undefined} */
    #waiting;

    /** @returns {Keeping | undefined} nothing where there is no browser to keep it */
    static begin() { return typeof indexedDB === 'object' ? new Keeping() : undefined; }

    forgotten() { return kept.forgotten(); }

    /** @param {Parameters<typeof kept.exchange>} what */
    async exchange(...what) {
        this.#waiting = this.#isHeld ? what : undefined;
        if (!this.#isHeld) await kept.exchange(...what);
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

    async flush() { if (this.#waiting) await this.exchange(...this.#waiting); }
}
