import Foundation
import GRDB
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// The log of single requests, in memory and on the disk.
@Suite(.timeLimit(.minutes(60))) struct TelemetryLogTests {
    /// Seconds since 1970.
    private static let day: Int64 = 1_700_006_400

    private static func entry(
        _ time: Int64, _ kind: LogEntry.Kind = .answered, _ key: TelemetryKey = TelemetryCountingTests.key(),
        microseconds: Int64 = 1_000, user: UInt32 = 7, request: String = "", groupID: [UInt8] = []
    ) -> LogEntry {
        LogEntry(
            time: time, kind: kind, key: key, microseconds: microseconds, bytesIn: 1, bytesOut: 2, refusedItems: 0,
            user: user, request: request, groupID: groupID)
    }

    private static func query(
        limit: Int = 1_000, _ change: (inout SealStorage.LogQuery) -> Void = { _ in }
    ) -> SealStorage.LogQuery {
        var query = SealStorage.LogQuery(
            from: 0, until: .max, hasFailed: nil, filters: [:], text: "", user: nil, request: nil, groupID: nil,
            leastMicroseconds: 0, after: nil, limit: limit)
        change(&query)
        return query
    }

    private static func write(_ entries: [LogEntry], _ file: TelemetryFile, now: Int64 = day) async throws {
        try await file.write([TelemetryMinute(start: now, log: entries)], now: now)
    }

    @Test func entriesComeBackAsTheyWereWritten() async throws {
        let folder = TemporaryFolder()
        let file = try TelemetryFile(path: folder.file("t.sqlite"))
        let start = Self.day * 1_000_000
        let entries = [
            Self.entry(start + 1, .failed, TelemetryCountingTests.key(code: "zoneNotFound"), request: "abc"),
            Self.entry(start + 2, groupID: [UInt8](repeating: 9, count: 16)),
            Self.entry(start + 3, .stranger, TelemetryCountingTests.key(container: ""), user: 0),
        ]
        try await Self.write(entries, file)
        file.close()
        let again = try TelemetryFile(path: folder.file("t.sqlite"))
        defer { again.close() }
        #expect(try await again.entries(Self.query()) == entries.reversed())
        // Words that nothing counts go on as those of the log.
        try await again.write([], now: Self.day + 3_600)
        #expect(try await again.entries(Self.query()) == entries.reversed())
    }

    /// The clock was ahead, and is set right.
    @Test func theLogGoesBackWithTheClock() async throws {
        let clock = TestClock()
        let month: Int64 = 30 * 86_400
        clock.set((Self.day + month) * 1_000_000)
        let recorder = TelemetryRecorder(hasLog: true, clock: { clock.now })
        func note() { recorder.note(TelemetryCountingTests.request(TelemetryCountingTests.key())) }
        note()
        clock.set(Self.day * 1_000_000)
        note()
        // Two that come at once have a time each.
        note()
        clock.set(Self.day * 1_000_000 - 500_000)
        note()
        let times = recorder.take().log.flatMap(\.requests).map(\.time).sorted()
        let now = Self.day * 1_000_000
        #expect(times == [now, now + 1, now + 2, (Self.day + month) * 1_000_000])

        // Nothing of a time to come outlasts a week.
        let folder = TemporaryFolder()
        let file = try TelemetryFile(path: folder.file("t.sqlite"))
        defer { file.close() }
        let entries = [now + 1, now + 3_599_000_000, (Self.day + month) * 1_000_000].map { Self.entry($0) }
        try await Self.write(entries, file)
        try await file.write([], now: Self.day + 7_200)
        #expect(try await file.entries(Self.query()).map(\.time) == [now + 3_599_000_000, now + 1])
    }

    /// A machine without a clock of its own starts with an old time, until it has asked for the right one.
    @Test func aClockThatIsBehindTakesNothingOfTheLog() async throws {
        let folder = TemporaryFolder()
        let file = try TelemetryFile(path: folder.file("t.sqlite"))
        let right = Self.day + 30 * 86_400
        let time = right * 1_000_000
        try await Self.write([Self.entry(time)], file, now: right)
        file.close()
        let again = try TelemetryFile(path: folder.file("t.sqlite"))
        defer { again.close() }
        // Into its next hour, and back.
        for now in [Self.day + 3_599, Self.day + 3_601, Self.day] { try await again.write([], now: now) }
        try await again.write([], now: right + 60)
        try await again.write([], now: Self.day)
        #expect(try await again.entries(Self.query()).map(\.time) == [time])
    }

    @Test func theyAreChosenByEachOfWhatTheyHave() async throws {
        let folder = TemporaryFolder()
        let file = try TelemetryFile(path: folder.file("t.sqlite"))
        defer { file.close() }
        let start = Self.day * 1_000_000
        let other = TelemetryCountingTests.key(
            "zones/modify", container: "org.example.mail", group: "Launch Sync", client: "web/1 linux", code: "x'; --")
        let (plain, failed) = (
            Self.entry(start), Self.entry(start + 5, .failed, other, microseconds: 9_000, user: 8, request: "r1")
        )
        let stranger = Self.entry(start + 9, .stranger, TelemetryCountingTests.key(code: "notAuthenticated"), user: 0)
        try await Self.write([plain, failed, stranger], file)
        func found(_ change: (inout SealStorage.LogQuery) -> Void) async throws -> [Int64] {
            try await file.entries(Self.query(limit: 1_000, change)).map { $0.time - start }
        }
        #expect(try await found { $0.from = start + 1 } == [9, 5])
        #expect(try await found { $0.until = start + 5 } == [0])
        #expect(try await found { $0.hasFailed = true } == [9, 5])
        #expect(try await found { $0.hasFailed = false } == [0])
        #expect(try await found { $0.user = 8 } == [5])
        #expect(try await found { $0.request = "r1" } == [5])
        #expect(try await found { $0.groupID = [UInt8](repeating: 1, count: 16) } == [])
        #expect(try await found { $0.leastMicroseconds = 9_000 } == [5])
        for (text, times) in [
            ("MODIFY", [9, 5, 0]), ("launch s", [5]), ("x'; --", [5]), ("notAuth", [9]), ("mail", [5]), ("%", []),
        ] as [(String, [Int64])] {
            #expect(try await found { $0.text = text } == times, "\(text)")
        }
        for dimension in SealStorage.TelemetryDimension.allCases {
            #expect(try await found { $0.filters = [dimension: "'; DROP TABLE log; --"] } == [], "\(dimension)")
        }
        #expect(try await found { $0.filters = [.operation: "zones/modify", .group: "Launch Sync"] } == [5])
    }

    @Test func pagesGoOnWhereTheLastEnded() async throws {
        let folder = TemporaryFolder()
        let file = try TelemetryFile(path: folder.file("t.sqlite"))
        defer { file.close() }
        let start = Self.day * 1_000_000
        // Of several kinds at one time, which a clock that was set back can lead to.
        let all = (0..<30).map { index in
            Self.entry(start + Int64(index / 3), LogEntry.Kind.allCases[index % 3])
        }
        try await Self.write(all, file)
        for size in [1, 2, 4, 7, 30] {
            var (found, after) = ([LogPlace](), LogPlace?.none)
            repeat {
                let page = try await file.entries(Self.query(limit: size) { $0.after = after })
                found += page.map(\.place)
                after = page.last?.place
            } while after != nil
            #expect(found.count == 30, "\(size)")
            #expect(Set(found.map { "\($0.time) \($0.kind)" }).count == 30, "\(size)")
            #expect(found == found.sorted { $0.isBefore($1) }, "\(size)")
        }
        // A time that is taken is not lost.
        try await Self.write([Self.entry(start), Self.entry(start)], file)
        #expect(try await file.entries(Self.query()).count == 32)
    }

    @Test func eachKindHasItsRoomAndAWeek() async throws {
        let folder = TemporaryFolder()
        let file = try TelemetryFile(path: folder.file("t.sqlite"))
        defer { file.close() }
        let start = Self.day * 1_000_000
        try await Self.write([Self.entry(start), Self.entry(start, .failed)], file)
        // The clock has gone on for an hour since it was seen to leap.
        try await file.write([], now: Self.day + LogEntry.keptFor - 3_600)
        try await Self.write([Self.entry(start + 1)], file, now: Self.day + LogEntry.keptFor)
        #expect(try await file.entries(Self.query()).count == 3)
        try await Self.write([], file, now: Self.day + LogEntry.keptFor + 1)
        #expect(try await file.entries(Self.query()).count == 0)
        let most = LogEntry.Kind.stranger.most
        let later = Self.day + LogEntry.keptFor + 2
        let many = (0..<most + 5).map { Self.entry(later * 1_000_000 + $0, .stranger) }
        try await Self.write([Self.entry(later * 1_000_000, .failed)] + many, file, now: later)
        let strangers = try await file.entries(Self.query(limit: Int(most) + 100))
        #expect(strangers.count(where: { $0.kind == .stranger }) == Int(most))
        #expect(strangers.last { $0.kind == .stranger }?.time == later * 1_000_000 + 5)
        #expect(strangers.contains { $0.kind == .failed })
    }

    @Test func whereTheFileIsFullTheLogGoesFirst() async throws {
        let folder = TemporaryFolder()
        let file = try TelemetryFile(path: folder.file("t.sqlite"), limit: 1 << 20)
        defer { file.close() }
        let key = TelemetryCountingTests.key()
        for round in 0..<20 {
            let now = Self.day + Int64(round)
            var minute = TelemetryMinute(
                start: Self.day, log: (0..<2_000).map { Self.entry(now * 1_000_000 + Int64($0)) })
            minute.sums[key, default: TelemetrySum()].add(bytesIn: 1, bytesOut: 1, microseconds: 1)
            try await file.write([minute], now: now)
        }
        let size = try FileManager.default.attributesOfItem(atPath: folder.file("t.sqlite"))[.size] as? Int ?? 0
        #expect(size < 2 << 20)
        let left = try await file.entries(Self.query(limit: 100_000))
        #expect((100..<40_000).contains(left.count))
        // The newest are there, and so are the sums.
        #expect(left.first?.time == (Self.day + 19) * 1_000_000 + 1_999)
        let sums = try await file.series(
            .init(from: 1, until: 1 << 40, step: .minute, kind: .request, filters: [:], by: nil))
        #expect(sums.first?.total.sum.count == 20)
    }

    @Test func aFileOfTheFirstFormGetsALog() async throws {
        let folder = TemporaryFolder()
        let path = folder.file("t.sqlite")
        let file = try TelemetryFile(path: path)
        var minute = TelemetryMinute(start: Self.day)
        minute.sums[TelemetryCountingTests.key()] = {
            var sum = TelemetrySum()
            sum.add(bytesIn: 1, bytesOut: 1, microseconds: 1)
            return sum
        }()
        try await file.write([minute], now: Self.day)
        file.close()
        let raw = try DatabaseQueue(path: path)
        try await raw.write { try $0.execute(sql: "DROP TABLE log; PRAGMA user_version = 1") }
        try raw.close()
        let again = try TelemetryFile(path: path)
        defer { again.close() }
        try await Self.write([Self.entry(Self.day * 1_000_000)], again)
        #expect(try await again.entries(Self.query()).count == 1)
        let sums = try await again.series(
            .init(from: 1, until: 1 << 40, step: .day, kind: .request, filters: [:], by: nil))
        #expect(sums.first?.total.sum.count == 1)
    }

    // MARK: In memory

    @Test func aMinuteTakesSoManyOfEachKindAndTheRestIsCounted() {
        let clock = TestClock()
        clock.set(Self.day * 1_000_000)
        let recorder = TelemetryRecorder(hasLog: true, clock: { clock.now })
        let key = TelemetryCountingTests.key()
        let (most, strangers) = (LogEntry.Kind.answered.mostPerMinute, LogEntry.Kind.stranger.mostPerMinute)
        for _ in 0..<most + 3 { recorder.note(TelemetryCountingTests.request(key)) }
        for _ in 0..<strangers + 2 { recorder.note(TelemetryCountingTests.request(key, account: 0)) }
        // Neither takes the room of what failed.
        recorder.note(TelemetryCountingTests.request(TelemetryCountingTests.key(code: "zoneNotFound"), request: "r"))
        let batch = recorder.take()
        let requests = batch.log.flatMap(\.requests)
        #expect(requests.count == most + strangers + 1)
        #expect(requests.last?.kind == .failed)
        #expect(recorder.unlogged == 5)
        // Everything is counted all the same, and no two entries have one time.
        #expect(batch.minutes.first?.sums.values.reduce(0) { $0 + $1.count } == Int64(most + strangers + 6))
        #expect(Set(requests.map(\.time)).count == requests.count)
        clock.advance(seconds: 60)
        recorder.note(TelemetryCountingTests.request(key))
        #expect(recorder.take().log.flatMap(\.requests).count == 1)
        let silent = TelemetryRecorder(hasLog: false, clock: { clock.now })
        silent.note(TelemetryCountingTests.request(key))
        #expect(silent.take().log.isEmpty)
        #expect(silent.unlogged == 0)
    }

    @Test func whatNobodyTakesIsBounded() {
        let clock = TestClock()
        let recorder = TelemetryRecorder(hasLog: true, clock: { clock.now })
        let key = TelemetryCountingTests.key()
        for _ in 0..<20 {
            for _ in 0..<LogEntry.Kind.answered.mostPerMinute { recorder.note(TelemetryCountingTests.request(key)) }
            clock.advance(seconds: 60)
        }
        let batch = recorder.take()
        let left = batch.log.reduce(0) { $0 + $1.requests.count }
        #expect(left <= TelemetryRecorder.mostWaitingEntries)
        #expect(left > 0)
        #expect(recorder.unlogged + Int64(left) == Int64(20 * LogEntry.Kind.answered.mostPerMinute))
        // Their sums are there: those take no room.
        #expect(batch.minutes.count == 20)
        #expect(recorder.lost == 0)
    }

    @Test func pseudonymsAreOfOneDayAndContainer() {
        let (pseudonyms, others) = (DailyPseudonyms(), DailyPseudonyms())
        let day: Int64 = 86_400_000_000
        let first = pseudonyms.pseudonym(of: 1, in: "notes", at: 10 * day)
        #expect(pseudonyms.pseudonym(of: 1, in: "notes", at: 11 * day - 1) == first)
        #expect(pseudonyms.pseudonym(of: 2, in: "notes", at: 10 * day) != first)
        #expect(pseudonyms.pseudonym(of: 1, in: "films", at: 10 * day) != first)
        let second = pseudonyms.pseudonym(of: 1, in: "notes", at: 11 * day)
        #expect(second != first)
        // What comes late of the day before is told by its key.
        #expect(pseudonyms.pseudonym(of: 1, in: "notes", at: 10 * day) == first)
        // Nobody can tell them again: neither another process, nor this one later.
        #expect(others.pseudonym(of: 1, in: "notes", at: 10 * day) != first)
        _ = pseudonyms.pseudonym(of: 1, in: "notes", at: 12 * day)
        #expect(pseudonyms.pseudonym(of: 1, in: "notes", at: 10 * day) != first)
    }
}
