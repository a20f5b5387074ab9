import Logging
import NIOCore
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// What runs beside requests: when, by whom, and what becomes of it.
@Suite(.timeLimit(.minutes(60))) struct JobTests {
    let folder = TemporaryFolder()
    let clock = TestClock()
    let log = LogCapture()

    private func open() throws -> SQLiteDatabase {
        try SQLiteDatabase(path: folder.file("db.sqlite"), migrations: [Migration(name: "jobs", sql: JobLease.table)])
    }

    private func around(
        _ database: SQLiteDatabase, holder: UInt8 = 1, look: Duration = .milliseconds(10),
        patience: Duration = .milliseconds(10),
        metrics: ServerMetrics = .off
    ) -> JobRunner.Surroundings {
        JobRunner.Surroundings(
            database: database, holder: [holder], look: look, patience: patience, clock: { [clock] in clock.now },
            metrics: metrics,
            logger: log.logger)
    }

    /// Has jobs run until the body is through.
    private func running(
        _ all: [Job], _ around: JobRunner.Surroundings, _ body: (Jobs) async throws -> Void
    ) async throws {
        let jobs = Jobs(all, around)
        let task = Task { try await jobs.run() }
        jobs.begin()
        do {
            try await body(jobs)
        } catch {
            task.cancel()
            throw error
        }
        task.cancel()
        try await task.value
    }

    private static let always = Job.Schedule.whenThereIs { _ in true }

    // MARK: Schedule

    @Test func anIdleServerSweeps() async throws {
        try await RunningServer.with(sweepInterval: .milliseconds(20)) { server in
            let anna = try await Person.ready(server)
            func sessions() async throws -> Int64? { try await server.rows(in: ["session"])["session"] }
            #expect(try await sessions() != nil)
            _ = anna
            // Nobody asks for anything any more.
            server.clock.advance(seconds: Sessions.lifetime / 1_000_000 + 1)
            try await waitUntil("what has expired is gone") { try await sessions() == nil }
        }
    }

    @Test func whatWasDoneIsDueAgainAfterItsIntervalWhoeverDidIt() async throws {
        let database = try open()
        let (runs, job) = counted(.sweep, .every(.seconds(3_600)))
        let (first, second) = (JobRunner(job, around(database)), JobRunner(job, around(database, holder: 2)))
        #expect(try await second.untilDue() == nil)
        try await first.once()
        #expect(runs.count == 1)
        #expect(try await second.untilDue() == .seconds(3_600))
        clock.advance(seconds: 3_599)
        #expect(try await second.untilDue() == .seconds(1))
        clock.advance(seconds: 1)
        #expect(try await second.untilDue() == nil)
        // A clock that was set back puts nothing off.
        clock.advance(seconds: -86_400)
        #expect(try await second.untilDue() == nil)
        try await database.close()
    }

    @Test func aRunThatWasCutShortIsDueStill() async throws {
        let database = try open()
        let runner = JobRunner(
            Job(.sweep, .every(.seconds(3_600)), leavesWork: []) { _ in throw TestFailure("half way") },
            around(database))
        await #expect(throws: TestFailure.self) { try await runner.once() }
        #expect(try await runner.untilDue() == nil)
        try await database.close()
    }

    @Test func aJobThatIsWokenRunsWhereThereIsSomethingToDo() async throws {
        let database = try open()
        let isThere = Mutex(false)
        let runs = RunCounter()
        let job = Job(.garbage, .whenThereIs { _ in isThere.withLock { $0 } }, leavesWork: []) { _ in
            isThere.withLock { $0 = false }
            runs.increment()
        }
        try await running([job], around(database, look: .seconds(3_600))) { jobs in
            isThere.withLock { $0 = true }
            jobs.wake(.garbage)
            try await waitUntil("it ran") { runs.count == 1 && !isThere.withLock { $0 } }
        }
        // Also where nobody says so: within one look.
        try await running([job], around(database)) { _ in
            isThere.withLock { $0 = true }
            try await waitUntil("it ran again") { runs.count == 2 }
        }
        try await database.close()
    }

    @Test func whatAJobLeavesIsLookedAtOnceItIsDone() async throws {
        let database = try open()
        let (runs, garbage) = counted(.garbage, Self.always)
        let erasure = Job(.erasure, .every(.seconds(3_600)), leavesWork: [.garbage]) { _ in }
        try await running([garbage, erasure], around(database, look: .seconds(3_600))) { jobs in
            try await waitUntil("both ran at the start") { runs.count >= 1 }
            let before = runs.count
            try await jobs.run(.erasure)
            try await waitUntil("it was woken") { runs.count > before }
        }
        try await database.close()
    }

    // MARK: Failures

    @Test func aJobThatFailsIsLoggedCountedAndTriedAgain() async throws {
        let database = try open()
        let registry = MetricsRegistry()
        let tries = Mutex(0)
        let failing = Job(.recount, Self.always, leavesWork: []) { _ in
            if tries.withLock({ tries in
                tries += 1
                return tries < 3
            }) {
                throw TestFailure("out of order")
            }
        }
        let (others, other) = counted(.garbage, Self.always)
        try await running([failing, other], around(database, metrics: ServerMetrics(factory: registry))) { _ in
            try await waitUntil("it was tried three times, and the other one runs") {
                tries.withLock { $0 } >= 3 && others.count >= 2
            }
        }
        let said = log.lines.filter { $0.contains("a job failed") }
        #expect(said.count == 2)
        #expect(
            said.allSatisfy {
                $0.hasPrefix("warning") && $0.contains("\"job\": recount") && $0.contains("out of order")
            })
        let text = PrometheusText.write(registry)
        #expect(text.contains("sealkit_job_runs_total{job=\"recount\",outcome=\"failed\"} 2\n"))
        try await database.close()
    }

    /// Whoever waits for an index waits for it, however the first try went.
    @Test func whatFailedOnceIsTriedAgainSoon() async throws {
        let database = try open()
        let tries = RunCounter()
        let failing = Job(.indexes, Self.always, leavesWork: []) { _ in
            tries.increment()
            if tries.count < 3 { throw TestFailure("out of order") }
        }
        try await running([failing], around(database, patience: .seconds(3_600))) { _ in
            try await waitUntil("it was done") { tries.count >= 3 }
        }
        try await database.close()
    }

    @Test func whichFailedLastIsKnownUntilItIsDone() async throws {
        let database = try open()
        let isBroken = Mutex(true)
        let job = Job(.recount, Self.always, leavesWork: []) { _ in
            if isBroken.withLock({ $0 }) { throw TestFailure("out of order") }
        }
        let jobs = Jobs([job, counted(.garbage, Self.always).1], around(database))
        #expect(jobs.failing.isEmpty)
        await #expect(throws: TestFailure.self) { try await jobs.run(.recount) }
        try await jobs.run(.garbage)
        #expect(jobs.failing == [.recount])
        isBroken.withLock { $0 = false }
        try await jobs.run(.recount)
        #expect(jobs.failing.isEmpty)
        try await database.close()
    }

    /// The next look finds that there is nothing to do, so that no run says that it is over.
    @Test func aDatabaseThatWasAwayIsNoJobsFailure() async throws {
        let database = try open()
        let looks = RunCounter()
        let query: @Sendable (any SQLConnection) throws -> Bool = { _ in
            looks.increment()
            throw StorageError.unavailable(message: "gone")
        }
        let job = Job(.garbage, .whenThereIs(query), leavesWork: []) { _ in }
        try await running([job], around(database)) { jobs in
            try await waitUntil("it looked again") { looks.count >= 3 }
            #expect(jobs.failing.isEmpty)
        }
        try await database.close()
    }

    @Test func whatIsNoLongerThereFailsNoLonger() async throws {
        let database = try open()
        let isBroken = Mutex(true)
        let query: @Sendable (any SQLConnection) throws -> Bool = { _ in
            if isBroken.withLock({ $0 }) { throw TestFailure("out of order") }
            return false
        }
        let job = Job(.garbage, .whenThereIs(query), leavesWork: []) { _ in }
        try await running([job], around(database)) { jobs in
            try await waitUntil("it fails") { jobs.failing == [.garbage] }
            isBroken.withLock { $0 = false }
            try await waitUntil("it fails no longer") { jobs.failing.isEmpty }
        }
        try await database.close()
    }

    @Test func whatFailedHereAndWasDoneByAnotherServerFailsNoLonger() async throws {
        let database = try open()
        let failing = Job(.sweep, .every(.seconds(3_600)), leavesWork: []) { _ in throw TestFailure("out of order") }
        let other = JobRunner(counted(.sweep, .every(.seconds(3_600))).job, around(database, holder: 2))
        try await running([failing], around(database)) { jobs in
            try await waitUntil("it fails") { jobs.failing == [.sweep] }
            try await other.once()
            try await waitUntil("it fails no longer") { jobs.failing.isEmpty }
        }
        try await database.close()
    }

    @Test func aJobThatHangsHoldsNeitherAnotherNorAServerThatStops() async throws {
        let database = try open()
        let hanging = Mutex<CheckedContinuation<Void, Never>?>(nil)
        let hung = Job(.webhooks, Self.always, leavesWork: []) { _ in
            // It does not hear that it is cancelled.
            await withCheckedContinuation { continuation in hanging.withLock { $0 = continuation } }
        }
        let (runs, other) = counted(.garbage, Self.always)
        try await running([hung, other], around(database)) { _ in
            try await waitUntil("one hangs, and the other runs") {
                hanging.withLock { $0 != nil } && runs.count >= 3
            }
        }
        hanging.withLock { $0 }?.resume()
        try await database.close()
    }

    @Test func atTheEndNoStepIsBegunAnyMore() async throws {
        let database = try open()
        let steps = RunCounter()
        let isOver = Mutex<Bool?>(nil)
        let endless = Job(.erasure, Self.always, leavesWork: []) { turn in
            do {
                while true { try await turn.step(at: .everything) { _ in steps.increment() } }
            } catch {
                isOver.withLock { $0 = error is CancellationError }
                throw error
            }
        }
        try await running([endless], around(database)) { _ in
            try await waitUntil("it is at work") { steps.count > 2 }
        }
        try await waitUntil("it has ended") { isOver.withLock { $0 } != nil }
        #expect(isOver.withLock { $0 } == true, "by itself, between two steps")
        #expect(!log.lines.contains { $0.contains("failed") })
        try await database.close()
    }

    @Test func aJobRunsOnceAtATime() async throws {
        let database = try open()
        let atOnce = Mutex((now: 0, most: 0))
        let job = Job(.sweep, .every(.seconds(3_600)), leavesWork: []) { _ in
            atOnce.withLock { ($0.now, $0.most) = ($0.now + 1, max($0.most, $0.now + 1)) }
            for _ in 0..<10 { await Task.yield() }
            atOnce.withLock { $0.now -= 1 }
        }
        let jobs = Jobs([job], around(database))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { try await jobs.run(.sweep) } }
            try await group.waitForAll()
        }
        #expect(atOnce.withLock { $0.most } == 1)
        try await database.close()
    }

    // MARK: Leases

    /// It has looked whether another server has the job, and that one began it just then; or its database was away.
    @Test(arguments: [JobLease.HeldElsewhere(), StorageError.unavailable(message: "gone")] as [any Error])
    func whoIsKeptFromAJobLooksAgainSoon(_ reason: any Error) async throws {
        let database = try open()
        let tries = RunCounter()
        let job = Job(.garbage, Self.always, leavesWork: []) { _ in
            tries.increment()
            if tries.count == 1 { throw reason }
        }
        try await running([job], around(database, patience: .seconds(3_600))) { _ in
            try await waitUntil("it ran again") { tries.count >= 2 }
        }
        try await database.close()
    }

    /// Two servers over one database.
    @Test func ofTwoServersOneRunsAJob() async throws {
        let database = try open()
        let wrote = Mutex<[UInt8]>([])
        func step(_ holder: UInt8) async throws {
            let lease = JobLease(job: .erasure, holder: [holder])
            let turn = JobTurn(database: database, lease: lease, now: clock.now, clock: { [clock] in clock.now })
            try await turn.step(at: turn.home) { _ in wrote.withLock { $0.append(holder) } }
        }
        try await step(1)
        await #expect(throws: JobLease.HeldElsewhere.self) { try await step(2) }
        // It is renewed while there are steps.
        for _ in 0..<4 {
            clock.advance(seconds: 15)
            try await step(1)
        }
        await #expect(throws: JobLease.HeldElsewhere.self) { try await step(2) }
        // Whoever died with it is waited for no longer than it is good.
        clock.advance(seconds: JobLease.length / 1_000_000)
        try await step(2)
        await #expect(throws: JobLease.HeldElsewhere.self) { try await step(1) }
        #expect(wrote.withLock { $0 } == [1, 1, 1, 1, 1, 2], "nothing of a step whose job is another's")
        // Given back, it is anybody's at once; another job always was.
        try await database.write(at: .everything) { try JobLease.release([2], in: $0) }
        try await step(1)
        // Nor does a clock that was set back keep everybody waiting.
        clock.advance(seconds: -86_400)
        try await step(2)
        try await database.close()
    }

    /// Two servers look at their own requests: by turns, what fires by those of the one recovers by those of the other.
    @Test func whoHasAJobThatStaysKeepsItWhileItIsThere() async throws {
        let database = try open()
        let job = Job(
            .alerts, Self.always,
            nextDue: { turn in
                try await turn.step(at: turn.home) { _ in }
                return nil
            }
        ).staying(for: AlertWatch.stay)
        let (first, second) = (JobRunner(job, around(database)), JobRunner(job, around(database, holder: 2)))
        #expect(try await second.untilDue() == nil)
        try await first.once()
        for _ in 0..<10 {
            clock.advance(seconds: 65)
            #expect(try await second.untilDue() != nil)
            #expect(try await first.untilDue() == nil)
            try await first.once()
        }
        // It hangs.
        let stay = (JobLease.length + AlertWatch.stay.microseconds) / 1_000_000
        clock.advance(seconds: stay - 1)
        #expect(try await second.untilDue() != nil)
        clock.advance(seconds: 1)
        #expect(try await second.untilDue() == nil)
        // It stops, and gives back what it has.
        try await second.once()
        #expect(try await first.untilDue() != nil)
        try await database.write(at: .everything) { try JobLease.release([2], in: $0) }
        #expect(try await first.untilDue() == nil)
        try await database.close()
    }

    @Test func aLeaseIsWrittenAFewTimesAMinuteOnly() async throws {
        let database = try open()
        let lease = JobLease(job: .indexes, holder: [1])
        func until() async throws -> Int64? {
            let now = clock.now
            try await database.write(at: .everything) { try lease.hold(now: now, in: $0) }
            return try await database.read { try $0.first("SELECT until FROM job") { try $0.int64("until") } }
        }
        let start = clock.now
        #expect(try await until() == start + JobLease.length)
        clock.advance(seconds: 4)
        #expect(try await until() == start + JobLease.length)
        clock.advance(seconds: 2)
        #expect(try await until() == start + 6_000_000 + JobLease.length)
        try await database.close()
    }

    /// A step of another server, at this moment.
    private static func isHeld(_ job: Job.Name, at now: Int64, in database: SQLiteDatabase) async throws -> Bool {
        let turn = JobTurn(database: database, lease: JobLease(job: job, holder: [2]), now: now, clock: { now })
        do {
            try await turn.step(at: turn.home) { _ in }
            return false
        } catch is JobLease.HeldElsewhere {
            return true
        }
    }

    private func turn(_ job: Job.Name, in database: SQLiteDatabase, holder: UInt8 = 1) -> JobTurn {
        JobTurn(
            database: database, lease: JobLease(job: job, holder: [holder]), now: clock.now, pulse: .milliseconds(1),
            clock: { [clock] in clock.now })
    }

    /// Another server would begin with the same ones, and neither would ever be through with them.
    @Test func whoeverDeletesSlowlyKeepsTheJob() async throws {
        let database = try SQLiteDatabase(path: folder.file("garbage.sqlite"), migrations: Migration.all)
        let ids = (1...3).map { "0000000\($0)" }
        try await database.write(at: .everything) { connection in
            try connection.executeEach("INSERT INTO blob_garbage (stored) VALUES ($1)", ids.map { [.text($0)] })
        }
        let deleted = Mutex<[String]>([])
        let wasHeld = Mutex<Bool?>(nil)
        let blobs = SlowBlobs { [clock] id in
            clock.advance(seconds: 10)
            deleted.withLock { $0.append(id.description) }
            guard id.description == ids[2] else { return }
            let held = try await Self.isHeld(.garbage, at: clock.now, in: database)
            wasHeld.withLock { $0 = held }
        }
        // It is kept before each, and needs no help for that.
        let lease = JobLease(job: .garbage, holder: [1])
        let alone = JobTurn(
            database: database, lease: lease, now: clock.now, pulse: .seconds(3_600), clock: { [clock] in clock.now })
        try await BlobGarbage(blobs: blobs, grace: 0).collect(alone)
        #expect(wasHeld.withLock { $0 } == true)
        #expect(deleted.withLock { $0 } == ids)
        #expect(try await database.read { try !$0.exists("SELECT 1 FROM blob_garbage LIMIT 1") })
        try await database.close()
    }

    /// What was deleted before is not another server's to delete again.
    @Test func whatIsDeletedIsNotedWhileOthersTakeLong() async throws {
        let database = try SQLiteDatabase(path: folder.file("garbage.sqlite"), migrations: Migration.all)
        let ids = (1...3).map { "0000000\($0)" }
        try await database.write(at: .everything) { connection in
            try connection.executeEach("INSERT INTO blob_garbage (stored) VALUES ($1)", ids.map { [.text($0)] })
        }
        let left = Mutex<[String]>([])
        let blobs = SlowBlobs { [clock] id in
            clock.advance(seconds: 10)
            guard id.description == ids[2] else { return }
            let rows = try await database.read { connection in
                try connection.rows("SELECT stored FROM blob_garbage ORDER BY stored") { try $0.text("stored") }
            }
            left.withLock { $0 = rows }
        }
        try await BlobGarbage(blobs: blobs, grace: 0).collect(turn(.garbage, in: database))
        #expect(left.withLock { $0 } == [ids[2]])
        try await database.close()
    }

    @Test func aJobIsKeptWhileSomethingTakesLong() async throws {
        let database = try open()
        let kept = turn(.webhooks, in: database)
        try await kept.keep()
        try await kept.keeping {
            for _ in 0..<3 {
                clock.advance(seconds: 15)
                let now = clock.now
                try await waitUntil("it is kept") {
                    try await database.read { connection in
                        try connection.exists("SELECT 1 FROM job WHERE until > $1", [.integer(now + 15_000_000)])
                    }
                }
            }
            #expect(try await Self.isHeld(.webhooks, at: clock.now, in: database))
        }
        // And no longer than that.
        clock.advance(seconds: JobLease.length / 1_000_000)
        #expect(try await !Self.isHeld(.webhooks, at: clock.now, in: database))
        try await database.close()
    }

    /// Each of them comes to it at the same moment, and it reads every billed row.
    @Test func oneServerCountsTheSums() async throws {
        let database = try SQLiteDatabase(path: folder.file("sums.sqlite"), migrations: Migration.all)
        try await StorageUsage.recountIfDrifted(turn(.recount, in: database), logger: log.logger)
        await #expect(throws: JobLease.HeldElsewhere.self) {
            try await StorageUsage.recountIfDrifted(turn(.recount, in: database, holder: 2), logger: log.logger)
        }
        try await database.close()
    }

    @Test func aServerThatStopsGivesItsJobsBackAndOneThatWasKilledIsNotWaitedFor() async throws {
        try await RunningServer.with(folder: folder, clock: clock) { server in
            try await server.services.jobs.run(.sweep)
        }
        func held() async throws -> [Int64] {
            let database = try folder.openServerDatabase()
            let held = try await database.write(at: .everything) { connection in
                let held = try connection.rows("SELECT until FROM job WHERE until > 0") { try $0.int64("until") }
                // As if somebody had been killed.
                try connection.execute(
                    "UPDATE job SET holder = $1, until = $2", [.blob([9]), .integer(clock.now + JobLease.length)])
                return held
            }
            try await database.close()
            return held
        }
        #expect(try await held() == [])
        try await RunningServer.with(folder: folder, clock: clock) { server in
            try await server.services.jobs.run(.sweep)
        }
    }

    /// Whatever a job does, it is to be seen. The comparison of blobs is there with an S3 store alone.
    @Test func eachJobHasItsMetricAndItsLine() async throws {
        let registry = MetricsRegistry()
        try await RunningServer.with(logger: log.logger, registry: registry) { server in
            for name in Job.Name.allCases where name != .blobComparison { try await server.services.jobs.run(name) }
        }
        let text = PrometheusText.write(registry)
        for name in Job.Name.allCases where name != .blobComparison {
            #expect(text.contains("sealkit_job_runs_total{job=\"\(name.rawValue)\",outcome=\"done\"} "))
            #expect(text.contains("sealkit_job_seconds_count{job=\"\(name.rawValue)\"} "))
            #expect(text.contains("sealkit_job_last_done_timestamp_seconds{job=\"\(name.rawValue)\"} "))
            #expect(log.lines.contains { $0.contains("a job is done") && $0.contains("\"job\": \(name.rawValue)") })
        }
    }

    private func counted(_ name: Job.Name, _ schedule: Job.Schedule) -> (runs: RunCounter, job: Job) {
        let runs = RunCounter()
        return (runs, Job(name, schedule, leavesWork: []) { _ in runs.increment() })
    }
}

/// A store that has no blobs, and takes its time to delete them.
private struct SlowBlobs: BlobStore {
    let whenDeleting: @Sendable (BlobID) async throws -> Void

    var mostHeld: Int { 0 }
    var isShared: Bool { true }
    func beginUpload(_ id: BlobID) async throws -> any BlobUpload { throw BlobStoreError.full }
    func beginParts(_ id: BlobID) async throws { throw BlobStoreError.full }
    func beginPart(_ id: BlobID, at offset: Int64) async throws -> any BlobUpload { throw BlobStoreError.notFound(id) }
    func finishParts(_ id: BlobID, tail: ByteBuffer, size: Int64) async throws { throw BlobStoreError.notFound(id) }
    func size(of id: BlobID) async throws -> Int64 { throw BlobStoreError.notFound(id) }
    func read(_ id: BlobID, range: Range<Int64>?) async throws -> BlobContent { throw BlobStoreError.notFound(id) }
    func holdForDeleting() async throws -> BlobHold? { .unneeded }
    func delete(_ id: BlobID) async throws { try await whenDeleting(id) }
    func staleUploads(olderThan age: Duration) async throws -> [BlobID] { [] }
    func discardUpload(_ id: BlobID) async throws {}
    func close() async {}
}
