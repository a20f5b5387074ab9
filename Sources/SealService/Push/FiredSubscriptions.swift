package import SealStorage

/// What query subscriptions say of records, on its way into their subscribers' feeds.
package struct FiredSubscriptions {
    package struct Row {
        package let owner: Int64
        package let environment: Int64
        package let database: Int64
        package let subscription: String
        package let record: String
        package let payload: [UInt8]
    }

    /// `ZoneRow.key` of the zone that the records are in.
    package let zone: [SQLValue]
    /// The session that made the change.
    package let origin: [UInt8]
    /// Microseconds since 1970.
    package let changed: Int64
    package let connection: any SQLConnection

    private static let rowsPerStatement = 32
    /// Of one user at once. Beyond it the user's devices are told to fetch changes, which costs less.
    package static let mostRows = 2_000

    /// Returns whose feeds have grown.
    package func write(_ rows: [Row]) throws -> [Int64] {
        let byOwner = Dictionary(grouping: rows, by: \.owner)
        for (owner, rows) in byOwner.sorted(by: { $0.key < $1.key }) {
            guard rows.count <= Self.mostRows else {
                try NotificationFeed.overflow(owner, in: connection)
                continue
            }
            var rest = rows[...]
            while !rest.isEmpty {
                try insert(rest.prefix(Self.rowsPerStatement), owner)
                rest = rest.dropFirst(Self.rowsPerStatement)
            }
        }
        return byOwner.keys.sorted()
    }

    private func insert(_ rows: ArraySlice<Row>, _ owner: Int64) throws {
        let feed = try NotificationFeed.advance(where: "owner = $1", [.integer(owner)], in: connection).first
        guard let number = feed?.place.last else {
            throw StorageError.failed(code: 0, message: "a subscriber has no feed")
        }
        var values = zone + [.blob(origin), .integer(changed), .integer(owner), .integer(number)]
        var tuples: [String] = []
        for row in rows {
            let first = values.count + 1
            values += [
                .integer(row.environment), .integer(row.database), .text(row.subscription), .text(row.record),
                .blob(row.payload),
            ]
            tuples.append(
                "($5, $\(first), $\(first + 1), $\(first + 2), $1, $2, $\(first + 3), 1, $6, 0, $3, $\(first + 4), $4)")
        }
        try connection.execute(
            """
            INSERT INTO notification (owner, environment, database, subscription, zone_owner, zone, record, kind,
                number, other_number, origin, payload, changed)
            VALUES \(tuples.joined(separator: ", "))
            \(Notifier.coalescing)
            """, values)
        try NotificationFeed.trim(owner, at: number, in: connection)
    }
}
