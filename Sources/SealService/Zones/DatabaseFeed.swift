package import SealStatements
package import SealStorage

/// What changed in a user's databases: one row for each zone that the user sees or saw, moved to the feed's end at each
/// change. Private and shared database have a feed each.
package enum DatabaseFeed {
    /// Why a zone is gone, in the words of the wire.
    package enum Gone: Int64 {
        case no = 0
        case deleted = 1
        /// The user wants it gone everywhere: apps drop their copies.
        case purged = 2
        /// The account lost its keys: apps keep their copies and upload them anew.
        case encryptedDataReset = 3
        case notShared = 4
    }

    /// The zone changed: everybody who sees what changed learns so. Comes after the change took its place in the zone's
    /// feed.
    /// - Parameter shares: those that it concerns beside the zone's own scope.
    static func touch(_ zone: ZoneRow, shares: Set<Int64>, in connection: any SQLConnection) throws {
        if try ZoneTouch.leave(zone, shares: shares, in: connection) { return }
        try FeedPlaces.move(
            "owner = $1 AND zone = $2 AND gone = 0" + concerned("zone_view", zone, shares), zone.key, in: connection)
    }

    /// The same after a save of records, which changes nothing of who sees the zone: most zones are their owners'
    /// alone, who is found without looking for others then.
    /// - Parameter zone: as it was before the save.
    static func touch(_ zone: ZoneRow, savedIn shares: Set<Int64>, in connection: any SQLConnection) throws {
        guard zone.isOwnersAlone else { return try touch(zone, shares: shares, in: connection) }
        // Whoever may read sees a public database's zone: nobody has it in a feed.
        guard !zone.isPublic else { return }
        try FeedPlaces.move(ofOwner: zone, in: connection)
    }

    /// The feeds that an entry of a roster moves, in one order, before the first of them is moved: of those who see
    /// what it changes, where they are told at once, and of these users. Other zones' writes move the same ones.
    ///
    /// Whoever writes holds databases' feeds first, then those of notifications, then webhooks: so nobody waits for
    /// somebody who waits for them.
    /// - Parameters:
    ///   - shares: those that the entry concerns beside the zone's own scope; nil: all of the zone ends with it.
    static func hold(
        _ zone: ZoneRow, shares: Set<Int64>?, and users: Set<UserID>, in connection: any SQLConnection
    ) throws {
        // There is nothing to be held, nor to be found out for that.
        guard connection.dialect == .postgres else { return }
        var (sets, values): ([String], [SQLValue]) = ([], [.integer(zone.owner)])
        let areLeft = try shares.map { try ZoneTouch.areTooMany(in: zone, shares: $0, connection) } ?? false
        if !areLeft {
            let some = shares.map { concerned("zone_view", zone, $0) } ?? ""
            sets.append(
                "SELECT viewer, environment, shared FROM zone_view WHERE owner = $1 AND zone = $2 AND gone = 0\(some)")
            values.append(.integer(zone.number))
        }
        if !users.isEmpty {
            let names = users.indices.enumerated().map { "$\($0.offset + values.count + 2)" }.joined(separator: ", ")
            sets.append(
                """
                SELECT id, \(zone.environment.rawValue), CASE WHEN id = $1 THEN 0 ELSE 1 END FROM identity
                WHERE container = $\(values.count + 1) AND user_name IN (\(names))
                """)
            values += [.text(zone.container)] + users.sorted().map { .text($0.recordName) }
        }
        guard !sets.isEmpty else { return }
        try FeedPlaces.hold(sets.joined(separator: " UNION "), values, in: connection)
    }

    /// Leaves participants of other shares out. They are not to learn that anything happened.
    /// - Parameter view: a row of `zone_view`, under the name that it has in the statement.
    static func concerned(_ view: String, _ zone: ZoneRow, _ shares: Set<Int64>) -> String {
        guard zone.shares > 0 else { return "" }
        guard !shares.isEmpty else { return " AND \(view).partial = 0" }
        return """
             AND (\(view).partial = 0 OR EXISTS (SELECT 1 FROM share_view w WHERE w.viewer = \(view).viewer
                AND w.owner = \(view).owner AND w.zone = \(view).zone AND w.gone = 0 AND w.share IN (\(Shares.list(shares)))))
            """
    }

    /// Something about the zone is news to some of those who see it.
    package static func touch(_ zone: ZoneRow, for users: [UserID], in connection: any SQLConnection) throws {
        let names = users.indices.map { "$\($0 + 4)" }.joined(separator: ", ")
        let concerned = """
            owner = $1 AND zone = $2 AND gone = 0
            AND viewer IN (SELECT id FROM identity WHERE container = $3 AND user_name IN (\(names)))
            """
        let values = zone.key + [.text(zone.container)] + users.map { .text($0.recordName) }
        try FeedPlaces.move(concerned, values, in: connection)
    }

    /// The scope appears (again), and with it its zone in the viewer's private or shared database.
    static func show(_ scope: ScopeRow, to viewer: Int64, in connection: any SQLConnection) throws {
        let (zone, isShare) = (scope.zone, scope.share != nil)
        if isShare {
            try connection.execute(
                """
                INSERT INTO share_view (viewer, owner, zone, share, gone, until_sequence) VALUES ($1, $2, $3, $4, 0, 0)
                ON CONFLICT (viewer, owner, zone, share) DO UPDATE SET gone = 0, until_sequence = 0
                """, [.integer(viewer)] + scope.key)
        }
        let feed: [SQLValue] = [
            .integer(viewer), .integer(Int64(zone.environment.rawValue)), .bool(viewer != zone.owner),
        ]
        try ServerRuns.keepFeed(feed, in: connection)
        let place = try FeedPlaces.take(in: feed, connection)
        // It knows of all that was written before.
        try connection.execute(
            """
            INSERT INTO zone_view (viewer, environment, shared, owner, zone, position, gone, until_sequence, partial, since, told)
            VALUES ($1, $2, $3, $4, $5, $6, 0, 0, $7, $8, $8)
            ON CONFLICT (viewer, environment, shared, owner, zone)
            DO UPDATE SET position = excluded.position, gone = 0, until_sequence = 0, partial = excluded.partial,
                since = excluded.since, told = excluded.told
            """, feed + zone.key + [.integer(place), .bool(isShare), .integer(zone.position)])
        try Watch.add(viewer, to: zone.key, in: connection)
    }

    /// The scope disappears, and its zone from one participant's shared database unless it takes part in another; the
    /// entry that ended it is the last it may read.
    static func hide(
        _ scope: ScopeRow, from user: UserID, until sequence: UInt64, in connection: any SQLConnection
    ) throws {
        let zone = scope.zone
        guard let viewer = try Identities.id(of: user, container: zone.container, in: connection) else { return }
        if scope.share != nil, try remains(scope, to: viewer, until: sequence, in: connection) {
            return
        }
        try FeedPlaces.move(
            "owner = $1 AND zone = $2 AND viewer = $3 AND gone = 0", zone.key + [.integer(viewer)],
            setting: "gone = $4, until_sequence = $5",
            [.integer(Gone.notShared.rawValue), .integer(Int64(bitPattern: sequence))], in: connection)
        try Watch.noteLoss(in: zone.key, connection)
    }

    /// Whether the viewer takes part in another share of the zone than the one that it loses. What it has read does not
    /// count any more then: it reads the zone anew, without what was in the share.
    private static func remains(
        _ share: ScopeRow, to viewer: Int64, until sequence: UInt64, in connection: any SQLConnection
    ) throws -> Bool {
        try connection.execute(
            "UPDATE share_view SET gone = 1, until_sequence = $5 WHERE viewer = $1 AND owner = $2 AND zone = $3 AND share = $4",
            [.integer(viewer)] + share.key + [.integer(Int64(bitPattern: sequence))])
        return try FeedPlaces.move(
            """
            viewer = $1 AND owner = $2 AND zone = $3 AND gone = 0 AND EXISTS (SELECT 1 FROM share_view w
                WHERE w.viewer = $1 AND w.owner = $2 AND w.zone = $3 AND w.gone = 0)
            """, [.integer(viewer)] + share.zone.key, setting: "since = $4", [.integer(share.zone.position)],
            in: connection) > 0
    }

    /// The zone was deleted: the owner learns that, participants that it is not shared with them any more.
    package static func close(
        _ zone: ZoneRow, at sequence: UInt64, _ reason: Gone, in connection: any SQLConnection
    ) throws {
        try FeedPlaces.move(
            "owner = $1 AND zone = $2 AND gone = 0", zone.key,
            setting: "until_sequence = $3, gone = CASE WHEN viewer = $1 THEN $4 ELSE $5 END",
            [.integer(Int64(bitPattern: sequence)), .integer(reason.rawValue), .integer(Gone.notShared.rawValue)],
            in: connection)
        try Watch.noteLoss(in: zone.key, connection)
        guard zone.shares > 0 else { return }
        try connection.execute(
            """
            UPDATE share_view SET gone = 1, until_sequence = (SELECT s.sequence FROM share s
                WHERE s.owner = share_view.owner AND s.zone = share_view.zone AND s.share = share_view.share)
            WHERE owner = $1 AND zone = $2 AND gone = 0
            """, zone.key)
    }

    /// Why a closed zone of the caller's own is gone; nil for another's, of which nothing is told.
    package static func reason(
        of zone: ZoneRow, toOwner caller: Caller, in connection: any SQLConnection
    ) throws -> Gone? {
        guard caller.id == zone.owner else { return nil }
        return try connection.first(
            "SELECT gone FROM zone_view WHERE owner = $1 AND zone = $2 AND viewer = $1", zone.key
        ) { Gone(rawValue: try $0.int64("gone")) } ?? nil
    }

    package struct Change {
        package let zone: ZoneRow
        package let position: Int64
        package let gone: Int64
    }

    /// Changes after a position, oldest first.
    package static func changes(
        of caller: Caller, _ path: DatabasePath, after position: Int64, limit: Int, in connection: any SQLConnection
    ) throws -> [Change] {
        try connection.rows(
            """
            SELECT \(ZoneRow.columns), \(Zones.viewColumns), v.position AS view_position, v.gone FROM zone_view v
            JOIN zone z ON z.owner = v.owner AND z.zone = v.zone
            WHERE v.viewer = $1 AND v.environment = $2 AND v.shared = $3 AND v.position > $4
            ORDER BY v.position LIMIT $5
            """,
            [
                .integer(caller.id), .integer(Int64(path.environment.rawValue)), .bool(path.isShared),
                .integer(position),
                .integer(Int64(limit)),
            ]
        ) { row in
            Change(
                zone: try Zones.unsighted(row), position: try row.int64("view_position"), gone: try row.int64("gone"))
        }.map {
            Change(zone: try Zones.sighted($0.zone, by: caller, connection), position: $0.position, gone: $0.gone)
        }
    }

    package static func lastPosition(
        of caller: Caller, _ path: DatabasePath, in connection: any SQLConnection
    ) throws -> Int64 {
        try connection.first(
            "SELECT position FROM database_feed WHERE viewer = $1 AND environment = $2 AND shared = $3",
            [.integer(caller.id), .integer(Int64(path.environment.rawValue)), .bool(path.isShared)]
        ) { try $0.int64("position") } ?? 0
    }
}
