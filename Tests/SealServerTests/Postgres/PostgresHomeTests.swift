import Dispatch
import Foundation
import SealLab
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// That several tasks change.
private final class Number: Sendable {
    let value = Atomic(0)
}

/// What writes have to themselves on PostgreSQL, and what they do at the same time.
@Suite(.withPostgres, .timeLimit(.minutes(60))) struct PostgresHomeTests {
    let folder = TemporaryFolder()
    let server: TestPostgres
    let name: String

    init() throws {
        server = try #require(TestPostgres.shared)
        name = try server.database(of: folder.path, hasTables: false)
    }

    private func open(_ metrics: ServerMetrics = .off) throws -> PostgresDatabase {
        try open(WriteBudget(metrics: metrics))
    }

    private func open(_ budget: WriteBudget) throws -> PostgresDatabase {
        try PostgresDatabase(
            try server.address(of: name), migrations: [SQLDatabaseTests.table], budget: budget)
    }

    private static let (here, there) = (Home.zone(owner: 1, zone: 1), Home.zone(owner: 1, zone: 2))

    /// Has a write at `here` that lasts until it is told to end, and returns once that has begun.
    private static func occupyHere(
        _ database: PostgresDatabase, _ group: inout ThrowingTaskGroup<Void, any Error>
    ) async -> DispatchSemaphore {
        let hold = DispatchSemaphore(value: 0)
        let (entered, entry) = AsyncStream<Void>.makeStream()
        group.addTask {
            try await database.write(at: here) { _ in
                entry.yield()
                hold.wait()
            }
        }
        for await _ in entered { break }
        return hold
    }

    /// Holds a write at a home, and looks whether another one gets through meanwhile.
    private func expect(
        passing isExpected: Bool, at home: Home, beside others: Set<Home> = [], by other: Home,
        beside otherOthers: Set<Home> = [], _ database: PostgresDatabase, _ place: SourceLocation = #_sourceLocation
    ) async throws {
        let (entered, entry) = AsyncStream<Void>.makeStream()
        let hold = DispatchSemaphore(value: 0)
        let holding = Task {
            try await database.write(at: home, beside: others) { connection in
                // The locks go with the first statement.
                _ = try connection.exists("SELECT 1 FROM t")
                try connection.mayStandStill()
                entry.yield()
                hold.wait()
            }
        }
        for await _ in entered { break }
        let isDone = Atomic(false)
        let passing = Task {
            try await database.write(at: other, beside: otherOthers) { _ = try $0.exists("SELECT 1 FROM t") }
            isDone.store(true, ordering: .releasing)
        }
        // Whoever is not let through is not waited for long.
        for _ in 0..<(isExpected ? 6_000 : 30) where !isDone.load(ordering: .acquiring) {
            try await Task.sleep(for: .milliseconds(10))
        }
        let hasPassed = isDone.load(ordering: .acquiring)
        hold.signal()
        try await holding.value
        try await passing.value
        #expect(hasPassed == isExpected, sourceLocation: place)
    }

    @Test func homesAreKeptApartAndToThemselves() async throws {
        let database = try open()
        let account = Home.account(7)
        try await expect(passing: true, at: Self.here, by: Self.there, database)
        try await expect(passing: false, at: Self.here, by: Self.here, database)
        try await expect(passing: true, at: Self.here, beside: [account], by: Self.there, beside: [account], database)
        try await expect(passing: false, at: Self.here, beside: [account], by: account, database)
        try await expect(passing: false, at: account, beside: [], by: Self.here, beside: [account], database)
        let (bill, another) = (Home.bill(7), Home.bill(8))
        try await expect(passing: false, at: Self.here, beside: [bill], by: Self.there, beside: [bill], database)
        try await expect(passing: true, at: Self.here, beside: [bill], by: Self.there, beside: [another], database)
        try await expect(passing: false, at: Self.here, by: .everything, database)
        try await expect(passing: false, at: .everything, by: Self.here, database)
        try await expect(
            passing: true, at: .container("c", environment: 1), by: .container("c", environment: 2), database)
        try await database.close()
    }

    @Test func homesHaveNumbersOfTheirOwn() {
        let homes: [Home] =
            (0..<200).flatMap { [.zone(owner: $0, zone: 1), .zone(owner: 1, zone: $0 + 2), .account($0), .bill($0)] }
            + (0..<200).map { .container("c\($0)", environment: 1) }
        let numbers = homes.compactMap(PostgresHomes.number)
        #expect(numbers.count == homes.count)
        #expect(Set(numbers).count == Set(homes).count)
        #expect(PostgresHomes.number(of: .everything) == nil)
    }

    /// In one order, whichever of them is a transaction's own.
    @Test func locksAreTakenInOneOrder() {
        let homes: [Home] = [Self.here, Self.there, .account(1), .container("c", environment: 1), .bill(1)]
        func locks(_ own: Home) -> [String] {
            PostgresHomes.begin(Homes(own, beside: Set(homes))).components(separatedBy: ", pg_")
        }
        let orders = homes.map { locks($0).dropFirst().map { $0.replacing("_shared", with: "") } }
        #expect(Set(orders).count == 1)
        #expect(orders[0].count == homes.count)
        #expect(locks(.everything).count == 1)
        // Its own, a bill; with that three others', and everything.
        #expect(locks(Self.here).filter { $0.contains("_shared(") }.count == 4)
        #expect(locks(.bill(1)).filter { $0.contains("_shared(") }.count == 5)
    }

    /// Whoever comes to a home to which a writer is on its way opens no other one.
    @Test func oneHomeNeedsOneConnection() async throws {
        let database = try open()
        for round in Int64(0)..<20 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in Int64(0)..<8 {
                    group.addTask {
                        try await Self.write(index, database) { connection in
                            try connection.execute("INSERT INTO t (id) VALUES ($1)", [.integer(round * 8 + index)])
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(database.writers == 1)
        try await database.close()
    }

    /// What waits at one home shares a commit, up to as many as PostgreSQL takes well; one that throws takes back
    /// itself alone.
    @Test func whatWaitsAtAHomeSharesACommit() async throws {
        let registry = MetricsRegistry()
        let database = try open(ServerMetrics(factories: [registry]))
        struct Refused: Error {}
        try await withThrowingTaskGroup(of: Void.self) { group in
            let hold = await Self.occupyHere(database, &group)
            for id in Int64(1)...150 {
                group.addTask {
                    do {
                        try await database.write(at: Self.here, beside: [.account(id)]) { connection in
                            try connection.execute("INSERT INTO t (id) VALUES ($1)", [.integer(id)])
                            if id % 10 == 0 { throw Refused() }
                        }
                        #expect(id % 10 != 0)
                    } catch is Refused { #expect(id % 10 == 0) }
                }
            }
            while database.waitingWrites < 150 { try await Task.sleep(for: .milliseconds(5)) }
            hold.signal()
            try await group.waitForAll()
        }
        let ids = try await database.read { try $0.rows("SELECT id FROM t ORDER BY id") { try $0.int64("id") } }
        #expect(ids == (Int64(1)...150).filter { $0 % 10 != 0 })
        #expect(database.waitingWrites == 0)
        // The first alone; then 64 at most, or fewer where they take their time.
        let commits = try #require(registry.all().first { $0.metric == .groupWrites }?.series)
        let count = commits.counts.reduce(0, +)
        #expect(count >= 4 && count < 100)
        #expect(commits.sum == 136)
        try await database.close()
    }

    // MARK: Turns

    private static func write(
        _ account: Int64, at home: Home = here, beside others: Set<Home> = [], _ database: PostgresDatabase,
        _ body: @escaping @Sendable (any SQLConnection) throws -> Void
    ) async throws {
        let turn = WriteTurn(payer: .account(account), route: .init(method: "POST", path: "/\(account)"))
        try await WriteTurn.$current.withValue(turn) { try await database.write(at: home, beside: others, body) }
    }

    private static func wait(for count: Int, _ database: PostgresDatabase) async throws {
        try await waitUntil("\(count) wait") { database.waitingWrites == count }
    }

    /// At a home each account has one write in a commit before any has two, and whoever comes while a group is being
    /// run is in the next one.
    @Test func accountsTakeTurnsAtAHome() async throws {
        let clock = SteppingClock()
        let database = try PostgresDatabase(
            try server.address(of: name), migrations: [SQLDatabaseTests.table],
            budget: WriteBudget(clock: clock.read))
        let commits = Mutex<[[Int64]]>([])
        database.listen { announced in
            let numbers = announced.compactMap { announcement -> Int64? in
                guard case .notifications(let number) = announcement else { return nil }
                return number
            }
            commits.withLock { $0.append(numbers.sorted()) }
        }
        let hold = DispatchSemaphore(value: 0)
        let (entered, entry) = AsyncStream<Int64>.makeStream()
        var entries = entered.makeAsyncIterator()
        @Sendable func work(_ number: Int64, _ time: Int64) -> @Sendable (any SQLConnection) throws -> Void {
            { connection in
                connection.announce(.notifications(of: number))
                clock.advance(time)
                guard [100, 303, 305].contains(number) else { return }
                entry.yield(number)
                hold.wait()
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await Self.write(1, database, work(100, 5_000)) }
            _ = await entries.next()
            for number in Int64(101)..<132 {
                group.addTask { try await Self.write(1, database, work(number, 5_000)) }
            }
            try await Self.wait(for: 31, database)
            group.addTask { try await Self.write(2, database, work(7, 5_000)) }
            try await Self.wait(for: 32, database)
            hold.signal()
            try await group.waitForAll()
        }
        var seen = commits.withLock { $0 }
        #expect(seen[0] == [100])
        #expect(seen[1].count == 2 && seen[1].contains(7), "\(seen)")
        // Alone, the account has several in one commit, for some milliseconds.
        #expect(seen.map(\.count).max() == 4, "\(seen)")
        commits.withLock { $0 = [] }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await Self.write(1, database, work(303, 0)) }
            _ = await entries.next()
            for number in Int64(304)..<310 {
                group.addTask { try await Self.write(1, database, work(number, 0)) }
                try await Self.wait(for: Int(number) - 303, database)
            }
            hold.signal()
            _ = await entries.next()
            group.addTask { try await Self.write(2, database, work(8, 0)) }
            try await Self.wait(for: 1, database)
            hold.signal()
            try await group.waitForAll()
        }
        seen = commits.withLock { $0 }
        #expect(seen == [[303], [304, 305], [8, 306, 307, 308, 309]])
        try await database.close()
    }

    private static func refusal(_ body: () async throws -> Void) async -> StorageError? {
        do { try await body() } catch { return error as? StorageError }
        return nil
    }

    /// Writes that change one account's bill come one after the other at all homes, and keep no connection that others
    /// could use; whoever waits at the same home for something else does not wait for them.
    @Test func whatIsOnOneBillComesOneAfterTheOther() async throws {
        let database = try open()
        let hold = DispatchSemaphore(value: 0)
        let (entered, entry) = AsyncStream<Void>.makeStream()
        func home(_ zone: Int64) -> Home { .zone(owner: 1, zone: zone) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await Self.write(1, at: home(1), beside: [.bill(1)], database) { connection in
                    _ = try connection.exists("SELECT 1 FROM t")
                    try connection.mayStandStill()
                    entry.yield()
                    hold.wait()
                }
            }
            for await _ in entered { break }
            // Of the same account, and of another one on its bill.
            for (account, zone) in [(1, 2), (1, 3), (3, 4)] as [(Int64, Int64)] {
                group.addTask {
                    try await Self.write(account, at: home(zone), beside: [.bill(account), .bill(1)], database) { _ in }
                }
            }
            try await Self.wait(for: 3, database)
            for zone in Int64(2)...5 {
                try await Self.write(2, at: home(zone), beside: [.bill(2)], database) {
                    _ = try $0.exists("SELECT 1 FROM t")
                }
            }
            #expect(database.waitingWrites == 3)
            #expect(database.writers == 2)
            hold.signal()
            try await group.waitForAll()
        }
        #expect(database.waitingWrites == 0)
        try await database.close()
    }

    @Test func whatWaitsAtAllHomesIsBounded() async throws {
        let database = try PostgresDatabase(
            try server.address(of: name), migrations: [SQLDatabaseTests.table], mostWaitingWrites: 8)
        let hold = DispatchSemaphore(value: 0)
        let (entered, entry) = AsyncStream<Void>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await database.write(at: .everything) { connection in
                    _ = try connection.exists("SELECT 1 FROM t")
                    try connection.mayStandStill()
                    entry.yield()
                    hold.wait()
                }
            }
            for await _ in entered { break }
            // Of those that others' homes wait for, each is at work with a connection; the rest has none yet.
            for index in 0..<(PostgresDatabase.mostWriters - 1) {
                group.addTask {
                    try await Self.write(1, at: .zone(owner: 9, zone: Int64(index)), database) {
                        _ = try $0.exists("SELECT 1 FROM t")
                    }
                }
                try await waitUntil("it is at work") { database.writers == index + 2 && database.waitingWrites == 0 }
            }
            for index in Int64(0)..<2 {
                group.addTask { try await Self.write(1, at: .zone(owner: 1, zone: index), database) { _ in } }
            }
            try await Self.wait(for: 2, database)
            let refusedOne = await Self.refusal { try await Self.write(1, database) { _ in } }
            #expect(refusedOne == .busy)
            for index in Int64(0)..<6 {
                group.addTask { try await Self.write(index + 2, at: .zone(owner: 2, zone: index), database) { _ in } }
            }
            try await Self.wait(for: 8, database)
            let refusedAll = await Self.refusal { try await database.write(at: .everything) { _ in } }
            #expect(refusedAll == .busy)
            hold.signal()
            try await group.waitForAll()
        }
        #expect(database.waitingWrites == 0)
        try await database.close()
    }

    /// Two that take the same rows in two orders: one of them is begun anew, which is counted.
    @Test func whatIsInEachOthersWayIsBegunAnew() async throws {
        let registry = MetricsRegistry()
        let database = try open(ServerMetrics(factories: [registry]))
        try await database.write(at: .everything) { connection in
            for id in Int64(1)...2 { try connection.execute("INSERT INTO t (id) VALUES ($1)", [.integer(id)]) }
        }
        let runs = RunCounter()
        let meeting = Number()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (home, ids) in [(Self.here, [1, 2]), (Self.there, [2, 1])] as [(Home, [Int64])] {
                group.addTask {
                    try await database.write(at: home) { connection in
                        runs.increment()
                        let body = SQLValue.blob([UInt8(ids[0])])
                        try connection.execute("UPDATE t SET body = $2 WHERE id = $1", [.integer(ids[0]), body])
                        // Both have their first one, the first time.
                        meeting.value.add(1, ordering: .acquiringAndReleasing)
                        for _ in 0..<500 where meeting.value.load(ordering: .acquiring) < 2 {
                            Thread.sleep(forTimeInterval: 0.01)
                        }
                        try connection.execute("UPDATE t SET body = $2 WHERE id = $1", [.integer(ids[1]), body])
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(runs.count >= 3)
        #expect(registry.all().first { $0.metric == .triesAgain }?.series.number ?? 0 >= 1)
        let bodies = try await database.read { try $0.rows("SELECT body FROM t") { try $0.bytes("body") } }
        #expect(Set(bodies).count == 1)
        try await database.close()
    }

    /// Where a transaction is begun anew, whoever threw is asked again: what they saw may not be there any more.
    @Test func whoThrewIsBegunAnewToo() async throws {
        // Time stands still: however slow the database is, one commit has room for all three.
        let database = try open(WriteBudget(clock: SteppingClock().read))
        struct Found: Error {}
        let runs = (1...3).map { _ in RunCounter() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            let hold = await Self.occupyHere(database, &group)
            for account in Int64(1)...3 {
                group.addTask {
                    try await Self.write(account, database) { connection in
                        let counter = runs[Int(account) - 1]
                        counter.increment()
                        switch account {
                        case 1:
                            if counter.count == 1 { try connection.execute("INSERT INTO t (id) VALUES (1)") }
                        case 2: if try connection.exists("SELECT 1 FROM t WHERE id = 1") { throw Found() }
                        default:
                            guard counter.count == 1 else { return }
                            try connection.execute(
                                "DO $$ BEGIN RAISE EXCEPTION 'in the way' USING ERRCODE = '40001'; END $$")
                        }
                    }
                }
                try await Self.wait(for: Int(account), database)
            }
            hold.signal()
            try await group.waitForAll()
        }
        #expect(runs.map(\.count) == [2, 2, 2])
        try await database.close()
    }

    /// What a body reads at its home holds until its commit: nobody's change is lost, however many write.
    @Test func whatIsReadAtAHomeHolds() async throws {
        let database = try open()
        let (homes, writes) = (Int64(4), 40)
        try await database.write(at: .everything) { connection in
            for id in 0...homes {
                try connection.execute("INSERT INTO t (id, body) VALUES ($1, $2)", [.integer(id), .blob([0])])
            }
        }
        let (most, running) = (Number(), Number())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for home in 1...homes {
                for index in 0..<writes {
                    group.addTask {
                        try await database.write(at: .zone(owner: 1, zone: home), beside: [.account(home % 2)]) {
                            connection in
                            let row: [SQLValue] = [.integer(home)]
                            // The locks go with the first statement.
                            let body = try connection.first("SELECT body FROM t WHERE id = $1", row) {
                                try $0.bytes("body")
                            }
                            let now = running.value.add(1, ordering: .acquiringAndReleasing).newValue
                            defer { running.value.subtract(1, ordering: .acquiringAndReleasing) }
                            _ = most.value.max(now, ordering: .relaxed)
                            Thread.sleep(forTimeInterval: 0.001)
                            let next = SQLValue.blob([(body?.first ?? 0) + 1])
                            try connection.execute("UPDATE t SET body = $2 WHERE id = $1", row + [next])
                        }
                        guard index % 10 == 0 else { return }
                        // All that each of them has written is there, and nobody writes meanwhile.
                        try await database.write(at: .everything) { connection in
                            let sum = try connection.rows("SELECT body FROM t WHERE id > 0") {
                                Int(try $0.bytes("body").first ?? 0)
                            }.reduce(0, +)
                            #expect(running.value.load(ordering: .acquiring) == 0)
                            try connection.execute("UPDATE t SET body = $1 WHERE id = 0", [.blob([UInt8(sum)])])
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let counts = try await database.read { connection in
            try connection.rows("SELECT body FROM t WHERE id > 0") { Int(try $0.bytes("body").first ?? 0) }
        }
        #expect(counts == Array(repeating: writes, count: Int(homes)))
        #expect(most.value.load(ordering: .relaxed) > 1)
        try await database.close()
    }

    // MARK: Connections

    private static func process(_ connection: any SQLConnection) throws -> Int64 {
        try #require(try connection.first("SELECT pg_backend_pid() AS pid") { try $0.int64("pid") })
    }

    /// Whoever loses its connection begins anew; whoever writes by another one hears nothing of it.
    @Test func aConnectionThatIsLostIsOneWritersAlone() async throws {
        let database = try open()
        let (runs, others) = (RunCounter(), RunCounter())
        let processes = Mutex<[Int64]>([])
        let (entered, entry) = AsyncStream<Void>.makeStream()
        let hold = DispatchSemaphore(value: 0)
        let other = Task {
            try await database.write(at: Self.there) { connection in
                others.increment()
                try connection.execute("INSERT INTO t (id) VALUES (1)")
                try connection.mayStandStill()
                entry.yield()
                hold.wait()
                try connection.execute("INSERT INTO t (id) VALUES (2)")
            }
        }
        for await _ in entered { break }
        for (index, isFirst) in [true, false].enumerated() {
            let id = Int64(10 + index)
            try await database.write(at: Self.here) { connection in
                runs.increment()
                // Before anything of it is there, or in its middle.
                if !isFirst { try connection.execute("INSERT INTO t (id) VALUES ($1)", [.integer(id)]) }
                let process = try Self.process(connection)
                processes.withLock { $0.append(process) }
                if runs.count == index * 2 + 1 { try server.end(process) }
                if isFirst { try connection.execute("INSERT INTO t (id) VALUES ($1)", [.integer(id)]) }
                try connection.execute("UPDATE t SET body = $2 WHERE id = $1", [.integer(id), .blob([1])])
            }
        }
        // While it is at rest.
        let last: Int64 = try #require(processes.withLock { $0.last })
        try server.end(last)
        try await database.write(at: Self.here) { try $0.execute("INSERT INTO t (id) VALUES (20)") }
        hold.signal()
        try await other.value
        #expect(runs.count == 4)
        #expect(others.count == 1)
        #expect(Set(processes.withLock { $0 }).count == 3)
        #expect(database.writers == 2)
        let ids = try await database.read { try $0.rows("SELECT id FROM t ORDER BY id") { try $0.int64("id") } }
        #expect(ids == [1, 2, 10, 11, 20])
        try await database.close()
    }

    /// What is lost while it is committed is told so, and what it held is free at once.
    @Test func aLostCommitHoldsNobodyUp() async throws {
        let database = try open()
        try await database.write(at: .everything) { connection in
            try connection.runScript(
                """
                CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(5); RETURN NULL; END $$;
                CREATE CONSTRAINT TRIGGER dies AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW WHEN (NEW.id = 13) EXECUTE FUNCTION die();
                """)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                let error = await #expect(throws: StorageError.self) {
                    try await database.write(at: Self.here) { try $0.execute("INSERT INTO t (id) VALUES (13)") }
                }
                guard case .unavailable(let message) = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(message.contains("not known"))
            }
            for id in Int64(14)...20 {
                group.addTask { try await Self.insert(id, into: database, owner: 2, zone: id) }
            }
            try await group.waitForAll()
        }
        try await database.write(at: .everything) { try $0.execute("INSERT INTO t (id) VALUES (21)") }
        let ids = try await database.read { try $0.rows("SELECT id FROM t ORDER BY id") { try $0.int64("id") } }
        #expect(ids == Array(14...21))
        try await database.close()
    }

    /// Takes ten milliseconds.
    private static func insert(_ id: Int64, into database: PostgresDatabase, owner: Int64, zone: Int64) async throws {
        try await database.write(at: .zone(owner: owner, zone: zone)) { connection in
            try connection.execute("INSERT INTO t (id) SELECT $1 + 0 FROM pg_sleep(0.01)", [.integer(id)])
        }
    }

    /// As many write as leave all readers a connection; those that there are do all the work.
    @Test func writersLeaveReadersTheirConnections() async throws {
        let role = name + "_few"
        try server.run("CREATE ROLE \(role) LOGIN")
        try server.run("ALTER DATABASE \(name) OWNER TO \(role)")
        let url = server.url(of: name).replacing("//postgres@", with: "//\(role)@")
        for (limit, writers) in [(1, 1), (PostgresDatabase.mostReaders + 3, 3)] {
            try server.run("ALTER ROLE \(role) CONNECTION LIMIT \(limit)")
            let database = try PostgresDatabase(
                try PostgresAddress(url, password: nil), migrations: [SQLDatabaseTests.table])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for id in Int64(1)...40 {
                    group.addTask { try await Self.insert(id, into: database, owner: Int64(limit), zone: id) }
                }
                try await group.waitForAll()
            }
            #expect(database.writers == writers)
            if limit > 1 {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<20 {
                        group.addTask { _ = try await database.read { try $0.exists("SELECT 1 FROM pg_sleep(0.05)") } }
                    }
                    try await group.waitForAll()
                }
                #expect(database.reads.open == PostgresDatabase.mostReaders)
            }
            try await database.write(at: .everything) { connection in
                #expect(try connection.first("SELECT COUNT(*) AS n FROM t") { try $0.int64("n") } == 40)
                try connection.execute("DELETE FROM t")
            }
            try await database.close()
        }
    }

    /// After the server was started anew, what comes first comes before anything that one of the connections writes;
    /// one that stays connected to a server which is not the newest one's is none.
    @Test func nobodyWritesToANewServerBeforeWhatComesFirst() async throws {
        let postgres = try await PostgresProcess(isDurable: false)
        let own = TestPostgres(postgres.url, dataFolder: postgres.dataFolder)
        try own.run("CREATE DATABASE notes TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'")
        let database = try PostgresDatabase(try own.address(of: "notes"), migrations: Migration.all)
        database.whenReopened { connection in
            let opening = try connection.storeOpening() ?? "none"
            try connection.execute(
                "INSERT INTO settings (name, value) VALUES ($1, '1') ON CONFLICT (name) DO NOTHING", [.text(opening)])
        }
        for round in 0..<3 {
            if round > 0 { try await postgres.restart(round == 1 ? .fast : .immediate) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for zone in Int64(1)...8 {
                    group.addTask {
                        try await database.write(at: .zone(owner: 1, zone: zone)) { connection in
                            let opening = try connection.storeOpening() ?? "none"
                            let isThere = try connection.exists(
                                "SELECT 1 FROM settings, pg_sleep(0.01) WHERE name = $1", [.text(opening)])
                            #expect(isThere || round == 0)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
        try await database.close()
        await postgres.stop()
    }

    /// What waits when the database closes is written; what comes later is refused.
    @Test func closingFinishesWhatWaits() async throws {
        let database = try open()
        let hold = DispatchSemaphore(value: 0)
        let (entered, entry) = AsyncStream<Void>.makeStream()
        let holding = Task {
            try await database.write(at: Self.here) { connection in
                _ = try connection.exists("SELECT 1 FROM t")
                try connection.mayStandStill()
                entry.yield()
                hold.wait()
            }
        }
        for await _ in entered { break }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in Int64(1)...100 {
                group.addTask { try await Self.insert(id, into: database, owner: 1, zone: 1) }
            }
            try await Self.wait(for: 100, database)
            let closing = Task { try await database.close() }
            try await waitUntil("it takes no more") {
                await Self.refusal { try await database.write(at: Self.there) { _ in } } == .closed
            }
            hold.signal()
            try await holding.value
            try await group.waitForAll()
            try await closing.value
        }
        let again = try open()
        let ids = try await again.read { try $0.rows("SELECT id FROM t ORDER BY id") { try $0.int64("id") } }
        #expect(ids == Array(1...100))
        try await again.close()
    }
}
