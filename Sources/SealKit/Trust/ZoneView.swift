import Foundation
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire

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

/// A zone's verified roster and the epoch keys that its reader holds, at one moment: an immutable value, so that
/// records are verified and opened outside any lock.
struct ZoneView: Sendable {
    let roster: Roster
    /// By epoch number, for the roster's incarnation.
    let keys: [UInt32: EpochKey]
    let user: UserID
    /// The server lacks grants of the epoch in force: an administrator's next write opens a new one.
    var lacksGrants = false

    var scope: Scope { roster.scope }

    /// Whether this account is the owner or an administrator.
    var mayAdminister: Bool { roster.members[user]?.mayAdminister ?? false }

    /// - Throws: `permissionFailure` when no key was granted.
    func currentKey() throws(SealKitError) -> EpochKey {
        guard let key = keys[roster.currentEpoch.number] else {
            // Keys that were given out before stay good for what was written before.
            throw SealKitError(
                .permissionFailure,
                "this account was not given key \(roster.currentEpoch.number) of the zone \(scope.zoneName): whoever opened it gave out bad grants, or the server withholds one",
                remedy: mayAdminister
                    ? "open another key with rotateKeys(of:)"
                    : "ask its owner or an administrator to open another key with rotateKeys(of:)")
        }
        return key
    }

    /// The newest key that this account holds: what the owner mends a bad epoch with.
    func newestKey() throws(SealKitError) -> EpochKey {
        guard let key = keys.max(by: { $0.key < $1.key })?.value else { return try currentKey() }
        return key
    }

    /// The key that a verified statement's record was sealed under.
    func key(for statement: Statement) throws(SealError) -> EpochKey {
        guard let key = keys[statement.epoch] else { throw .missingKey }
        return key
    }
}

extension Roster {
    /// Somebody beside the owner is in it, invited, or may join by the URL.
    var isSharedWithSomebody: Bool { isShared && (members.count > 1 || !invitations.isEmpty || publicSeat != nil) }
}
