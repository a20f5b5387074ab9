/// Tells a failure of some zones from one of the whole request.
///
/// A request of several zones goes out zone by zone. What fails for one zone is reported for its items; what has
/// nothing to do with zones, and left nothing else to report, is thrown.
struct ZoneOutcomes {
    private var hasSuccess = false
    private var failures: [SealKitError] = []

    mutating func succeeded() { hasSuccess = true }
    mutating func failed(_ error: SealKitError) { failures.append(error) }

    func throwCommonFailure() throws(SealKitError) {
        guard !hasSuccess, let first = failures.first, failures.allSatisfy(\.concernsWholeRequest) else { return }
        throw first
    }
}

extension SealKitError {
    /// It would have happened to any request now.
    var concernsWholeRequest: Bool {
        switch code {
        case .networkFailure, .networkUnavailable, .serverNotTrusted, .serviceUnavailable, .requestRateLimited,
            .serverResponseLost, .zoneBusy, .storageFull,
            .notAuthenticated, .accountTemporarilyUnavailable, .keysReplaced, .accountSuspended, .sessionExpired,
            .operationCancelled,
            .incompatibleVersion, .internalError:
            true
        default: false
        }
    }

    /// It stands in the way of every request now, and says nothing of the item that it came for: that is as good as not
    /// asked for. A record of a newer version fails by itself, and as it will the next time.
    var isObstacle: Bool { concernsWholeRequest && code != .incompatibleVersion }
}
