package import SealStatements
package import SealStorage

/// Which subscriptions a change in a zone may concern, of everybody who sees it. It lies in the zone's row, which each
/// save reads anyway: a zone that nobody subscribed to costs a save no statement, right after a restart or a rollback
/// too.
package struct Watch: OptionSet, Sendable, Hashable {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// Zone and database subscriptions.
    package static let changes = Watch(rawValue: 1)
    package static let queries = Watch(rawValue: 2)
    package static let webhooks = Watch(rawValue: 4)

    /// The subscriptions that a zone `z` concerns, as `s`, with the view `v` through which each subscriber sees it.
    static let subscriptions = "zone_view v JOIN subscription s ON \(concerns)"

    /// Whether a subscription `s` is to what its subscriber sees through a view `v`: to that zone, or to all zones of
    /// the database, which are numbered from one. So written, an index leads there, however many others there are.
    static let concerns = """
        s.owner = v.viewer AND s.environment = v.environment \
        AND s.database = v.shared + \(SubscribedDatabase.private.rawValue) \
        AND s.zone_owner IN (0, v.owner) AND s.zone IN (0, v.zone)
        """

    /// Somebody has ceased to watch: the other bits say who may, and the next save finds out who does.
    package static let stale = Watch(rawValue: 8)

    /// What is watched of a `zone`, as a term. Each part is found by one look at an index for each viewer, however many
    /// subscriptions these have.
    /// - Parameter viewers: a condition on the view `v`.
    private static func watched(where viewers: String) -> String {
        func exists(_ condition: String) -> String {
            let places = ["s.zone_owner = 0 AND s.zone = 0", "s.zone_owner = v.owner AND s.zone = v.zone"].map {
                place in
                """
                EXISTS (SELECT 1 FROM zone_view v JOIN subscription s ON s.owner = v.viewer AND s.environment = v.environment \
                AND s.database = v.shared + \(SubscribedDatabase.private.rawValue) AND \(place) \
                WHERE v.owner = zone.owner AND v.zone = zone.zone AND v.gone = 0 AND \(viewers) AND \(condition))
                """
            }
            return "CASE WHEN \(places[0]) OR \(places[1])"
        }
        return """
            (\(exists("s.kind IN (2, 3)")) THEN \(changes.rawValue) ELSE 0 END
            + \(exists("s.kind = 1")) THEN \(queries.rawValue) ELSE 0 END
            + \(exists("s.kind IN (1, 2, 3) AND s.has_webhook = 1")) THEN \(webhooks.rawValue) ELSE 0 END)
            """
    }

    private static let refreshing =
        "UPDATE zone SET watched = \(watched(where: "1 = 1")) WHERE owner = $1 AND zone = $2 RETURNING watched"
    private static let adding =
        "UPDATE zone SET watched = watched | \(watched(where: "v.viewer = $3")) WHERE owner = $1 AND zone = $2"

    /// Finds out who watches now.
    @discardableResult
    static func refresh(_ zone: ZoneRow, in connection: any SQLConnection) throws -> Watch {
        Watch(rawValue: try connection.first(refreshing, zone.key) { try $0.int64("watched") } ?? 0)
    }

    /// After somebody began to see the zone, or subscribed to it.
    /// - Parameter zone: `ZoneRow.key`.
    package static func add(_ viewer: Int64, to zone: [SQLValue], in connection: any SQLConnection) throws {
        try connection.execute(adding, zone + [.integer(viewer)])
    }

    /// After somebody ceased to see the zone, or to subscribe to it.
    /// - Parameter zone: `ZoneRow.key`.
    static func noteLoss(in zone: [SQLValue], _ connection: any SQLConnection) throws {
        try connection.execute(
            "UPDATE zone SET watched = watched | \(stale.rawValue) WHERE owner = $1 AND zone = $2 AND watched > 0", zone
        )
    }

    /// Which of a user's subscriptions are to every zone of a database.
    /// - Parameter key: the user, the environment, and the database.
    static func ofAllZones(_ key: [SQLValue], in connection: any SQLConnection) throws -> Watch {
        try connection.rows(
            """
            SELECT kind, MAX(has_webhook) AS has_webhook FROM subscription
            WHERE owner = $1 AND environment = $2 AND database = $3 AND zone_owner = 0 AND zone = 0 GROUP BY kind
            """, key
        ) { row -> Watch in
            let kind: Watch = try row.int64("kind") == SubscriptionRow.Kind.query.rawValue ? .queries : .changes
            return try row.bool("has_webhook") ? [kind, .webhooks] : kind
        }.reduce(into: []) { $0.formUnion($1) }
    }

    /// After these became others: of the zones that the user sees only those are written that learn something by it.
    package static func change(
        from before: Watch, to after: Watch, viewer: Int64, _ environment: Environment,
        _ database: SubscribedDatabase,
        in connection: any SQLConnection
    ) throws {
        let (added, lost) = (after.subtracting(before), before.subtracting(after))
        let seen = """
            (owner, zone) IN (SELECT w.owner, w.zone FROM zone_view w
                WHERE w.viewer = $1 AND w.environment = $2 AND w.shared = $3 AND w.gone = 0)
            """
        let values: [SQLValue] = [.integer(viewer), .integer(Int64(environment.rawValue)), .bool(database == .shared)]
        if !added.isEmpty {
            try connection.execute(
                "UPDATE zone SET watched = watched | \(added.rawValue) WHERE \(seen) AND watched & \(added.rawValue) <> \(added.rawValue)",
                values)
        }
        if !lost.isEmpty {
            try connection.execute(
                """
                UPDATE zone SET watched = watched | \(stale.rawValue)
                WHERE \(seen) AND watched & \(lost.rawValue) <> 0 AND watched & \(stale.rawValue) = 0
                """, values)
        }
    }

    /// After a change of subscriptions in a public database, where whoever may read sees the zone.
    static func refresh(publicZone owner: Int64, in connection: any SQLConnection) throws {
        try connection.execute(
            """
            UPDATE zone SET watched = CASE WHEN EXISTS (SELECT 1 FROM subscription s WHERE s.database = 1 AND s.zone_owner = $1)
                THEN \(queries.rawValue) ELSE 0 END
            WHERE owner = $1 AND zone = 1
            """, [.integer(owner)])
    }
}
