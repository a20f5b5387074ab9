import SealStatements

/// Which subscriptions a change in a zone may concern, of everybody who sees it. It lies in the zone's row, which each
/// save reads anyway: a zone that nobody subscribed to costs a save no statement, right after a restart or a rollback too.
struct Watch: OptionSet, Sendable, Hashable {
    let rawValue: Int64

    /// Zone and database subscriptions.
    static let changes = Watch(rawValue: 1)
    static let queries = Watch(rawValue: 2)
    static let webhooks = Watch(rawValue: 4)

    /// The subscriptions that a zone `z` concerns, as `s`, with the view `v` through which each subscriber sees it.
    static let subscriptions = """
        zone_view v JOIN subscription s ON s.owner = v.viewer AND s.environment = v.environment \
        AND s.database = v.shared + \(SubscriptionRow.Database.private.rawValue) \
        AND (s.zone_owner = 0 OR (s.zone_owner = v.owner AND s.zone = v.zone))
        """

    private static func exists(_ condition: String) -> String {
        """
        CASE WHEN EXISTS (SELECT 1 FROM \(subscriptions) \
        WHERE v.owner = zone.owner AND v.zone = zone.zone AND v.gone = 0 AND \(condition))
        """
    }

    private static let update = """
        UPDATE zone SET watched = \(exists("s.kind <> 1")) THEN \(changes.rawValue) ELSE 0 END
            + \(exists("s.kind = 1")) THEN \(queries.rawValue) ELSE 0 END
            + \(exists("s.has_webhook = 1")) THEN \(webhooks.rawValue) ELSE 0 END
        """

    /// After somebody began or ceased to see the zone.
    static func refresh(_ zone: ZoneRow, in connection: any SQLConnection) throws {
        try connection.execute(update + " WHERE owner = $1 AND zone = $2", zone.key)
    }

    /// After a change of the viewer's subscriptions in one database.
    static func refresh(
        viewer: Int64, _ environment: Environment, _ database: SubscriptionRow.Database, in connection: any SQLConnection
    ) throws {
        try connection.execute(
            update + """
                 WHERE (owner, zone) IN (SELECT w.owner, w.zone FROM zone_view w
                    WHERE w.viewer = $1 AND w.environment = $2 AND w.shared = $3 AND w.gone = 0)
                """,
            [.integer(viewer), .integer(Int64(environment.rawValue)), .bool(database == .shared)])
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
