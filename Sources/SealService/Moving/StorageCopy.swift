package import SealStorage

/// Copies everything from one database into another one, whatever engines these are of, and compares them table by
/// table. No table is ever in memory.
package struct StorageCopy {
    package enum Phase: Sendable { case copying, comparing }

    /// What does not go with the rows of the others.
    private enum Apart {
        /// Each engine's own: the steps have the digest of its words in their names.
        static let own = "migrations"
        /// Made anew of the documents that are copied; on PostgreSQL an index does it.
        static let rebuilt = "search_term"
    }

    /// That a database was moved away, and is not to be served any more.
    private static let movedSetting = "moved"

    private let source: any SQLConnection
    /// How many rows are done, and how many there are.
    private let progress: (Phase, _ done: Int64, _ total: Int64) -> Void
    private let tables: [Table]

    /// - Parameter source: within one moment of it, and nobody changes it until the target is used.
    package init(
        from source: any SQLConnection,
        progress: @escaping (Phase, _ done: Int64, _ total: Int64) -> Void = { _, _, _ in }
    ) {
        self.source = source
        self.progress = progress
        tables = Tables.all.filter { $0.name != Apart.own && $0.name != Apart.rebuilt }
    }

    // MARK: What it takes

    /// That all of a server's tables are there as this version has them, and no others.
    /// - Parameter file: named in the error.
    /// - Throws: `unknownSchema`, `unsuitable`.
    package static func requireWhole(_ connection: any SQLConnection, file: String) throws {
        try Migrator(migrations: Migration.all).requireAll(connection, file: file)
        let declared = Set(Tables.all.map(\.name)).subtracting(connection.dialect == .postgres ? [Apart.rebuilt] : [])
        let found = Set(try connection.tables())
        guard found == declared else {
            let other = found.symmetricDifference(declared).sorted().joined(separator: ", ")
            throw StorageError.unsuitable(
                message: "\(file) has not the tables of a server's database, neither more nor less: \(other)")
        }
    }

    /// Where a database was moved to; nil for one that is served.
    package static func movedTo(_ connection: any SQLConnection) throws -> String? {
        try connection.setting(movedSetting)
    }

    /// Has no server start on a database by accident any more.
    package static func noteMoved(to place: String, in connection: any SQLConnection) throws {
        try connection.change(setting: movedSetting, to: place)
    }

    /// It was moved back: servers start on it again.
    package static func forgetMoved(in connection: any SQLConnection) throws {
        try connection.change(setting: movedSetting, to: nil)
    }

    // MARK: Copying

    /// Makes the tables in an empty database, and fills them.
    /// - Returns: the sums, which are the same on both sides.
    /// - Throws: `StorageError`; `TargetNotEmpty`, with nothing changed; `CopyDiffers`.
    package func fill(_ target: any SQLConnection, file: String) throws -> [TableSum] {
        // In the transaction that empties tables: whoever asked before may have asked too early.
        guard try target.tables().isEmpty else { throw TargetNotEmpty() }
        try Migrator(migrations: Migration.all).migrate(target, file: file)
        // What the steps put in is the source's to say.
        for table in tables.reversed() { try target.execute("DELETE FROM \(table.name)") }
        let total = try countRows()
        let names = tables.map(\.name)
        var done: Int64 = 0
        let copied = try target.withoutTriggers(of: names) {
            try tables.map { table in
                let columns = try commonColumns(of: table, target)
                return try naming(table) {
                    var sum = TableSum.Builder(table.name, columns: columns.map(\.name))
                    try target.load(table.name, columns.map(\.name)) { add in
                        try eachRow(of: table, columns, in: source) { values in
                            try sum.add(values)
                            try add(values)
                            done += 1
                            try tell(.copying, done, total)
                        }
                    }
                    return sum.sum()
                }
            }
        }
        if target.dialect == .sqlite { try SearchIndex.makeAnew(in: target) }
        try setNumbers(target)
        try target.analyze(names)
        let filled = try sums(of: target, total: total)
        try requireSame(copied, filled)
        try requireSameNumbers(target)
        return filled
    }

    /// The sums of both, which are the same.
    /// - Throws: `CopyDiffers`, `StorageError`.
    package func compare(_ target: any SQLConnection) throws -> [TableSum] {
        let total = try countRows()
        let (first, second) = (try sums(of: source, total: total), try sums(of: target, total: total))
        try requireSame(first, second)
        try requireSameNumbers(target)
        return second
    }

    private func sums(of connection: any SQLConnection, total: Int64) throws -> [TableSum] {
        var done: Int64 = 0
        return try tables.map { table in
            let columns = try commonColumns(of: table, connection)
            return try naming(table) {
                var sum = TableSum.Builder(table.name, columns: columns.map(\.name))
                try eachRow(of: table, columns, in: connection) { values in
                    try sum.add(values)
                    done += 1
                    try tell(.comparing, done, total)
                }
                return sum.sum()
            }
        }
    }

    private func requireSame(_ first: [TableSum], _ second: [TableSum]) throws(CopyDiffers) {
        for (first, second) in zip(first, second) where first != second {
            throw CopyDiffers(table: first.table, rows: (first.rows, second.rows))
        }
    }

    private func tell(_ phase: Phase, _ done: Int64, _ total: Int64) throws {
        guard done & 0x3ff == 0 || done == total else { return }
        try Task.checkCancellation()
        progress(phase, done, total)
    }

    private func countRows() throws -> Int64 {
        try tables.reduce(0) { total, table in
            let count = try source.first("SELECT COUNT(*) AS rows FROM \(table.name)\(Self.condition(table))") {
                try $0.int64("rows")
            }
            return total + (count ?? 0)
        }
    }

    private static func condition(_ table: Table) -> String {
        table.name == "settings" ? " WHERE name <> '\(movedSetting)'" : ""
    }

    private func eachRow(
        of table: Table, _ columns: [Column], in connection: any SQLConnection, _ body: ([SQLValue]) throws -> Void
    ) throws {
        let names = columns.map(\.name).joined(separator: ", ")
        try connection.stream(
            "SELECT \(names) FROM \(table.name)\(Self.condition(table)) ORDER BY \(table.key)", []
        ) { row in
            var values: [SQLValue] = []
            values.reserveCapacity(columns.count)
            for (index, column) in columns.enumerated() { values.append(try Self.value(at: index, column, of: row)) }
            try body(values)
            return true
        }
    }

    /// - Throws: `unexpectedType` with the column's name, where the row itself knows its place alone.
    private static func value(at index: Int, _ column: Column, of row: any SQLRow) throws(StorageError) -> SQLValue {
        let value: SQLValue
        do throws(StorageError) { value = try row.value(at: index) } catch {
            guard case .unexpectedType(_, let wanted) = error else { throw error }
            throw .unexpectedType(column: column.name, wanted: wanted)
        }
        guard column.kind.fits(value) else {
            throw .unexpectedType(column: column.name, wanted: "what it was declared for")
        }
        return value
    }

    /// Errors that tell of a column have the table with it.
    private func naming<T>(_ table: Table, _ body: () throws -> T) throws -> T {
        do { return try body() } catch StorageError.unexpectedType(let column, let wanted) {
            throw StorageError.unsuitable(
                message: "A row of \(table.name) does not hold \(wanted) in the column \(column).")
        } catch StorageError.zeroCharacter {
            throw StorageError.unsuitable(
                message: "A text in \(table.name) has the character U+0000, which PostgreSQL does not hold.")
        }
    }

    // MARK: Columns

    private struct Column {
        enum Kind: Equatable {
            case integer, real, text, bytes

            init?(_ type: String) {
                switch type {
                case "integer", "bigint": self = .integer
                case "double precision": self = .real
                case "text": self = .text
                case "blob", "bytea": self = .bytes
                default: return nil
                }
            }

            func fits(_ value: SQLValue) -> Bool {
                switch (self, value) {
                case (_, .null), (.integer, .integer), (.real, .real), (.text, .text), (.bytes, .blob): true
                default: false
                }
            }
        }

        let name: String
        let kind: Kind
    }

    /// What a table has on both sides, which is the same.
    private func commonColumns(of table: Table, _ other: any SQLConnection) throws -> [Column] {
        func columns(_ connection: any SQLConnection) throws -> [Column] {
            try connection.columns(of: table.name).map { name, type in
                guard let kind = Column.Kind(type) else {
                    throw StorageError.unsuitable(
                        message: "The column \(name) of \(table.name) is of the type \(type).")
                }
                return Column(name: name, kind: kind)
            }
        }
        let (here, there) = (try columns(source), try columns(other))
        guard !here.isEmpty, here.map(\.name) == there.map(\.name), here.map(\.kind) == there.map(\.kind) else {
            throw StorageError.unsuitable(message: "The table \(table.name) has not the same columns on both sides.")
        }
        return here
    }

    // MARK: Numbers

    /// The target goes on where the source would: no number is given out again.
    private func setNumbers(_ target: any SQLConnection) throws {
        let known = try source.numberedColumns()
        for (table, column) in try target.numberedColumns() {
            let last = try known.contains { $0.table == table } ? source.lastNumber(of: table, column) : 0
            // Those of accounts that were deleted are negative.
            let number = max(last, try Self.highest(column, of: table, in: target))
            if number > 0 { try target.setLastNumber(of: table, column, to: number) }
        }
    }

    /// Where both sides number by themselves.
    private func requireSameNumbers(_ target: any SQLConnection) throws {
        let known = try source.numberedColumns()
        for (table, column) in try target.numberedColumns() where known.contains(where: { $0.table == table }) {
            let (here, there) = (
                try source.lastNumber(of: table, column), try target.lastNumber(of: table, column)
            )
            let highest = try Self.highest(column, of: table, in: source)
            guard max(here, highest) == max(there, highest) else {
                throw CopyDiffers(table: "\(table) (its numbers)", rows: (here, there))
            }
        }
    }

    private static func highest(_ column: String, of table: String, in connection: any SQLConnection) throws -> Int64 {
        try connection.first("SELECT COALESCE(MAX(\(column)), 0) AS highest FROM \(table)") {
            try $0.int64("highest")
        } ?? 0
    }
}

/// Something is in the target already.
package struct TargetNotEmpty: Error {}

/// A table of the target is not what it is in the source.
package struct CopyDiffers: Error, CustomStringConvertible {
    package let table: String
    /// In the source, and in the target.
    package let rows: (Int64, Int64)

    package var description: String { "\(table) differs (\(rows.0) against \(rows.1))" }
}
