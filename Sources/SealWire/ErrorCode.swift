/// The codes that a `Failure` carries: CloudKit's words (CKError, without the prefix), then our own.
///
/// A code that this version does not know stays as it came (`init(rawValue:)` gives nil, the string is kept in the
/// failure), so that a newer server never makes an older client misread an error.
public enum ErrorCode: String, Sendable, CaseIterable {
    // CloudKit's
    case internalError
    case networkUnavailable
    case networkFailure
    case badContainer
    case serviceUnavailable
    case requestRateLimited
    case notAuthenticated
    case permissionFailure
    case unknownItem
    case invalidArguments
    case serverRecordChanged
    case serverRejectedRequest
    case assetFileNotFound
    case assetFileModified
    case incompatibleVersion
    case constraintViolation
    case operationCancelled
    case changeTokenExpired
    case batchRequestFailed
    case zoneBusy
    case badDatabase
    case quotaExceeded
    case zoneNotFound
    /// The zone's user has purged it: its apps keep no copy, and write there only once the user agrees.
    case userDeletedZone
    case limitExceeded
    case tooManyParticipants
    case alreadyShared
    case referenceViolation
    case participantMayNeedVerification
    case serverResponseLost
    case assetNotAvailable
    case accountTemporarilyUnavailable
    case participantAlreadyInvited

    // SealKit's own
    /// The session token is unknown, ended or expired: log in again.
    case sessionExpired
    /// The roster has moved on: fetch its tail and try again.
    case rosterChanged
    /// The statement cites an epoch that is no longer the scope's current one.
    case staleEpoch
    /// A member left or changed keys: the next writer rotates first.
    case rotationDue
    /// The deletion does not cover exactly the records that go with it by `deleteSelf` references: sign it again with
    /// them.
    case deletionIncomplete
    /// A signature, hash or rule does not hold.
    case integrityFailure
    /// Wrong or used-up verification code, or an expired or spent token. All such failures look alike.
    case verificationFailed
    /// The server's disk is full; nothing was written.
    case storageFull

    /// Another device has given the account new keys: this one has to be enrolled again, or the account recovered on
    /// it.
    case keysReplaced
    /// The server's operator has suspended the account: it gets no session, and its server-to-server keys do nothing,
    /// until that is undone.
    case accountSuspended

    // Raised by clients only
    /// The server's certificate does not prove that it is the server of the address.
    case serverNotTrusted
    /// The key file does not open with this passphrase.
    case wrongPassphrase
    /// The server shows a roster or record older than, or different from, what this device has verified before.
    case rollback

    /// The HTTP status that carries this code.
    public var httpStatus: Int {
        switch self {
        case .internalError: 500
        case .networkUnavailable, .networkFailure, .serviceUnavailable, .accountTemporarilyUnavailable: 503
        case .requestRateLimited: 429
        case .notAuthenticated, .sessionExpired, .keysReplaced: 401
        case .permissionFailure, .participantMayNeedVerification, .verificationFailed, .accountSuspended: 403
        case .unknownItem, .zoneNotFound, .userDeletedZone, .assetNotAvailable, .assetFileNotFound: 404
        case .serverRecordChanged, .rosterChanged, .staleEpoch, .rotationDue, .alreadyShared, .zoneBusy,
            .participantAlreadyInvited, .constraintViolation, .referenceViolation, .deletionIncomplete,
            .batchRequestFailed:
            409
        case .changeTokenExpired: 410
        case .limitExceeded, .tooManyParticipants, .quotaExceeded: 413
        case .storageFull: 507
        case .invalidArguments, .badContainer, .badDatabase, .serverRejectedRequest, .assetFileModified,
            .incompatibleVersion, .operationCancelled, .serverResponseLost, .integrityFailure, .serverNotTrusted,
            .wrongPassphrase,
            .rollback:
            400
        }
    }
}

extension Sealkit_V1_Failure {
    public init(_ code: ErrorCode, _ reason: String, remedy: String = "", retryAfter: Double = 0) {
        self.init()
        self.code = code.rawValue
        self.reason = reason
        self.remedy = remedy
        self.retryAfter = retryAfter
    }

    public var errorCode: ErrorCode? { ErrorCode(rawValue: code) }
}
