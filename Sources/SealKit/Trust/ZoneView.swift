import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements

/// Runs `body` again while others append to the roster under it; each round starts from the newest head.
func whileRosterMoves<T>(_ body: (_ round: Int) async throws(SealKitError) -> T) async throws(SealKitError) -> T {
    var round = 1
    while true {
        do { return try await body(round) } catch {
            guard error.code == .rosterChanged, round < 5 else { throw error }
            round += 1
        }
    }
}

extension ZoneView {
    /// - Throws: `permissionFailure` when no key was granted.
    func currentKey() throws(SealKitError) -> EpochKey {
        do { return try keyInForce() } catch { throw lacksKey }
    }

    var lacksKey: SealKitError {
        SealKitError(
            .permissionFailure,
            "this account was not given key \(roster.currentEpoch.number) of the zone \(scope.zoneName): whoever opened it gave out bad grants, or the server withholds one",
            remedy: mayAdminister
                ? "open another key with rotateKeys(of:)"
                : "ask its owner or an administrator to open another key with rotateKeys(of:)")
    }

    /// The newest key that this account holds: what the owner mends a bad epoch with.
    func newestKey() throws(SealKitError) -> EpochKey {
        if let newestHeldKey { newestHeldKey } else { try currentKey() }
    }
}

extension Roster {
    /// Somebody beside the owner is in it, invited, or may join by the URL.
    var isSharedWithSomebody: Bool { isShared && (members.count > 1 || !invitations.isEmpty || publicSeat != nil) }
}
