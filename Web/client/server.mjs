// Calls of the server's routes, by their names in the table of endpoints. What goes and what comes is the module's to write and read.
import { routes } from './routes.mjs';

/**
 * @typedef {keyof typeof routes} Route by its name in the table of endpoints
 * @typedef {Record<string, string>} Place what stands for the path's parameters
 * @typedef {{ code: string, reason?: string, remedy?: string, wait?: number }} Failure `wait` in milliseconds
 */

const [media, octets] = ['application/x-protobuf', 'application/octet-stream'];
// More than the largest page has: 2 MiB, and a record beyond.
export const mostBytes = 8 << 20;
// Of what is waited for: the first byte and each further one, and so many a second once it has taken a minute.
const [patience, leastPace] = [60_000, 2048];

// They begin a session, and go with none.
/** @type {Route[]} */
const beginning = ['accounts/challenge', 'accounts/create', 'accounts/login', 'accounts/recover'];

/**
 * Whatever stands in a server's place says something else, or nothing, which is a whole message as well.
 * @param {Response} response
 * @param {Uint8Array} bytes
 * @param {string} type
 */
function isAnswer({ status, headers }, bytes, type) {
    const named = headers.get('content-type')?.split(';')[0].trim().toLowerCase();
    return [200, 206].includes(status) && (named ? [type, 'application/protobuf'].includes(named) : bytes.length > 0);
}

/** What the server refused, by its code (PROTOCOL-TRANSPORT.md, "Error codes"), or `networkFailure`. */
export class ServerError extends Error {
    /** @param {Failure} failure */
    constructor({ code, reason = '', remedy = '', wait = 0 }) {
        super(code);
        this.name = 'ServerError';
        this.code = code;
        this.reason = reason;
        this.remedy = remedy;
        this.wait = wait;
    }
}

export class Server {
    #base;
    #readFailure;
    /** The bearer; it is in this worker's memory alone. */
    token = '';

    /**
     * @param {string} base what stands before a path: an origin, or nothing where that is the page's
     * @param {(bytes: Uint8Array) => Failure} readFailure what a refusal says
     */
    constructor(base, readFailure) {
        this.#base = base;
        this.#readFailure = readFailure;
    }

