import Foundation
import SealPrimitives
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// How telemetry counts, without a server.
@Suite(.timeLimit(.minutes(60))) struct TelemetryCountingTests {
    static func key(
        _ operation: String = "records/modify", container: String = "org.example.notes", group: String = "",
        client: String = "", code: String = ""
    ) -> TelemetryKey {
        TelemetryKey(
            kind: .request, operation: operation, container: container, environment: "development", database: "private",
            client: client, group: group, code: code)
    }

    /// - Parameter account: 0 for a stranger's.
    static func request(
        _ key: TelemetryKey, bytesIn: Int64 = 1, bytesOut: Int64 = 1, microseconds: Int64 = 1, account: Int64 = 1,
        request: String = "", groupID: [UInt8] = []
    ) -> LoggedRequest {
        LoggedRequest(
            key: key, bytesIn: bytesIn, bytesOut: bytesOut, microseconds: microseconds, account: account,
            isPerson: account != 0, refusedItems: 0, request: request, groupID: groupID)
    }

    @Test func everyValueHasItsBucketAndQuantilesAreOffByAnEighth() {
        var last = -1
        for bucket in 0..<LogHistogram.bucketCount {
            let low = LogHistogram.lowest(of: bucket)
            #expect(LogHistogram.bucket(of: low) == bucket)
            #expect(LogHistogram.bucket(of: max(0, low - 1)) == max(0, bucket - 1))
            #expect(low > last)
            last = Int(low)
        }
        #expect(LogHistogram.bucket(of: .max) == LogHistogram.bucketCount - 1)
        #expect(LogHistogram.bucket(of: -5) == 0)
        var histogram = LogHistogram()
        #expect(histogram.quantile(0.5) == 0)
        for value in 1...100_000 { histogram.add(Int64(value)) }
        #expect(histogram.total == 100_000)
        for share in [0.1, 0.5, 0.9, 0.95, 0.99, 1] {
            let (found, exact) = (Double(histogram.quantile(share)), share * 100_000)
            #expect(abs(found - exact) <= exact / 8, "\(share): \(found)")
        }
    }

    @Test func histogramsAddAndComeBackFromTheirBytes() throws {
        var (first, second) = (LogHistogram(), LogHistogram())
        for value in stride(from: Int64(1), to: 1 << 40, by: 1 << 33) { first.add(value) }
        for value in [Int64(0), 63, 64, 1_000, 1_000] { second.add(value) }
        var both = first
        both.add(second)
        #expect(both.total == first.total + second.total)
        #expect(try #require(LogHistogram(bytes: both.bytes)) == both)
        #expect(LogHistogram(bytes: []) == LogHistogram())
        for bytes: [UInt8] in [[1], [1, 0, 0, 0], [241, 1, 0, 0, 0], [255, 1, 0, 0, 0], [1, 1, 0, 0, 0, 0]] {
            #expect(LogHistogram(bytes: bytes) == nil)
        }
        var full = try #require(LogHistogram(bytes: [0, 255, 255, 255, 255]))
        full.add(1)
        full.add(full)
        #expect(full.total == UInt64(UInt32.max))
    }

    @Test func differentOnesAreCountedWithoutBeingKept() throws {
        let hashes = ActiveAccountHashes(key: SecretBytes(copying: [UInt8](repeating: 7, count: 32)))
        for (number, tolerance) in [(0, 0.0), (1, 0), (10, 0.1), (1_000, 0.05), (50_000, 0.06)] {
            var (count, half) = (DistinctCount(), DistinctCount())
            for account in 0..<number {
                // Whoever comes again counts once.
                for _ in 0..<2 { count.add(hashes.hash(Int64(account), month: 0)) }
                if account % 2 == 0 { half.add(hashes.hash(Int64(account), month: 0)) }
            }
            let off = abs(Double(count.estimate) - Double(number))
            #expect(off <= Double(number) * tolerance, "\(number): \(count.estimate)")
            var union = half
            union.add(count)
            #expect(union == count)
            #expect(DistinctCount(registers: count.registers) == count)
        }
        #expect(DistinctCount(registers: [1, 2, 3]) == nil)
        #expect(DistinctCount(registers: [UInt8](repeating: 60, count: 4_096)) == nil)
        // Of two months nobody can tell who was in both.
        #expect(hashes.hash(1, month: 0) != hashes.hash(1, month: 2_678_400))
        let other = ActiveAccountHashes(key: SecretBytes(copying: [UInt8](repeating: 8, count: 32)))
        #expect(hashes.hash(1, month: 0) != other.hash(1, month: 0))
    }

    @Test func minutesAreToldApartAndNothingIsCountedTwice() {
        let clock = TestClock()
        let recorder = TelemetryRecorder(hasLog: false, clock: { clock.now })
        let key = Self.key()
        for _ in 0..<3 {
            recorder.note(Self.request(key, bytesIn: 10, bytesOut: 20, microseconds: 500, account: 1))
        }
        clock.advance(seconds: 60)
        recorder.note(Self.request(key, bytesIn: 1, bytesOut: 2, microseconds: 3, account: 2))
        recorder.note(key, count: 5)
        recorder.note(key, count: 0)
        let batch = recorder.take()
        #expect(batch.minutes.map { $0.sums[key]?.count } == [3, 6])
        #expect(batch.minutes.map { $0.sums[key]?.bytesIn } == [30, 1])
        #expect(batch.minutes.map { $0.sums[key]?.bytesOut } == [60, 2])
        #expect(batch.minutes.map { $0.sums[key]?.latency.total } == [3, 1])
        #expect(batch.accounts.map(\.accounts) == [[1], [2]])
        #expect(recorder.take().minutes.isEmpty)
        // What could not be written comes again.
        recorder.putBack(batch.minutes)
        #expect(recorder.take().minutes.compactMap { $0.sums[key]?.count } == [3, 6])
        #expect(recorder.lost == 0)
    }

    @Test func whoIsRefusedIsActiveNowhereAndPlacesOfAMinuteAreBounded() throws {
        let recorder = TelemetryRecorder(hasLog: false, clock: { 1_000_000 })
        for index in 0..<TelemetryRecorder.mostPlaces + 500 {
            recorder.note(Self.request(Self.key(container: "refused\(index)", code: "http-429"), account: 1))
        }
        #expect(recorder.take().accounts.isEmpty)
        for index in 0..<TelemetryRecorder.mostPlaces + 500 {
            recorder.note(Self.request(Self.key(container: "c\(index)"), account: 1))
        }
        let places = recorder.take().accounts
        #expect(places.count == TelemetryRecorder.mostPlaces + 1)
        #expect(places.last?.place == TelemetryPlace(container: "other", environment: "development"))
        #expect(places.last?.accounts == [1])
    }

    /// Whoever has no account would make up as many as are told apart.
    @Test func aStrangersWordsAreThoseOfSomebodyKnown() throws {
        let recorder = TelemetryRecorder(hasLog: true, clock: { 1_000_000 })
        let key = Self.key(client: "swift/1.0 linux")
        func note(account: Int64, code: String = "") {
            var key = key
            key.code = code
            recorder.note(Self.request(key, account: account))
        }
        note(account: 0)
        // Nor does it teach anything that somebody's request is refused.
        note(account: 1, code: "zoneNotFound")
        note(account: 0)
        recorder.note(key, count: 1, isKnown: false)
        let unknown = Self.key(container: "", client: "other")
        let before = recorder.take()
        #expect(before.minutes.first?.sums[unknown]?.count == 3)
        #expect(before.minutes.first?.sums[key] == nil)
        #expect(before.log.flatMap(\.requests).filter { !$0.isKnown }.map(\.key) == [unknown, unknown])
        for account in [1, 0] as [Int64] { note(account: account) }
        recorder.note(key, count: 1, isKnown: false)
        let after = recorder.take()
        #expect(after.minutes.first?.sums[key]?.count == 3)
        #expect(after.minutes.first?.sums[unknown] == nil)
    }

    private static func words(_ operation: String, _ container: String, group: String? = nil) -> RequestWords {
        RequestWords(
            operation: operation, template: "/" + operation, container: Substring(container),
            environment: "development", database: "private", client: nil, group: group)
    }

    /// Whoever sends the words of one that was noted is counted as that one, and nobody else.
    @Test func familiarWordsAreCountedAsTheirs() throws {
        let clock = TestClock()
        let recorder = TelemetryRecorder(hasLog: true, clock: { clock.now })
        let (notes, films) = (Self.key(), Self.key(container: "org.example.films"))
        func again(_ words: RequestWords, account: Int64 = 1, isPerson: Bool = true) -> Bool {
            recorder.noteAgain(
                words, bytesIn: 10, bytesOut: 20, microseconds: 500, account: account, isPerson: isPerson)
        }
        func note(_ key: TelemetryKey, account: Int64 = 1) {
            let words = Self.words(key.operation, key.container, group: key.group.isEmpty ? nil : key.group)
            recorder.note(Self.request(key, account: account), words: words)
        }
        let (ofNotes, ofFilms) = (
            Self.words(notes.operation, notes.container), Self.words(films.operation, films.container)
        )
        #expect(!again(ofNotes))
        // As long as the log takes them they come with all that it says of them.
        note(notes)
        #expect(!again(ofNotes))
        for _ in 1..<LogEntry.Kind.answered.mostPerMinute { note(notes) }
        #expect(again(ofNotes, account: 2))
        #expect(again(ofNotes, account: 3, isPerson: false))
        #expect(!again(ofFilms))
        note(films)
        #expect(again(ofFilms, account: 4))
        // Neither what was refused nor a stranger's teaches anything.
        note(Self.key("records/lookup", code: "zoneNotFound"))
        note(Self.key("records/changes"), account: 0)
        #expect(!again(Self.words("records/lookup", notes.container)))
        #expect(!again(Self.words("records/changes", notes.container)))
        // Words without end take each other's room, and are found again.
        for index in 0..<TelemetryRecorder.mostFamiliar - 2 { note(Self.key(group: "g\(index)")) }
        #expect(again(ofNotes, account: 6))
        for index in 0..<100 {
            note(Self.key(group: "g\(index)"))
            #expect(again(Self.words(notes.operation, notes.container, group: "g\(index)")))
        }
        #expect(!again(ofNotes))
        note(notes)
        #expect(again(ofNotes, account: 5))

        let batch = recorder.take()
        let minute = try #require(batch.minutes.first)
        let most = Int64(LogEntry.Kind.answered.mostPerMinute)
        #expect(minute.sums[notes]?.count == most + 5)
        #expect(minute.sums[notes]?.bytesIn == most + 1 + 40)
        #expect(minute.sums[films]?.count == 2)
        let groups = (0..<100).map { minute.sums[Self.key(group: "g\($0)")]?.count }
        let early = TelemetryRecorder.mostFamiliar - 2
        #expect(groups == Array(repeating: 3, count: early) + Array(repeating: 2, count: 100 - early))
        let accounts = Dictionary(uniqueKeysWithValues: batch.accounts.map { ($0.place.container, $0.accounts) })
        #expect(accounts == [notes.container: [1, 2, 5, 6], films.container: [1, 4]])
        #expect(recorder.unlogged == 2 + 2 + early + 1 + 200 + 2)
        // Nor are they known to another minute.
        clock.advance(seconds: 60)
        #expect(!again(ofNotes))
        for _ in 0..<LogEntry.Kind.answered.mostPerMinute { note(films) }
        #expect(!again(ofNotes))
        #expect(again(ofFilms))
    }

    /// They were more than are kept until somebody takes them.
    @Test func whatWasLostBeforeItWasWrittenIsNotTakenForNothing() async throws {
        let folder = TemporaryFolder()
        let clock = TestClock()
        clock.set(clock.now - clock.now % 60_000_000)
        let telemetry = Telemetry(
            dataFolder: folder.path, isOn: true, hasLog: false,
            hashes: ActiveAccountHashes(key: SecretBytes(copying: [UInt8](repeating: 7, count: 32))),
            clock: { clock.now }, logger: LogCapture().logger)
        let recorder = try #require(telemetry.recorder)
        #expect(try await telemetry.readingWhole { _, since in since } == 0)
        for _ in 0..<3 {
            for index in 0..<9_000 { recorder.note(Self.key(group: "g\(index)"), count: 1) }
            clock.advance(seconds: 60)
        }
        let since = clock.now / 1_000_000 - 120
        #expect(try await telemetry.readingWhole { _, since in since } == since)
        #expect(recorder.lost == 9_000)
        clock.advance(seconds: 600)
        #expect(try await telemetry.readingWhole { _, since in since } == since)
        // The clock is behind for one look.
        let later = clock.now
        clock.set((since - 3_600) * 1_000_000)
        #expect(try await telemetry.readingWhole { _, since in since } == since - 3_600)
        clock.set(later)
        #expect(try await telemetry.readingWhole { _, since in since } == since)
        // The clock was ahead.
        clock.set((since - 86_400) * 1_000_000)
        #expect(try await telemetry.readingWhole { _, since in since } == since - 86_400)
        clock.advance(seconds: 600)
        #expect(try await telemetry.readingWhole { _, since in since } == since - 86_400)
        await telemetry.close()
    }

    @Test("Clients make up containers, groups and systems without end: memory and disk stay bounded, and sums right.")
    func attack98_wordsWithoutEnd() async throws {
        let clock = TestClock()
        let recorder = TelemetryRecorder(hasLog: false, clock: { clock.now })
        let number = TelemetryRecorder.mostKeys * 2
        for index in 0..<number {
            let key = Self.key(container: "c\(index)", group: "g\(index)", client: "x/\(index) y")
            recorder.note(Self.request(key, account: Int64(index + 1)))
        }
        let minute = try #require(recorder.take().minutes.first)
        #expect(minute.sums.count == TelemetryRecorder.mostKeys + 1)
        #expect(minute.sums.values.reduce(0) { $0 + $1.count } == Int64(number))
        let folded = Self.key(container: "other", group: "other", client: "other")
        #expect(minute.sums[folded]?.count == Int64(number - TelemetryRecorder.mostKeys))
        // Nobody takes them away for an hour.
        for _ in 0..<60 {
            for index in 0..<1_000 { recorder.note(Self.key(group: "g\(index)"), count: 1) }
            clock.advance(seconds: 60)
        }
        let kept = recorder.take().minutes
        #expect(kept.reduce(0) { $0 + $1.sums.count } <= TelemetryRecorder.mostWaiting)
        #expect(kept.reduce(0) { $0 + $1.sums.count } + Int(recorder.lost) == 60_000)

        let folder = TemporaryFolder()
        let file = try TelemetryFile(path: folder.file("t.sqlite"), limit: 1 << 20)
        defer { file.close() }
        var now: Int64 = 1_700_000_000 - 1_700_000_000 % 86_400
        for round in 0..<12 {
            var minute = TelemetryMinute(start: now)
            for index in 0..<500 {
                minute.sums[Self.key(group: "g\(round)-\(index)"), default: TelemetrySum()]
                    .add(bytesIn: 1, bytesOut: 1, microseconds: 1)
            }
            try await file.write([minute], now: now)
            now += 3_600
        }
        let left = try await file.series(
            .init(from: now - 86_400, until: now, step: .minute, kind: .request, filters: [:], by: .group))
        // Of one day half of what is free, and all others together.
        #expect(left.count == 26)
        #expect(left.first?.name == "other")
        let count = left.reduce(0) { $0 + $1.total.sum.count }
        #expect(count == 6_000)
        AttackOutcome.held("10,000 keys a minute, one file of a set size")
    }
}
