import SealClient
import SealStatements

/// What a zone needs beside what apps write: reading finds it out, and writes nothing. Whatever is appended to a roster
/// parts from what other devices alone know of it, where the server has lost that; so it takes a call that writes.
extension Database {
    /// Does what there is to do in a zone beside what an app writes (`Maintenance.Work`), as far as this account may.
    ///
    /// Calls that write do it for what they touch, so that it takes this call only where nobody writes: on a device
    /// that mostly reads, in a timer, after ``settleShares(in:)`` has failed. Where there is nothing to do it asks for
    /// the rosters, and for records that are out of place.
    /// - Returns: what was done, and what could not be.
    /// - Throws: `zoneNotFound`; `badDatabase` for the public database; `rollback` once for a server that has lost
    ///   something, so that the devices of others can come by before anything is written there; whatever would have
    ///   happened to any request.
    @discardableResult
    public func maintain(_ zoneID: RecordZone.ID) async throws(SealKitError) -> Maintenance {
        try requireKeys()
        try await core.requireAccount(for: scope)
        var maintenance = Maintenance(of: zoneID)
        let views = try await openScopes(of: zoneID)
        guard !views.isEmpty else { throw Database.notInZone(zoneID) }
        // Told of all at once, before anything is appended anywhere.
        try await tellOfLostKeys(in: views)
        for view in views where view.mayAdminister {
            let keeper = core.keeper(of: view.scope)
            try await maintenance.run(.revokingExpired, view, core) { done async throws(SealKitError) in
                done.count = try await revokeExpired(keeper)
            }
            try await maintenance.run(.replacingLostKeys, view, core) { done async throws(SealKitError) in
                done.count = try await replaceLostKeys(keeper)
            }
            try await maintenance.run(.renewingPreviews, view, core) { done async throws(SealKitError) in
                try await renewPreviews(keeper, zoneID, &done)
            }
        }
        if scope == .private, let own = views.first {
            try await maintenance.run(.movingRecords, own, core) { done async throws(SealKitError) in
                try await settleShares(in: zoneID, moved: &done.count)
            }
        }
        return maintenance
    }

    /// The zone's own scope first, then those of the hierarchical shares in it.
    private func openScopes(of zoneID: RecordZone.ID) async throws(SealKitError) -> [ZoneView] {
        guard scope == .private else {
            return try await refreshed(try await zoneGround(zoneID)).views.values.filter(\.isMember).sorted {
                $0.scope.shareRecordName < $1.scope.shareRecordName
            }
        }
        let view = try await keeper(zoneID).refresh()
        guard view.isMember else { return [] }
        var views = try await [view] + openShares(in: view.scope)
        // One that the server leaves out of its list may have an invitation that is over all the same.
        let listed = Set(views.map(\.scope.shareRecordName))
        for name in try await core.trust.shares(of: view.scope.id) where !listed.contains(name) {
            let keeper = core.keeper(of: view.scope.ofShare(name))
            guard let known = try await keeper.known(), hasExpired(known) else { continue }
            let view = try await keeper.refresh()
            if view.isMember { views.append(view) }
        }
        return views
    }

    /// After a batch: what it found to do where it wrote. Nothing of that has failed the batch, and what does not
    /// verify is kept for the user to see.
    /// - Parameters:
    ///   - hasMoved: a record came from one scope into another: what is below it follows.
    ///   - keepsExpired: the caller looks after invitations that are over.
    func maintainQuietly(
        _ zoneID: RecordZone.ID, _ ground: ZoneGround, hasMoved: Bool, keepsExpired: Bool
    ) async {
        if hasMoved || (scope == .private && core.unsettled.has(ground.zone.id)) { await settleQuietly(zoneID) }
        for view in ground.views.values where !keepsExpired && hasExpired(view.roster) {
            do throws(SealKitError) {
                try await Upkeep.quietly { () throws(SealKitError) in
                    _ = try await revokeExpired(core.keeper(of: view.scope))
                }
            } catch {
                _ = await core.noted(error, scope: view.scope)
            }
        }
    }

