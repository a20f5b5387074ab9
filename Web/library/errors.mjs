// @ts-check
// What goes wrong, as CloudKit JS tells it.

/** CloudKit JS's codes by the server's, and by what this machine's own judgement refuses. */
const codes = new Map(Object.entries({
    accountSuspended: 'ACCESS_DENIED',
    accountTemporarilyUnavailable: 'AUTHENTICATION_FAILED',
    assetNotAvailable: 'NOT_FOUND',
    badContainer: 'BAD_REQUEST',
    badDatabase: 'BAD_REQUEST',
    batchRequestFailed: 'ATOMIC_ERROR',
    changed: 'CONFLICT',
    changeTokenExpired: 'BAD_REQUEST',
    constraintViolation: 'VALIDATING_REFERENCE_ERROR',
    deleted: 'NOT_FOUND',
    endless: 'INTERNAL_ERROR',
    exists: 'EXISTS',
    internalError: 'INTERNAL_ERROR',
    invalidArguments: 'BAD_REQUEST',
    invalidName: 'BAD_REQUEST',
    invalidURL: 'BAD_REQUEST',
    keepsChanging: 'TRY_AGAIN_LATER',
    limitExceeded: 'BAD_REQUEST',
    mayOnlyRead: 'ACCESS_DENIED',
    missingKey: 'NOT_FOUND',
    mistypedRecoveryKey: 'BAD_REQUEST',
    networkFailure: 'NETWORK_ERROR',
    notAuthenticated: 'AUTHENTICATION_REQUIRED',
    notKept: 'ACCESS_DENIED',
    notMember: 'ACCESS_DENIED',
    participantMayNeedVerification: 'AUTHENTICATION_REQUIRED',
    permissionFailure: 'ACCESS_DENIED',
    quotaExceeded: 'QUOTA_EXCEEDED',
    referenceViolation: 'VALIDATING_REFERENCE_ERROR',
    requestRateLimited: 'THROTTLED',
    serverRecordChanged: 'CONFLICT',
    serverRejectedRequest: 'BAD_REQUEST',
    serviceUnavailable: 'TRY_AGAIN_LATER',
    sessionExpired: 'AUTHENTICATION_REQUIRED',
    storageFull: 'QUOTA_EXCEEDED',
    unknownItem: 'NOT_FOUND',
    unsupported: 'BAD_REQUEST',
    userDeletedZone: 'ZONE_NOT_FOUND',
    verificationFailed: 'AUTHENTICATION_FAILED',
    wrongPassphrase: 'AUTHENTICATION_FAILED',
    zoneBusy: 'TRY_AGAIN_LATER',
    zoneGone: 'ZONE_NOT_FOUND',
    zoneNotFound: 'ZONE_NOT_FOUND',
}));

/**
 * A failure. `ckErrorCode` is CloudKit JS's, or `INTEGRITY_ERROR` for what does not verify: CloudKit has none.
 * `serverErrorCode` is the word of the server (PROTOCOL-TRANSPORT.md, "Error codes") or of the core.
 */
export class CKError extends Error {
    /**
     * @param {string} serverErrorCode
     * @param {{ reason?: string, remedy?: string, retryAfter?: number, recordName?: string, serverRecord?: import('./record.mjs').CKRecord }} [about]
     */
    constructor(serverErrorCode, about = {}) {
        const { reason = '', remedy = '', retryAfter = 0, recordName, serverRecord } = about;
        super([reason || serverErrorCode, remedy].filter(Boolean).join(' '));
        this.name = 'CKError';
        /** @type {string} */
        this.ckErrorCode = codes.get(serverErrorCode) ?? 'INTEGRITY_ERROR';
        this.serverErrorCode = serverErrorCode;
        this.reason = reason;
        /** Seconds. */
        this.retryAfter = retryAfter;
        this.recordName = recordName;
        /** With `CONFLICT`: what is there now. */
        this.serverRecord = serverRecord;
    }
}

/**
 * @param {string} reason
 * @param {string} [recordName]
 */
export const badRequest = (reason, recordName) => new CKError('invalidArguments', { reason, recordName });

/**
 * @param {unknown} error what was thrown below
 * @param {string} [recordName] whose it is
 * @returns {CKError}
 */
export function asCKError(error, recordName) {
    if (error instanceof CKError) return error;
    const { code, reason = '', remedy = '', wait = 0 } = /** @type {{ code?: unknown, reason?: string, remedy?: string, wait?: number }} */ (error);
    // What a browser or a fault of the program throws has a number there, or nothing.
    if (typeof code !== 'string') throw error;
    return new CKError(code, { reason, remedy, retryAfter: wait / 1000, recordName });
}

/**
 * Runs what may fail below; what it throws is a `CKError`.
 * @template T
 * @param {() => T | Promise<T>} body
 * @returns {Promise<T>}
 */
export async function told(body) {
    try {
        return await body();
    } catch (error) {
        throw asCKError(error);
    }
}
