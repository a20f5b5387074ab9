import SealClient
import SealPrimitives
import SealStatements

/// Which scope each record is signed for: the one of its parent, the zone's own where it has none.
extension ZoneBatch {
    static func outside(_ id: Record.ID) -> SealKitError {
        SealKitError(
            .permissionFailure, "record \(id.recordName) would not be in a hierarchy that is shared with this account",
            remedy: "set its parent to a record of the share")
    }

    /// A deletion moves nothing, and nothing is signed for a share that has ended.
    private static func leftBehind(_ id: Record.ID) -> SealKitError {
        SealKitError(
            .constraintViolation, "record \(id.recordName) is in a share that has ended still",
            remedy:
                "settleShares(in:) moves it out; where it does not open, save over it with the policy allKeys, then delete it"
        )
    }

    private static func moves(_ id: Record.ID) -> SealKitError {
        SealKitError(
            .permissionFailure,
            "record \(id.recordName) would leave its share, and only the zone's owner moves records",
            remedy: "keep its parent within the share, or make a copy there")
    }

    private static func past(_ id: Record.ID) -> SealKitError {
        SealKitError(
            .unknownItem, "record \(id.recordName) was fetched before its zone was deleted and made again",
            remedy: "save it as a new record")
    }

    private static func elsewhere(_ id: Record.ID) -> SealKitError {
        SealKitError(
            .unknownItem,
            "record \(id.recordName) is of a life of its zone, or of a share in it, that the server does not show",
            remedy: "fetch it again")
    }

    /// - Returns: the items with their scopes; those that have none have failed.
    mutating func place(_ items: [Item], _ ground: inout ZoneGround) async throws(SealKitError) -> [Placed] {
        let targets = sharing.targets
        let now = try await livingNow(items, &ground)
        let seesAll = ground.own != nil
        let living = try await meetingWhatIsThere(now, ground) { item in
            guard !seesAll, case .save(let record) = item else { return false }
            return record.base == nil && record.parent == nil && targets[record.recordID.recordName] == nil
        }
        if !isBehindPlaces, sharing.isEmpty, let own = ground.own, try await !hasShares(ground) {
            return living.map { Placed(item: $0, scopeID: own.roster.scopeID) }
        }
        var places = WritingPlaces(targets: sharing.targets, in: ground)
        for item in living {
            switch item {
            case .save(let record):
                places.addSave(
                    of: record.recordID.recordName, parent: record.parent?.recordName, after: record.base?.statement)
            case .delete(let id, let base, _, _): places.addDeletion(of: id.recordName, after: base.statement)
            }
        }
        let unknown = places.unknownParents
        if !unknown.isEmpty {
            for (id, outcome) in try await database.look(
                up: unknown.map { Record.ID(recordName: $0, zoneID: zoneID) }, desiredKeys: [])
            {
                guard case .success(let parent) = outcome, let statement = parent.present?.base?.statement else {
                    continue
                }
                let view = try await database.view(of: statement.scopeID, in: &ground)
                // From a share that has ended it is on its way into the zone's own scope.
                places.found(
                    id.recordName, in: view?.roster.isClosed ?? false ? ground.zone.id : statement.scopeID)
            }
        }
        var placed: [Placed] = []
        var refused: [(item: Item, error: SealKitError)] = []
        for item in living {
            let scope = places.scope(of: item.id.recordName)
            var view: ZoneView? = if let scope { try await database.view(of: scope, in: &ground) } else { nil }
            func verdict() throws(SealKitError) -> WritingPlaces.Verdict {
                WritingPlaces.verdict(
                    isDeletion: item.saved == nil, after: item.base?.statement, in: scope, view,
                    opens: scope.map { sharing.opens($0) } ?? false, zone: ground.zone, by: database.core.userID())
            }
            var decided = try verdict()
            if decided != .placed, decided != .leftBehind, let known = view, WritingPlaces.mayBeOut(known) {
                let now = try await database.core.keeper(of: known.scope).refresh()
                ground.add(now)
                view = now
                decided = try verdict()
            }
            switch (decided, scope) {
            case (.placed, let scope?): placed.append(Placed(item: item, scopeID: scope))
            case (.leftBehind, _): refused.append((item, ZoneBatch.leftBehind(item.id)))
            case (.moves, _): refused.append((item, ZoneBatch.moves(item.id)))
            case (.outside, _), (.placed, nil): refused.append((item, ZoneBatch.outside(item.id)))
            }
        }
        // What the device goes by may be old as well.
        if !refused.isEmpty, !seesAll, try await regrounds(ground), let now = regrounded {
            (ground, regrounded) = (now, nil)
            // What was looked up already goes on from there.
            return try await place(living, &ground)
        }
        // An old copy does not say where its record is now.
        let old = Set(refused.filter { isOld($0.item) }.map(\.item.id))
        if !old.isEmpty {
            met.formUnion(old)
            return try await place(try await meetingWhatIsThere(living, ground) { old.contains($0.id) }, &ground)
        }
        for (item, error) in refused { fail(item, error) }
        guard isAtomic, !refused.isEmpty else { return placed }
        for one in placed { fail(one.item, ZoneBatch.batchFailed) }
        return []
    }

