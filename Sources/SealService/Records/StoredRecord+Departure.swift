import SealStorage

/// Records that left a share, as its participants are told: the statement that took each out, and nothing else.
extension StoredRecord {
    /// In the place of `columns`, of a row `departure`.
    static let departureColumns = """
        name, type, position, created, modified, 1 AS deleted, hash, statement, proof, fields, position AS tag, \
        0 AS assets, 0 AS delete_references, NULL AS went_with, share, move
        """

    static func departure(
        _ name: String, from shares: [ZoneShare], in zone: ZoneRow, _ connection: any SQLConnection
    ) throws -> StoredRecord? {
        guard !shares.isEmpty else { return nil }
        return try connection.first(
            """
            SELECT \(departureColumns) FROM departure
            WHERE owner = $1 AND zone = $2 AND name = $3 AND share IN (\(Shares.list(shares.map(\.number))))\(ZoneShare.present(shares))
            ORDER BY position DESC LIMIT 1
            """, zone.key + [.text(name)]
        ) { try departed(from: $0) }
    }

    static func departed(from row: any SQLRow) throws -> StoredRecord {
        var record = try StoredRecord(row)
        record.isDeparture = true
        return record
    }
}
