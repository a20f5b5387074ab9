import Foundation
import SealKit

extension CKError {
    /// What SealKit says, in CloudKit's words.
    ///
    /// Nothing that a server must not do becomes a code that apps repair by overwriting or uploading: a record that
    /// does not verify, or goes back, is `serverRejectedRequest`.
    /// - Parameters:
    ///   - mayBeReset: whether the account shows that its keys were given up (`Container.hasOtherKeys`): that a zone's
    ///     were is the server's word, and apps upload all that they have when they are told it.
    ///   - others: user information that goes before what the error says by itself.
    init(
        _ error: SealKitError, mayBeReset: Bool = false, adding others: [String: any Sendable] = [:]
    ) {
        var userInfo: [String: Any] = [
            NSLocalizedDescriptionKey: error.reason, NSUnderlyingErrorKey: error,
        ]
        if !error.remedy.isEmpty { userInfo[NSLocalizedRecoverySuggestionErrorKey] = error.remedy }
        if let seconds = error.retryAfter { userInfo[CKErrorRetryAfterKey] = seconds }
        let code = Code(error.code)
        if code == .zoneBusy, error.retryAfter == nil { userInfo[CKErrorRetryAfterKey] = 1.0 }
        if mayBeReset, error.userDidResetEncryptedDataKey { userInfo[CKErrorUserDidResetEncryptedDataKey] = true }
        if let record = error.serverRecord { userInfo[CKRecordChangedErrorServerRecordKey] = CKRecord(record) }
        if let record = error.clientRecord { userInfo[CKRecordChangedErrorClientRecordKey] = CKRecord(record) }
        if let record = error.ancestorRecord { userInfo[CKRecordChangedErrorAncestorRecordKey] = CKRecord(record) }
        for (key, value) in others { userInfo[key] = value }
        self.init(code, userInfo: userInfo)
    }

    /// What some of many items failed with.
    init(partial errors: [AnyHashable: any Error]) {
        self.init(
            .partialFailure,
            userInfo: [
                NSLocalizedDescriptionKey: "\(errors.count) of the items failed", CKPartialErrorsByItemIDKey: errors,
            ])
    }

    /// Whatever a call of SealKit's threw.
    init(any error: any Error) {
        switch error {
        case let error as CKError: self = error
        case let error as SealKitError: self.init(error)
        case is CancellationError: self.init(SealKitError(.operationCancelled, "the operation was cancelled"))
        default: self.init(SealKitError(.internalError, "\(type(of: error))"))
        }
    }
}

extension CKError.Code {
    init(_ code: SealKitError.Code) { self = Self.table[code] ?? .internalError }

    private static let table: [SealKitError.Code: CKError.Code] = [
        .internalError: .internalError, .networkUnavailable: .networkUnavailable, .networkFailure: .networkFailure,
        .badContainer: .badContainer, .serviceUnavailable: .serviceUnavailable,
        .requestRateLimited: .requestRateLimited, .notAuthenticated: .notAuthenticated,
        .permissionFailure: .permissionFailure, .unknownItem: .unknownItem, .invalidArguments: .invalidArguments,
        .serverRecordChanged: .serverRecordChanged, .serverRejectedRequest: .serverRejectedRequest,
        .assetFileNotFound: .assetFileNotFound, .assetFileModified: .assetFileModified,
        .incompatibleVersion: .incompatibleVersion, .constraintViolation: .constraintViolation,
        .operationCancelled: .operationCancelled, .changeTokenExpired: .changeTokenExpired,
        .batchRequestFailed: .batchRequestFailed, .zoneBusy: .zoneBusy, .badDatabase: .badDatabase,
        .quotaExceeded: .quotaExceeded, .zoneNotFound: .zoneNotFound, .userDeletedZone: .userDeletedZone,
        .limitExceeded: .limitExceeded, .tooManyParticipants: .tooManyParticipants, .alreadyShared: .alreadyShared,
        .referenceViolation: .referenceViolation, .participantMayNeedVerification: .participantMayNeedVerification,
        .serverResponseLost: .serverResponseLost, .assetNotAvailable: .assetNotAvailable,
        .accountTemporarilyUnavailable: .accountTemporarilyUnavailable,
        .participantAlreadyInvited: .participantAlreadyInvited,
        .partialFailure: .partialFailure,
        // SealKit's own.
        .sessionExpired: .accountTemporarilyUnavailable, .keysReplaced: .accountTemporarilyUnavailable,
        .wrongPassphrase: .accountTemporarilyUnavailable, .accountSuspended: .accountTemporarilyUnavailable,
        .rosterChanged: .zoneBusy, .staleEpoch: .zoneBusy,
        .rotationDue: .zoneBusy, .storageFull: .quotaExceeded, .verificationFailed: .permissionFailure,
        .serverNotTrusted: .networkFailure, .deletionIncomplete: .serverRejectedRequest,
        .integrityFailure: .serverRejectedRequest, .rollback: .serverRejectedRequest,
    ]
}