    private func hasShares(_ ground: ZoneGround) async throws(SealKitError) -> Bool {
        if ground.views.count > 1 { return true }
        return try await !database.core.trust.shares(of: ground.zone.id).isEmpty
    }

    /// What was fetched in an earlier life of the zone is gone, keys included: it must not be sealed under them again.
    /// Nor is anything signed for a scope that this device does not know.
    /// - Parameter hasFailed: whether one has before these.
    private mutating func livingNow(
        _ items: [Item], _ ground: inout ZoneGround, hasFailed: Bool = false
    ) async throws(SealKitError) -> [Item] {
        var living: [Item] = []
        var hasFailed = hasFailed
        for (index, item) in items.enumerated() {
            guard let statement = item.base?.statement else {
                living.append(item)
                continue
            }
            let life = ground.life(of: statement)
            if life == .present, item.base?.isUnverified != true {
                if try await database.view(of: statement.scopeID, in: &ground) == nil {
                    // Of a share that this device has not met: the answer names it, or shows where the record is now.
                    if !isOld(item) { _ = try await database.look(up: [item.id], desiredKeys: []) }
                    if let there = try await newer(than: item, ground) {
                        guard let again = resolve(item, there, isLast: false) else {
                            hasFailed = true
                            continue
                        }
                        if let scopeID = again.base?.statement.scopeID {
                            _ = try await database.view(of: scopeID, in: &ground)
                        }
                        living.append(again)
                        continue
                    }
                }
                if try await database.view(of: statement.scopeID, in: &ground) != nil {
                    living.append(item)
                    continue
                }
            }
            let isPast = life == .past
            if !isPast, try await regrounds(ground), let now = regrounded {
                // The zone may be shared in another way than this device has known.
                (ground, regrounded) = (now, nil)
                return try await livingNow(living + items[index...], &ground, hasFailed: hasFailed)
            }
            if isPast, case .delete(let id, _, _, _) = item {
                deleteResults[id] = .success(())
                continue
            }
            hasFailed = true
            fail(item, isPast ? ZoneBatch.past(item.id) : ZoneBatch.elsewhere(item.id))
        }
        guard isAtomic, hasFailed else { return living }
        for item in living { fail(item, ZoneBatch.batchFailed) }
        return []
    }

    /// A copy of a record that was not looked up yet, and may have come elsewhere since.
    private func isOld(_ item: Item) -> Bool {
        guard case .save(let record) = item, !met.contains(record.recordID) else { return false }
        return WritingPlaces.mayBeOld(record.base?.statement, policy: savePolicy.rule, isRekeying: isRekeying)
    }

    /// What is on the server under the name of a refused save, where that is another version than its copy is of.
    mutating func newer(than item: Item, _ ground: ZoneGround) async throws(SealKitError) -> Database.Outcome? {
        guard isOld(item) else { return nil }
        met.insert(item.id)
        return try await there([item], ground)[item.id]
    }

    /// What there is of these, to be written over: what a copy is of already is left out.
    private func there(_ items: [Item], _ ground: ZoneGround) async throws(SealKitError) -> [Record.ID: Database
        .Outcome]
    {
        let bases = Dictionary(items.map { ($0.id, $0.base?.hash) }) { first, _ in first }
        var found: [Record.ID: Database.Outcome] = [:]
        for (id, outcome) in try await database.look(up: items.map(\.id), desiredKeys: nil) {
            guard case .success(let there) = outcome, let base = there.present?.base, base.hash != bases[id] ?? nil
            else { continue }
            // Whoever may only read there is told so, whatever there is.
            var known = ground
            let scopeID = base.statement.scopeID
            if let scope = scopeID == ground.zone.id
                ? ground.zone : try await database.view(of: scopeID, in: &known)?.scope
            {
                // As the look-up has left it.
                let view = try await database.core.keeper(of: scope).current()
                if !view.mayWrite { continue }
            }
            found[id] = outcome
        }
        return found
    }

    /// Who sees shares alone makes no record beside them; but one without a parent may be meant for a record that there
    /// is, of which this device knows nothing any more: a root, say. What there is decides then, as the server decides
    /// it for others. So it does of an old copy that would be refused.
    private mutating func meetingWhatIsThere(
        _ items: [Item], _ ground: ZoneGround, where isLoose: (Item) -> Bool
    ) async throws(SealKitError) -> [Item] {
        let loose = items.filter(isLoose)
        guard !loose.isEmpty else { return items }
        let found = try await there(loose, ground)
        var met: [Item] = []
        for item in items {
            guard let outcome = found[item.id] else {
                met.append(item)
                continue
            }
            if let again = resolve(item, outcome, isLast: false) { met.append(again) }
        }
        guard isAtomic, met.count < items.count else { return met }
        for item in met { fail(item, ZoneBatch.batchFailed) }
        return []
    }

