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

    struct Deletion: Sendable {
        let name: String
        let position: Int64
    }

    /// The oldest deletions of before a moment, by owner and zone.
    /// - Parameter moment: microseconds since 1970.
    static func old(before moment: Int64, in connection: any SQLConnection) throws -> [[Int64]: [Deletion]] {
        let old = try connection.rows(query, [.integer(moment), .integer(Int64(batch))]) {
            (
                zone: [try $0.int64("owner"), try $0.int64("zone")],
                deletion: Deletion(name: try $0.text("name"), position: try $0.int64("position"))
            )
        }
        return Dictionary(grouping: old, by: \.zone).mapValues { $0.map(\.deletion) }
    }

    /// Takes deletions out of their zone's feed. What has changed since it was read has another place there.
    /// - Parameter zone: owner and number.
    static func strip(_ deletions: [Deletion], of zone: [Int64], in connection: any SQLConnection) throws {
        let key: [SQLValue] = zone.map { .integer($0) }
        var horizon: Int64 = 0
        for deletion in deletions {
            let stripped = try connection.execute(
                "UPDATE record SET position = 0 WHERE owner = $1 AND zone = $2 AND name = $3 AND position = $4",
                key + [.text(deletion.name), .integer(deletion.position)])
            if stripped > 0 { horizon = max(horizon, deletion.position) }
        }
        try connection.execute(
            "UPDATE zone SET compacted = $3 WHERE owner = $1 AND zone = $2 AND compacted < $3",
            key + [.integer(horizon)])
    }
}
