extension SealKitError.Code {
    /// Of a sync engine: some of several things have failed, each of which its delegate was told with an error of its own.
    public static let partialFailure = SealKitError.Code(rawValue: "partialFailure")
}

extension SealKitError {
    /// Whether a ``SyncEngine`` tries again by itself what has failed with this: the network, a server that is busy, an account that is
    /// not to be had now, and what failed only because another change of its atomic batch did. Such a change stays pending.
    public var isRetriedBySyncEngine: Bool {
        switch code {
        case .networkFailure, .networkUnavailable, .serverResponseLost, .serviceUnavailable, .requestRateLimited, .zoneBusy, .storageFull,
            .notAuthenticated, .accountTemporarilyUnavailable, .keysReplaced, .sessionExpired, .operationCancelled, .rosterChanged,
            .staleEpoch, .rotationDue, .batchRequestFailed:
            true
        default: false
        }
    }

    /// Of several failures, none of which is all there is to say.
    static func partialFailure(_ failures: [SealKitError], of things: String) -> SealKitError {
        let waits = failures.filter { $0.isRetriedBySyncEngine && $0.code != .batchRequestFailed }.map { $0.retryAfter ?? 1 }
        return SealKitError(
            .partialFailure, "\(failures.count) of the \(things) failed; the first: \(failures.first?.reason ?? "")",
            remedy: "see the events for each", retryAfter: waits.max())
    }

    /// One failure is itself.
    static func throwSyncFailure(_ failures: [SealKitError], of things: String) throws(SealKitError) {
        guard let first = failures.first else { return }
        throw failures.count == 1 ? first : partialFailure(failures, of: things)
    }
}
