// Calls of the server's routes, by their names in the table of endpoints. What goes and what comes is the module's to write and read.
import { routes } from './routes.mjs';

const media = 'application/x-protobuf';

/** What the server refused, by its code (PROTOCOL-TRANSPORT.md, "Error codes"), or `networkFailure`. */
export class ServerError extends Error {
    constructor({ code, reason = '', remedy = '', wait = 0 }) {
        super(code);
        Object.assign(this, { name: 'ServerError', code, reason, remedy, wait });
    }
}

export class Server {
    #readFailure;
    /** The bearer; it is in this worker's memory alone. */
    token = '';

    /** @param {(bytes: Uint8Array) => object} readFailure what a refusal says */
    constructor(readFailure) { this.#readFailure = readFailure; }

    /**
     * @param {string} name the route's
     * @param {Uint8Array} [body]
     * @param {Record<string, string>} [place] what stands for the path's parameters
     * @returns {Promise<Uint8Array>} the answer's bytes
     */
    async call(name, body, place = {}) {
        const { method, path } = routes[name];
        const headers = { accept: media, 'sealkit-wire-version': '1', 'sealkit-client': 'web/0.1.0 browser' };
        if (body) headers['content-type'] = media;
        if (this.token !== '') headers.authorization = `Bearer ${this.token}`;
        let response;
        let bytes;
        try {
            response = await fetch(path.replace(/\{(\w+)\}/g, (_, key) => encodeURIComponent(place[key])), {
                method, headers, body, cache: 'no-store', credentials: 'omit', redirect: 'error', referrerPolicy: 'no-referrer',
            });
            bytes = new Uint8Array(await response.arrayBuffer());
        } catch {
            throw new ServerError({ code: 'networkFailure' });
        }
        if (response.ok) return bytes;
        let failure;
        try {
            failure = this.#readFailure(bytes);
        } catch {
            failure = { code: response.status >= 500 ? 'serviceUnavailable' : 'serverRejectedRequest' };
        }
        throw new ServerError(failure);
    }
}