    /**
     * What is asked of a route, and its answer as it comes.
     * @param {Route} name
     * @param {Place} place
     * @param {Record<string, string>} headers
     * @param {AbortSignal} signal
     * @param {Uint8Array} [body]
     * @returns {Promise<Response>}
     */
    send(name, place, headers, signal, body) {
        const { method, path } = routes[name];
        return fetch(this.#base + path.replace(/\{(\w+)\}/g, (_, /** @type {string} */ key) => encodeURIComponent(place[key])), {
            method, body, signal, cache: 'no-store', credentials: 'omit', redirect: 'error', referrerPolicy: 'no-referrer',
            headers: {
                ...headers, 'sealkit-wire-version': '1', 'sealkit-client': 'web/0.1.0 browser',
                ...this.token !== '' && !beginning.includes(name) && { authorization: `Bearer ${this.token}` },
            },
        });
    }

    /**
     * @param {Route} name
     * @param {Uint8Array} [body]
     * @param {Place} [place]
     * @param {number} [most] bytes of the answer
     * @param {string} [type] of the body
     * @param {(count: number) => void} [heard] is told how many bytes of the answer have come
     * @returns {Promise<Uint8Array>} the answer's bytes
     * @throws {ServerError} what the server refuses; `networkFailure`; `endless` where the answer is longer
     */
    async call(name, body, place = {}, most = mostBytes, type = media, heard = () => {}) {
        const { response, bytes } = await this.exchange(name, place, { accept: media, ...body && { 'content-type': type } }, body, most, heard);
        // Bytes that were sent are stored: of that there is nothing to say.
        if (type === octets ? response.status === 201 : isAnswer(response, bytes, name === 'assets/download' ? octets : media)) return bytes;
        throw response.ok ? new ServerError({ code: 'networkFailure' }) : this.#refusal(response, bytes);
    }

    /**
     * An answer of any length, as it comes.
     * @param {Route} name
     * @param {Place} place
     * @param {{ first: number, end: number }} range of it
     * @returns {AsyncGenerator<Uint8Array>}
     * @throws as `call`, and `networkFailure` where it breaks off
     */
    async *stream(name, place, { first, end }) {
        const stop = new AbortController();
        /** @type {ReturnType<typeof setTimeout> | undefined} */
        let timer;
        const wait = () => {
            clearTimeout(timer);
            timer = setTimeout(() => stop.abort(), patience);
        };
        try {
            wait();
            const began = Date.now();
            const response = await this.send(name, place, { accept: media, range: `bytes=${first}-${end - 1}` }, stop.signal);
            if (!response.ok) throw this.#refusal(response, await read(response, mostBytes, () => wait()));
            // All of it, where a part was asked for, is not what is to be read.
            if (response.status !== 206) throw new ServerError({ code: 'serverRejectedRequest' });
            let left = end - first;
            const reader = response.body?.getReader();
            while (reader) {
                const { done, value } = await reader.read();
                if (done) break;
                left -= value.length;
                if (left < 0) throw new ServerError({ code: 'endless' });
                if (trickles(began, end - first - left)) break;
                wait();
                yield value;
            }
            if (left > 0) throw new ServerError({ code: 'networkFailure' });
        } catch (error) {
            throw error instanceof ServerError ? error : new ServerError({ code: 'networkFailure' });
        } finally {
            clearTimeout(timer);
            stop.abort();
        }
    }

    /** @param {Response} response @param {Uint8Array} bytes */
    #refusal(response, bytes) {
        let failure;
        try {
            failure = this.#readFailure(bytes);
        } catch {
            // What is no refusal of the server's comes from what is before it.
        }
        return new ServerError(failure?.code ? failure : { code: response.status >= 500 ? 'serviceUnavailable' : 'serverRejectedRequest' });
    }

    /**
     * @param {Route} name
     * @param {Place} place
     * @param {Record<string, string>} headers
     * @param {Uint8Array} [body]
     * @param {number} [most] bytes of the answer
     * @param {(count: number) => void} [heard] as of `call`, of an answer that is no refusal
     * @returns an answer, whatever it says, with all of its bytes
     */
    async exchange(name, place, headers, body, most = mostBytes, heard = () => {}) {
        const stop = new AbortController();
        /** @type {ReturnType<typeof setTimeout> | undefined} */
        let timer;
        const wait = (more = 0) => {
            clearTimeout(timer);
            timer = setTimeout(() => stop.abort(), patience + more);
        };
        try {
            // Nothing is heard while a long body goes out over a slow line.
            wait((body?.length ?? 0) / leastPace * 1000);
            const response = await this.send(name, place, headers, stop.signal, body);
            return {
                response, bytes: await read(response, response.ok ? most : mostBytes, count => {
                    wait();
                    if (response.ok) heard(count);
                }),
            };
        } catch (error) {
            throw error instanceof ServerError ? error : new ServerError({ code: 'networkFailure' });
        } finally {
            clearTimeout(timer);
            stop.abort();
        }
    }
}

/** @param {number} began @param {number} count of bytes since then */
const trickles = (began, count) => (Date.now() - began - patience) / 1000 * leastPace > count;

/**
 * All of an answer, as far as it is no longer than it may be, and does not trickle.
 * @param {Response} response
 * @param {number} most
 * @param {(count: number) => void} heard it goes on, with so many bytes by now
 */
export async function read(response, most, heard) {
    const began = Date.now();
    const parts = [];
    let count = 0;
    const reader = response.body?.getReader();
    while (reader) {
        const { done, value } = await reader.read();
        if (done) break;
        count += value.length;
        if (count > most) throw new ServerError({ code: 'endless' });
        if (trickles(began, count)) throw new ServerError({ code: 'networkFailure' });
        parts.push(value);
        heard(count);
    }
    const bytes = new Uint8Array(count);
    let offset = 0;
    for (const part of parts) {
        bytes.set(part, offset);
        offset += part.length;
    }
    return bytes;
}
