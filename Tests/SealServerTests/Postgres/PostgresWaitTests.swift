import Foundation
import Synchronization
import Testing

@testable import SealService
@testable import SealStorage

/// Who waits for somebody else's rows, or for somebody who stands still, and what a process finds that was cut off.
@Suite(.withPostgres, .timeLimit(.minutes(60))) struct PostgresWaitTests {
    private let folder = TemporaryFolder()
    private let server: TestPostgres
    private let name: String
    private let turn = WriteTurn(payer: .account(1), route: .init(method: "POST", path: "/"))
    private let here = Home.zone(owner: 1, zone: 1)
    private let there = Home.zone(owner: 2, zone: 2)

    init() throws {
        server = try #require(TestPostgres.shared)
        name = try server.database(of: folder.path, hasTables: false)
    }

    private func open(
        migrations: [Migration] = [SQLDatabaseTests.table], budget: WriteBudget = WriteBudget(),
        admit: Admission? = nil
    ) throws -> PostgresDatabase {
        let address = try PostgresAddress(server.url(of: name), password: nil)
        return try PostgresDatabase(address, migrations: migrations, budget: budget, admit: admit)
    }

    private func ids(_ database: any SQLDatabase) async throws -> [Int64] {
        try await database.read { try $0.rows("SELECT id FROM t ORDER BY id") { try $0.int64("id") } }
    }

    /// What a write is told that comes after one which found the connection gone.
    private func secondWrite(_ database: PostgresDatabase, _ id: Int64) async -> String {
        var told = ""
        for _ in 0..<2 {
            told = await Self.word {
                _ = try await database.write(at: .everything) {
                    try $0.execute("INSERT INTO t (id) VALUES ($1)", [.integer(id)])
                }
            }
            #expect(told != "done")
        }
        return told
    }

    private static func word(_ body: () async throws -> Void) async -> String {
        do {
            try await body()
            return "done"
        } catch StorageError.unavailable(let message) {
            return "unavailable: \(message)"
        } catch StorageError.unsuitable(let message) {
            return message
        } catch {
            return "\(error)"
        }
    }

    // MARK: Rows of others

    /// Holds a row until it is let go, while another one wants it, which is begun anew each quarter of its budget.
    /// - Parameter waiting: called once the row is held; `letGo` ends that.
    private func holdingARow(
        _ database: PostgresDatabase, _ waiting: (_ letGo: @escaping @Sendable () -> Void) async throws -> Void
    ) async throws {
        try await database.write(at: .everything) { try $0.execute("INSERT INTO t (id) VALUES (1)") }
        let (isHeld, isOver) = (Flag(), Flag())
        let here = self.here
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await database.write(at: here) { connection in
                    try connection.execute("UPDATE t SET body = $1 WHERE id = 1", [.blob([1])])
                    try connection.mayStandStill()
                    isHeld.set()
                    isOver.wait()
                }
            }
            try await waitUntil("the row is held") { isHeld.isSet }
            defer { isOver.set() }
            try await waiting { isOver.set() }
        }
    }

    private func update(_ database: PostgresDatabase, _ runs: RunCounter) async throws {
        try await WriteTurn.$current.withValue(turn) {
            try await database.write(at: there) { connection in
                runs.increment()
                try connection.execute("UPDATE t SET body = $1 WHERE id = 1", [.blob([2])])
            }
        }
    }

    @Test func whoWaitsForARowIsBegunAnew() async throws {
        // Eight times a second: it is let go long before the last of them, also on a busy machine.
        let database = try open(budget: WriteBudget(limit: 4_000_000))
        let runs = RunCounter()
        try await holdingARow(database) { letGo in
            async let written: Void = update(database, runs)
            try await waitUntil("it has waited, and was begun anew") { runs.count >= 2 }
            letGo()
            try await written
        }
        let body = try await database.read { try $0.first("SELECT body FROM t") { try $0.bytes("body") } }
        #expect(body == [2])
        try await database.close()
    }

    /// What keeps it is no matter of how much it wants to write.
    @Test func whoWaitsForARowForEverIsToldThatItIsTheServer() async throws {
        let database = try open(budget: WriteBudget(limit: 400_000))
        try await holdingARow(database) { _ in
            let told = await Self.word { try await update(database, RunCounter()) }
            #expect(told.hasPrefix("unavailable"), "\(told)")
        }
        try await database.close()
    }

    /// It has taken longer than it may when the connection is found to be gone, which is what it is told.
    @Test func aConnectionThatIsLostLateIsNoMatterOfTime() async throws {
        let database = try open(budget: WriteBudget(limit: 200_000))
        let process = try await database.writerProcess()
        let (runs, server) = (RunCounter(), server)
        try await WriteTurn.$current.withValue(turn) {
            try await database.write(at: .everything) { connection in
                runs.increment()
                try connection.execute("INSERT INTO t (id) VALUES (1)")
                guard runs.count == 1 else { return }
                Thread.sleep(forTimeInterval: 0.3)
                try server.end(process)
                try connection.execute("INSERT INTO t (id) VALUES (2)")
            }
        }
        #expect(runs.count == 2)
        #expect(try await ids(database) == [1])
        try await database.close()
    }

    // MARK: Processes that stand still

    @Test func aProcessThatStandsStillHoldsNobodyUpForEver() async throws {
        let (stopped, other) = (try open(), try open())
        let (isHeld, isOver) = (Flag(), Flag())
        try await withThrowingTaskGroup(of: String.self) { group in
            group.addTask {
                await Self.word {
                    try await stopped.write(at: .everything) { connection in
                        try connection.execute("INSERT INTO t (id) VALUES (1)")
                        isHeld.set()
                        isOver.wait()
                    }
                }
            }
            defer { isOver.set() }
            try await waitUntil("it has everything") { isHeld.isSet }
            try await other.write(at: .everything) { try $0.execute("INSERT INTO t (id) VALUES (2)") }
            isOver.set()
            let told = try await group.next() ?? ""
            #expect(told.hasPrefix("unavailable"), "\(told)")
        }
        try await stopped.write(at: .everything) { try $0.execute("INSERT INTO t (id) VALUES (3)") }
        #expect(try await ids(other) == [2, 3])
        try await stopped.close()
        try await other.close()
    }

    // MARK: Processes that were cut off

    /// Another process, of a newer version, saw nobody, and went on.
    @Test func whatHasAnotherVersionByNowIsNotWrittenTo() async throws {
        let database = try open()
        try await database.join()
        try server.endAll(of: name)
        try server.run("INSERT INTO migrations (position, name) VALUES (1, '002-next')", in: name)
        let refused = await secondWrite(database, 1)
        #expect(refused.contains("002-next"), "\(refused)")
        #expect(await Self.word { _ = try await ids(database) }.contains("002-next"))
        try server.run("DELETE FROM migrations WHERE position = 1", in: name)
        try await database.write(at: .everything) { try $0.execute("INSERT INTO t (id) VALUES (2)") }
        #expect(try await ids(database) == [2])
        try await database.close()
    }

    @Test func whatIsAnotherOnesByNowIsNotWrittenTo() async throws {
        struct Moved: Error, CustomStringConvertible { let description = "it was moved elsewhere" }
        let isMoved = Flag()
        let database = try open { _, _ in if isMoved.isSet { throw Moved() } }
        try await database.join()
        isMoved.set()
        // As long as it is connected nobody else can have it.
        try await database.write(at: .everything) { try $0.execute("INSERT INTO t (id) VALUES (1)") }
        try server.endAll(of: name)
        let refused = await secondWrite(database, 2)
        #expect(refused == "it was moved elsewhere", "\(refused)")
        try await database.close()
        let after = try open()
        #expect(try await ids(after) == [1])
        try await after.close()
    }

    /// Between its start and its being seen.
    @Test func whoIsSeenLooksAgain() async throws {
        let database = try open()
        try server.run("INSERT INTO migrations (position, name) VALUES (1, '002-next')", in: name)
        #expect(await Self.word { try await database.join() }.contains("002-next"))
        try await database.close()
    }
}

private final class Flag: Sendable {
    private let value = Atomic(false)
    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
    /// On a thread of the database's.
    func wait() { while !isSet { Thread.sleep(forTimeInterval: 0.005) } }
}
