import SealPrimitives
import SealStatements
package import SealStorage

/// How the keys of zones and shares stand, as far as rosters and statements say it to a server that has none of them.
package struct KeySums: Sendable, Equatable {
    /// Zones and shares whose rosters say more than that somebody made them.
    package var scopes = 0
    /// Those in which a new key is due: somebody left, or has changed keys, and nobody has written since.
    package var due = 0
    /// Since when the first of them is, by the clock of whoever made it so: microseconds since 1970; 0 for none.
    package var dueSince: Int64 = 0
    /// Those with a record under an older key than their newest.
    package var outdated = 0
    /// By how many keys the oldest one in use is behind the newest of its scope: the most of any.
    package var behind: UInt32 = 0
    /// Those that say too much to be looked at.
    package var unread = 0

    package init() {}

    package mutating func add(_ other: KeySums) {
        scopes += other.scopes
        due += other.due
        if other.dueSince > 0 { dueSince = dueSince > 0 ? min(dueSince, other.dueSince) : other.dueSince }
        outdated += other.outdated
        behind = max(behind, other.behind)
        unread += other.unread
    }
}

/// A walk through all zones and shares by their keys, some at a time, by reads alone: of each it looks at the newest
/// entries of the roster, back to the one that opened the newest key, and at the record that was written longest ago.
package struct KeySurvey: Sendable {
    /// How far a walk has come: through zones first, then through hierarchical shares.
    package struct Place: Sendable, Equatable {
        fileprivate var isInShares = false
        fileprivate var (owner, zone, share): (Int64, Int64, Int64) = (0, 0, 0)

        package init() {}
    }

    /// Zones or shares of one read.
    private let page: Int
    /// Entries of one roster, and deletions before its oldest record.
    static let mostEntries = 200
    /// Of a roster that is replayed since somebody left: whether that makes a key due is the roster's to say.
    static let mostReplayed: UInt64 = 2_000
    /// Entries of all that are replayed in one read.
    private static let mostReplayedAtOnce: UInt64 = 20_000

    /// Few: what is replayed here, nobody has asked for.
    private let rosters = RosterCache(capacity: 8)

    package init(page: Int = 200) { self.page = page }

    /// - Returns: what there is from a place on, and where it goes on; nil at the end.
    package func look(
        from place: Place, in connection: any SQLConnection
    ) throws -> (sums: [TelemetryPlace: KeySums], next: Place?) {
        var sums: [TelemetryPlace: KeySums] = [:]
        var next = place
        var room = Self.mostReplayedAtOnce
        let scopes = try place.isInShares ? shares(&next, connection) : zones(&next, connection)
        for scope in scopes where !scope.isClosed && scope.sequence > 0 {
            let key = TelemetryPlace(
                container: scope.zone.container, environment: scope.zone.environment.name)
            sums[key, default: KeySums()].add(try look(at: scope, &room, connection))
        }
        guard scopes.count < page else { return (sums, next) }
        guard !place.isInShares else { return (sums, nil) }
        next = Place()
        next.isInShares = true
        return (sums, next)
    }

    /// Those of public databases have no members: their owners are below 0.
    private func zones(_ place: inout Place, _ connection: any SQLConnection) throws -> [ScopeRow] {
        let found = try connection.rows(
            """
            SELECT \(ZoneRow.columns) FROM zone z WHERE (z.owner, z.zone) > ($1, $2) ORDER BY z.owner, z.zone LIMIT $3
            """, [.integer(place.owner), .integer(place.zone), .integer(Int64(page))]
        ) { try ZoneRow($0) }
        if let last = found.last { (place.owner, place.zone) = (last.owner, last.number) }
        return found.map { ScopeRow($0) }
    }

    private func shares(_ place: inout Place, _ connection: any SQLConnection) throws -> [ScopeRow] {
        let found = try Shares.all(
            after: (place.owner, place.zone, place.share), limit: page, in: connection)
        if let last = found.last {
            (place.owner, place.zone, place.share) = (last.zone.owner, last.zone.number, last.number)
        }
        return found
    }

    /// - Parameter room: entries that may be replayed still.
    private func look(at scope: ScopeRow, _ room: inout UInt64, _ connection: any SQLConnection) throws -> KeySums {
        var sums = KeySums()
        sums.scopes = 1
        var opened: (epoch: UInt32, position: Int64)?
        // The first of those that may have made a new key due.
        var since: Int64?
        try RosterLog.newest(Self.mostEntries, of: scope, in: connection) { entry, position in
            if let epoch = entry.epoch {
                opened = (epoch.number, position)
                return false
            }
            if entry.changes.contains(where: Self.mayMakeDue) { since = entry.time }
            return true
        }
        guard let opened else {
            sums.unread = 1
            return sums
        }
        if let since {
            if scope.sequence > min(Self.mostReplayed, room) {
                sums.unread = 1
            } else {
                room -= scope.sequence
                if try rosters.roster(of: scope, in: connection).rotationDue {
                    (sums.due, sums.dueSince) = (1, max(1, since))
                }
            }
        }
        let oldest = try StaleRecords.oldestEpoch(
            of: scope, before: opened.position, atMost: Self.mostEntries, in: connection)
        if let oldest {
            sums.outdated = 1
            sums.behind = opened.epoch > oldest ? opened.epoch - oldest : 0
        }
        return sums
    }

    private static func mayMakeDue(_ change: RosterChange) -> Bool {
        switch change {
        case .leave, .identity: true
        default: false
        }
    }
}
