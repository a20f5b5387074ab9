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
        try requireOwner()
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

    /// Ends a fork of the roster of a hierarchical share that has ended: delete the share first, on a device that is
    /// shown no other roster of it, and share its root anew, as another share. Whoever was on the other branch learns
    /// from the roster that it is given up, and goes on with the rest of the zone.
    ///
    /// Records stay: what was in the share is moved out of it first, where that was not done yet
    /// (``settleShares(in:)``).
    ///
    /// - Parameter zoneID: of a zone of one's own.
    /// - Parameter shareRecordName: of the share, as `SealKitError.rosterFork` names it.
    /// - Parameter head: of the branch that is given up, as the error of whoever is on it gives it
    ///   (`SealKitError.rosterFork`); nil where this device is on that branch itself.
    /// - Throws: `badDatabase` for a zone of somebody else's; `invalidArguments` where the share has not ended, where
    ///   there is no fork, or the head is none of another branch; `zoneBusy` where records are still in it;
    ///   `rosterChanged` when the share's roster moved on meanwhile; as ``settleShares(in:)``.
    public func endFork(
        of zoneID: RecordZone.ID, shareRecordName: String, abandoning head: RosterFork.Head? = nil
    ) async throws(SealKitError) {
        try requireOwner()
        guard Names.isPlain(shareRecordName) else {
            throw SealKitError(.invalidArguments, "that is no name of a share", remedy: "name it as the error does")
        }
        let zone = try zoneScope(zoneID)
        // What were left in it would be of a life that nobody has keys of any more.
        try await settleShares(in: zoneID)
        let share = zone.ofShare(shareRecordName)
        guard try await !mayHaveLeft(share) else {
            throw SealKitError(
                .zoneBusy, "records are still in the share \(shareRecordName), which has ended",
                remedy: "try again; what does not open on this device, move on one that opens it, or delete it")
        }
        try await core.keeper(of: share).endFork(abandoning: head)
    }

    private func requireOwner() throws(SealKitError) {
        guard scope == .private else {
            throw SealKitError(.badDatabase, "only a zone's owner ends a fork of its roster", remedy: "ask the owner")
        }
    }
}
