internal import SealWire

extension SealKitError {
    /// CloudKit's codes (CKError, without the prefix), then SealKit's own. Open: a newer server may send more.
    public struct Code: Sendable, Hashable, RawRepresentable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        init(_ code: ErrorCode) { rawValue = code.rawValue }

        public static let internalError = Code(.internalError)
        public static let networkUnavailable = Code(.networkUnavailable)
        public static let networkFailure = Code(.networkFailure)
        public static let badContainer = Code(.badContainer)
        public static let serviceUnavailable = Code(.serviceUnavailable)
        public static let requestRateLimited = Code(.requestRateLimited)
        public static let notAuthenticated = Code(.notAuthenticated)
        public static let permissionFailure = Code(.permissionFailure)
        public static let unknownItem = Code(.unknownItem)
        public static let invalidArguments = Code(.invalidArguments)
        public static let serverRecordChanged = Code(.serverRecordChanged)
        public static let serverRejectedRequest = Code(.serverRejectedRequest)
        public static let assetFileNotFound = Code(.assetFileNotFound)
        public static let assetFileModified = Code(.assetFileModified)
        public static let incompatibleVersion = Code(.incompatibleVersion)
        public static let constraintViolation = Code(.constraintViolation)
        public static let operationCancelled = Code(.operationCancelled)
        public static let changeTokenExpired = Code(.changeTokenExpired)
        public static let batchRequestFailed = Code(.batchRequestFailed)
        public static let zoneBusy = Code(.zoneBusy)
        public static let badDatabase = Code(.badDatabase)
        public static let quotaExceeded = Code(.quotaExceeded)
        public static let zoneNotFound = Code(.zoneNotFound)
        public static let userDeletedZone = Code(.userDeletedZone)
        public static let limitExceeded = Code(.limitExceeded)
        public static let tooManyParticipants = Code(.tooManyParticipants)
        public static let alreadyShared = Code(.alreadyShared)
        public static let referenceViolation = Code(.referenceViolation)
        public static let participantMayNeedVerification = Code(.participantMayNeedVerification)
        public static let serverResponseLost = Code(.serverResponseLost)
        public static let assetNotAvailable = Code(.assetNotAvailable)
        public static let accountTemporarilyUnavailable = Code(.accountTemporarilyUnavailable)
        public static let participantAlreadyInvited = Code(.participantAlreadyInvited)
        public static let sessionExpired = Code(.sessionExpired)
        public static let rosterChanged = Code(.rosterChanged)
        public static let staleEpoch = Code(.staleEpoch)
        public static let rotationDue = Code(.rotationDue)
        public static let deletionIncomplete = Code(.deletionIncomplete)
        public static let integrityFailure = Code(.integrityFailure)
        public static let verificationFailed = Code(.verificationFailed)
        public static let storageFull = Code(.storageFull)
        public static let keysReplaced = Code(.keysReplaced)
        /// The server's operator has suspended the account; the reason has the operator's own words. Keep caches: it
        /// may be undone, and nothing is lost.
        public static let accountSuspended = Code(.accountSuspended)
        public static let serverNotTrusted = Code(.serverNotTrusted)
        public static let wrongPassphrase = Code(.wrongPassphrase)
        public static let rollback = Code(.rollback)
    }
}

extension SealKitError.Code: CustomStringConvertible {
    public var description: String { rawValue }
}
