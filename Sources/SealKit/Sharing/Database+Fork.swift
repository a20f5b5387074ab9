import SealClient
import SealCoding
import SealEnvelope
import SealStatements
import SealWire

extension Database {
    /// Ends a fork of a zone's roster: the server goes on with the one that it shows, and the other branch is given up,
    /// by an entry that the owner signs and every device checks. Whoever was on that branch learns it from the roster
    /// (`Audit.Scope.abandonedForks`), and reads on.
    ///
    /// The zone begins a new life with its owner alone and without records, as after `DatabaseChanges.DeletionReason`'s
    /// `encryptedDataReset`: save what the app has again, and share the zone anew. Fetch before what the server alone
    /// has.
    ///
    /// - Parameter zoneID: of a zone of one's own.
    /// - Parameter head: of the branch that is given up, as the error of a member gives it (`SealKitError.rosterFork`);
    ///   nil where this device is on that branch itself.
    /// - Throws: `rollback` once where the server has lost keys of a share that ends with it, before anything is sent;
    ///   `badDatabase` for a zone of somebody else's; `invalidArguments` where there is no fork, or the head is
    ///   none of another branch; `rosterChanged` when the zone's roster moved on meanwhile.
    public func endFork(
        of zoneID: RecordZone.ID, abandoning head: RosterFork.Head? = nil
    ) async throws(SealKitError) {
        guard scope == .private else {
            throw SealKitError(.badDatabase, "only a zone's owner ends a fork of its roster", remedy: "ask the owner")
        }
        let zone = try zoneScope(zoneID)
        // They end with the zone's life.
        let shares = try await openShares(in: zone)
        try await tellOfLostKeys(in: shares)
        for view in shares {
            let keeper = core.keeper(of: view.scope)
            let draft = core.author(on: view.roster).plain(.close, on: view.roster, time: currentTime())
            try await keeper.send([draft.entry.wire], grants: [])
            _ = try await keeper.adopt(draft)
        }
        try await core.keeper(of: zone).endFork(abandoning: head)
    }
}
