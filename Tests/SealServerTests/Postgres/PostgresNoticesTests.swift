import Foundation
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// What processes on one database tell each other.
@Suite(.withPostgres, .timeLimit(.minutes(60))) struct PostgresNoticesTests {
    private let folder = TemporaryFolder()
    private let server: TestPostgres
    private let name: String

    init() throws {
        server = try #require(TestPostgres.shared)
        name = try server.database(of: folder.path, hasTables: false)
    }

    private final class Heard: Sendable {
        private let announced = Mutex<[Announcement]>([])
        var all: [Announcement] { announced.withLock { $0 } }
        /// But for what says that something may have been missed, which may come at any time.
        var news: [Announcement] { all.filter { $0 != .anything } }
        func add(_ new: Set<Announcement>) { announced.withLock { $0 += new } }
        func forget() { announced.withLock { $0 = [] } }
    }

    private func joined() async throws -> (PostgresDatabase, Heard) {
        let database = try PostgresDatabase(try server.address(of: name), migrations: [SQLDatabaseTests.table])
        let heard = Heard()
        database.listen(heard.add)
        try await database.join()
        return (database, heard)
    }

    private static func announce(_ announcements: [Announcement], _ database: PostgresDatabase) async throws {
        try await database.write(at: .everything) { connection in
            // Without a statement nothing is committed.
            _ = try connection.exists("SELECT 1 FROM t")
            for announcement in announcements { connection.announce(announcement) }
        }
    }

    @Test func wordsSayWhatWasAnnounced() {
        let all: [Announcement] = [
            .notifications(of: 7), .notifications(of: .max), .sessions(account: -1), .webhooks, .zoneTouches,
            .publicChanges, .anything,
        ]
        for announcement in all { #expect(Announcement(word: Substring(announcement.word)) == announcement) }
        #expect(Set(all.map(\.word)).count == all.count)
        for word in ["", "n", "nx", "w1", "x", "n1.5", "s99999999999999999999"] {
            #expect(Announcement(word: Substring(word)) == nil, "\(word)")
        }
    }

    @Test func processesKnowAndHearOfEachOther() async throws {
        let (first, heardByFirst) = try await joined()
        #expect(first.peers.isAlone)
        let (second, heardBySecond) = try await joined()
        #expect(first.peers.own != second.peers.own)
        try await waitUntil("both know") { first.peers.count == 2 && second.peers.count == 2 }
        heardByFirst.forget()
        heardBySecond.forget()
        let many = (Int64(0)..<1_000).map { Announcement.notifications(of: $0) }
        try await Self.announce(many + [.sessions(account: 3)], first)
        try await waitUntil("the other one has heard all of it") { heardBySecond.news.count == many.count + 1 }
        #expect(Set(heardBySecond.news) == Set(many + [.sessions(account: 3)]))
        // Each has its own at once, and no second time.
        try await Self.announce([.webhooks], second)
        try await waitUntil("the first one has heard it") { heardByFirst.all.contains(.webhooks) }
        #expect(heardByFirst.news.count == many.count + 2)
        #expect(heardBySecond.news.count == many.count + 2)
        // What was announced last is told before it leaves.
        try await Self.announce([.zoneTouches], second)
        try await second.close()
        try await waitUntil("the first one has heard it") { heardByFirst.all.contains(.zoneTouches) }
        try await waitUntil("it is alone") { first.peers.isAlone }
        try await first.close()
    }

    /// What may have been missed meanwhile is looked for.
    @Test func aLostConnectionIsMadeAgain() async throws {
        let (first, heard) = try await joined()
        let (second, _) = try await joined()
        try await waitUntil("both know") { first.peers.count == 2 }
        for round in 1...3 {
            heard.forget()
            try server.run(
                """
                SELECT pg_terminate_backend(pid, 5000) FROM pg_locks
                WHERE locktype = 'advisory' AND classid = 1396788558 AND objid = \(first.peers.own)
                """)
            try await waitUntil("it is there again") {
                first.peers.areHeard && heard.all.contains(.anything)
            }
            let processes = try await second.write(at: .everything) { try $0.processes() }
            #expect(processes == [first.peers.own, second.peers.own])
            try await Self.announce([.notifications(of: Int64(round))], second)
            try await waitUntil("it hears") { heard.all.contains(.notifications(of: Int64(round))) }
        }
        try await second.close()
        try await first.close()
    }

    @Test func whoHasNotJoinedIsNotThere() async throws {
        let database = try PostgresDatabase(try server.address(of: name), migrations: [SQLDatabaseTests.table])
        #expect(try await database.write(at: .everything) { try $0.processes() }.isEmpty)
        #expect(!database.peers.areHeard)
        try await database.join()
        try await database.join()
        #expect(try await database.write(at: .everything) { try $0.processes() } == [database.peers.own])
        try await database.close()
        await #expect(throws: StorageError.closed) { try await database.join() }
    }
}
