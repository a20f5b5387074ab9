package import SealStatements
package import SealStorage

/// Which zones take the most room: their names, whose they are, and sums. Nothing of what is in them.
package enum LargestZones {
    package struct Zone: Sendable {
        package let name: String
        package let container: String
        package let environment: String
        /// The owner's user record name.
        package let owner: String
        package let records: Int64
        package let bytes: Int64
    }

    /// It reads the sums of all zones.
    /// - Parameters:
    ///   - container: empty for all.
    ///   - environment: nil for both.
    package static func list(
        of container: String, _ environment: Environment?, limit: Int, in connection: any SQLConnection
    ) throws -> [Zone] {
        try connection.rows(
            """
            SELECT z.name, z.container, z.environment, z.owner_name, CAST(SUM(u.records) AS BIGINT) AS records,
                CAST(SUM(u.bytes) AS BIGINT) AS bytes
            FROM storage_usage u JOIN zone z ON z.owner = u.owner AND z.zone = u.zone
            WHERE u.owner <> 0 AND u.zone <> 0 AND z.closed = 0
                AND (z.container = $2 OR $2 = '') AND (z.environment = $3 OR $3 = 0)
            GROUP BY z.owner, z.zone ORDER BY bytes DESC, z.name LIMIT $1
            """, [.integer(Int64(limit)), .text(container), .integer(Int64(environment?.rawValue ?? 0))]
        ) { row in
            Zone(
                name: try row.text("name"), container: try row.text("container"),
                environment: try row.environment("environment").name, owner: try row.text("owner_name"),
                records: try row.int64("records"), bytes: try row.int64("bytes"))
        }
    }
}
