/// Records that left a share, as its participants are told: the statement that took each out, and nothing else.
extension StoredRecord {
    /// In the place of `columns`, of a row `departure`.
    static let departureColumns = """
        name, type, position, created, modified, 1, hash, statement, proof, fields, position, 0, NULL, share, move
        """

    static func departure(
        _ name: String, from shares: [Int64], in zone: ZoneRow, _ connection: any SQLConnection
    ) throws -> StoredRecord? {
        guard !shares.isEmpty else { return nil }
        return try connection.first(
            """
            SELECT \(departureColumns) FROM departure
            WHERE owner = $1 AND zone = $2 AND name = $3 AND share IN (\(Shares.list(shares))) ORDER BY position DESC LIMIT 1
            """, zone.key + [.text(name)]
        ) { try departed(from: $0) }
    }

    static func departed(from row: any SQLRow) throws -> StoredRecord {
        var record = try StoredRecord(row)
        record.isDeparture = true
        return record
    }
}

extension RecordFeed {
    /// What participants of shares are given: their records, and those that left. Each is one range of an index a share.
    static func query(of shares: [Int64]) -> String {
        guard !shares.isEmpty else { return "SELECT \(StoredRecord.columns), 0 FROM record WHERE owner = $1 AND zone = $2 AND position > $3 AND 1 = 0 LIMIT $4" }
        let list = Shares.list(shares)
        return """
            SELECT \(StoredRecord.columns), 0 AS departed FROM record
            WHERE owner = $1 AND zone = $2 AND position > $3 AND share > 0 AND share IN (\(list))
            UNION ALL SELECT \(StoredRecord.departureColumns), 1 FROM departure d
            WHERE owner = $1 AND zone = $2 AND position > $3 AND share IN (\(list))
                AND NOT EXISTS (SELECT 1 FROM record r WHERE r.owner = d.owner AND r.zone = d.zone AND r.name = d.name
                    AND r.share IN (\(list)))
            ORDER BY 3 LIMIT $4
            """
    }
}
