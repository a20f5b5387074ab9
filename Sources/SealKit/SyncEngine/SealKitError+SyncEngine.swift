extension SealKitError.Code {
    /// Of a sync engine: some of several things have failed, each of which its delegate was told with an error of its
    /// own.
    public static let partialFailure = SealKitError.Code(rawValue: "partialFailure")
}

extension SealKitError {
    /// Whether a ``SyncEngine`` keeps a change pending that has failed with this, to send it again: everything that is
    /// not said of the change itself, so the network, a server that is ailing, one that does not verify, a proxy in its
    /// place, an account that is not to be had now, and what failed only because another change of its atomic batch
    /// did.
    public var isRetriedBySyncEngine: Bool {
        switch code {
        // It kept changing while it was sent: there is nothing to merge with.
        case .serverRecordChanged: serverRecord == nil
        case .unknownItem, .zoneNotFound, .userDeletedZone, .permissionFailure, .invalidArguments,
            .referenceViolation, .constraintViolation, .limitExceeded, .quotaExceeded, .badDatabase, .assetFileNotFound,
            .assetFileModified,
            .assetNotAvailable, .tooManyParticipants, .alreadyShared, .participantMayNeedVerification,
            .participantAlreadyInvited:
            false
        default: true
        }
    }

    /// Whether the same may go well after some time, with nobody doing anything about it.
    var passesWithTime: Bool {
        switch code {
        // Nobody is signed in: that is over when somebody is. The others of an atomic batch wait for what kept them.
        case .notAuthenticated, .operationCancelled, .batchRequestFailed, .partialFailure: false
        default: isRetriedBySyncEngine && !isViolation
        }
    }

    /// Whether one item can do this to all of a request: by themselves the others may go through.
    var mayBeAnothersFault: Bool {
        [.limitExceeded, .invalidArguments, .assetFileNotFound, .assetFileModified].contains(code)
    }

    /// Of several failures, none of which is all there is to say.
    static func partialFailure(_ failures: [SealKitError], of things: String) -> SealKitError {
        let waits = failures.filter(\.passesWithTime).map { $0.retryAfter ?? 1 }
        return SealKitError(
            .partialFailure, "\(failures.count) of the \(things) failed; the first: \(failures.first?.reason ?? "")",
            remedy: "see the events for each", retryAfter: waits.max())
    }

    /// One failure is itself.
    static func syncFailure(_ failures: [SealKitError], of things: String) -> SealKitError? {
        failures.count > 1 ? partialFailure(failures, of: things) : failures.first
    }
}
