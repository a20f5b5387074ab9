import SealQuery
import SealStatements
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

        static func isOfEarlierRecord(_ left: Row, _ right: Row) -> Bool {
            if left.field != right.field { return left.field < right.field }
            return left.record == right.record ? left < right : left.record < right.record
        }
    }

    init(zone: ZoneRow, _ connection: any SQLConnection) {
        (self.zone, self.connection) = (zone, connection)
    }

    var count: Int { come.count + gone.count }

    /// - Parameter isFormerEntered: whether what the record held before is in the index, as it is; nobody knows it of a
    ///   record that was too much for the indexes when one of them was made.
    mutating func replace(
        _ former: Value?, with value: Value?, isFormerEntered: Bool, _ field: Int64, _ change: RecordChange
    ) {
        guard isFormerEntered else {
            for key in value.map(IndexKey.entries) ?? [] { come.append(Row(field, key, change.name, change.position)) }
            for key in former.map(Self.entered) ?? [] { gone.append(Row(field, key, change.name, change.position)) }
            return
        }
        guard former?.isList ?? false || value?.isList ?? false else {
            let (old, new) = (former.flatMap { IndexKey($0) }, value.flatMap { IndexKey($0) })
            guard old != new else { return }
            if let new { come.append(Row(field, new, change.name, change.position)) }
            if let old { gone.append(Row(field, old, change.name, change.position)) }
            return
        }
        let (old, new) = (former.map(Self.entered) ?? [], value.map(IndexKey.entries) ?? [])
        for key in new where !old.contains(key) { come.append(Row(field, key, change.name, change.position)) }
        for key in old where !new.contains(key) { gone.append(Row(field, key, change.name, change.position)) }
    }

    /// A list that is longer than a record's may be was stored before its field had an index, and never entered.
    private static func entered(_ value: Value) -> Set<IndexKey> {
        if case .list(let elements) = value, elements.count > RecordIndex.mostParts { return [] }
        return IndexKey.entries(of: value)
    }

    mutating func insert(_ key: IndexKey, _ field: Int64, _ record: String, at position: Int64) {
        come.append(Row(field, key, record, position))
    }

    consuming func write() throws {
        try write(gone.sorted(by: Row.isOfEarlierRecord), remove)
        try write(come.sorted(), insert)
    }

    private func write(_ rows: [Row], _ some: (ArraySlice<Row>) throws -> Void) rethrows {
        var rest = rows[...]
        while !rest.isEmpty {
            try some(rest.prefix(Self.rowsPerStatement))
            rest = rest.dropFirst(Self.rowsPerStatement)
        }
    }

    private static let rowsPerStatement = 16

    // MARK: Statements, which are kept: most are of one row, or of as many as go together.

    private static let inserting = (1...rowsPerStatement).map { rows in
        let tuples = (0..<rows).map { row in
            "($1, $2, \((3...6).map { "$\(4 * row + $0)" }.joined(separator: ", ")))"
        }
        return """
            INSERT INTO record_index (owner, zone, field, value, record, position)
            VALUES \(tuples.joined(separator: ", "))
            ON CONFLICT (owner, zone, field, value, record, position) DO NOTHING
            """
    }

    private func insert(_ rows: ArraySlice<Row>) throws {
        var values = zone.key
        values.reserveCapacity(2 + 4 * rows.count)
        for row in rows {
            values.append(.integer(row.field))
            values.append(.blob(row.key.bytes))
            values.append(.text(row.record))
            values.append(.integer(row.position))
        }
        try connection.execute(Self.inserting[rows.count - 1], values)
    }

    private static let removing = (1...rowsPerStatement).map { rows in
        """
        DELETE FROM record_index WHERE owner = $1 AND zone = $2 AND field = $3 AND record = $4
            AND value IN (\((0..<rows).map { "$\($0 + 5)" }.joined(separator: ", ")))
        """
    }

    /// Those of one field of one record go together.
    private func remove(_ rows: ArraySlice<Row>) throws {
        var rest = rows
        while let first = rest.first {
            let own = rest.prefix { $0.field == first.field && $0.record == first.record }
            try connection.execute(
                Self.removing[own.count - 1],
                zone.key + [.integer(first.field), .text(first.record)] + own.map { .blob($0.key.bytes) })
            rest = rest.dropFirst(own.count)
        }
    }
}

extension Value {
    fileprivate var isList: Bool { if case .list = self { true } else { false } }
}
