// The server's event stream, by fetch: a browser's EventSource sends no session.
import { codeOf } from './failure.mjs';
import { refusal } from './messages.mjs';
import { mostBytes, read, ServerError } from './server.mjs';

/**
 * @typedef {{
 *     notificationType: 'query' | 'recordZone' | 'database', subscriptionID: string, databaseScope: string,
 *     zoneID?: { zoneName: string, ownerRecordName: string }, recordName?: string,
 * }} CKNotification
 */

/** @type {('query' | 'recordZone' | 'database')[]} */
const types = ['query', 'recordZone', 'database'];
const [firstPause, longestPause] = [1_000, 30_000];
// The server says something every 25 seconds.
const silence = 75_000;
// An event is a few hundred bytes: a server that never ends one is not listened to.
const mostOfEvent = 1 << 20;
// No attempt helps against these.
const final = new Set(['accountSuspended', 'keysReplaced', 'notAuthenticated', 'permissionFailure', 'deviceRemoved', 'badContainer']);

/** @param {string} text of an event @returns {{ event: string, data: string, id?: string }} */
export function parsed(text) {
    /** @type {{ event: string, data: string, id?: string }} */
    const found = { event: 'message', data: '' };
    for (const line of text.split('\n')) {
        const colon = line.indexOf(':');
        if (colon <= 0) continue;
        const [name, value] = [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
        if (name === 'event') found.event = value;
        else if (name === 'data') found.data += value;
        else if (name === 'id') found.id = value;
    }
    return found;
}

export class NotificationStream {
    #account;
    #place;
    #tell;
    #ended;
    /** @type {AbortController | undefined} */
    #stop;
    /** @type {string | undefined} */
    #lastID;
    #pause = firstPause;

    /**
     * @param {import('./account.mjs').Account} account
     * @param {{ container: string, environment: string }} place
     * @param {(notification: CKNotification | null) => void} tell null where something was missed: all is to be fetched
     * @param {(error: unknown) => void} [ended] it does not go on by itself
     */
    constructor(account, place, tell, ended = () => {}) {
        this.#ended = ended;
        this.#account = account;
        this.#place = place;
        this.#tell = tell;
    }

    /** @returns {Promise<void>} once the server tells of what changes from now on */
    open() {
        this.close();
        const stop = new AbortController();
        this.#stop = stop;
        return new Promise((resolve, reject) => void this.#run(stop, resolve, reject));
    }

    close() {
        this.#stop?.abort();
        this.#stop = undefined;
    }

    /** @param {AbortController} stop @param {() => void} ready @param {(error: unknown) => void} refuse */
    async #run(stop, ready, refuse) {
        let isFirst = true;
        while (!stop.signal.aborted) {
            try {
                await this.#account.inSession(() => this.#read(stop.signal, () => {
                    isFirst = false;
                    this.#pause = firstPause;
                    ready();
                }));
            } catch (error) {
                if (isFirst && !stop.signal.aborted) {
                    refuse(error);
                    return;
                }
                // What does not pass by itself is told, once.
                if (!stop.signal.aborted && final.has(codeOf(error))) {
                    this.#stop = undefined;
                    this.#ended(error);
                    return;
                }
            }
            if (stop.signal.aborted) break;
            await new Promise(resolve => setTimeout(resolve, this.#pause));
            this.#pause = Math.min(this.#pause * 2, longestPause);
        }
        // Nobody waits for what was closed.
        if (isFirst) refuse(new ServerError({ code: 'operationCancelled' }));
    }

    /** @param {AbortSignal} signal @param {() => void} ready */
    async #read(signal, ready) {
        // It was closed before anything was asked.
        signal.throwIfAborted();
        const quiet = new AbortController();
        /** @type {ReturnType<typeof setTimeout> | undefined} */
        let timer;
        const heard = () => {
            clearTimeout(timer);
            timer = setTimeout(() => quiet.abort(), silence);
        };
        const end = () => quiet.abort();
        signal.addEventListener('abort', end);
        try {
            heard();
            const headers = { accept: 'text/event-stream', ...this.#lastID !== undefined && { 'last-event-id': this.#lastID } };
            const response = await this.#account.server.send('notifications', this.#place, headers, quiet.signal);
            if (!response.ok || !response.body) {
                throw refusal(response, await read(response, mostBytes, heard));
            }
            const decoder = new TextDecoder();
            let left = '';
            const reader = response.body.getReader();
            for (;;) {
                const { done, value } = await reader.read();
                if (done) return;
                heard();
                const text = decoder.decode(value, { stream: true });
                // The end may lie across two chunks; what was looked through is not looked through again.
                if (!(left.slice(-1) + text).includes('\n\n')) {
                    left += text;
                } else {
                    const parts = (left + text).split('\n\n');
                    left = parts.pop() ?? '';
                    for (const part of parts) this.#take(parsed(part), ready);
                }
                if (left.length > mostOfEvent) throw new ServerError({ code: 'endless' });
            }
        } finally {
            clearTimeout(timer);
            signal.removeEventListener('abort', end);
            quiet.abort();
        }
    }

    /** @param {{ event: string, data: string, id?: string }} event @param {() => void} ready */
    #take({ event, data, id }, ready) {
        if (id !== undefined) this.#lastID = id;
        if (event === 'ready') ready();
        else if (event === 'reset') {
            ready();
            this.#tell(null);
        } else if (event === 'notification') {
            // What is none ends this stream, and the next one begins where it was.
            const { subscriptionId, kind, database, zone, recordName } = JSON.parse(data);
            this.#tell({
                notificationType: types[kind - 1] ?? 'database', subscriptionID: subscriptionId, databaseScope: String(database).toUpperCase(),
                ...zone && { zoneID: { zoneName: zone.zoneName, ownerRecordName: zone.ownerName } }, ...recordName && { recordName },
            });
        }
    }
}
