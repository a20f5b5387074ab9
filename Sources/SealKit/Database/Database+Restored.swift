import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements

/// What reading does about a server that was restored from a backup, beside what the rosters do by themselves.
extension Database {
    /// A zone that this device knows and the server does not find has to show who ended it; one that the server has
    /// lost is given back.
    /// - Parameter known: where its rosters ended when the server was asked.
    /// - Returns: the error, or `rollback` where nothing signed shows that the zone is gone.
    func confirmed(
        _ refusal: SealKitError, _ zoneID: RecordZone.ID, known: RosterEnds
    ) async -> SealKitError {
        guard [.zoneNotFound, .userDeletedZone].contains(refusal.code), scope != .public else { return refusal }
        do throws(SealKitError) {
            try await confirmGone(zoneID, known: known)
        } catch let error where error.code == .rollback {
            return error
        } catch {
            // Whether it is gone could not be asked.
        }
        return refusal
    }
}
