import SealStorage

/// Records that came into another scope: what has one of them as parent may be elsewhere than it, and is to follow.
enum UnsettledParents {
    struct Waiting {
        let name: String
        /// Children up to this name are in place.
        let settled: String
    }

    /// What has this record as parent may be elsewhere than it.
    static func note(_ parent: String, in zone: ZoneRow, _ connection: any SQLConnection) throws {
        try connection.execute(
            """
            INSERT INTO unsettled_parent (owner, zone, name, settled) SELECT $1, $2, $3, '' WHERE EXISTS (
                SELECT 1 FROM record WHERE owner = $1 AND zone = $2 AND parent = $3 AND deleted = 0)
            ON CONFLICT (owner, zone, name) DO UPDATE SET settled = ''
            """, zone.key + [.text(parent)])
    }

    static func areThere(in zone: ZoneRow, _ connection: any SQLConnection) throws -> Bool {
        try connection.exists("SELECT 1 FROM unsettled_parent WHERE owner = $1 AND zone = $2 LIMIT 1", zone.key)
    }

    static func first(_ limit: Int, in zone: ZoneRow, _ connection: any SQLConnection) throws -> [Waiting] {
        try connection.rows(
            "SELECT name, settled FROM unsettled_parent WHERE owner = $1 AND zone = $2 ORDER BY name LIMIT $3",
            zone.key + [.integer(Int64(limit))]
        ) { Waiting(name: try $0.text("name"), settled: try $0.text("settled")) }
    }

    /// - Parameter last: the child up to which all are in place; nil where that is all of them.
    static func settle(
        _ parent: Waiting, upTo last: String?, in zone: ZoneRow, _ connection: any SQLConnection
    ) throws {
        guard let last else {
            try connection.execute(
                "DELETE FROM unsettled_parent WHERE owner = $1 AND zone = $2 AND name = $3",
                zone.key + [.text(parent.name)])
            return
        }
        guard last != parent.settled else { return }
        try connection.execute(
            "UPDATE unsettled_parent SET settled = $4 WHERE owner = $1 AND zone = $2 AND name = $3",
            zone.key + [.text(parent.name), .text(last)])
    }
}
