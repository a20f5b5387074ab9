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
        total.add(sum, code: code)
        parts[start, default: Part()].add(sum, code: code)
    }
}

extension TelemetryFile {
    /// Of one answer: a minute of work.
    private static let mostRows = 2_000_000

    /// Series, the one with the most first.
    /// - Throws: `TelemetryFileError`, `StorageError`.
    package func series(_ query: TelemetryQuery) async throws -> [TelemetrySeries] {
        let found = try await Self.storage {
            try await queue.read { database in
                var arguments: [(any DatabaseValueConvertible)?] = [
                    query.step.rawValue, query.step.start(of: query.from), query.until, query.kind.rawValue,
                ]
                var condition = ""
                for (dimension, word) in query.filters {
                    condition += " AND s.\(dimension.column) = ?"
                    arguments.append(word)
                }
                let rows = try Row.fetchCursor(
                    database,
                    sql: """
                        SELECT \(TelemetrySum.columns), m.start, s.code, \(query.by.map { "s.\($0.column)" } ?? "''")
                        FROM sums m JOIN series s ON s.id = m.series
                        WHERE m.step = ? AND m.start >= ? AND m.start < ? AND s.kind = ?\(condition)
                        """, arguments: StatementArguments(arguments))
                var (series, count) = ([String: TelemetrySeries](), 0)
                while let row = try rows.next() {
                    count += 1
                    guard count <= Self.mostRows else { throw TelemetryFileError.tooMuch }
                    let name = (row[9] as String?) ?? ""
                    series[name, default: TelemetrySeries(name: name)].add(
                        TelemetrySum(row), code: (row[8] as String?) ?? "", at: (row[7] as Int64?) ?? 0)
                }
                return series
            }
        }
        return found.values.sorted {
            $0.total.sum.count == $1.total.sum.count ? $0.name < $1.name : $0.total.sum.count > $1.total.sum.count
        }
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
