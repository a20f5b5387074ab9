/// The standbys that follow a PostgreSQL database: what replays its log, and not what only keeps it.
package struct PostgresStandbys: Sendable, Equatable {
    package let count: Int64
    /// Of the one that is furthest behind; nil where the server's role may not see it (`pg_monitor`), or there is none.
    package let delay: Delay?

    package struct Delay: Sendable, Equatable {
        /// Of the log, which it has not replayed.
        package let bytes: Int64
        package let seconds: Double
    }

    /// Nil for another engine.
    package init?(seenBy connection: any SQLConnection) throws {
        guard connection.dialect == .postgres else { return nil }
        let seen = try connection.first(
            // Of a session that the role may not see all but its place is null. The others come first, and of them the
            // one that is furthest behind.
            """
            SELECT COUNT(*) OVER () AS standbys,
                CAST(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn) AS BIGINT) AS bytes,
                CAST(COALESCE(EXTRACT(EPOCH FROM replay_lag), 0) AS DOUBLE PRECISION) AS seconds
            FROM pg_stat_replication WHERE state IS NULL OR (state = 'streaming' AND replay_lsn IS NOT NULL)
            ORDER BY replay_lsn NULLS LAST LIMIT 1
            """
        ) { row in
            (
                count: try row.int64("standbys"), bytes: try row.optionalInt64("bytes"),
                seconds: try row.double("seconds")
            )
        }
        count = seen?.count ?? 0
        delay = seen.flatMap { seen in
            seen.bytes.map { Delay(bytes: max(0, $0), seconds: max(0, seen.seconds)) }
        }
    }
}
