import Dispatch
import Foundation
import SealWire
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Who writes when, and for how long.
@Suite(.timeLimit(.minutes(60))) struct WriterTests {
    let folder = TemporaryFolder()
    let clock = SteppingClock()

    private func open(
        limit: Int64? = nil, mostWaiting: Int = WriteBudget.defaultMostWaiting, times: WriteTimes? = nil
    ) throws -> SQLiteDatabase {
        try SQLiteDatabase(
            path: folder.file("db.sqlite"), migrations: StorageTests.table, mostWaitingWrites: mostWaiting,
            budget: WriteBudget(limit: limit, clock: clock.read, times: times))
    }

    private static func write(
        _ account: Int64, _ database: SQLiteDatabase, _ body: @escaping @Sendable (any SQLConnection) throws -> Void
    ) async throws {
        let turn = WriteTurn(payer: .account(account), route: .init(method: "POST", path: "/\(account)"))
        try await WriteTurn.$current.withValue(turn) { try await database.write(at: .everything, body) }
    }

    private static func ids(_ database: SQLiteDatabase) async throws -> [Int64] {
        try await database.read { try $0.rows("SELECT id FROM t ORDER BY id") { try $0.int64("id") } }
    }

    private static func wait(for count: Int, _ database: SQLiteDatabase) async throws {
        for _ in 0..<6_000 where database.waitingWrites != count { try await Task.sleep(for: .milliseconds(10)) }
        guard database.waitingWrites == count else {
            throw TestFailure("\(database.waitingWrites) wait instead of \(count)")
        }
    }

    /// Holds the writer with a write of an account's until the body has run; the error of that write.
    private static func holding(
        _ account: Int64, _ database: SQLiteDatabase,
        _ last: @escaping @Sendable (any SQLConnection) throws -> Void = { _ in },
        while body: (inout ThrowingTaskGroup<Void, any Error>) async throws -> Void
    ) async throws -> (any Error)? {
        let hold = DispatchSemaphore(value: 0)
        let (entered, entry) = AsyncStream<Void>.makeStream()
        let holding = Task {
            let isHeld = Mutex(true)
            try await write(account, database) { connection in
                // It may be run again.
                if isHeld.withLock({ isHeld in
                    defer { isHeld = false }
                    return isHeld
                }) {
                    entry.yield()
                    hold.wait()
                }
                try last(connection)
            }
        }
        for await _ in entered { break }
        try await withThrowingTaskGroup(of: Void.self) { group in
            do { try await body(&group) } catch {
                hold.signal()
                throw error
            }
            hold.signal()
            try await group.waitForAll()
        }
        do { try await holding.value } catch { return error }
        return nil
    }

    // MARK: Time

    @Test func whatTakesTooLongIsTakenBackWhole() async throws {
        let times = WriteTimes()
        let database = try open(limit: 2_000_000, times: times)
        func write(_ id: Int64, taking time: Int64, swallowing: Bool = false) async -> StorageError? {
            do {
                try await Self.write(id, database) { [clock] connection in
                    try connection.execute("INSERT INTO t (id) VALUES ($1)", [.integer(id)])
                    clock.advance(time)
                    do { try connection.execute("INSERT INTO t (id) VALUES ($1)", [.integer(id + 100)]) } catch {
                        if !swallowing { throw error }
                    }
                }
                return nil
            } catch {
                return error as? StorageError
            }
        }
        let outcomes = [
            await write(1, taking: 2_000_000), await write(2, taking: 2_000_001),
            await write(3, taking: 2_000_001, swallowing: true),
            await write(4, taking: 0),
        ]
        #expect(outcomes == [nil, .overBudget, .overBudget, nil])
        #expect(try await Self.ids(database) == [1, 4, 101, 104])
        #expect(times.all["POST /2"] == WriteTimes.Entry(longest: 2_000_001, cutShort: 1))
        #expect(times.all["POST /1"] == WriteTimes.Entry(longest: 2_000_000, cutShort: 0))
        let (error, isInternal) = ServerError.describing(StorageError.overBudget, requestID: "1")
        #expect(error.code == .limitExceeded)
        #expect(error.retryAfter == 0)
        #expect(!isInternal)
    }

    private static let endless = "WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n)"

    @Test func aStatementIsStoppedWhileItReads() async throws {
        let database = try open(limit: 100_000)
        clock.step(100)
        await #expect(throws: StorageError.overBudget) {
            try await Self.write(1, database) { connection in
                try connection.execute("INSERT INTO t (id) VALUES (1)")
                _ = try connection.exists(Self.endless + " SELECT COUNT(*) FROM n")
            }
        }
        try await Self.write(1, database) { try $0.execute("INSERT INTO t (id) VALUES (2)") }
        #expect(try await Self.ids(database) == [2])
    }

    private final class Outcomes: Sendable {
        let all = Mutex<[Int64: StorageError?]>([:])
        private let runs = Mutex<[Int64: Int]>([:])

        /// - Returns: how often it has been run, this time included.
        func run(_ account: Int64) -> Int {
            runs.withLock { runs in
                runs[account, default: 0] += 1
                return runs[account, default: 0]
            }
        }
    }

    /// SQLite takes the whole commit back then: what the others in it wrote is written again, and announced once.
    @Test func aStatementIsStoppedWhileItWrites() async throws {
        let database = try open(limit: 100_000)
        clock.step(100)
        let outcomes = Outcomes()
        let announced = Mutex<[Set<Announcement>]>([])
        database.listen { all in announced.withLock { $0.append(all) } }
        let runs = Mutex(0)
        let first = try await Self.holding(
            1, database,
            { connection in
                runs.withLock { $0 += 1 }
                connection.announce(.notifications(of: 1))
                try connection.execute("INSERT INTO t (id) VALUES (1)")
            }
        ) { group in
            for account in Int64(2)...4 {
                group.addTask {
                    do {
                        try await Self.write(account, database) { connection in
                            try connection.execute("INSERT INTO t (id) VALUES ($1)", [.integer(account)])
                            connection.announce(.notifications(of: account))
                            if account == 3 {
                                try connection.execute("INSERT INTO t (id) \(Self.endless) SELECT i FROM n")
                            }
                        }
                        outcomes.all.withLock { $0[account] = .some(nil) }
                    } catch {
                        outcomes.all.withLock { $0[account] = error as? StorageError }
                    }
                }
                try await Self.wait(for: Int(account) - 1, database)
            }
        }
        #expect(first == nil)
        #expect(runs.withLock { $0 } == 2)
        let all = outcomes.all.withLock { $0 }
        #expect(all == [2: nil, 3: .overBudget, 4: nil])
        #expect(try await Self.ids(database) == [1, 2, 4])
        let told = announced.withLock { $0 }
        #expect(told == [[.notifications(of: 1), .notifications(of: 2)], [.notifications(of: 4)]])
    }

    /// What went well the first time may be stopped the second: nobody after it is forgotten.
    @Test func whatIsRunAgainMayBeStoppedThen() async throws {
        let database = try open(limit: 100_000)
        clock.step(100)
        let outcomes = Outcomes()
        let first = try await Self.holding(1, database, { try $0.execute("INSERT INTO t (id) VALUES (1)") }) { group in
            for account in Int64(2)...4 {
                group.addTask {
                    do {
                        try await Self.write(account, database) { connection in
                            let run = outcomes.run(account)
                            try connection.execute("INSERT INTO t (id) VALUES ($1)", [.integer(account)])
                            // The last one at once, the second when it comes again.
                            guard account == 4 || (account == 2 && run == 2) else { return }
                            try connection.execute("INSERT INTO t (id) \(Self.endless) SELECT i FROM n")
                        }
                        outcomes.all.withLock { $0[account] = .some(nil) }
                    } catch {
                        outcomes.all.withLock { $0[account] = error as? StorageError }
                    }
                }
                try await Self.wait(for: Int(account) - 1, database)
            }
        }
        let all = outcomes.all.withLock { $0 }
        #expect(first == nil)
        #expect(all == [2: .overBudget, 3: nil, 4: .overBudget])
        #expect(try await Self.ids(database) == [1, 3])
    }

    private static let deferring = Migration(
        name: "002-u",
        sql: "CREATE TABLE u (id BIGINT PRIMARY KEY REFERENCES t (id) DEFERRABLE INITIALLY DEFERRED);")

    /// Somebody finds what another one has written, and throws; but it never came to be, since the commit failed. Who
    /// threw before anything was written has found what is there.
    @Test func whatACommitThatFailedHadShownIsNoReason() async throws {
        let database = try SQLiteDatabase(
            path: folder.file("db.sqlite"), migrations: StorageTests.table + [Self.deferring])
        struct Found: Error {}
        struct Early: Error {}
        let outcomes = Outcomes()
        let first = try await Self.holding(1, database, { _ in throw Early() }) { group in
            for account in Int64(2)...4 {
                group.addTask {
                    do {
                        try await Self.write(account, database) { connection in
                            switch account {
                            case 2: try connection.execute("INSERT INTO t (id) VALUES (2)")
                            case 3: if try connection.exists("SELECT 1 FROM t WHERE id = 2") { throw Found() }
                            // What it names is not there: that shows at the commit.
                            default: try connection.execute("INSERT INTO u (id) VALUES (7)")
                            }
                        }
                    } catch { outcomes.all.withLock { $0[account] = error as? StorageError } }
                }
                try await Self.wait(for: Int(account) - 1, database)
            }
        }
        #expect(first is Early)
        let all = outcomes.all.withLock { $0 }
        #expect(all.count == 3)
        for (account, error) in all {
            guard case .commitFailed = error else {
                Issue.record("\(account): \(String(describing: error))")
                continue
            }
        }
        #expect(try await Self.ids(database) == [])
    }

    /// Start, migrations and what the server does beside requests.
    @Test func whatTheServerDoesByItselfIsNotCutShort() async throws {
        clock.step(1_000_000_000)
        let database = try open(limit: 1)
        try await database.write(at: .everything) { connection in
            for id in Int64(1)...3 { try connection.execute("INSERT INTO t (id) VALUES ($1)", [.integer(id)]) }
        }
        #expect(try await Self.ids(database) == [1, 2, 3])
        await #expect(throws: StorageError.overBudget) {
            try await Self.write(1, database) { try $0.execute("DELETE FROM t") }
        }
        let route = await WriteTurn.$current.withValue(
            WriteTurn(payer: .account(1), route: .init(method: "POST", path: "/"))
        ) {
            await Task.detached { WriteTurn.current?.route }.value
        }
        #expect(route == nil)
    }

    // MARK: Turns

    @Test func theQueueGoesAround() {
        var queue = TurnQueue<String, Int>()
        for index in 0..<4 { queue.append(index, of: "a") }
        for index in 10..<12 { queue.append(index, of: "b") }
        queue.append(20, of: "c")
        #expect(queue.count == 7)
        #expect(queue.count(of: "a") == 4)
        #expect(queue.count(of: "d") == 0)
        let (third, none) = (queue.next(passing: ["a", "b"]), queue.next(passing: ["a", "b"]))
        #expect(third?.element == 20)
        #expect(none?.element == nil)
        var order: [Int] = []
        while let next = queue.next() { order.append(next.element) }
        #expect(order == [0, 10, 1, 11, 2, 3])
        #expect(queue.count == 0)
        for index in 0..<200 { queue.append(index, of: "a") }
        var all: [Int] = []
        while let next = queue.next() {
            all.append(next.element)
            if all.count == 100 { queue.append(200, of: "a") }
        }
        #expect(all == Array(0...200))
        // What is put back comes before what its payer has behind it, and after whoever has come meanwhile.
        queue.append(30, of: "c")
        for index in 2...3 { queue.append(index, of: "a") }
        for index in [1, 0] { queue.putBack(index, of: "a", isNext: false) }
        for index in [11, 10] { queue.putBack(index, of: "b", isNext: false) }
        #expect(queue.hasOthers(than: ["a", "b"]) && !queue.hasOthers(than: ["a", "b", "c"]))
        order = []
        while let next = queue.next() { order.append(next.element) }
        #expect(order == [30, 0, 10, 1, 11, 2, 3])
        // Whoever had no turn has the next one.
        queue.append(30, of: "c")
        queue.append(1, of: "a")
        for (index, payer) in [(10, "b"), (0, "a")] { queue.putBack(index, of: payer, isNext: true) }
        order = []
        while let next = queue.next() { order.append(next.element) }
        #expect(order == [0, 10, 30, 1])
    }

    /// One account has 64 writes waiting, and somebody else one: that waits for the one that is being run, and is
    /// committed with it.
    @Test("Many writes of one account that wait delay somebody else's by one of them at most.")
    func attack84_manyWritesOfOneAccount() async throws {
        let database = try open()
        let commits = Mutex<[[Int64]]>([])
        database.listen { announced in
            let accounts = announced.compactMap { announcement -> Int64? in
                guard case .notifications(let account) = announcement else { return nil }
                return account
            }
            commits.withLock { $0.append(accounts.sorted()) }
        }
        @Sendable func work(_ number: Int64) -> @Sendable (any SQLConnection) throws -> Void {
            { [clock] connection in
                connection.announce(.notifications(of: number))
                clock.advance(5_000)
            }
        }
        let failure = try await Self.holding(1, database, work(100)) { group in
            for number in Int64(101)..<164 { group.addTask { try await Self.write(1, database, work(number)) } }
            try await Self.wait(for: 63, database)
            group.addTask { try await Self.write(2, database, work(7)) }
            try await Self.wait(for: 64, database)
        }
        #expect(failure == nil)
        let seen = commits.withLock { $0 }
        #expect(seen.first == [7, 100])
        let all: [Int64] = [7] + Array(100..<164)
        #expect(seen.flatMap(\.self).sorted() == all)
        // Alone, the account has several in one commit, for some milliseconds.
        #expect(seen.count < 20, "\(seen)")
        #expect(seen.map(\.count).max() == 4, "\(seen)")
        AttackOutcome.held("one of 64 was waited for")
    }

    @Test func smallWritesShareACommitWhoeverTheyAreOf() async throws {
        let database = try open()
        let commits = Mutex(0)
        database.listen { _ in commits.withLock { $0 += 1 } }
        let failure = try await Self.holding(1, database) { group in
            for account in Int64(0)..<90 {
                group.addTask {
                    try await Self.write(account % 3, database) { $0.announce(.notifications(of: account)) }
                }
            }
            try await Self.wait(for: 90, database)
        }
        // Time stands still: it is as if none of them took any.
        #expect(failure == nil)
        #expect(commits.withLock { $0 } == 1)
    }

    @Test func oneAccountDoesNotFillTheQueue() async throws {
        let database = try open(mostWaiting: 8)
        let outcomes = Mutex<[StorageError?]>([])
        let failure = try await Self.holding(1, database) { group in
            for account in Int64(1)...2 {
                for _ in 0..<2 { group.addTask { try await Self.write(account, database) { _ in } } }
            }
            try await Self.wait(for: 4, database)
            for account in Int64(1)...2 {
                do { try await Self.write(account, database) { _ in } } catch {
                    outcomes.withLock { $0.append(error as? StorageError) }
                }
            }
            group.addTask { try await Self.write(3, database) { _ in } }
            // The server's own work has all of it.
            for _ in 0..<3 { group.addTask { try await database.write(at: .everything) { _ in } } }
            try await Self.wait(for: 8, database)
            do { try await database.write(at: .everything) { _ in } } catch {
                outcomes.withLock { $0.append(error as? StorageError) }
            }
        }
        #expect(failure == nil)
        #expect(outcomes.withLock { $0 } == [.busy, .busy, .busy])
    }
}
