import SealStatements
package import SealStorage

/// The database's history, as far as change tokens need it: each opening of the store begins a run, and a feed's first
/// change in a run keeps where the feed stood before. A token names the run that it was given out in, so that one of a
/// future that a restored backup does not have is known, even after the feed has grown past its place again.
///
/// A file is opened by each start of the server. PostgreSQL says itself when it was (`SQLConnection.storeOpening`), so
/// that a server that starts, or one of several, begins none.
package enum ServerRuns {
    /// A feed's places as a token may name them.
    package struct Reach: Sendable, Equatable {
        /// The run that it is now.
        package let newest: Int64
        /// Where the feed ended in the token's run; nil for a run that this history does not have.
        package let end: Int64?
    }

    /// Ordered by time, and never the same for two servers that start from copies of one database.
    package static func number(after last: Int64, now: Int64, random: Int64) -> Int64 {
        max(now / 1_000, (last >> randomBits) + 1) << randomBits | (random & ((1 << randomBits) - 1))
    }

    private static let randomBits: Int64 = 20

    /// Before anything is served, and before anything is written by another connection: begins a run, unless the store
    /// is open as it was.
    /// - Parameter now: microseconds since 1970.
    /// - Returns: the first run of this history, by which one database is told from another.
    @discardableResult
    package static func begin(now: Int64, random: Int64, in connection: any SQLConnection) throws -> Int64 {
        // At the first start there is none.
        let (first, last) =
            try connection.first(
                "SELECT COALESCE(MIN(number), 0) AS first, COALESCE(MAX(number), 0) AS last FROM server_run"
            ) { (try $0.int64("first"), try $0.int64("last")) } ?? (0, 0)
        let opening = try connection.storeOpening()
        if first != 0, let opening, try connection.setting(Self.opening) == opening { return first }
        let begun = number(after: last, now: now, random: random)
        try connection.execute("INSERT INTO server_run (number) VALUES ($1)", [.integer(begun)])
        if let opening { try connection.change(setting: Self.opening, to: opening) }
        return first == 0 ? begun : first
    }

    /// The setting that says in which opening of the store the newest run began.
    private static let opening = "opening"

    /// The first run of this history; 0 where none has begun.
    package static func first(in connection: any SQLConnection) throws -> Int64 {
        try connection.first("SELECT COALESCE(MIN(number), 0) AS first FROM server_run") { try $0.int64("first") } ?? 0
    }

    /// The run that it is now.
    package static func current(in connection: any SQLConnection) throws -> Int64 {
        try connection.first("SELECT COALESCE(MAX(number), 0) AS last FROM server_run") { try $0.int64("last") } ?? 0
    }

    // MARK: A feed's first change in a run

    /// The run that it is now, for a statement that moves a feed.
    static let newest = "(SELECT MAX(number) FROM server_run)"

    /// Keeps where a zone's feed stood before its first change in a run, and its owner's with it: nothing has to be
    /// asked about that one at the zone's further changes. Feeds of others are kept as they are moved (`FeedPlaces`).
    static func keep(_ zone: ZoneRow, at position: Int64, before run: Int64, in connection: any SQLConnection) throws {
        try connection.execute(
            """
            INSERT INTO zone_run (owner, zone, run, position) VALUES ($1, $2, $3, $4)
            ON CONFLICT (owner, zone, run) DO NOTHING
            """, zone.key + [.integer(run), .integer(position)])
        // Nobody has a public database's zone in a feed.
        guard !zone.isPublic else { return }
        try keepFeed([.integer(zone.owner), .integer(Int64(zone.environment.rawValue)), 0], in: connection)
    }

    /// The same for one viewer's feed.
    /// - Parameter feed: viewer, environment, and whether it is of the shared database.
    static func keepFeed(_ feed: [SQLValue], in connection: any SQLConnection) throws {
        try connection.execute(
            """
            INSERT INTO view_run (viewer, environment, shared, run, position)
            VALUES ($1, $2, $3, \(newest), COALESCE((SELECT f.position FROM database_feed f
                WHERE f.viewer = $1 AND f.environment = $2 AND f.shared = $3), 0))
            ON CONFLICT (viewer, environment, shared, run) DO NOTHING
            """, feed)
    }

    /// The same for the feeds of `zone_view`'s rows for which the condition holds. In a run in which a feed has moved
    /// it is kept: nothing is asked about it.
    static func keepFeeds(
        of views: String, _ values: [SQLValue], in connection: any SQLConnection
    ) throws {
        try connection.execute(
            """
            INSERT INTO view_run (viewer, environment, shared, run, position)
            SELECT f.viewer, f.environment, f.shared, \(newest), f.position FROM database_feed f
            WHERE f.run <> \(newest) AND (f.viewer, f.environment, f.shared) IN (
                SELECT viewer, environment, shared FROM zone_view WHERE \(views))
            ORDER BY f.viewer, f.environment, f.shared
            ON CONFLICT (viewer, environment, shared, run) DO NOTHING
            """, values)
    }

    // MARK: How far a token may reach

    /// How far a token of `run` may reach in a zone's feed, which stands at `position`.
    package static func reach(of run: Int64, in zone: ZoneRow, _ connection: any SQLConnection) throws -> Reach {
        try reach(
            of: run, standing: zone.position,
            "SELECT position FROM zone_run WHERE owner = $2 AND zone = $3 AND run > $1 ORDER BY run LIMIT 1", zone.key,
            connection)
    }

    /// The same in one of a caller's databases.
    package static func reach(
        of run: Int64, of caller: Caller, _ path: DatabasePath, standing position: Int64,
        in connection: any SQLConnection
    ) throws -> Reach {
        try reach(
            of: run, standing: position,
            """
            SELECT position FROM view_run WHERE viewer = $2 AND environment = $3 AND shared = $4 AND run > $1
            ORDER BY run LIMIT 1
            """,
            [.integer(caller.id), .integer(Int64(path.environment.rawValue)), .bool(path.isShared)], connection)
    }

    /// - Parameter end: where the feed stood when it first changed after the run.
    private static func reach(
        of run: Int64, standing position: Int64, _ end: String, _ key: [SQLValue], _ connection: any SQLConnection
    ) throws -> Reach {
        let found = try connection.first(
            """
            SELECT \(newest) AS newest, (SELECT COUNT(*) FROM server_run WHERE number = $1) AS known, (\(end)) AS feed_end
            """, [.integer(run)] + key
        ) { (newest: try $0.int64("newest"), isKnown: try $0.bool("known"), end: try $0.optionalInt64("feed_end")) }
        guard let found else { throw StorageError.failed(code: 0, message: "the server's run is gone") }
        if run == found.newest { return Reach(newest: found.newest, end: position) }
        return Reach(newest: found.newest, end: found.isKnown ? found.end ?? position : nil)
    }
}
