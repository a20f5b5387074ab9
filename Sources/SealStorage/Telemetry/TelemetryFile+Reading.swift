import Foundation
import GRDB

/// What is asked of telemetry.
package struct TelemetryQuery: Sendable {
    /// Seconds since 1970: from the one on, and before the other.
    package var (from, until): (Int64, Int64)
    package var step: TelemetryFile.Step
    package var kind: TelemetryKey.Kind
    /// Those alone that have these words.
    package var filters: [TelemetryDimension: String]
    /// Nil: all together.
    package var by: TelemetryDimension?

    package init(
        from: Int64, until: Int64, step: TelemetryFile.Step, kind: TelemetryKey.Kind,
        filters: [TelemetryDimension: String], by: TelemetryDimension?
    ) {
        (self.from, self.until, self.step, self.kind) = (from, until, step, kind)
        (self.filters, self.by) = (filters, by)
    }
}

/// One line of a chart.
package struct TelemetrySeries: Sendable {
    package struct Part: Sendable {
        package var sum = TelemetrySum()
        /// How many had which code; those without one are not in it.
        package var codes: [String: Int64] = [:]

        fileprivate mutating func add(_ sum: TelemetrySum, code: String) {
            self.sum.add(sum)
            if !code.isEmpty { codes[code, default: 0] += sum.count }
        }

        fileprivate mutating func add(_ other: Part) {
            sum.add(other.sum)
            codes.merge(other.codes) { $0 + $1 }
        }
    }

    package let name: String
    package private(set) var total = Part()
    /// By their beginnings, in seconds since 1970.
    package private(set) var parts: [Int64: Part] = [:]

    package init(name: String) { self.name = name }

    /// What another line has as well.
    package mutating func add(_ other: TelemetrySeries) {
        total.add(other.total)
        for (start, part) in other.parts { parts[start, default: Part()].add(part) }
    }

    fileprivate mutating func add(_ sum: TelemetrySum, code: String, at start: Int64) {
        addTotal(sum, code: code)
        addPart(sum, code: code, at: start)
    }

    fileprivate mutating func addTotal(_ sum: TelemetrySum, code: String) { total.add(sum, code: code) }

    fileprivate mutating func addPart(_ sum: TelemetrySum, code: String, at start: Int64) {
        parts[start, default: Part()].add(sum, code: code)
    }
}

/// Lines of a chart, and of the table below it: the largest by themselves, and all others together.
package struct TelemetryLines: Sendable {
    /// The one with the most first: the first few with their parts, the others with totals alone.
    package fileprivate(set) var largest: [TelemetrySeries]
    /// The total of all that are none of the largest, and the parts of all that have none of their own.
    package fileprivate(set) var rest = TelemetrySeries(name: "")

    /// What lies beyond so many of the largest, with the rest; nil where there is nothing.
    package func rest(beyond count: Int) -> TelemetrySeries? {
        var all = rest
        for series in largest.dropFirst(count) { all.add(series) }
        return all.total.sum.count > 0 ? all : nil
    }

    /// Everything together.
    package var all: TelemetrySeries { rest(beyond: 0) ?? TelemetrySeries(name: "") }
}

extension TelemetryFile {
    /// Of one answer: a minute of work.
    private static let mostRows = 2_000_000
    /// Of one answer: a part takes some kilobytes in memory.
    private static let mostParts = 65_536

    /// All of them, the one with the most first. Names are clients' words, of which there may be very many.
    /// - Throws: `TelemetryFileError`, `StorageError`.
    package func series(_ query: TelemetryQuery) async throws -> [TelemetrySeries] {
        let found = try await Self.storage {
            try await queue.read { database in
                var series: [String: TelemetrySeries] = [:]
                try Self.each(query, database) { name, sum, code, start in
                    series[name, default: TelemetrySeries(name: name)].add(sum, code: code, at: start)
                }
                return series
            }
        }
        return found.values.sorted {
            $0.total.sum.count == $1.total.sum.count ? $0.name < $1.name : $0.total.sum.count > $1.total.sum.count
        }
    }

