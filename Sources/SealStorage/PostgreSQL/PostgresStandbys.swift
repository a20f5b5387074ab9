/// The standbys that follow a PostgreSQL database.
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
            """
            SELECT COUNT(*) AS standbys, CAST(MAX(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)) AS BIGINT) AS bytes,
                CAST(COALESCE(EXTRACT(EPOCH FROM MAX(replay_lag)), 0) AS DOUBLE PRECISION) AS seconds
            FROM pg_stat_replication WHERE COALESCE(state, 'streaming') = 'streaming'
            """
        ) { row in
            (
                count: try row.int64("standbys"), bytes: try row.optionalInt64("bytes"),
                seconds: try row.double("seconds")
            )
        }
        guard let seen else { return nil }
        count = seen.count
        delay = seen.bytes.map { Delay(bytes: max(0, $0), seconds: max(0, seen.seconds)) }
    }
}
