import Foundation
import GRDB

/// The log of single requests. Its words are those of series, so that an entry takes some tens of bytes.
extension TelemetryFile {
    static let logSchema = """
        CREATE TABLE log (
            kind INTEGER NOT NULL, time INTEGER NOT NULL, series INTEGER NOT NULL, microseconds INTEGER NOT NULL,
            bytes_in INTEGER NOT NULL, bytes_out INTEGER NOT NULL, refused_items INTEGER NOT NULL,
            user INTEGER NOT NULL, request TEXT NOT NULL, group_id BLOB NOT NULL,
            PRIMARY KEY (kind, time)
        ) WITHOUT ROWID;
        """

    /// Entries by kind: counted once, and kept up to date from then on.
    struct LogCounts: Sendable {
        private var counts: [LogEntry.Kind: Int64] = [:]

        init(_ database: Database) throws {
            for kind in LogEntry.Kind.allCases {
                counts[kind] = try Int64.fetchOne(
                    database, sql: "SELECT COUNT(*) FROM log WHERE kind = ?", arguments: [kind.rawValue])
            }
        }

        subscript(_ kind: LogEntry.Kind) -> Int64 {
            get { counts[kind] ?? 0 }
            set { counts[kind] = newValue }
        }
    }

    // MARK: Writing

    static func add(
        _ entries: [LogEntry], _ counts: inout LogCounts, _ rooms: inout SeriesRooms, _ database: Database
    ) throws {
        let insert = try database.cachedStatement(
            sql: """
                INSERT INTO log (kind, time, series, microseconds, bytes_in, bytes_out, refused_items, user, request,
                    group_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
                """)
        var known: [TelemetryKey: Int64] = [:]
        for entry in entries {
            let series = try known[entry.key] ?? Self.series(entry.key, &rooms, database)
            known[entry.key] = series
            var time = entry.time
            repeat {
                try insert.execute(
                    arguments: [
                        entry.kind.rawValue, time, series, entry.microseconds, entry.bytesIn, entry.bytesOut,
                        entry.refusedItems, Int64(entry.user), entry.request, Data(entry.groupID),
                    ])
                // Where a clock was set back its time may be taken.
                time += 1
            } while database.changesCount == 0
            counts[entry.kind] += 1
        }
    }

    /// What is too old, then the oldest of what is too much.
    /// - Parameter now: seconds since 1970.
    static func removeOldEntries(now: Int64, _ counts: inout LogCounts, _ database: Database) throws {
        let oldest = (now - LogEntry.keptFor) * 1_000_000
        for kind in LogEntry.Kind.allCases {
            try database.execute(
                sql: "DELETE FROM log WHERE kind = ? AND time < ?", arguments: [kind.rawValue, oldest])
            counts[kind] -= Int64(database.changesCount)
            try removeOldest(counts[kind] - kind.most, of: kind, &counts, database)
        }
    }

    /// What is of a time still to come, as where the clock was ahead: that would stay for longer than a week, and push
    /// out what is new.
    /// - Parameter now: seconds since 1970.
    static func removeEntriesAhead(now: Int64, _ counts: inout LogCounts, _ database: Database) throws {
        let farthest = (now + Step.hour.rawValue) * 1_000_000
        for kind in LogEntry.Kind.allCases {
            try database.execute(
                sql: "DELETE FROM log WHERE kind = ? AND time > ?", arguments: [kind.rawValue, farthest])
            counts[kind] -= Int64(database.changesCount)
        }
    }

    /// Whoever has no session goes first, and what failed last.
    /// - Returns: whether there was anything.
    static func shedEntries(_ counts: inout LogCounts, _ database: Database) throws -> Bool {
        for kind in [LogEntry.Kind.stranger, .answered, .failed] where counts[kind] > 0 {
            try removeOldest(max(counts[kind] / 8, min(counts[kind], 1_000)), of: kind, &counts, database)
            return true
        }
        return false
    }

    private static func removeOldest(
        _ number: Int64, of kind: LogEntry.Kind, _ counts: inout LogCounts, _ database: Database
    ) throws {
        guard number > 0 else { return }
        try database.execute(
            sql: """
                DELETE FROM log WHERE kind = ?1 AND time <= (
                    SELECT time FROM log WHERE kind = ?1 ORDER BY time LIMIT 1 OFFSET ?2)
                """, arguments: [kind.rawValue, number - 1])
        counts[kind] -= Int64(database.changesCount)
    }

