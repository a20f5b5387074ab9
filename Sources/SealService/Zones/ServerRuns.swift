import SealStatements
package import SealStorage

/// The server's history, as far as change tokens need it: each start begins a run, and says where every feed ended in the one
/// before. A token names the run that it was given out in, so that one of a future that a restored backup does not have is
/// known, even after the feed has grown past its place again.
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

    /// Before anything is served.
    /// - Parameter now: microseconds since 1970.
    package static func begin(now: Int64, random: Int64, in connection: any SQLConnection) throws {
        // At the first start there is none.
        let last = try connection.first("SELECT COALESCE(MAX(number), 0) FROM server_run") { try $0.int64(0) } ?? 0
        try connection.execute(
            """
            INSERT INTO zone_end (owner, zone, run, position)
            SELECT z.owner, z.zone, $1, z.position FROM zone z WHERE z.position > COALESCE(
                (SELECT MAX(e.position) FROM zone_end e WHERE e.owner = z.owner AND e.zone = z.zone), 0)
            """, [.integer(last)])
        try connection.execute(
            """
            INSERT INTO view_end (viewer, environment, shared, run, position)
            SELECT v.viewer, v.environment, v.shared, $1, MAX(v.position) FROM zone_view v
            GROUP BY v.viewer, v.environment, v.shared HAVING MAX(v.position) > COALESCE(
                (SELECT MAX(e.position) FROM view_end e
                WHERE e.viewer = v.viewer AND e.environment = v.environment AND e.shared = v.shared), 0)
            """, [.integer(last)])
        try connection.execute(
            "INSERT INTO server_run (number) VALUES ($1)", [.integer(number(after: last, now: now, random: random))])
    }

    /// How far a token of `run` may reach in a zone's feed, which stands at `position`.
    package static func reach(of run: Int64, in zone: ZoneRow, _ connection: any SQLConnection) throws -> Reach {
        try reach(
            of: run, standing: zone.position,
            "SELECT MAX(position) FROM zone_end WHERE owner = $2 AND zone = $3 AND run <= $1", zone.key, connection)
    }

    /// The same in one of a caller's databases.
    package static func reach(
        of run: Int64, of caller: Caller, _ path: DatabasePath, standing position: Int64, in connection: any SQLConnection
    ) throws -> Reach {
        try reach(
            of: run, standing: position,
            "SELECT MAX(position) FROM view_end WHERE viewer = $2 AND environment = $3 AND shared = $4 AND run <= $1",
            [.integer(caller.id), .integer(Int64(path.environment.rawValue)), .bool(path.isShared)], connection)
    }

    private static func reach(
        of run: Int64, standing position: Int64, _ end: String, _ key: [SQLValue], _ connection: any SQLConnection
    ) throws -> Reach {
        let found = try connection.first(
            """
            SELECT (SELECT MAX(number) FROM server_run), (SELECT COUNT(*) FROM server_run WHERE number = $1), (\(end))
            """, [.integer(run)] + key
        ) { (newest: try $0.int64(0), isKnown: try $0.int64(1) > 0, end: try $0.optionalInt64(2)) }
        guard let found else { throw StorageError.failed(code: 0, message: "the server's run is gone") }
        if run == found.newest { return Reach(newest: found.newest, end: position) }
        return Reach(newest: found.newest, end: found.isKnown ? found.end ?? 0 : nil)
    }

    /// Where each feed ended in each of the server's runs, of the feeds that moved in it.
    static let tables = """
        CREATE TABLE server_run (number BIGINT NOT NULL PRIMARY KEY);
        CREATE TABLE zone_end (
            owner BIGINT NOT NULL,
            zone BIGINT NOT NULL,
            run BIGINT NOT NULL,
            position BIGINT NOT NULL,
            PRIMARY KEY (owner, zone, run)
        );
        CREATE TABLE view_end (
            viewer BIGINT NOT NULL,
            environment BIGINT NOT NULL,
            shared BIGINT NOT NULL,
            run BIGINT NOT NULL,
            position BIGINT NOT NULL,
            PRIMARY KEY (viewer, environment, shared, run)
        );
        """
}