    // MARK: Keys that are lost

    /// Opens a new key where the server lacks grants of the one in force: whoever's is lost could not read otherwise.
    /// - Returns: how many.
    @discardableResult
    func replaceLostKeys(_ keeper: ZoneKeeper) async throws(SealKitError) -> Int {
        let view = try await keeper.refresh()
        guard view.lacksGrants, view.mayAdminister else { return 0 }
        let now = try await rotate(keeper, onDemand: true)
        return now.roster.currentEpoch.number == view.roster.currentEpoch.number ? 0 : 1
    }

    /// Of several scopes, where the work of one call goes over all of them.
    func tellOfLostKeys(in views: [ZoneView]) async throws(SealKitError) {
        var loss: SealKitError?
        for view in views {
            do throws(SealKitError) { try await tellOfLostKeys(view) } catch {
                // What is told once comes before what fails again.
                if loss == nil || (error.code == .rollback && loss?.code != .rollback) { loss = error }
            }
        }
        if let loss { throw loss }
    }

    /// Before an entry is appended where a restored server lacks keys of others: it may lack entries as well, which
    /// only their devices know, and the entry would part from those for good.
    /// - Throws: `rollback`, once for an epoch.
    func tellOfLostKeys(_ view: ZoneView) async throws(SealKitError) {
        guard view.lacksGrants, view.mayAdminister else { return }
        let epoch = view.roster.currentEpoch
        guard try await !core.trust.wasTold(of: epoch, in: view.scope) else { return }
        try Upkeep.requireTelling()
        guard try await core.trust.noteTold(of: epoch, in: view.scope) else { return }
        throw await core.noted(
            SealKitError(
                .rollback, "the server lacks keys of those who take part in the zone \(view.scope.zoneName)",
                remedy:
                    "it was probably restored from a backup: have the devices of all who take part come by, for what they alone know of is lost otherwise, then call again, which opens a new key for everybody"
            ), scope: view.scope)
    }

    // MARK: Previews

    private func renewPreviews(
        _ keeper: ZoneKeeper, _ zoneID: RecordZone.ID, _ done: inout Maintenance.Done
    ) async throws(SealKitError) {
        let view = try await keeper.current()
        guard view.roster.isShared, view.mayAdminister else { return }
        let name = view.scope.shareRecordName
        let id = Record.ID(recordName: name.isEmpty ? Share.recordName : name, zoneID: zoneID)
        switch try await shownShareRecord(id) {
        // One that does not open says nothing that URLs could show.
        case .success(let record?) where record.base?.recordKey != nil:
            var share = Share(recordZoneID: zoneID)
            share.read(record)
            done.count = try await ShareLinks.fetch(self, view: view).renewPreviews(
                share.preview, self, view: view, isNewest: false)
        case .success: break
        case .failure(let error): done.left = error
        }
    }
}

extension Maintenance {
    /// What has come of a piece of work.
    fileprivate struct Done {
        var count = 0
        /// Why one record was left out: it may be hidden by itself, which says nothing of the rest.
        var left: SealKitError?
    }

    /// - Throws: what would have happened to any request.
    fileprivate mutating func run(
        _ work: Work, _ view: ZoneView, _ core: ContainerCore,
        _ body: (_ done: inout Done) async throws(SealKitError) -> Void
    ) async throws(SealKitError) {
        var done = Done()
        do throws(SealKitError) { try await body(&done) } catch {
            // A server that has lost more meanwhile is told of at once; among records one may be hidden by itself.
            guard !error.concernsWholeRequest, error.code != .rollback || work == .movingRecords else { throw error }
            done.left = error
        }
        if let error = done.left { done.left = await core.noted(error, scope: view.scope) }
        note(work, view, count: done.count, error: done.left)
    }
}
