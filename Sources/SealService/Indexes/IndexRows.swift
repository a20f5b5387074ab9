import SealQuery
import SealStorage

/// The entries of `record_index` that a request brings and takes away, written together: sorted as the table is, and
/// many with one statement, since every other write waits for them.
struct IndexRows {
    let zone: ZoneRow
    let connection: any SQLConnection
    private var come: [Row] = []
    private var gone: [Row] = []

    private struct Row: Comparable {
        let field: Int64
        let key: IndexKey
        let record: String
        /// The place in the zone's feed at which the record came to have this value.
        let position: Int64
        /// The key's first bytes, which tell nearly all keys apart.
        let start: UInt64

        init(_ field: Int64, _ key: IndexKey, _ record: String, _ position: Int64) {
            (self.field, self.key, self.record, self.position) = (field, key, record, position)
            start = key.bytes.prefix(8).enumerated().reduce(0) { $0 | UInt64($1.element) << (56 - 8 * $1.offset) }
        }

        static func < (left: Row, right: Row) -> Bool {
            if left.field != right.field { return left.field < right.field }
            if left.start != right.start { return left.start < right.start }
            return left.key == right.key ? left.record < right.record : left.key < right.key
        }
    }

    init(zone: ZoneRow, _ connection: any SQLConnection) {
        (self.zone, self.connection) = (zone, connection)
    }

    var count: Int { come.count + gone.count }

    mutating func replace(_ old: Set<IndexKey>, with new: Set<IndexKey>, _ field: Int64, _ change: RecordChange) {
        for key in new where !old.contains(key) { come.append(Row(field, key, change.name, change.position)) }
        for key in old where !new.contains(key) { gone.append(Row(field, key, change.name, change.position)) }
    }

    mutating func insert(_ key: IndexKey, _ field: Int64, _ record: String, at position: Int64) {
        come.append(Row(field, key, record, position))
    }

    consuming func write() throws {
        for row in gone.sorted() {
            try connection.execute(
                "DELETE FROM record_index WHERE owner = $1 AND zone = $2 AND field = $3 AND value = $4 AND record = $5",
                zone.key + [.integer(row.field), .blob(row.key.bytes), .text(row.record)])
        }
        var rest = come.sorted()[...]
        while rest.count >= Self.rowsPerStatement {
            try insert(rest.prefix(Self.rowsPerStatement), Self.many)
            rest = rest.dropFirst(Self.rowsPerStatement)
        }
        for index in rest.indices { try insert(rest[index...index], Self.one) }
    }

    private static let rowsPerStatement = 16
    private static let one = statement(rows: 1)
    private static let many = statement(rows: rowsPerStatement)

    private static func statement(rows: Int) -> String {
        let tuples = (0..<rows).map { row in "($1, $2, \((3...6).map { "$\(4 * row + $0)" }.joined(separator: ", ")))" }
        return """
            INSERT INTO record_index (owner, zone, field, value, record, position)
            VALUES \(tuples.joined(separator: ", "))
            ON CONFLICT (owner, zone, field, value, record, position) DO NOTHING
            """
    }

    private func insert(_ rows: ArraySlice<Row>, _ statement: String) throws {
        var values = zone.key
        values.reserveCapacity(2 + 4 * rows.count)
        for row in rows {
            values += [.integer(row.field), .blob(row.key.bytes), .text(row.record), .integer(row.position)]
        }
        try connection.execute(statement, values)
    }
}
