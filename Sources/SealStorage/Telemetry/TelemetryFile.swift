import Foundation
import GRDB
import Synchronization

/// Telemetry's own SQLite file: sums by minute, hour and day, registers of who was active, by day and month, and the
/// log of single requests. What is written last may be lost with the power (`synchronous=NORMAL`), and nothing is ever
/// half of it. Nobody's data is in it: it is in no backup, and one that is damaged is put aside for a new one.
package final class TelemetryFile: Sendable {
    /// Stretches that sums are kept for, in seconds, and for how long each.
    package enum Step: Int64, CaseIterable, Sendable {
        case minute = 60
        case hour = 3_600
        case day = 86_400

        /// Seconds.
        package var keptFor: Int64 {
            switch self {
            case .minute: 48 * 3_600
            case .hour: 60 * 86_400
            case .day: 730 * 86_400
            }
        }

        package func start(of time: Int64) -> Int64 { time - time % rawValue }

        /// What goes at once where there is no more room, in seconds.
        fileprivate var shed: Int64 {
            switch self {
            case .minute: 3_600
            case .hour: 86_400
            case .day: 7 * 86_400
            }
        }
    }

    /// Bytes: then the oldest goes before its time.
    package static let usualLimit: Int64 = 1 << 30
    /// The first one had no log.
    private static let (firstFormat, format) = (1, 2)

    package let path: String
    let queue: DatabaseQueue
    private let limit: Int64
    private let sweeps = Mutex(Sweeps())
    /// Of the log, as the queue has left it; nil until it is written for the first time, and after a failure.
    private let logCounts = Mutex<LogCounts?>(nil)
    private let seriesRooms = Mutex(SeriesRooms())
    private let ages = Mutex(AgeClock())

    /// What is done once an hour; in seconds since 1970.
    private struct Sweeps {
        /// The hour of the last one.
        var last: Int64?
        /// The hour from which on the clock was not seen to go back.
        var steadySince: Int64?

        /// Whether the clock can be believed as to what is still to come. One that is behind when a machine starts is
        /// set right soon: until then all there is would be of the future.
        func isSteady(at hour: Int64) -> Bool {
            guard let last, let steadySince, hour >= last else { return false }
            return hour >= steadySince + 2 * Step.hour.rawValue
        }

        mutating func done(at hour: Int64) {
            if last.map({ hour < $0 }) ?? true { steadySince = hour }
            last = hour
        }
    }

    /// Opens or creates the file, mode 0600.
    /// - Throws: `FileError`, `StorageError`; `TelemetryFileError` for a file of another form.
    package init(path: String, limit: Int64 = usualLimit) throws {
        (self.path, self.limit) = (path, limit)
        try PrivateFiles.createFile(at: path)
        var configuration = Configuration()
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { database in
            try database.execute(
                sql: """
                    PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
                    PRAGMA cache_size = -4096; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;
                    """)
        }
        queue = try Self.storage { try DatabaseQueue(path: path, configuration: configuration) }
        let found = try Self.storage {
            try queue.write { database -> Int in
                let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
                guard found == 0 || found == Self.firstFormat else { return found }
                if found == 0 { try database.execute(sql: Self.schema) }
                try database.execute(sql: Self.logSchema + "PRAGMA user_version = \(Self.format);")
                return Self.format
            }
        }
        guard found == Self.format else {
            try? queue.close()
            throw TelemetryFileError.otherForm(found)
        }
    }

    private static let schema = """
        CREATE TABLE series (
            id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, operation TEXT NOT NULL, container TEXT NOT NULL,
            environment TEXT NOT NULL, database TEXT NOT NULL, client TEXT NOT NULL, group_name TEXT NOT NULL,
            code TEXT NOT NULL,
            UNIQUE (kind, operation, container, environment, database, client, group_name, code)
        );
        CREATE TABLE sums (
            step INTEGER NOT NULL, start INTEGER NOT NULL, series INTEGER NOT NULL, count INTEGER NOT NULL,
            bytes_in INTEGER NOT NULL, bytes_out INTEGER NOT NULL, microseconds INTEGER NOT NULL,
            latency BLOB NOT NULL, sizes_in BLOB NOT NULL, sizes_out BLOB NOT NULL,
            PRIMARY KEY (step, start, series)
        ) WITHOUT ROWID;
        CREATE TABLE active (
            stretch TEXT NOT NULL, start INTEGER NOT NULL, container TEXT NOT NULL, environment TEXT NOT NULL,
            registers BLOB NOT NULL,
            PRIMARY KEY (stretch, start, container, environment)
        ) WITHOUT ROWID;
        """

    package func close() { try? queue.close() }

    // MARK: Writing

    /// Adds minutes to what there is, all of them or none, and takes away what is too old.
    /// - Parameter now: seconds since 1970.
    /// - Returns: false where pages of what is gone could not be given back to the disk.
    /// - Throws: `StorageError`.
    @discardableResult
    package func write(_ minutes: [TelemetryMinute], now: Int64) async throws -> Bool {
        let hour = Step.hour.start(of: now)
        let sweeps = sweeps.withLock { $0 }
        return try await Self.storage { () async throws -> Bool in
            do {
                let left = try await queue.write { [self] database -> (SeriesRooms, AgeClock) in
                    // Taken until it is known what became of them.
                    var counts = try logCounts.withLock { $0.take() } ?? LogCounts(database)
                    var (rooms, places) = (seriesRooms.withLock { $0 }, PlaceRooms(limit: limit))
                    try rooms.begin(limit: limit, now: now, database)
                    var clock = ages.withLock { $0 }
                    let newest = clock.last == nil ? try Self.newest(database) : nil
                    let old = clock.believed(now: now, newest: newest)
                    for minute in minutes {
                        try Self.add(minute.log, &counts, &rooms, database)
                        for (key, sum) in minute.sums {
                            let series = try Self.series(key, &rooms, database)
                            for step in Step.allCases {
                                try Self.add(sum, of: series, step, at: step.start(of: minute.start), database)
                            }
                        }
                        for (place, count) in minute.active {
                            for stretch in ActiveStretch.allCases {
                                try Self.add(count, at: place, stretch, minute.start, &places, database)
                            }
                        }
                    }
                    try Self.removeOld(now: old, database)
                    try Self.removeOldEntries(now: old, &counts, database)
                    if sweeps.last != hour {
                        if sweeps.isSteady(at: hour) {
                            try Self.removeEntriesAhead(now: now, &counts, database)
                            try Self.removeMinutesAhead(now: now, database)
                        }
                        try Self.removeUnusedSeries(database)
                        try Self.foldSeries(limit: limit, now: now, database)
                        try Self.removeOldestActive(limit: limit, database)
                    }
                    try Self.fit(limit, &counts, database)
                    logCounts.withLock { $0 = counts }
                    return (rooms, clock)
                }
                // What was rolled back has taken nothing.
                seriesRooms.withLock { $0 = left.0 }
                ages.withLock { $0 = left.1 }
                self.sweeps.withLock { $0.done(at: hour) }
            } catch {
                // Its last step may not have come to be.
                logCounts.withLock { $0 = nil }
                throw error
            }
            // Pages of what is gone go back to the disk, some at a time. Where they cannot, as on a full disk, what was
            // written above is there all the same: whoever took it for unwritten would count it twice.
            do {
                try await queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA incremental_vacuum(1000)") }
                return true
            } catch let error as DatabaseError where Self.told(error) is StorageError {
                return false
            }
        }
    }

    static func add(
        _ sum: TelemetrySum, of series: Int64, _ step: Step, at start: Int64, _ database: Database
    ) throws {
        var whole = sum
        let find = try database.cachedStatement(
            sql: "SELECT \(TelemetrySum.columns) FROM sums m WHERE m.step = ? AND m.start = ? AND m.series = ?")
        if let row = try Row.fetchOne(find, arguments: [step.rawValue, start, series]) { whole.add(TelemetrySum(row)) }
        let replace = try database.cachedStatement(
            sql: "INSERT OR REPLACE INTO sums VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        try replace.execute(
            arguments: [
                step.rawValue, start, series, whole.count, whole.bytesIn, whole.bytesOut, whole.microseconds,
                Data(whole.latency.bytes), Data(whole.sizesIn.bytes), Data(whole.sizesOut.bytes),
            ])
    }

    // MARK: What goes

    /// The beginning of the last minute that anything was counted in, or, where there is none any more, of the last
    /// hour or day; nil for none.
    private static func newest(_ database: Database) throws -> Int64? {
        for step in Step.allCases {
            let newest = try Int64.fetchOne(
                database, sql: "SELECT MAX(start) FROM sums WHERE step = ?", arguments: [step.rawValue])
            if let newest { return newest }
        }
        return nil
    }

    /// What was counted while the clock was ahead would be added to what comes in those minutes, for alerts to find.
    /// Hours and days stay: where it is the clock that is behind, they are all there is.
    private static func removeMinutesAhead(now: Int64, _ database: Database) throws {
        try database.execute(
            sql: "DELETE FROM sums WHERE step = ? AND start > ?",
            arguments: [Step.minute.rawValue, now + Step.hour.rawValue])
    }

    private static func removeOld(now: Int64, _ database: Database) throws {
        for step in Step.allCases {
            try database.execute(
                sql: "DELETE FROM sums WHERE step = ? AND start < ?", arguments: [step.rawValue, now - step.keptFor])
        }
        for stretch in ActiveStretch.allCases {
            try database.execute(
                sql: "DELETE FROM active WHERE stretch = ? AND start < ?",
                arguments: [stretch.rawValue, now - Step.day.keptFor])
        }
    }

    /// Who was active has its own share. Of the rest the log goes first, then the oldest hours of minutes, the oldest
    /// days of hours, and of days the oldest.
    private static func fit(_ limit: Int64, _ counts: inout LogCounts, _ database: Database) throws {
        func size() throws -> Int64 {
            let pages = try Int64.fetchOne(database, sql: "PRAGMA page_count") ?? 0
            let free = try Int64.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
            return (pages - free) * (try Int64.fetchOne(database, sql: "PRAGMA page_size") ?? 0)
        }
        while try size() > limit { guard try shedEntries(&counts, database) else { break } }
        for step in Step.allCases {
            while try size() > limit {
                let first = try Int64.fetchOne(
                    database, sql: "SELECT MIN(start) FROM sums WHERE step = ?", arguments: [step.rawValue])
                guard let first else { break }
                try database.execute(
                    sql: "DELETE FROM sums WHERE step = ? AND start < ?",
                    arguments: [step.rawValue, first + step.shed])
            }
        }
    }

    // MARK: Errors

    static func storage<T>(_ body: () throws -> T) throws -> T {
        do { return try body() } catch let error as DatabaseError { throw Self.told(error) }
    }

    static func storage<T: Sendable>(_ body: () async throws -> T) async throws -> T {
        do { return try await body() } catch let error as DatabaseError { throw Self.told(error) }
    }

    private static func told(_ error: DatabaseError) -> any Error {
        switch error.resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_SCHEMA, .SQLITE_ERROR: TelemetryFileError.damaged
        default:
            StorageError(code: error.extendedResultCode.rawValue, message: error.message ?? "", systemError: errno)
        }
    }
}

package enum TelemetryFileError: Error, Equatable {
    /// SQLite cannot make sense of it, or it has other tables.
    case damaged
    /// Made by another version.
    case otherForm(Int)
    /// More rows than are read for one answer.
    case tooMuch
}

extension TelemetrySum {
    static let columns =
        "m.count, m.bytes_in, m.bytes_out, m.microseconds, m.latency, m.sizes_in, m.sizes_out"

    /// Of a row that begins with `columns`.
    init(_ row: Row) {
        func histogram(_ index: Int) -> LogHistogram {
            (row[index] as Data?).flatMap { LogHistogram(bytes: [UInt8]($0)) } ?? LogHistogram()
        }
        self.init(
            count: (row[0] as Int64?) ?? 0, bytesIn: (row[1] as Int64?) ?? 0, bytesOut: (row[2] as Int64?) ?? 0,
            microseconds: (row[3] as Int64?) ?? 0,
            latency: histogram(4), sizesIn: histogram(5), sizesOut: histogram(6))
    }
}
