import Foundation
import GRDB

/// Registers of who was active where, a row for each place and stretch. They have a share of the file, so that places
/// that somebody makes up push out neither counts nor the log.
extension TelemetryFile {
    /// About what a row takes.
    private static let bytesPerActive: Int64 = 5 << 10
    /// At most a day's places take of all rows: so that no day pushes out more than a few others.
    private static let leastStretches: Int64 = 50

    private static func mostActive(limit: Int64) -> Int64 { limit / 4 / bytesPerActive }

    /// For how many new places there is room in each stretch.
    struct PlaceRooms {
        private struct Stretch: Hashable {
            let kind: ActiveStretch
            let start: Int64
        }

        private let most: Int64
        private var left: [Stretch: Int64] = [:]

        /// - Parameter limit: of the file, in bytes.
        init(limit: Int64) { most = TelemetryFile.mostActive(limit: limit) / TelemetryFile.leastStretches }

        /// Whether there is room for one more, which it takes then.
        fileprivate mutating func take(_ kind: ActiveStretch, _ start: Int64, _ database: Database) throws -> Bool {
            let stretch = Stretch(kind: kind, start: start)
            let room = try left[stretch] ?? most - Self.count(kind, start, database)
            left[stretch] = max(0, room - 1)
            return room > 0
        }

        private static func count(_ kind: ActiveStretch, _ start: Int64, _ database: Database) throws -> Int64 {
            try Int64.fetchOne(
                database, sql: "SELECT COUNT(*) FROM active WHERE stretch = ? AND start = ?",
                arguments: [kind.rawValue, start]) ?? 0
        }
    }

    static func add(
        _ count: DistinctCount, at place: TelemetryPlace, _ stretch: ActiveStretch, _ time: Int64,
        _ rooms: inout PlaceRooms, _ database: Database
    ) throws {
        var whole = count
        let start = stretch.start(of: time)
        let known = try Data.fetchOne(
            database,
            sql: "SELECT registers FROM active WHERE stretch = ? AND start = ? AND container = ? AND environment = ?",
            arguments: [stretch.rawValue, start, place.container, place.environment])
        if let known {
            if let known = DistinctCount(registers: [UInt8](known)) {
                whole.add(known)
                guard whole != known else { return }
            }
        } else {
            guard try rooms.take(stretch, start, database) || place == place.folded else {
                return try add(count, at: place.folded, stretch, time, &rooms, database)
            }
        }
        try database.execute(
            sql: "INSERT OR REPLACE INTO active VALUES (?, ?, ?, ?, ?)",
            arguments: [stretch.rawValue, start, place.container, place.environment, Data(whole.registers)])
    }

    /// Whole stretches, until the others take no more than their share.
    /// - Parameter limit: of the file, in bytes.
    static func removeOldestActive(limit: Int64, _ database: Database) throws {
        let count = try Int64.fetchOne(database, sql: "SELECT COUNT(*) FROM active") ?? 0
        let excess = count - mostActive(limit: limit)
        guard excess > 0 else { return }
        try database.execute(
            sql: """
                DELETE FROM active WHERE start <= (SELECT start FROM active ORDER BY start LIMIT 1 OFFSET ?)
                """, arguments: [excess - 1])
    }
}

/// For how long people are counted as one.
package enum ActiveStretch: String, CaseIterable, Sendable {
    case day, month

    /// The beginning, in seconds since 1970, UTC.
    package func start(of time: Int64) -> Int64 {
        let day = TelemetryFile.Step.day.start(of: time)
        switch self {
        case .day: return day
        case .month:
            var calendar = Calendar(identifier: .gregorian)
            calendar.timeZone = .gmt
            let dayOfMonth = calendar.component(.day, from: Date(timeIntervalSince1970: Double(day)))
            return day - Int64(dayOfMonth - 1) * TelemetryFile.Step.day.rawValue
        }
    }
}
