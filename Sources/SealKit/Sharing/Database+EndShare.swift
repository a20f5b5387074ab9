import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements

extension Database {
    /// What deleting shares' records means beyond the records: in the private database everybody is put out and every
    /// invitation taken back before the record goes; in the shared one the caller leaves, and the record is the
    /// owner's.
    ///
    /// - Returns: what has its result by this, and what is left to delete.
    func endShares(
        _ deleting: [Record.ID]
    ) async -> (results: [Record.ID: Result<Void, SealKitError>], others: [Record.ID]) {
        var results: [Record.ID: Result<Void, SealKitError>] = [:]
        var others: [Record.ID] = []
        for id in deleting {
            guard id.recordName == Share.recordName, scope != .public else {
                others.append(id)
                continue
            }
            do throws(SealKitError) {
                if scope == .shared {
                    try await leaveShare(of: id.zoneID)
                    results[id] = .success(())
                } else {
                    try await stopSharing(id.zoneID)
                    others.append(id)
                }
            } catch {
                results[id] = .failure(error)
            }
        }
        return (results, others)
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
        let roster = view.roster
        var changes: [RosterChange] = roster.invitations.keys.sorted().map { .revoke($0) }
        // Those who joined by the public URL go with the public seat.
        let members = roster.members.values.filter { $0.role != .owner && $0.role != .publicUser }.map(\.userID)
        changes += members.sorted().map { .remove($0) }
        if roster.publicSeat != nil, let linkID = roster.linkID {
            changes.insert(.settings(.init(linkID: linkID)), at: 0)
        }
        guard !changes.isEmpty else { return view }
        let key = try view.newestKey()
        var random = SystemRandom()
        let draft = try verifying("the end of the share") { () throws(SealError) in
            try core.author(on: roster).next(
                on: roster, changes: changes, rotating: true, current: key, time: currentTime(), random: &random)
        }
        try await append(draft, view: view)
        return try await keeper.adopt(draft)
    }
}
