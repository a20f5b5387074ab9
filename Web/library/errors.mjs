// What goes wrong, as CloudKit JS tells it.
import { ServerError } from '../client/server.mjs';

/** CloudKit JS's codes by the server's, and by what this machine's own judgement refuses. */
const codes = new Map(Object.entries({
    accountSuspended: 'ACCESS_DENIED',
    accountTemporarilyUnavailable: 'AUTHENTICATION_FAILED',
    alreadyAccepted: 'EXISTS',
    alreadyInvited: 'EXISTS',
    alreadyShared: 'EXISTS',
    assetFileModified: 'BAD_REQUEST',
    assetFileNotFound: 'NOT_FOUND',
    assetNotAvailable: 'NOT_FOUND',
    badContainer: 'BAD_REQUEST',
    badDatabase: 'BAD_REQUEST',
    batchRequestFailed: 'ATOMIC_ERROR',
    changeTokenExpired: 'BAD_REQUEST',
    constraintViolation: 'VALIDATING_REFERENCE_ERROR',
    deleted: 'NOT_FOUND',
    deletionIncomplete: 'TRY_AGAIN_LATER',
    deviceRemoved: 'AUTHENTICATION_REQUIRED',
    endless: 'INTERNAL_ERROR',
    exists: 'EXISTS',
    incompatibleVersion: 'BAD_REQUEST',
    internalError: 'INTERNAL_ERROR',
    invalidArguments: 'BAD_REQUEST',
    invalidLength: 'BAD_REQUEST',
    invalidName: 'BAD_REQUEST',
    invalidURL: 'BAD_REQUEST',
    isBlocked: 'BAD_REQUEST',
    keepsChanging: 'TRY_AGAIN_LATER',
    keysReplaced: 'AUTHENTICATION_REQUIRED',
    limitExceeded: 'BAD_REQUEST',
    mayOnlyRead: 'ACCESS_DENIED',
    missingKey: 'NOT_FOUND',
    mistypedRecoveryKey: 'BAD_REQUEST',
    networkFailure: 'NETWORK_ERROR',
    networkUnavailable: 'NETWORK_ERROR',
    noKeys: 'BAD_REQUEST',
    noSeat: 'NOT_FOUND',
    noShareURL: 'ACCESS_DENIED',
    notAuthenticated: 'AUTHENTICATION_REQUIRED',
    notKept: 'ACCESS_DENIED',
    notMember: 'ACCESS_DENIED',
    operationCancelled: 'TRY_AGAIN_LATER',
    othersInvitation: 'ACCESS_DENIED',
    outOfMemory: 'INTERNAL_ERROR',
    participantAlreadyInvited: 'EXISTS',
    participantMayNeedVerification: 'AUTHENTICATION_REQUIRED',
    permissionFailure: 'ACCESS_DENIED',
    quotaExceeded: 'QUOTA_EXCEEDED',
    referenceViolation: 'VALIDATING_REFERENCE_ERROR',
    requestRateLimited: 'THROTTLED',
    rosterChanged: 'TRY_AGAIN_LATER',
    rotationDue: 'TRY_AGAIN_LATER',
    serverNotTrusted: 'NETWORK_ERROR',
    serverRecordChanged: 'CONFLICT',
    serverRejectedRequest: 'BAD_REQUEST',
    serverResponseLost: 'NETWORK_ERROR',
    serviceUnavailable: 'TRY_AGAIN_LATER',
    sessionExpired: 'AUTHENTICATION_REQUIRED',
    shareIsPublic: 'BAD_REQUEST',
    staleEpoch: 'TRY_AGAIN_LATER',
    storageFull: 'QUOTA_EXCEEDED',
    takesOthers: 'VALIDATING_REFERENCE_ERROR',
    tooManyParticipants: 'BAD_REQUEST',
    unknownItem: 'NOT_FOUND',
    unknownScope: 'ZONE_NOT_FOUND',
    unsupported: 'BAD_REQUEST',
    userDeletedZone: 'ZONE_NOT_FOUND',
    verificationFailed: 'AUTHENTICATION_FAILED',
    weakParameters: 'BAD_REQUEST',
    wrongPassphrase: 'AUTHENTICATION_FAILED',
    zoneBusy: 'TRY_AGAIN_LATER',
    zoneGone: 'ZONE_NOT_FOUND',
    zoneNotFound: 'ZONE_NOT_FOUND',
}));

