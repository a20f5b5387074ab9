import SealPrimitives
import SealStatements
package import SealStorage

/// Appends entries to scopes' rosters, each with all that follows from it in the database, in one order, whichever
/// request brings the entry. In the caller's transaction; who may append what is judged before.
package struct Rosters {
    private let caller: Caller
    private let now: Int64
    private let connection: any SQLConnection
    /// How much of zones that end goes at once.
    private(set) var room: ZoneRemains.Room

    package init(by caller: Caller, room: ZoneRemains.Room, now: Int64, in connection: any SQLConnection) {
        self.caller = caller
        self.room = room
        self.now = now
        self.connection = connection
    }

    /// - Returns: the scope as it is now; its zone's position is the entry's.
    package mutating func append(_ next: NextEntry, to scope: ScopeRow) throws -> ScopeRow {
        let endsZone = scope.share == nil && next.after.isClosed
        try DatabaseFeed.hold(
            scope.zone, shares: endsZone ? nil : shares(of: scope), and: endsZone ? [] : next.comingAndGoing,
            in: connection)
        let stored = try log(next, scope)
        try show(stored, next)
        // Between the two, so that those who gain the scope and those who lose it all hear of it.
        if next.news == .withEntry { try tell(of: stored, comesOrGoes: next.comesOrGoes) }
        try takeAway(next, stored)
        try next.enclosures.store(by: caller, epoch: next.after.currentEpoch.number, scope: stored, in: connection)
        return stored
    }

    /// The scope is news to those who see it now, and to those who subscribed to that.
    func tell(of scope: ScopeRow, comesOrGoes: Bool) throws {
        let shares = self.shares(of: scope)
        try DatabaseFeed.touch(scope.zone, shares: shares, in: connection)
        try Notifier(zone: scope.zone, caller: caller, now: now, connection: connection)
            .zoneChanged(shares: shares, comesOrGoes: comesOrGoes)
    }

    /// Whom it concerns beside those who see all of the zone.
    private func shares(of scope: ScopeRow) -> Set<Int64> { Set([scope.share?.number].compactMap { $0 }) }

    private func log(_ next: NextEntry, _ scope: ScopeRow) throws -> ScopeRow {
        let (before, after) = (next.before, next.after)
        // All the way up from the root: for the few entries by which a share begins, ends or gets another root alone.
        let movesRoot = before?.rootRecordName != after.rootRecordName || before?.isClosed != after.isClosed
        guard next.roots == .withEntry, movesRoot else {
            return try RosterLog.store(next.signed, endOf: after, scope: scope, in: connection)
        }
        var roots = RootsBelow(in: scope.zone, connection)
        try roots.detach(Set([before?.rootRecordName, after.rootRecordName].compactMap { $0 }))
        let stored = try RosterLog.store(next.signed, endOf: after, scope: scope, in: connection)
        try roots.attach()
        return stored
    }

    /// A zone whose life begins appears to its owner, who sees its shares by that; any scope to those who join it.
    private func show(_ scope: ScopeRow, _ next: NextEntry) throws {
        if scope.share == nil, next.begins { try DatabaseFeed.show(scope, to: scope.zone.owner, in: connection) }
        for user in next.after.members.keys where user != scope.zone.ownerName && next.before?.members[user] == nil {
            guard let viewer = try Self.viewer(user, scope.zone, connection) else { continue }
            try DatabaseFeed.show(scope, to: viewer, in: connection)
        }
    }

    /// nil for somebody whose account a restored server has lost as well.
    static func viewer(_ user: UserID, _ zone: ZoneRow, _ connection: any SQLConnection) throws -> Int64? {
        try Identities.id(of: user, container: zone.container, in: connection)
    }

    private mutating func takeAway(_ next: NextEntry, _ scope: ScopeRow) throws {
        let isZone = scope.share == nil
        guard !isZone || !next.after.isClosed else {
            // Everybody's seat goes with what the zone held, however many there are, and all lose sight of it at once.
            try ZoneRemains.leave(scope.zone, &room, in: connection)
            return try DatabaseFeed.close(scope.zone, at: scope.sequence, next.reason, in: connection)
        }
        if let before = next.before {
            try RosterEffects.apply(before: before, after: next.after, scope: scope, in: connection)
        }
        if next.ends {
            if isZone { try ZoneRemains.removeAll(of: scope.zone, in: connection) } else { try forgetAccess(to: scope) }
        }
        // Epochs of a share's next life are numbered like those of the one before. Of a zone's nothing is left by then.
        if next.begins, !isZone { try StoredGrants.removeAll(of: scope, in: connection) }
    }

    /// Nobody finds a share any more that has ended.
    private func forgetAccess(to share: ScopeRow) throws {
        try StoredLinks.removeAll(of: share, in: connection)
        try SealedLinkSet.removeAll(of: share, in: connection)
        try AccessRequests.removeAll(of: share, in: connection)
    }
}