    /// So many of the largest, and the rest together: what is held in memory does not grow with how many names there
    /// are.
    /// - Parameters:
    ///   - charted: those that have parts of their own.
    ///   - listed: those that have totals of their own.
    ///   - name: of the line that a name belongs to.
    /// - Throws: `TelemetryFileError`, `StorageError`.
    package func lines(
        _ query: TelemetryQuery, charted: Int, listed: Int,
        named name: @escaping @Sendable (String) -> String = { $0 }
    ) async throws -> TelemetryLines {
        try await Self.storage {
            try await queue.read { database in
                let names = try Self.names(query, database, name).prefix(max(charted, listed))
                let ranks = Dictionary(uniqueKeysWithValues: names.enumerated().map { ($0.element, $0.offset) })
                var lines = TelemetryLines(largest: names.map { TelemetrySeries(name: $0) })
                var parts = 0
                try Self.each(query, database) { found, sum, code, start in
                    let rank = ranks[name(found)] ?? .max
                    let isKnown =
                        rank < charted ? lines.largest[rank].parts[start] != nil : lines.rest.parts[start] != nil
                    if !isKnown { parts += 1 }
                    guard parts <= Self.mostParts else { throw TelemetryFileError.tooMuch }
                    if rank < charted {
                        lines.largest[rank].add(sum, code: code, at: start)
                    } else {
                        if rank < lines.largest.count {
                            lines.largest[rank].addTotal(sum, code: code)
                        } else {
                            lines.rest.addTotal(sum, code: code)
                        }
                        lines.rest.addPart(sum, code: code, at: start)
                    }
                }
                return lines
            }
        }
    }

    /// The one with the most first.
    private static func names(
        _ query: TelemetryQuery, _ database: Database, _ name: (String) -> String
    ) throws -> [String] {
        let (source, arguments) = Self.source(query)
        // Grouped here: SQLite would put all rows in order for it, in memory.
        let rows = try Row.fetchCursor(
            database, sql: "SELECT \(column(query)), m.count \(source)", arguments: arguments)
        var counts: [String: Double] = [:]
        var count = 0
        while let row = try rows.next() {
            count += 1
            guard count <= mostRows else { throw TelemetryFileError.tooMuch }
            counts[name((row[0] as String?) ?? ""), default: 0] += (row[1] as Double?) ?? 0
        }
        return counts.sorted { $0.value == $1.value ? $0.key < $1.key : $0.value > $1.value }.map(\.key)
    }

    /// - Parameter body: is told the name, the sum, the code and the beginning of each row.
    private static func each(
        _ query: TelemetryQuery, _ database: Database, _ body: (String, TelemetrySum, String, Int64) throws -> Void
    ) throws {
        let (source, arguments) = Self.source(query)
        let rows = try Row.fetchCursor(
            database, sql: "SELECT \(TelemetrySum.columns), m.start, s.code, \(column(query)) \(source)",
            arguments: arguments)
        var count = 0
        while let row = try rows.next() {
            count += 1
            guard count <= mostRows else { throw TelemetryFileError.tooMuch }
            try body(
                (row[9] as String?) ?? "", TelemetrySum(row), (row[8] as String?) ?? "", (row[7] as Int64?) ?? 0)
        }
    }

    private static func column(_ query: TelemetryQuery) -> String { query.by.map { "s.\($0.column)" } ?? "''" }

    /// Where the rows of a query are.
    private static func source(_ query: TelemetryQuery) -> (sql: String, arguments: StatementArguments) {
        var arguments: [(any DatabaseValueConvertible)?] = [
            query.step.rawValue, query.step.start(of: query.from), query.until, query.kind.rawValue,
        ]
        var condition = ""
        for (dimension, word) in query.filters {
            condition += " AND s.\(dimension.column) = ?"
            arguments.append(word)
        }
        let sql = """
            FROM sums m JOIN series s ON s.id = m.series
            WHERE m.step = ? AND m.start >= ? AND m.start < ? AND s.kind = ?\(condition)
            """
        return (sql, StatementArguments(arguments))
    }

    /// How many were active, by the beginning of the day or month, in seconds since 1970.
    /// - Parameters:
    ///   - container: nil for all together: somebody in two of them counts once.
    ///   - environment: nil for both together.
    /// - Throws: `TelemetryFileError`, `StorageError`.
    package func active(
        _ stretch: ActiveStretch, from: Int64, until: Int64, container: String?, environment: String?
    ) async throws -> [(start: Int64, count: DistinctCount)] {
        let found = try await Self.storage {
            try await queue.read { database in
                let rows = try Row.fetchCursor(
                    database,
                    sql: """
                        SELECT start, registers FROM active WHERE stretch = ? AND start >= ? AND start < ?
                            AND container = COALESCE(?, container) AND environment = COALESCE(?, environment)
                        """,
                    arguments: [stretch.rawValue, stretch.start(of: from), until, container, environment])
                var found: [Int64: DistinctCount] = [:]
                while let row = try rows.next() {
                    let registers = (row[1] as Data?) ?? Data()
                    guard let count = DistinctCount(registers: [UInt8](registers)) else {
                        throw TelemetryFileError.damaged
                    }
                    found[(row[0] as Int64?) ?? 0, default: DistinctCount()].add(count)
                }
                return found
            }
        }
        return found.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