    // MARK: Reading

    /// Entries, newest first. It reads until it has found as many as were asked for.
    /// - Throws: `TelemetryFileError`, `StorageError`.
    package func entries(_ query: LogQuery) async throws -> [LogEntry] {
        guard query.limit > 0 else { return [] }
        let found = try await Self.storage {
            try await queue.read { database in
                try LogEntry.Kind.allCases.flatMap { try Self.entries($0, query, database) }
            }
        }
        return Array(found.sorted { $0.place.isBefore($1.place) }.prefix(query.limit))
    }

    /// What a query asks of words: looked for in the series, of which there are few, and not in each entry.
    private static func series(
        _ query: LogQuery, of kind: LogEntry.Kind
    ) -> (condition: String, arguments: [(any DatabaseValueConvertible)?]) {
        var conditions: [String] = []
        var arguments: [(any DatabaseValueConvertible)?] = []
        if let hasFailed = query.hasFailed, kind == .stranger { conditions.append("(s.code <> '') = \(hasFailed)") }
        for (dimension, word) in query.filters {
            conditions.append("s.\(dimension.column) = ?")
            arguments.append(word)
        }
        if !query.text.isEmpty {
            // A word never holds what separates them here.
            let words = ["operation", "container", "client", "group_name", "code"].map { "s.\($0)" }
                .joined(separator: "||char(10)||")
            conditions.append("instr(lower(\(words)),lower(?))>0")
            arguments.append(query.text)
        }
        return (conditions.joined(separator: " AND "), arguments)
    }

    private static func entries(_ kind: LogEntry.Kind, _ query: LogQuery, _ database: Database) throws -> [LogEntry] {
        // Strangers' are of both sorts; the others say it by their kind.
        if let hasFailed = query.hasFailed, kind != .stranger, hasFailed != (kind == .failed) { return [] }
        var condition = "l.kind = ? AND l.time >= ? AND l.time < ?"
        var until = query.until
        if let after = query.after {
            let isLater = kind.rawValue > after.kind.rawValue
            until = min(until, isLater ? after.time + 1 : after.time)
        }
        var arguments: [(any DatabaseValueConvertible)?] = [kind.rawValue, query.from, until]
        func require(_ text: String, _ value: any DatabaseValueConvertible) {
            condition += " AND \(text)"
            arguments.append(value)
        }
        if query.leastMicroseconds > 0 { require("l.microseconds >= ?", query.leastMicroseconds) }
        if let user = query.user { require("l.user = ?", Int64(user)) }
        if let request = query.request { require("l.request = ?", request) }
        if let groupID = query.groupID { require("l.group_id = ?", Data(groupID)) }
        let (words, sought) = Self.series(query, of: kind)
        if !words.isEmpty {
            condition += " AND l.series IN (SELECT s.id FROM series s WHERE \(words))"
            arguments += sought
        }
        arguments.append(Int64(query.limit))
        let rows = try Row.fetchCursor(
            database,
            sql: """
                SELECT l.time, l.microseconds, l.bytes_in, l.bytes_out, l.refused_items, l.user, l.request, l.group_id,
                    s.operation, s.container, s.environment, s.database, s.client, s.group_name, s.code
                FROM log l CROSS JOIN series s ON s.id = l.series
                WHERE \(condition) ORDER BY l.time DESC LIMIT ?
                """, arguments: StatementArguments(arguments))
        var entries: [LogEntry] = []
        while let row = try rows.next() { entries.append(LogEntry(row, kind)) }
        return entries
    }
}

extension LogEntry {
    fileprivate init(_ row: Row, _ kind: Kind) {
        func number(_ index: Int) -> Int64 { (row[index] as Int64?) ?? 0 }
        func text(_ index: Int) -> String { (row[index] as String?) ?? "" }
        self.init(
            time: number(0), kind: kind,
            key: TelemetryKey(
                kind: .request, operation: text(8), container: text(9), environment: text(10), database: text(11),
                client: text(12), group: text(13), code: text(14)),
            microseconds: number(1), bytesIn: number(2), bytesOut: number(3), refusedItems: number(4),
            user: UInt32(clamping: number(5)), request: text(6), groupID: [UInt8]((row[7] as Data?) ?? Data()))
    }
}
