import Foundation
import SealPrimitives
import SealStatements
import SealWire
import Synchronization
import Testing

@testable import SealService
@testable import SealStorage

/// Databases' feeds where several write at the same time, each by a connection of its own: what the rules of SQL make
/// of it, without the lock by which one process writes.
@Suite(.withPostgres, .timeLimit(.minutes(60))) struct PostgresFeedTests {
    let folder = TemporaryFolder()
    let server: TestPostgres
    let name: String

    private static let (writers, zones, viewers, changes) = (12, 6, 5, 60)

    init() throws {
        server = try #require(TestPostgres.shared)
        name = try server.database(of: folder.path, hasTables: true)
    }

    private static func session(_ kind: PostgresSession.Kind, _ address: PostgresAddress) throws -> PostgresSession {
        let session = PostgresSession(kind, address) { _ in }
        try session.connectAgain()
        return session
    }

    /// Begun anew where two were in each other's way.
    /// - Returns: how often.
    private static func write(
        _ session: PostgresSession, _ body: (any SQLConnection) throws -> Void
    ) throws -> Int {
        for attempt in 0..<10 {
            session.begin("BEGIN ISOLATION LEVEL READ COMMITTED")
            do {
                try body(PostgresConnection(session))
                try session.commit()
                return attempt
            } catch {
                session.rollBack()
                guard session.mayBeginAnew else { throw error }
                try session.connectAgain()
            }
        }
        throw TestFailure("never written")
    }

    private static func zone(_ number: Int64, _ connection: any SQLConnection) throws -> ZoneRow {
        try #require(
            try connection.first(
                "SELECT \(ZoneRow.columns) FROM zone z WHERE z.owner = 1 AND z.zone = $1", [.integer(number)],
                ZoneRow.init))
    }

    /// Six zones that all five see: Anna, whose they are, and four others.
    private static func fill(_ address: PostgresAddress) throws {
        let session = try session(.writer, address)
        defer { session.close() }
        _ = try Self.write(session) { connection in
            try connection.execute("INSERT INTO server_run (number) VALUES (1)")
            for zone in 1...Int64(Self.zones) {
                try connection.execute(
                    """
                    INSERT INTO zone (owner, zone, container, environment, owner_name, name, position, incarnation, sequence,
                        head, participants, closed) VALUES (1, $1, 'c', 1, $2, $3, 0, 0, 0, $4, $5, 0)
                    """,
                    [
                        .integer(zone), .text(UserID(.zero).recordName), .text("z\(zone)"), .blob(Digest.zero.bytes),
                        .integer(Int64(Self.viewers - 1)),
                    ])
                for viewer in 1...Int64(Self.viewers) {
                    try DatabaseFeed.show(ScopeRow(try Self.zone(zone, connection)), to: viewer, in: connection)
                }
            }
            // The zones' first changes in it, and the feeds', come from all writers at once.
            try connection.execute("INSERT INTO server_run (number) VALUES (2)")
        }
    }

    /// A reader that follows its feed, and what it knows of each zone.
    private final class Reader {
        private let viewer: Int64
        private let session: PostgresSession
        private(set) var last: Int64 = 0
        private(set) var known: [Int64: Int64] = [:]

        init(_ viewer: Int64, _ session: PostgresSession) { (self.viewer, self.session) = (viewer, session) }

        func read() throws {
            session.begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            defer { session.rollBack() }
            let rows = try PostgresConnection(session).rows(
                """
                SELECT v.zone, v.position AS place, z.position FROM zone_view v JOIN zone z ON z.owner = v.owner AND z.zone = v.zone
                WHERE v.viewer = $1 AND v.position > $2 ORDER BY v.position
                """, [.integer(viewer), .integer(last)]
            ) { (zone: try $0.int64("zone"), place: try $0.int64("place"), position: try $0.int64("position")) }
            for row in rows {
                known[row.zone] = row.position
                last = row.place
            }
        }
    }

    /// No change is read past, no place is given out twice, and nobody waits for somebody who waits for it.
    @Test func nobodySkipsAChangeHoweverManyWrite() async throws {
        let address = try server.address(of: name)
        try Self.fill(address)
        let isDone = Atomic(false)
        let again = Atomic(0)
        let readers = try await withThrowingTaskGroup(of: [Int64: Int64]?.self) { group in
            for viewer in 1...Int64(Self.viewers) {
                group.addTask { @Sendable in
                    try await Self.onThread {
                        let session = try Self.session(.reader, address)
                        let reader = Reader(viewer, session)
                        while !isDone.load(ordering: .acquiring) { try reader.read() }
                        try reader.read()
                        session.close()
                        return reader.known
                    }
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { writing in
                for writer in 0..<Self.writers {
                    writing.addTask { @Sendable in
                        try await Self.onThread {
                            let session = try Self.session(.writer, address)
                            for change in 0..<Self.changes {
                                let number = Int64((writer * 7 + change * 5) % Self.zones + 1)
                                let count = try Self.write(session) { connection in
                                    let zone = try Self.zone(number, connection)
                                    _ = try Zones.takePositions(1, of: zone, in: connection)
                                    try DatabaseFeed.touch(zone, savedIn: [], in: connection)
                                }
                                again.add(count, ordering: .relaxed)
                            }
                            session.close()
                        }
                    }
                }
                try await writing.waitForAll()
            }
            isDone.store(true, ordering: .releasing)
            var readers: [[Int64: Int64]] = []
            for try await known in group { if let known { readers.append(known) } }
            return readers
        }
        let session = try Self.session(.reader, address)
        defer { session.close() }
        session.begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        let connection = PostgresConnection(session)
        let zones = try connection.rows("SELECT zone, position FROM zone") {
            (try $0.int64("zone"), try $0.int64("position"))
        }
        let standing = Dictionary(zones) { first, _ in first }
        #expect(standing.values.reduce(0, +) == Int64(Self.writers * Self.changes))
        #expect(readers.count == Self.viewers)
        for known in readers { #expect(known == standing) }
        #expect(again.load(ordering: .relaxed) == 0)
        let feeds = try connection.rows("SELECT position, run FROM database_feed") {
            [try $0.int64("position"), try $0.int64("run")]
        }
        #expect(feeds == Array(repeating: [Int64(Self.zones + Self.writers * Self.changes), 2], count: Self.viewers))
        let kept = try connection.rows("SELECT position FROM view_run WHERE run = 2") { try $0.int64("position") }
        #expect(kept == Array(repeating: Int64(Self.zones), count: Self.viewers))
        let twice = try connection.exists("SELECT 1 FROM zone_view GROUP BY viewer, position HAVING COUNT(*) > 1")
        #expect(!twice)
        withExtendedLifetime(folder) {}
    }

    /// Statements wait for each other: on a thread of their own.
    private static func onThread<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
        }
    }
}
