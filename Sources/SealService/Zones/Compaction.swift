import SealStorage

/// Deletions leave a zone's feed once they are old: a device that begins then need not be told of records that it never
/// had, and one that was away for longer begins anew. Look-ups keep giving the signed deletion, and a record made again
/// goes on after it.
enum Compaction {
    /// What one write takes at most, so that others do not wait.
    static let batch = 500

    static let query = """
        SELECT owner, zone, name, position FROM record WHERE deleted = 1 AND position > 0 AND modified < $1
        ORDER BY modified LIMIT $2
        """

    /// Up to which place deletions have left the feed.
    static func horizon(of zone: ZoneRow, in connection: any SQLConnection) throws -> Int64 {
        try connection.first("SELECT compacted FROM zone WHERE owner = $1 AND zone = $2", zone.key) {
            try $0.int64("compacted")
        }
            ?? 0
    }

    /// Takes the oldest deletions of before a moment out of the feeds of their zones.
    /// - Parameter moment: microseconds since 1970.
    /// - Returns: whether there may be more.
    static func strip(before moment: Int64, in connection: any SQLConnection) throws -> Bool {
        let old = try connection.rows(query, [.integer(moment), .integer(Int64(batch))]) {
            (
                owner: try $0.int64("owner"), zone: try $0.int64("zone"), name: try $0.text("name"),
                position: try $0.int64("position")
            )
        }
        // By owner and zone.
        var horizons: [[Int64]: Int64] = [:]
        for row in old {
            horizons[[row.owner, row.zone]] = max(horizons[[row.owner, row.zone]] ?? 0, row.position)
            try connection.execute(
                "UPDATE record SET position = 0 WHERE owner = $1 AND zone = $2 AND name = $3",
                [.integer(row.owner), .integer(row.zone), .text(row.name)])
        }
        for (zone, horizon) in horizons {
            try connection.execute(
                "UPDATE zone SET compacted = $3 WHERE owner = $1 AND zone = $2 AND compacted < $3",
                [.integer(zone[0]), .integer(zone[1]), .integer(horizon)])
        }
        return old.count == batch
    }
}