/** The core's words for what does not verify: from it alone, since a server may say of itself what it likes. */
const unverified = new Set([
    'authenticationFailed', 'authorNotPermitted', 'backdated', 'changed', 'changeNotApplicable', 'changeNotPermitted', 'circle',
    'coverageMismatch', 'epochRequired', 'fieldMismatch', 'foreignKeys', 'forked', 'integrityFailure', 'invalidIdentity', 'invalidKey',
    'invalidNotice', 'invalidProof', 'invalidSignature', 'keyMismatch', 'malformed', 'memoryDamaged', 'mended', 'misplaced', 'notNextEntry', 'notSuccessor',
    'otherContainer', 'otherServer', 'renewalRequired', 'rollback', 'shortened', 'unexpected', 'unknownEnd', 'unknownRosterHead',
    'withheld', 'wrongContext',
]);

/** For tests: every word that the core or the server has is one of these. */
export const known = (/** @type {string} */ word) => codes.has(word) || unverified.has(word);

/**
 * @typedef {{
 *     reason?: string, remedy?: string, retryAfter?: number, recordName?: string, serverRecord?: import('./record.mjs').CKRecord, isServers?: boolean,
 *     cause?: unknown,
 * }} About `isServers`: it is the server's word
 */

/**
 * A failure. `ckErrorCode` is CloudKit JS's, or `INTEGRITY_ERROR` for what does not verify: CloudKit has none.
 * `serverErrorCode` is the word of the server (PROTOCOL-TRANSPORT.md, "Error codes") or of the core.
 */
export class CKError extends Error {
    #about;

    /** @param {string} serverErrorCode @param {About} [about] */
    constructor(serverErrorCode, about = {}) {
        const { reason = '', remedy = '', retryAfter = 0, recordName, serverRecord, isServers = false, cause } = about;
        super([reason || serverErrorCode, remedy].filter(Boolean).join(' '), cause === undefined ? undefined : { cause });
        this.name = 'CKError';
        /** @type {string} */
        this.ckErrorCode = codes.get(serverErrorCode) ?? (unverified.has(serverErrorCode) && !isServers ? 'INTEGRITY_ERROR' : 'INTERNAL_ERROR');
        this.serverErrorCode = serverErrorCode;
        this.reason = reason;
        /** Seconds. */
        this.retryAfter = retryAfter;
        this.recordName = recordName;
        /** With `CONFLICT`: what is there now. */
        this.serverRecord = serverRecord;
        this.#about = about;
    }

    /** @param {CKError} error @returns {{ serverErrorCode: string, about: About }} what it is made of, which goes from one thread to another */
    static parts(error) { return { serverErrorCode: error.serverErrorCode, about: error.#about }; }
}

/** @param {any} failure the server's, of one of what was asked for @returns {CKError} */
export const refused = ({ code, reason, remedy }) =>
    new CKError(typeof code === 'string' ? code : 'serverRejectedRequest', { reason: String(reason ?? ''), remedy: String(remedy ?? ''), isServers: true });

/**
 * @param {string} reason
 * @param {string} [recordName]
 */
export const badRequest = (reason, recordName) => new CKError('invalidArguments', { reason, recordName });

/** What the app itself has thrown, where it was asked something: that goes back to it as it is. */
class AppsOwn extends Error {
    /** @param {unknown} thrown */
    constructor(thrown) {
        super('the app refused');
        this.thrown = thrown;
    }
}

/**
 * Asks the app.
 * @template T
 * @param {() => T | Promise<T>} body
 * @returns {Promise<T>}
 */
export async function askedOfApp(body) {
    try {
        return await body();
    } catch (error) {
        throw new AppsOwn(error);
    }
}

/** What a browser says of a file that is not as it was when it was chosen. */
const fileCodes = new Map([['NotReadableError', 'assetFileModified'], ['NotFoundError', 'assetFileNotFound']]);

/**
 * @param {unknown} error what was thrown below
 * @param {string} [recordName] whose it is
 * @returns {CKError} also of what a browser or a fault of the program throws, which is its `cause`
 */
export function asCKError(error, recordName) {
    if (error instanceof AppsOwn) throw error;
    if (error instanceof CKError) {
        return recordName === undefined || error.recordName !== undefined ? error : new CKError(error.serverErrorCode, { ...CKError.parts(error).about, recordName });
    }
    const { code, name = '', message = '', reason = '', remedy = '', wait = 0 } =
        /** @type {{ code?: unknown, name?: string, message?: string, reason?: string, remedy?: string, wait?: number }} */ (error ?? {});
    if (typeof code === 'string') return new CKError(code, { reason, remedy, retryAfter: wait / 1000, recordName, isServers: error instanceof ServerError });
    return new CKError(fileCodes.get(name) ?? 'internalError', { reason: String(message || error), recordName, cause: error });
}

/**
 * Runs what may fail below; what it throws is a `CKError`, or what the app itself has thrown.
 * @template T
 * @param {() => T | Promise<T>} body
 * @returns {Promise<T>}
 */
export async function told(body) {
    try {
        return await body();
    } catch (error) {
        throw error instanceof AppsOwn ? error.thrown : asCKError(error);
    }
}
