import SealStorage

/// Records that left a share, as its participants are told: the statement that took each out, and nothing else.
extension StoredRecord {
    /// In the place of `columns`, of a row `departure`.
    static let departureColumns = """
        name, type, position, created, modified, 1, hash, statement, proof, fields, position, 0, NULL, share, move
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

extension RecordFeed {
    /// What participants of shares are given: their records, and those that left, each by the last statement by which it left one of
    /// them. Each is one range of an index a share.
    package static func query(of shares: [ZoneShare]) -> String {
        guard !shares.isEmpty else { return "SELECT \(StoredRecord.columns), 0 FROM record WHERE owner = $1 AND zone = $2 AND position > $3 AND 1 = 0 LIMIT $4" }
        let list = Shares.list(shares.map(\.number))
        let present = ZoneShare.present(shares)
        return """
            SELECT \(StoredRecord.columns), 0 AS departed FROM record
            WHERE owner = $1 AND zone = $2 AND position > $3 AND share > 0 AND share IN (\(list))\(present)
            UNION ALL SELECT \(StoredRecord.departureColumns), 1 FROM departure d
            WHERE owner = $1 AND zone = $2 AND position > $3 AND share IN (\(list))\(present)
                AND NOT EXISTS (SELECT 1 FROM record r WHERE r.owner = d.owner AND r.zone = d.zone AND r.name = d.name
                    AND r.share IN (\(list))\(ZoneShare.presentTombstones(shares)))
                AND NOT EXISTS (SELECT 1 FROM departure n WHERE n.owner = d.owner AND n.zone = d.zone AND n.name = d.name
                    AND n.share IN (\(list)) AND n.position > d.position)
            ORDER BY 3 LIMIT $4
            """
    }
}

extension ZoneShare {
    /// Leaves out what is of earlier lives of the shares.
    fileprivate static func present(_ shares: [ZoneShare]) -> String {
        shares.filter { $0.began > 0 }.map { " AND NOT (share = \($0.number) AND position <= \($0.began))" }.joined()
    }

    /// The same of tombstones `r`, those that have left the feed included.
    fileprivate static func presentTombstones(_ shares: [ZoneShare]) -> String {
        shares.filter { $0.began > 0 }.map {
            " AND NOT (r.share = \($0.number) AND r.deleted = 1 AND r.tag <= \($0.began))"
        }.joined()
    }
}
