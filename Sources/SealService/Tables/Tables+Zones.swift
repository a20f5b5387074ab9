/// Zones and their shares, and what each user sees of them. Every table is keyed first by the identity that owns its
/// rows (`identity.id`), or by the one that sees them. What belongs to a scope says to which share's; 0 is the zone's
/// own. A viewer's feed of zones has a row that gives out its places (`FeedPlaces`); what is not in feeds yet since too
/// many see it waits in `zone_touch` (`ZoneTouch`).
extension Tables {
    private static let databaseFeed = """
        CREATE TABLE database_feed (
            viewer BIGINT NOT NULL,
            environment BIGINT NOT NULL,
            shared BIGINT NOT NULL,
            position BIGINT NOT NULL,
            run BIGINT NOT NULL,
            PRIMARY KEY (viewer, environment, shared)
        )
        """

    private static let fillingDatabaseFeed = """

        INSERT INTO database_feed (viewer, environment, shared, position, run)
            SELECT v.viewer, v.environment, v.shared, MAX(v.position), COALESCE((SELECT MAX(r.run) FROM view_run r
                WHERE r.viewer = v.viewer AND r.environment = v.environment AND r.shared = v.shared), 0)
            FROM zone_view v GROUP BY v.viewer, v.environment, v.shared;
        """

    static let zones: [Table] = [
        Table(
            "zone", key: "owner, zone", whose: .zone, erased: .unlessSeen,
            billed: .rows(.init(values: [])),
            history: [
                .baseline: """
                CREATE TABLE zone (
                    owner BIGINT NOT NULL,
                    zone BIGINT NOT NULL,
                    container TEXT NOT NULL,
                    environment BIGINT NOT NULL,
                    owner_name TEXT NOT NULL,
                    name TEXT NOT NULL,
                    position BIGINT NOT NULL,
                    incarnation BIGINT NOT NULL,
                    sequence BIGINT NOT NULL,
                    head BLOB NOT NULL,
                    participants BIGINT NOT NULL,
                    closed BIGINT NOT NULL,
                    shares BIGINT NOT NULL DEFAULT 0,
                    watched BIGINT NOT NULL DEFAULT 0,
                    compacted BIGINT NOT NULL DEFAULT 0,
                    PRIMARY KEY (owner, zone),
                    UNIQUE (owner, environment, name)
                );
                """
            ]),
        // Before the views in it, which an erasure, from the last table to the first, takes before it then.
        Table(
            "database_feed", key: "viewer, environment, shared", whose: .identity("viewer"), erased: .withSight,
            billed: .free("two a user"),
            history: [.databaseFeeds: databaseFeed + ";" + fillingDatabaseFeed],
            // Each save writes the row anew: with room on its page it stays there.
            postgres: [.databaseFeeds: databaseFeed + " WITH (fillfactor = 70);" + fillingDatabaseFeed]),
        Table(
            "zone_view", key: "viewer, environment, shared, owner, zone", whose: .identity("viewer"),
            erased: .withSight,
            billed: .free("one a zone that is seen"),
            mentions: [.init("owner", .kept("whoever saw the zone sees its end"))],
            history: [
                .baseline: """
                CREATE TABLE zone_view (
                    viewer BIGINT NOT NULL,
                    environment BIGINT NOT NULL,
                    shared BIGINT NOT NULL,
                    owner BIGINT NOT NULL,
                    zone BIGINT NOT NULL,
                    position BIGINT NOT NULL,
                    gone BIGINT NOT NULL,
                    until_sequence BIGINT NOT NULL,
                    partial BIGINT NOT NULL,
                    since BIGINT NOT NULL,
                    PRIMARY KEY (viewer, environment, shared, owner, zone)
                );
                CREATE INDEX zone_view_feed ON zone_view (viewer, environment, shared, position);
                CREATE INDEX zone_view_zone ON zone_view (owner, zone, gone);
                """,
                .databaseFeeds: """
                ALTER TABLE zone_view ADD COLUMN told BIGINT NOT NULL DEFAULT 0;
                DROP INDEX zone_view_zone;
                CREATE INDEX zone_view_zone ON zone_view (owner, zone, gone, told);
                """,
            ]),
        Table(
            "zone_touch", key: "owner, zone, share", whose: .zone, erased: .withZone(.byKey),
            billed: .free("one a share, until all who see it are told"),
            history: [
                .databaseFeeds: """
                CREATE TABLE zone_touch (
                    owner BIGINT NOT NULL,
                    zone BIGINT NOT NULL,
                    share BIGINT NOT NULL,
                    position BIGINT NOT NULL,
                    PRIMARY KEY (owner, zone, share)
                );
                """
            ]),
        Table(
            "share", key: "owner, zone, share", whose: .zone, erased: .unlessSeen,
            billed: .rows(.init(values: [])),
            history: [
                .baseline: """
                CREATE TABLE share (
                    owner BIGINT NOT NULL,
                    zone BIGINT NOT NULL,
                    share BIGINT NOT NULL,
                    record_name TEXT NOT NULL,
                    scope_id BLOB NOT NULL,
                    root TEXT NOT NULL,
                    sequence BIGINT NOT NULL,
                    head BLOB NOT NULL,
                    participants BIGINT NOT NULL,
                    closed BIGINT NOT NULL,
                    began BIGINT NOT NULL DEFAULT 0,
                    PRIMARY KEY (owner, zone, share),
                    UNIQUE (owner, zone, record_name),
                    UNIQUE (owner, zone, scope_id)
                );
                CREATE UNIQUE INDEX share_root ON share (owner, zone, root) WHERE closed = 0;
                """
            ]),
        Table(
            "share_view", key: "viewer, owner, zone, share", whose: .identity("viewer"), erased: .withSight,
            billed: .free("one a share that is seen"),
            mentions: [.init("owner", .kept("whoever saw the share sees its end"))],
            history: [
                .baseline: """
                CREATE TABLE share_view (
                    viewer BIGINT NOT NULL,
                    owner BIGINT NOT NULL,
                    zone BIGINT NOT NULL,
                    share BIGINT NOT NULL,
                    gone BIGINT NOT NULL,
                    until_sequence BIGINT NOT NULL,
                    PRIMARY KEY (viewer, owner, zone, share)
                );
                CREATE INDEX share_view_share ON share_view (owner, zone, share);
                """
            ]),
    ]
}
