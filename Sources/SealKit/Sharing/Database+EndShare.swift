import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements

extension Database {
    /// What deleting the record of a zone's share means beyond the record: in the private database everybody is put out
    /// and every invitation taken back before the record goes; in the shared one the caller leaves, and the record is
    /// the owner's.
    /// - Parameter batch: one that has sent nothing, to delete the record by.
    func endShare(_ id: Record.ID, by batch: ZoneBatch) async throws(SealKitError) {
        guard scope == .private else { return try await leaveShare(of: id.zoneID) }
        try await stopSharing(id.zoneID)
        var batch = batch
        try await batch.run(saving: [], deleting: [id])
        try batch.deleteResults[id]?.get()
    }

    /// Puts everybody out. Records, the share's URL and who is blocked stay, so that the zone can be shared again.
    private func stopSharing(_ zoneID: RecordZone.ID) async throws(SealKitError) {
        let keeper = try keeper(zoneID)
        let view = try await whileRosterMoves { _ throws(SealKitError) in
            let view = try await keeper.refresh()
            guard !view.roster.isClosed else { throw SealKitError(.zoneNotFound, "there is no zone \(zoneID)") }
            guard view.roster.isShared else { return view }
            return try await putEverybodyOut(view, keeper)
        }
        guard view.roster.isShared else { return }
        // Whoever waits for an answer does not wait any more, and nobody is told that there was a share.
        var share = Share(recordZoneID: zoneID)
        share.edits.allowsAccessRequests = true
        try await saveAccess(of: share, view: view)
    }

    private func putEverybodyOut(_ view: ZoneView, _ keeper: ZoneKeeper) async throws(SealKitError) -> ZoneView {
        var random = SystemRandom()
        let draft = try editing(view) { () throws(ShareEditRefusal) in
            try view.endOfShare(
                as: core.identity(), using: XWingHPKE.self, time: currentTime(), random: &random)
        }
        guard let draft else { return view }
        try await append(draft, view: view)
        return try await keeper.adopt(draft)
    }
}