    /// Every scope that is written to: open, and no key due. What is in one that this account may only read goes on as
    /// it is: the server refuses it by itself, and not what is sent with it.
    /// - Parameter placed: without those, at the end, whose scope waits for a key that is somebody else's to open,
    ///   where the others need not wait with them.
    /// - Returns: false where a share has ended since its records were placed: they belong elsewhere now.
    mutating func makeReady(_ placed: inout [Placed], _ ground: inout ZoneGround) async throws(SealKitError) -> Bool {
        let scopes = Set(placed.map(\.scopeID))
        for scopeID in scopes where !sharing.opens(scopeID) {
            guard var view = ground[scopeID] else { continue }
            let keeper = database.core.keeper(of: view.scope)
            if view.isToBeRefreshed { view = try await keeper.refresh() }
            ground.add(view)
            switch try readiness(of: view) {
            case .ended: return false
            case .ready, .notMember: continue
            case .keyDue:
                do { view = try await database.rotate(keeper) } catch {
                    guard error.code == .rotationDue, !isAtomic, scopes.count > 1 else { throw error }
                    for one in placed where one.scopeID == scopeID { fail(one.item, error) }
                    placed.removeAll { $0.scopeID == scopeID }
                    continue
                }
            case .lacksGrants:
                try await database.replaceLostKeys(keeper)
                view = try await keeper.current()
            }
            ground.add(view)
            // The key was somebody else's to renew, and then the zone went.
            if try readiness(of: view) == .ended { return false }
        }
        let left = placed.compactMap { $0.isMove(in: ground) ? $0.item.base?.statement.scopeID : nil }
        try await database.stateKeys(leaving: Set(left), &ground)
        return true
    }

    /// - Throws: `zoneNotFound` for who is not in it.
    private func readiness(of view: ZoneView) throws(SealKitError) -> ZoneView.Readiness {
        let readiness = view.readiness(hasUntoldKeys: database.core.identity().untold(in: view.roster) != nil)
        guard readiness != .notMember else {
            throw SealKitError(.zoneNotFound, "there is no zone \(zoneID)", remedy: "make it first")
        }
        return readiness
    }
}

extension Database {
    /// The zone as its writer needs it.
    /// - Throws: `zoneNotFound`; `userDeletedZone` for a zone that its user purged.
    func groundForWriting(_ zoneID: RecordZone.ID) async throws(SealKitError) -> ZoneGround {
        guard scope == .private else {
            let ground = try await zoneGround(zoneID)
            guard let own = ground.own else { return ground }
            // A zone is shared as a whole or by hierarchies: where one of these is open still, the whole is over.
            var shares = ZoneGround(zone: ground.zone, asked: ground.asked)
            for known in ground.views.values where !known.scope.shareRecordName.isEmpty {
                let view = try await core.keeper(of: known.scope).refresh()
                if view.isMember { shares.add(view) }
            }
            guard shares.views.isEmpty else { return shares }
            var now = own.roster.isClosed ? try await viewForWriting(try keeper(zoneID), zoneID) : own
            if !now.isMember { now = try await core.keeper(of: now.scope).refresh() }
            guard now.isMember else { throw Database.notInZone(zoneID) }
            return ZoneGround(now, asked: ground.asked)
        }
        let asked = try await core.trust.moment()
        return ZoneGround(try await viewForWriting(try keeper(zoneID), zoneID), asked: asked)
    }

    /// One of the zone's scopes; nil for none that this account knows.
    func view(of scopeID: Digest, in ground: inout ZoneGround) async throws(SealKitError) -> ZoneView? {
        if let view = ground[scopeID] { return view }
        for share in try await core.trust.shares(of: ground.zone.id) {
            let scope = ground.zone.ofShare(share)
            guard scope.id == scopeID else { continue }
            ground.add(try await core.keeper(of: scope).current())
            return ground[scopeID]
        }
        return nil
    }

    func refreshed(_ ground: ZoneGround) async throws(SealKitError) -> ZoneGround {
        var fresh = ZoneGround(zone: ground.zone, asked: try await core.trust.moment())
        for view in ground.views.values {
            // A share that is still to be opened has no roster yet.
            guard let known = try await core.keeper(of: view.scope).known(), known.sequence >= view.roster.sequence
            else { continue }
            fresh.add(try await core.keeper(of: view.scope).refresh())
        }
        return fresh
    }
}
