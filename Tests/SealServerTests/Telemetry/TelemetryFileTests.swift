import Foundation
import GRDB
import SealPrimitives
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Telemetry on the disk: steps, what is kept for how long, and files that are none.
@Suite(.timeLimit(.minutes(60))) struct TelemetryFileTests {
    /// The beginning of a day in the middle of a month.
    private static let day: Int64 = 1_700_006_400

    private static func minute(
        _ start: Int64, _ count: Int, _ key: TelemetryKey = TelemetryCountingTests.key()
    ) -> TelemetryMinute {
        var minute = TelemetryMinute(start: start)
        for _ in 0..<count {
            minute.sums[key, default: TelemetrySum()].add(bytesIn: 2, bytesOut: 3, microseconds: 1_000)
        }
        return minute
    }

    private static func counts(
        _ file: TelemetryFile, _ step: TelemetryFile.Step, from: Int64 = 1, until: Int64 = 1 << 40,
        filters: [SealStorage.TelemetryDimension: String] = [:], by: SealStorage.TelemetryDimension? = nil
    ) async throws -> [String: [Int64: Int64]] {
        let query = TelemetryQuery(from: from, until: until, step: step, kind: .request, filters: filters, by: by)
        return try await file.series(query).reduce(into: [:]) { found, series in
            found[series.name] = series.parts.mapValues(\.sum.count)
        }
    }

    @Test func whatComesInMinutesIsThereByHourAndDay() async throws {
        let folder = TemporaryFolder()
        let file = try TelemetryFile(path: folder.file("t.sqlite"))
        let start = Self.day
        try await file.write([Self.minute(start, 3), Self.minute(start + 60, 4)], now: start + 120)
        // More of a minute that is there already.
        try await file.write([Self.minute(start + 60, 5), Self.minute(start + 3_600, 1)], now: start + 3_660)
        file.close()
        let again = try TelemetryFile(path: folder.file("t.sqlite"))
        defer { again.close() }
        #expect(try await Self.counts(again, .minute) == ["": [start: 3, start + 60: 9, start + 3_600: 1]])
        #expect(try await Self.counts(again, .hour) == ["": [start: 12, start + 3_600: 1]])
        #expect(try await Self.counts(again, .day) == ["": [start: 13]])
        #expect(try await Self.counts(again, .minute, from: start + 30, until: start + 3_600).values.first?.count == 2)
        let line = try #require(
            try await again.series(
                .init(from: 1, until: 1 << 40, step: .day, kind: .request, filters: [:], by: .operation)
            ).first)
        #expect(line.name == "records/modify")
        #expect(line.total.sum.bytesIn == 26)
        #expect(line.total.sum.bytesOut == 39)
        #expect(line.total.sum.latency.total == 13)
        let mode = try FileManager.default.attributesOfItem(atPath: folder.file("t.sqlite"))[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    /// Between the commit and what gives pages back to the disk another program takes the file.
    private final class Intruder: TransactionObserver, @unchecked Sendable {
        private let other: DatabaseQueue
        private var isIn = false

        init(_ path: String) throws {
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            other = try DatabaseQueue(path: path, configuration: configuration)
        }

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
        func databaseDidChange(with event: DatabaseEvent) {}
        func databaseDidRollback(_ db: Database) {}
        func databaseDidCommit(_ db: Database) {
            guard !isIn else { return }
            isIn = true
            try? other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        }

        func leave() throws {
            #expect(isIn)
            try other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
            try other.close()
        }
    }

    /// What takes it for unwritten would count it again.
    @Test func whatIsWrittenIsToldAsWrittenWherePagesCannotBeGivenBack() async throws {
        let folder = TemporaryFolder()
        let path = folder.file("t.sqlite")
        let file = try TelemetryFile(path: path)
        defer { file.close() }
        // Pages of what is gone.
        try await file.queue.write { database in
            try database.execute(
                sql: "CREATE TABLE gone (a BLOB); INSERT INTO gone VALUES (zeroblob(4000000)); DROP TABLE gone")
        }
        let intruder = try Intruder(path)
        file.queue.add(transactionObserver: intruder)
        #expect(try await !file.write([Self.minute(Self.day, 3)], now: Self.day + 60))
        file.queue.remove(transactionObserver: intruder)
        try intruder.leave()
        #expect(try await Self.counts(file, .minute) == ["": [Self.day: 3]])
        #expect(try await file.queue.read { try Int.fetchOne($0, sql: "PRAGMA freelist_count") ?? 0 } > 0)
        #expect(try await file.write([], now: Self.day + 120))
        #expect(try await file.queue.read { try Int.fetchOne($0, sql: "PRAGMA freelist_count") ?? 0 } == 0)
    }

    @Test func linesAreToldApartAndChosenByEachDimension() async throws {
        // It is removed with whoever holds it.
        let folder = TemporaryFolder()
        let file = try TelemetryFile(path: folder.file("t.sqlite"))
        defer { file.close() }
        let keys = [
            TelemetryCountingTests.key("a", container: "x", group: "sync", client: "swift/1 linux", code: ""),
            TelemetryCountingTests.key("b", container: "y", group: "'; DROP TABLE sums; --", code: "zoneNotFound"),
        ]
        for (index, key) in keys.enumerated() {
            try await file.write([Self.minute(Self.day, index + 1, key)], now: Self.day)
        }
        for dimension in SealStorage.TelemetryDimension.allCases {
            let found = try await Self.counts(file, .day, by: dimension)
            #expect(found.values.reduce(0) { $0 + ($1[Self.day] ?? 0) } == 3, "\(dimension)")
        }
        #expect(try await Self.counts(file, .day, by: .group)["'; DROP TABLE sums; --"] == [Self.day: 2])
        let one = try await Self.counts(file, .day, filters: [.container: "x", .group: "sync"], by: .code)
        #expect(one == ["": [Self.day: 1]])
        #expect(try await Self.counts(file, .day, filters: [.operation: "b", .container: "x"]).isEmpty)
    }

    /// Whoever makes up names has no page hold them all.
    @Test func namesWithoutEndAreNoMoreLinesThanAreAskedFor() async throws {
        let folder = TemporaryFolder()
        let file = try TelemetryFile(path: folder.file("t.sqlite"))
        defer { file.close() }
        let (names, hours) = (500, 3)
        for hour in 0..<hours {
            var minute = TelemetryMinute(start: Self.day + Int64(hour) * 3_600)
            for name in 0..<names {
                let key = TelemetryCountingTests.key(container: "c\(name)", code: name % 2 == 0 ? "" : "zoneNotFound")
                minute.sums[key, default: TelemetrySum()].add(bytesIn: 1, bytesOut: 1, microseconds: Int64(name))
            }
            for name in 0..<20 { minute.sums[TelemetryCountingTests.key(container: "c\(name)")] = Self.sum(40 - name) }
            try await file.write([minute], now: minute.start)
        }
        let query = TelemetryQuery(
            from: Self.day, until: Self.day + 86_400, step: .hour, kind: .request, filters: [:], by: .container)
        let (lines, all) = (
            try await file.lines(query, charted: 5, listed: 10), try await file.series(query)
        )
        #expect(lines.largest.map(\.name) == (0..<10).map { "c\($0)" })
        for (line, series) in zip(lines.largest, all) {
            #expect(line.name == series.name)
            #expect(line.total.sum == series.total.sum)
            #expect(line.total.codes == series.total.codes)
        }
        #expect(lines.largest.map(\.parts.count) == [3, 3, 3, 3, 3, 0, 0, 0, 0, 0])
        var together = TelemetrySeries(name: "")
        for series in all { together.add(series) }
        #expect(lines.all.total.sum == together.total.sum)
        #expect(lines.all.parts.mapValues(\.sum) == together.parts.mapValues(\.sum))
        for count in [5, 10] {
            let rest = try #require(lines.rest(beyond: count))
            #expect(rest.total.sum.count == all.dropFirst(count).reduce(0) { $0 + $1.total.sum.count })
        }
        let rest = try #require(lines.rest(beyond: 5))
        #expect(rest.parts.values.reduce(0) { $0 + $1.sum.count } == rest.total.sum.count)
        // Words that belong to one line are one.
        let sorts = try await file.lines(query, charted: 5, listed: 10) { $0.count > 3 ? "long" : "short" }
        #expect(sorts.largest.map(\.name) == ["short", "long"])
        #expect(sorts.largest.map(\.parts.count) == [3, 3])
        #expect(sorts.rest(beyond: 2) == nil)
    }

    private static func sum(_ count: Int) -> TelemetrySum {
        var sum = TelemetrySum()
        for _ in 0..<count { sum.add(bytesIn: 2, bytesOut: 3, microseconds: 1_000) }
        return sum
    }

    @Test func eachStepIsKeptForItsTime() async throws {
        // It is removed with whoever holds it.
        let folder = TemporaryFolder()
        let file = try TelemetryFile(path: folder.file("t.sqlite"))
        defer { file.close() }
        try await file.write([Self.minute(Self.day, 1)], now: Self.day)
        // 47 and 49 hours, 61 and 732 days: how many series each step has then.
        let ages: [(age: Int64, steps: [Int])] = [
            (169_200, [1, 1, 1]), (176_400, [0, 1, 1]), (5_270_400, [0, 0, 1]), (63_244_800, [0, 0, 0]),
        ]
        for (age, steps) in ages {
            // The clock has gone on for an hour since it was seen to leap.
            for early in [3_600, 0] as [Int64] { try await file.write([], now: Self.day + age - early) }
            var found: [Int] = []
            for step in TelemetryFile.Step.allCases { found.append(try await Self.counts(file, step).count) }
            #expect(found == steps, "\(age)")
        }
    }

    /// A machine resumes with a clock that is ahead, until it has asked for the right time.
    @Test func aClockThatIsAheadTakesNothing() async throws {
        let folder = TemporaryFolder()
        let path = folder.file("t.sqlite")
        let (month, hour): (Int64, Int64) = (30 * 86_400, 3_600)
        func file() throws -> TelemetryFile { try TelemetryFile(path: path) }
        let first = try file()
        try await first.write([Self.minute(Self.day, 1)], now: Self.day)
        // While it runs, and as it starts.
        try await first.write([Self.minute(Self.day + month, 5)], now: Self.day + month)
        try await first.write([], now: Self.day + month + 60)
        try await first.write([], now: Self.day + 120)
        let both: [Int64: Int64] = [Self.day: 1, Self.day + month: 5]
        #expect(try await Self.counts(first, .minute) == ["": both])
        // Minutes that it was ahead for are no alert's when their time comes.
        for hours in 0...3 as ClosedRange<Int64> { try await first.write([], now: Self.day + 180 + hours * hour) }
        #expect(try await Self.counts(first, .minute) == ["": [Self.day: 1]])
        #expect(try await Self.counts(first, .day) == ["": both])
        first.close()
        let again = try file()
        defer { again.close() }
        try await again.write([], now: Self.day + 2 * month)
        try await again.write([], now: Self.day + 4 * hour)
        #expect(try await Self.counts(again, .minute) == ["": [Self.day: 1]])
        // Where the time goes on it is believed.
        try await again.write([], now: Self.day + month)
        #expect(try await Self.counts(again, .minute) == ["": [Self.day: 1]])
        try await again.write([], now: Self.day + month + hour)
        #expect(try await Self.counts(again, .minute).isEmpty)
    }

    /// Whenever something is written: on a quiet server that may never be in an hour's first minute.
    @Test func whatNothingIsLeftOfTakesNoRoom() async throws {
        let folder = TemporaryFolder()
        // Room for forty, half of them of one day.
        let file = try TelemetryFile(path: folder.file("t.sqlite"), limit: 800 << 10)
        defer { file.close() }
        var full = TelemetryMinute(start: Self.day + 1_800)
        for number in 0..<20 {
            full.sums[TelemetryCountingTests.key(container: "c\(number)"), default: TelemetrySum()]
                .add(bytesIn: 1, bytesOut: 1, microseconds: 1)
        }
        try await file.write([full], now: full.start)
        let later = full.start + 732 * 86_400
        for (start, container) in [(later, "one"), (later + 3_600, "two")] {
            try await file.write([Self.minute(start, 1, TelemetryCountingTests.key(container: container))], now: start)
        }
        #expect(try await Self.counts(file, .minute, by: .container)["two"] == [later + 3_600: 1])
        #expect(try await Self.seriesCount(file) == 2)
    }

    private static func seriesCount(_ file: TelemetryFile) async throws -> Int {
        try await file.queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM series") ?? 0 }
    }

    /// They take room of one day: a container that was there before keeps its own, and what it has tomorrow as well.
    @Test func wordsThatAreMadeUpPushOutNoneOfLaterDays() async throws {
        let folder = TemporaryFolder()
        // Room for 51.
        let file = try TelemetryFile(path: folder.file("t.sqlite"), limit: 1 << 20)
        defer { file.close() }
        let day: Int64 = 86_400
        func madeUp(_ number: Int64) -> TelemetryMinute {
            var minute = TelemetryMinute(start: Self.day + number * day)
            for index in 0..<100 {
                let key = TelemetryCountingTests.key(container: "org.example.films", client: "a/\(number).\(index) b")
                minute.sums[key, default: TelemetrySum()].add(bytesIn: 1, bytesOut: 1, microseconds: 1)
            }
            return minute
        }
        try await file.write([madeUp(0)], now: Self.day)
        let notes = TelemetryCountingTests.key(container: "org.example.notes", code: "internalError")
        try await file.write([Self.minute(Self.day + 3 * day, 1, notes)], now: Self.day + 3 * day)
        let found = try await Self.counts(file, .day, filters: [.container: "org.example.notes"])
        #expect(found == ["": [Self.day + 3 * day: 1]])

        for number in 4..<20 as Range<Int64> {
            let start = Self.day + number * day
            try await file.write([madeUp(number)], now: start)
            // The room of the day is taken: what an app has never answered before is its own all the same.
            let code = "code-\(number)"
            let answered = TelemetryCountingTests.key(
                container: "org.example.notes", group: "sync", client: "swift/1.0 linux", code: code)
            try await file.write([Self.minute(start + 60, 1, answered)], now: start + 60)
            let found = try await Self.counts(file, .day, filters: [.container: "org.example.notes", .code: code])
            #expect(found == ["": [start: 1]], "\(number)")
            #expect(try await Self.seriesCount(file) <= 51)
        }
        // Whatever became part of others is counted there.
        var all: [Int64: Int64] = [Self.day: 100, Self.day + 3 * day: 1]
        for number in 4..<20 as Range<Int64> { all[Self.day + number * day] = 101 }
        #expect(try await Self.counts(file, .day) == ["": all])
        let films = try await Self.counts(file, .day, filters: [.container: "org.example.films"])[""] ?? [:]
        #expect(films[Self.day + 10 * day] == 100)
    }

    @Test func theOldestMinutesGoWhereThereIsNoMoreRoom() async throws {
        let folder = TemporaryFolder()
        let file = try TelemetryFile(path: folder.file("t.sqlite"), limit: 1 << 20)
        defer { file.close() }
        let number = 1_080
        for hour in 0..<18 {
            let minutes = (0..<60).map { index in
                var minute = TelemetryMinute(start: Self.day + Int64(hour * 60 + index) * 60)
                for operation in 0..<40 {
                    minute.sums[TelemetryCountingTests.key("operation-\(operation)"), default: TelemetrySum()]
                        .add(bytesIn: 1, bytesOut: 1, microseconds: 1)
                }
                return minute
            }
            try await file.write(minutes, now: Self.day + Int64(hour + 1) * 3_600)
        }
        let minutes = try await Self.counts(file, .minute)[""] ?? [:]
        #expect(minutes.count < number)
        #expect(minutes[Self.day] == nil)
        #expect(minutes[Self.day + Int64(number - 1) * 60] == 40)
        let hours = try await Self.counts(file, .hour)[""] ?? [:]
        #expect(hours.values.sorted() == Array(repeating: 2_400, count: 18))
        let size = try FileManager.default.attributesOfItem(atPath: folder.file("t.sqlite"))[.size] as? Int
        #expect(size ?? .max < 4 << 20)
    }

    @Test func peopleAreCountedByDayAndMonth() async throws {
        // It is removed with whoever holds it.
        let folder = TemporaryFolder()
        let file = try TelemetryFile(path: folder.file("t.sqlite"))
        defer { file.close() }
        let (notes, lists) = (
            TelemetryPlace(container: "notes", environment: "production"),
            TelemetryPlace(container: "lists", environment: "production")
        )
        func minute(_ start: Int64, _ place: TelemetryPlace, _ hashes: [UInt64]) -> TelemetryMinute {
            var count = DistinctCount()
            for hash in hashes { count.add(hash &* 0x9E37_79B9_7F4A_7C15) }
            return TelemetryMinute(start: start, active: [place: count])
        }
        try await file.write(
            [
                minute(Self.day, notes, [1, 2, 3]), minute(Self.day + 60, notes, [3, 4]),
                minute(Self.day, lists, [1, 9]), minute(Self.day + 86_400, notes, [1, 5]),
            ], now: Self.day + 86_460)
        func active(_ stretch: ActiveStretch, _ container: String?) async throws -> [Int64] {
            try await file.active(stretch, from: Self.day, until: 1 << 40, container: container, environment: nil)
                .map(\.count.estimate)
        }
        #expect(try await active(.day, "notes") == [4, 2])
        #expect(try await active(.day, nil) == [5, 2])
        #expect(try await active(.month, "notes") == [5])
        #expect(try await active(.month, nil) == [6])
        #expect(try await active(.day, "none").isEmpty)
        #expect(ActiveStretch.month.start(of: Self.day) == 1_698_796_800)
        #expect(ActiveStretch.day.start(of: Self.day + 5) == Self.day)
    }

    /// Each of them would take two rows of five kilobytes for two years.
    @Test func whereOneAccountMakesUpContainersTheLogAndTheLimitStay() async throws {
        let folder = TemporaryFolder()
        let clock = TestClock()
        let limit: Int64 = 2 << 20
        let telemetry = Telemetry(
            dataFolder: folder.path, isOn: true, hasLog: true, limit: limit,
            hashes: ActiveAccountHashes(key: SecretBytes(copying: [UInt8](repeating: 7, count: 32))),
            clock: { clock.now }, logger: LogCapture().logger)
        let recorder = try #require(telemetry.recorder)
        for day in 0..<120 {
            for index in 0..<60 {
                let key = TelemetryCountingTests.key(container: "c\(day)-\(index)")
                recorder.note(TelemetryCountingTests.request(key, account: 1))
            }
            clock.advance(seconds: 60)
            await telemetry.flush()
            clock.advance(seconds: 86_340)
        }
        let now = clock.now
        let entries = try await telemetry.reading { file in
            try await file.entries(
                .init(
                    from: 0, until: .max, hasFailed: nil, filters: [:], text: "", user: nil, request: nil, groupID: nil,
                    leastMicroseconds: 0, after: nil, limit: 10_000))
        }
        #expect(entries.count >= 6 * 60)
        let active = try await telemetry.reading { file in
            try await file.active(
                .day, from: 0, until: now / 1_000_000, container: nil, environment: nil)
        }
        #expect(active.map(\.count.estimate) == Array(repeating: 1, count: active.count))
        // As many days as have room.
        #expect((20..<60).contains(active.count))
        await telemetry.close()
        let path = folder.file(Telemetry.fileName)
        let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int64
        #expect(size ?? .max < limit)
    }

    @Test func filesThatAreNoneAreTold() throws {
        let folder = TemporaryFolder()
        let path = folder.file("t.sqlite")
        try Data("no database at all, and long enough to be one".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: TelemetryFileError.damaged) { try TelemetryFile(path: path) }
        let other = folder.file("other.sqlite")
        try TelemetryFile(path: other).close()
        // Where SQLite has the number that a program gives its files.
        var bytes = try Data(contentsOf: URL(fileURLWithPath: other))
        bytes.replaceSubrange(60..<64, with: [0, 0, 0, 7])
        try bytes.write(to: URL(fileURLWithPath: other))
        #expect(throws: TelemetryFileError.otherForm(7)) { try TelemetryFile(path: other) }
        #expect(throws: FileError.self) { try TelemetryFile(path: folder.file("none/t.sqlite")) }
    }
}
