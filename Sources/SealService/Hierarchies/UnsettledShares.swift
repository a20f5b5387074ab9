import SealStorage

/// Shares that have ended: what is in them still is to come back into the zone's own scope.
enum UnsettledShares {
    struct Waiting {
        let number: Int64
        /// Records up to this place in the feed are settled.
        let settled: Int64
    }

    /// A share has ended, or begins again.
    static func note(_ share: ScopeRow, _ connection: any SQLConnection) throws {
        try connection.execute(
            share.isClosed
                ? """
                INSERT INTO unsettled_share (owner, zone, share, settled) VALUES ($1, $2, $3, 0)
                ON CONFLICT (owner, zone, share) DO UPDATE SET settled = 0
                """
                : "DELETE FROM unsettled_share WHERE owner = $1 AND zone = $2 AND share = $3", share.key)
    }

    /// Whether an ended share has records still.
    static func isLeft(in share: ScopeRow, _ connection: any SQLConnection) throws -> Bool {
        let settled = try connection.first(
            "SELECT settled FROM unsettled_share WHERE owner = $1 AND zone = $2 AND share = $3", share.key
        ) { try $0.int64("settled") }
        guard let settled else { return false }
        return try connection.exists(
            """
            SELECT 1 FROM record WHERE owner = $1 AND zone = $2 AND share = $3 AND share > 0 AND position > $4 AND deleted = 0
            ORDER BY position LIMIT 1
            """, share.key + [.integer(settled)])
    }

    static func areThere(in zone: ZoneRow, _ connection: any SQLConnection) throws -> Bool {
        try connection.exists("SELECT 1 FROM unsettled_share WHERE owner = $1 AND zone = $2 LIMIT 1", zone.key)
    }

    static func first(_ limit: Int, in zone: ZoneRow, _ connection: any SQLConnection) throws -> [Waiting] {
        try connection.rows(
            "SELECT share, settled FROM unsettled_share WHERE owner = $1 AND zone = $2 ORDER BY share LIMIT $3",
            zone.key + [.integer(Int64(limit))]
        ) { Waiting(number: try $0.int64("share"), settled: try $0.int64("settled")) }
    }

    /// - Parameter last: the place up to which all are settled; nil where that is all of them.
    static func settle(
        _ share: Waiting, upTo last: Int64?, in zone: ZoneRow, _ connection: any SQLConnection
    ) throws {
        guard let last else {
            try connection.execute(
                "DELETE FROM unsettled_share WHERE owner = $1 AND zone = $2 AND share = $3",
                zone.key + [.integer(share.number)])
            return
        }
        guard last != share.settled else { return }
        try connection.execute(
            "UPDATE unsettled_share SET settled = $4 WHERE owner = $1 AND zone = $2 AND share = $3",
            zone.key + [.integer(share.number), .integer(last)])
    }
}
