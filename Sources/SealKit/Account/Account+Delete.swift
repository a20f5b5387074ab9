import Foundation
import SealClient
import SealEnvelope
import SealStatements

extension Account {
    /// Deletes this account on its server for ever, with everything that it owns there: zones, records and assets of
    /// all its containers, subscriptions, server-to-server keys, linked addresses, recovery bundles, every device's
    /// session. Then it is removed from its ``keyStore``.
    ///
    /// Its shares end, and it leaves those of others, by signed entries: participants see that the zones are gone, and
    /// the next of them who writes opens a new key. What it wrote into others' zones is theirs and stays; so does what
    /// it published in public databases, as with CloudKit: delete that before if it is to go. Nobody gets its names
    /// again.
    ///
    /// It can be repeated: what was cut short is gone on with, and an account that is deleted already is no error.
    /// - Parameter trust: what this device has verified as this account; nil takes each share as the server shows it
    ///   now, also one with a fork that only its owner could end. Nothing is read there any more, so that all it can
    ///   lie about is what is left.
    /// - Throws: `unknownItem` when the server has never had the account; `notAuthenticated` when this device was
    ///   removed from it, or the server does not know its newest keys (`hasUntoldKeys`); `rollback`, `integrityFailure`
    ///   for a share that is not what this device has verified; `networkFailure`.
    public func delete(trust: TrustStore? = nil) async throws(SealKitError) {
        var tries = 0
        while true {
            do throws(SealKitError) {
                try await endShares(trust)
            } catch let error where error.code == .notAuthenticated {
                // It may be deleted already: the answer to the deletion says so.
                if await session.isRemoved { throw error }
            }
            do throws(SealKitError) {
                try await session.delete()
                break
            } catch let error where error.code == .constraintViolation && tries < 4 {
                // Somebody has joined meanwhile, or another device has.
                tries += 1
            }
        }
        standing.note(.noAccount)
        try await keyStore?.delete()
    }

    /// Leaves all shares of others, and deletes all zones that are shared.
    private func endShares(_ trust: TrustStore?) async throws(SealKitError) {
        let known: TrustStore
        if let trust { known = trust } else { known = try TrustStore() }
        for core in try await cores(known) {
            let (own, shared) = (Database(core: core, scope: .private), Database(core: core, scope: .shared))
            for zone in try await shared.madeRecordZones() { try await shared.leaveShare(of: zone.zoneID) }
            for zone in try await own.madeRecordZones() {
                if !zone.isShared, try await own.openShares(in: own.zoneScope(zone.zoneID)).isEmpty { continue }
                try await own.deleteRecordZone(withID: zone.zoneID)
            }
        }
    }
}
