import Foundation
import SealWire
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// A connection to PostgreSQL that is lost at any place of what is said on it: nothing that was acknowledged is lost,
/// nothing is there by half, and the next write finds another connection.
@Suite(.withPostgres, .timeLimit(.minutes(60))) struct PostgresLossTests {
    let server: TestPostgres

    init() throws { server = try #require(TestPostgres.shared) }

    private static let tables = [
        Migration(
            name: "001",
            sql: """
                CREATE TABLE pair (id BIGINT NOT NULL PRIMARY KEY);
                CREATE TABLE part (pair BIGINT NOT NULL, side BIGINT NOT NULL, PRIMARY KEY (pair, side));
                """)
    ]

    /// A row and its parts, with an answer to be read between them; the last two go together.
    private static func write(_ id: Int64, _ connection: any SQLConnection) throws {
        try connection.execute("INSERT INTO pair (id) VALUES ($1)", [.integer(id)])
        try connection.execute("INSERT INTO part (pair, side) VALUES ($1, 1)", [.integer(id)])
        _ = try connection.rows("SELECT id FROM pair ORDER BY id DESC LIMIT 20") { try $0.int64("id") }
        try connection.executeEach(
            "INSERT INTO part (pair, side) VALUES ($1, $2)", [2, 3].map { [.integer(id), .integer($0)] })
    }

    private static func found(_ database: any SQLDatabase) async throws -> [Int64: Int64] {
        let rows = try await database.read { connection in
            try connection.rows(
                "SELECT p.id, (SELECT COUNT(*) FROM part h WHERE h.pair = p.id) AS parts FROM pair p"
            ) { (try $0.int64("id"), try $0.int64("parts")) }
        }
        return Dictionary(uniqueKeysWithValues: rows)
    }

    @Test(arguments: CuttingProxy.Direction.allCases, [false, true])
    func everyPlaceOfATransaction(direction: CuttingProxy.Direction, isSilent: Bool) async throws {
        let folder = TemporaryFolder()
        let name = try server.database(of: folder.path, hasTables: false)
        let proxy = try await CuttingProxy(to: server.socket)
        let address = try PostgresAddress("postgres://postgres@/\(name)?host=\(proxy.host)", password: nil)
        let database = try PostgresDatabase(address, migrations: Self.tables)
        let announced = Mutex<[Announcement]>([])
        database.listen { all in announced.withLock { $0 += all } }
        // Statements are prepared, so that each further one says the same.
        for id in Int64(1)...2 {
            proxy.arm(nil)
            try await database.write(at: .everything) { try Self.write(id, $0) }
        }
        let length = proxy.passed(direction)
        #expect(length > 100)
        var (acknowledged, unknown): (Set<Int64>, Set<Int64>) = ([1, 2], [])
        var cuts = 0
        for bytes in Array(stride(from: 0, to: length, by: 17)) + [length - 1] {
            let first = Int64(acknowledged.count + unknown.count + 1)
            proxy.arm(.init(direction: direction, bytes: bytes, isSilent: isSilent))
            // Two that may share the transaction.
            await withTaskGroup(of: (Int64, (any Error)?).self) { group in
                for id in [first, first + 1] {
                    group.addTask {
                        do {
                            try await database.write(at: .everything) { connection in
                                try Self.write(id, connection)
                                connection.announce(.notifications(of: id))
                            }
                            return (id, nil)
                        } catch { return (id, error) }
                    }
                }
                for await (id, error) in group {
                    guard let error else {
                        acknowledged.insert(id)
                        continue
                    }
                    if case StorageError.unavailable = error {
                        unknown.insert(id)
                    } else {
                        Issue.record("\(direction), \(bytes) bytes: \(error)")
                    }
                }
            }
            if proxy.hasCut { cuts += 1 }
        }
        proxy.arm(nil)
        #expect(cuts > length / 17 / 2)
        // What cannot be told is told so, and is what the connection was lost at the commit of.
        #expect(unknown.count < acknowledged.count)
        let found = try await Self.found(database)
        #expect(acknowledged.isSubset(of: found.keys))
        #expect(Set(found.keys).isSubset(of: acknowledged.union(unknown)))
        #expect(Set(found.values) == [3])
        // Once each, and nothing of what may not be there.
        let told = announced.withLock { $0 }
        #expect(told.count == Set(told).count)
        #expect(Set(told) == Set(acknowledged.subtracting([1, 2]).map { .notifications(of: $0) }))
        try await database.close()
        try await proxy.stop()
        withExtendedLifetime(folder) {}
    }

    /// Whoever stands still for longer than the server lets a transaction, as when its machine was halted, has lost it,
    /// and begins it anew.
    @Test func whoStoodStillBeginsAnew() async throws {
        let folder = TemporaryFolder()
        let address = try server.address(of: try server.database(of: folder.path, hasTables: false))
        let database = try PostgresDatabase(address, migrations: Self.tables)
        for id in Int64(1)...2 {
            let runs = RunCounter()
            try await database.write(at: .everything) { connection in
                runs.increment()
                try connection.execute("INSERT INTO pair (id) VALUES ($1)", [.integer(id)])
                if runs.count == 1 {
                    try connection.execute("SET LOCAL idle_in_transaction_session_timeout = 50")
                    Thread.sleep(forTimeInterval: 1)
                }
                // By a statement of each kind.
                if id == 1 {
                    try connection.execute("INSERT INTO part (pair, side) VALUES ($1, 1)", [.integer(id)])
                } else {
                    try connection.executeEach(
                        "INSERT INTO part (pair, side) VALUES ($1, $2)", [1, 2].map { [.integer(id), .integer($0)] })
                }
            }
            #expect(runs.count == 2)
        }
        #expect(try await Self.found(database) == [1: 1, 2: 2])
        try await database.close()
        withExtendedLifetime(folder) {}
    }

    @Test func noTransactionIsEndedForItsLength() {
        #expect(PostgresServer.settings(of: 170_002).hasSuffix("SET transaction_timeout = 0;"))
        // Those before 17 do not know it.
        #expect(!PostgresServer.settings(of: 160_009).contains("transaction_timeout"))
    }

    /// As clients meet it: a batch is there as a whole or not at all, and the same operation again brings it once.
    @Test(arguments: CuttingProxy.Direction.allCases)
    func everyPlaceOfASave(direction: CuttingProxy.Direction) async throws {
        let folder = TemporaryFolder()
        let name = try server.database(of: folder.path, hasTables: true)
        let proxy = try await CuttingProxy(to: server.socket)
        let configuration = DatabaseConfiguration(url: "postgres://postgres@/\(name)?host=\(proxy.host)")
        try await RunningServer.with(folder: folder, runsTwice: false, database: configuration) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            for batch in ["one", "two"] {
                proxy.arm(nil)
                _ = try await anna.save((0..<3).map { Write("\(batch)-\($0)") }, in: zone)
            }
            let length = proxy.passed(direction)
            var (expected, cuts) = (6, 0)
            for bytes in stride(from: 0, to: length, by: max(1, length / 24)) {
                let writes = (0..<3).map { Write("\(bytes)-\($0)") }
                let (request, _) = try anna.request(writes, in: zone)
                proxy.arm(.init(direction: direction, bytes: bytes, isSilent: bytes % 2 == 1))
                let code = try await refusal { try await anna.send(request, to: zone) }
                #expect(code == nil || code == .serviceUnavailable)
                if proxy.hasCut { cuts += 1 }
                proxy.arm(nil)
                if code != nil {
                    let count = try await anna.changes(in: zone).records.count
                    #expect([expected, expected + 3].contains(count))
                }
                #expect(try await anna.send(request, to: zone).map(\.code) == [nil, nil, nil])
                expected += 3
                #expect(try await anna.changes(in: zone).records.count == expected)
            }
            #expect(cuts > 5)
        }
        try await proxy.stop()
    }
}
