import Foundation
import SealSystem
import Synchronization
import Testing

@testable import SealStorage

/// What the server relies on behind `SQLDatabase`, of each engine that there is: a new one is a case here.
@Suite(.timeLimit(.minutes(60))) struct SQLDatabaseTests {
    enum Engine: String, CaseIterable, CustomTestStringConvertible {
        case sqlite, twiceRun, postgres, twiceRunPostgres

        /// Those that there are where the tests run.
        static var allCases: [Engine] {
            TestPostgres.shared == nil ? [.sqlite, .twiceRun] : [.sqlite, .twiceRun, .postgres, .twiceRunPostgres]
        }

        var testDescription: String { rawValue }

        func open(
            _ folder: TemporaryFolder, _ migrations: [Migration] = [SQLDatabaseTests.table]
        ) throws -> any SQLDatabase {
            switch self {
            case .sqlite: return try SQLiteDatabase(path: folder.file("db.sqlite"), migrations: migrations)
            case .twiceRun: return TwiceRunDatabase(base: try Engine.sqlite.open(folder, migrations))
            case .postgres:
                let server = try #require(TestPostgres.shared)
                let name = try server.database(of: folder.path, hasTables: false)
                return try PostgresDatabase(try server.address(of: name), migrations: migrations)
            case .twiceRunPostgres: return TwiceRunDatabase(base: try Engine.postgres.open(folder, migrations))
            }
        }

        /// In the words of its dialect.
        var blob: String {
            switch self {
            case .sqlite, .twiceRun: "BLOB"
            case .postgres, .twiceRunPostgres: "BYTEA"
            }
        }
    }

    static let table = Migration(name: "001-t", sql: "CREATE TABLE t (id BIGINT PRIMARY KEY, body BLOB)")

    let folder = TemporaryFolder()

    private static func ids(_ database: any SQLDatabase) async throws -> [Int64] {
        try await database.read { try $0.rows("SELECT id FROM t ORDER BY id") { try $0.int64("id") } }
    }

    @Test(arguments: Engine.allCases) func valuesComeBackAsTheyWent(_ engine: Engine) async throws {
        let database = try engine.open(folder)
        try await database.write(at: .everything) { connection in
            let blob = engine.blob
            try connection.execute(
                "CREATE TABLE v (a BIGINT, b DOUBLE PRECISION, c TEXT, d \(blob), e \(blob), f TEXT, g \(blob))")
            // Numbers say which value goes where, in any order, also twice.
            let changed = try connection.execute(
                "INSERT INTO v (g, a, b, c, d, e, f) VALUES ($5, $1, $2, $3, $4, $5, $6)",
                [.integer(.min), .real(0.5), .text("å\tb"), .blob([0, 255]), .data(Data()), ""])
            #expect(changed == 1)
        }
        try await database.read { connection in
            try connection.run("SELECT a, b, c, d, e, f, NULL AS n, g FROM v", []) { row throws -> Bool in
                #expect(try row.int64("a") == .min)
                #expect(try row.double("b") == 0.5)
                #expect(try row.text("c") == "å\tb")
                #expect(try row.bytes("d") == [0, 255])
                #expect(try row.data("e") == Data())
                #expect(try row.text("f") == "")
                #expect(try row.optionalInt64("n") == nil)
                #expect(try row.bytes("g") == [])
                return true
            }
        }
        await #expect(throws: StorageError.self) { try await database.read { try $0.exists("SELECT $1", []) } }
        await #expect(throws: StorageError.self) { try await database.read { try $0.exists("SELECT $2", [1]) } }
        await #expect(throws: StorageError.self) { try await database.read { try $0.exists("SELEC") } }
        await #expect(throws: StorageError.self) { try await database.read { try $0.execute("DELETE FROM v") } }
    }

    /// Columns have the names that the statement gives them, or their own; a value that is not there, or not of the
    /// kind that was asked for, is an error with the column's name.
    @Test(arguments: Engine.allCases) func columnsAreReadByName(_ engine: Engine) async throws {
        let database = try engine.open(folder)
        try await database.write(at: .everything) { connection in
            let made = try connection.first(
                "INSERT INTO t (id, body) VALUES (7, $1) RETURNING body, t.id, id + 1 AS next", [.null]
            ) { row throws in
                #expect(try row.isNull("body"))
                return [try row.int64("id"), try row.int64("next")]
            }
            #expect(made == [7, 8])
        }
        try await database.read { connection in
            let sql =
                "SELECT t.id, o.id AS other, o.body, COUNT(*) AS count FROM t JOIN t AS o ON o.id = t.id GROUP BY t.id, o.id"
            let isRead = try connection.first(sql) { row throws in
                #expect(try [row.int64("id"), row.int64("other"), row.int64("count")] == [7, 7, 1])
                #expect(throws: StorageError.unknownColumn(name: "ID2")) { try row.int64("ID2") }
                #expect(throws: StorageError.unknownColumn(name: "i")) { try row.int64("i") }
                #expect(throws: StorageError.unknownColumn(name: "t.id")) { try row.isNull("t.id") }
                #expect(throws: StorageError.unknownColumn(name: "")) { try row.optionalText("") }
                #expect(try row.isNull("body"))
                #expect(try row.optionalBytes("body") == nil)
                #expect(throws: StorageError.unexpectedType(column: "body", wanted: "bytes")) { try row.bytes("body") }
                #expect(throws: StorageError.unexpectedType(column: "body", wanted: "an integer")) {
                    try row.int64("body")
                }
                #expect(throws: StorageError.unexpectedType(column: "id", wanted: "text")) { try row.text("id") }
                #expect(throws: StorageError.unexpectedType(column: "id", wanted: "a real number")) {
                    try row.double("id")
                }
                return true
            }
            #expect(isRead == true)
        }
    }

    /// Which of two columns a name means is not guessed, and a mistake shows also while there are no rows.
    @Test(arguments: Engine.allCases) func noTwoColumnsHaveOneName(_ engine: Engine) async throws {
        let database = try engine.open(folder)
        for (sql, name) in [
            ("SELECT id, body, id FROM t", "id"), ("SELECT a.body, b.body FROM t a JOIN t b ON b.id = a.id", "body"),
            ("SELECT id AS body, body FROM t", "body"),
        ] {
            for _ in 1...2 {
                await #expect(throws: StorageError.ambiguousColumn(name: name)) {
                    try await database.read { try $0.rows(sql) { try $0.int64("id") } }
                }
            }
        }
        await #expect(throws: StorageError.ambiguousColumn(name: "id")) {
            try await database.write(at: .everything) {
                try $0.execute("INSERT INTO t (id) VALUES (1) RETURNING id, id")
            }
        }
        #expect(try await Self.ids(database) == [])
    }

    /// A statement remembers how it was read, and is read right in whatever order that is.
    @Test(arguments: Engine.allCases) func oneStatementIsReadInAnyOrder(_ engine: Engine) async throws {
        let database = try engine.open(folder)
        let sql = "SELECT id AS a, id * 10 AS b, id * 100 AS c, NULL AS d FROM t ORDER BY id"
        let orders: [@Sendable (any SQLRow) throws -> [Int64?]] = [
            { [try $0.int64("a"), try $0.int64("b"), try $0.int64("c")] },
            { [try $0.int64("c"), try $0.int64("b"), try $0.int64("a")].reversed() },
            { row in
                let c = try row.optionalInt64("c")
                #expect(try row.optionalInt64("d") == nil)
                return [try row.optionalInt64("a"), try row.optionalInt64("b"), c]
            },
            { row in
                _ = try? row.int64("nothing")
                _ = try? row.text("a")
                return [try row.int64("a"), try row.int64("b"), try row.int64("c")]
            },
            { row in
                let b = try row.int64("b")
                #expect(try row.int64("b") == b)
                return [try row.int64("a"), b, try row.int64("c")]
            },
        ]
        let seen = try await database.write(at: .everything) { connection in
            for id in 1...3 { try connection.execute("INSERT INTO t (id) VALUES ($1)", [.integer(Int64(id))]) }
            return try (orders + orders.reversed()).map { order in
                // One row read so, and the next otherwise; and the same query inside.
                var turn = 0
                return try connection.rows(sql) { row in
                    defer { turn += 1 }
                    let inner = try connection.rows(sql, [], orders[turn])
                    #expect(inner == [[1, 10, 100], [2, 20, 200], [3, 30, 300]])
                    return try turn == 1 ? orders[1](row) : order(row)
                }
            }
        }
        #expect(seen == Array(repeating: [[1, 10, 100], [2, 20, 200], [3, 30, 300]], count: 10))
    }

    /// More sets than go together, with and without a value, and a query of another one inside.
    @Test(arguments: Engine.allCases) func oneStatementRunsForManySets(_ engine: Engine) async throws {
        let database = try engine.open(folder)
        let found = try await database.write(at: .everything) { connection in
            try connection.executeEach("INSERT INTO t (id) VALUES ($1)", [])
            try connection.executeEach(
                "INSERT INTO t (id, body) VALUES ($1, $2)",
                (0..<300).map { [.integer($0), $0 % 3 == 0 ? .null : .blob([UInt8](repeating: 7, count: Int($0)))] })
            var found: [Int64?] = Array(repeating: nil, count: 400)
            try connection.runEach(
                "SELECT id, LENGTH(body) AS length FROM t WHERE id = $1", (0..<400).map { [.integer(399 - $0)] }
            ) { set, row in
                let inner = try connection.rows("SELECT id FROM t WHERE id = $1", [.integer(try row.int64("id"))]) {
                    try $0.int64("id")
                }
                #expect(inner == [399 - Int64(set)])
                found[set] = try row.optionalInt64("length") ?? -1
            }
            return found
        }
        let expected: [Int64?] = (0..<400).map { set in
            let id = 399 - Int64(set)
            return id >= 300 ? nil : id % 3 == 0 ? -1 : id
        }
        #expect(found == expected)
        #expect(try await Self.ids(database) == Array(0..<300))
    }

    /// More than the way there and the way back hold: neither end waits for the other to read.
    @Test(arguments: Engine.allCases) func muchGoesBothWaysAtOnce(_ engine: Engine) async throws {
        let database = try engine.open(folder)
        let body = [UInt8](repeating: 9, count: 100_000)
        let bytes = try await database.write(at: .everything) { connection in
            var bytes = 0
            try connection.runEach(
                "INSERT INTO t (id, body) VALUES ($1, $2) RETURNING body",
                (0..<150).map { [.integer($0), .blob(body)] }
            ) { _, row in bytes += try row.bytes("body").count }
            return bytes
        }
        #expect(bytes == 15_000_000)
    }

    /// What fails among many is told, takes all of its write back, and nothing of the next one.
    @Test(arguments: Engine.allCases) func oneSetAmongManyFails(_ engine: Engine) async throws {
        let database = try engine.open(folder)
        let insert = "INSERT INTO t (id) VALUES ($1)"
        for sets in [[1, 2, 3, 2, 4], [1, 1], Array(0..<200) + [199]] as [[Int64]] {
            do {
                try await database.write(at: .everything) { try $0.executeEach(insert, sets.map { [.integer($0)] }) }
                Issue.record("a key came twice")
            } catch StorageError.constraint {}
            #expect(try await Self.ids(database) == [])
        }
        await #expect(throws: StorageError.wrongParameters(sql: insert)) {
            try await database.write(at: .everything) {
                try $0.executeEach(insert, [[.integer(1)], [.integer(2), .integer(3)]])
            }
        }
        try await database.write(at: .everything) { try $0.executeEach(insert, [[.integer(5)], [.integer(6)]]) }
        #expect(try await Self.ids(database) == [5, 6])
    }

    @Test(arguments: Engine.allCases) func aQueryMayRunInsideItself(_ engine: Engine) async throws {
        let database = try engine.open(folder)
        let pairs = try await database.write(at: .everything) { connection in
            for id in 1...3 { try connection.execute("INSERT INTO t (id) VALUES ($1)", [.integer(Int64(id))]) }
            return try connection.rows("SELECT id FROM t") { outer in
                try connection.rows("SELECT id FROM t") { try $0.int64("id") }.count + Int(try outer.int64("id")) * 10
            }
        }
        #expect(pairs == [13, 23, 33])
    }

    @Test(arguments: Engine.allCases) func oneFailureAmongManyTakesOnlyItsOwnChangesBack(_ engine: Engine) async throws
    {
        struct Refused: Error, Equatable { let id: Int64 }
        let database = try engine.open(folder)
        let outcomes = await withTaskGroup(of: (Int64, Bool).self) { group in
            for id in Int64(0)..<200 {
                group.addTask {
                    do {
                        try await database.write(at: .everything) { connection in
                            try connection.execute(
                                "INSERT INTO t (id, body) VALUES ($1, $2)", [.integer(id), .blob([1])])
                            if id % 7 == 3 { throw Refused(id: id) }
                        }
                        return (id, true)
                    } catch {
                        #expect(error as? Refused == Refused(id: id))
                        return (id, false)
                    }
                }
            }
            return await group.reduce(into: [Int64: Bool]()) { $0[$1.0] = $1.1 }
        }
        let stored = try await database.read { Set(try $0.rows("SELECT id FROM t") { try $0.int64("id") }) }
        #expect(stored == Set(outcomes.filter(\.value).keys))
        #expect(stored == Set((Int64(0)..<200).filter { $0 % 7 != 3 }))
    }

    @Test(arguments: Engine.allCases) func constraintsAreTold(_ engine: Engine) async throws {
        let database = try engine.open(folder)
        try await database.write(at: .everything) { try $0.execute("INSERT INTO t (id) VALUES (1)") }
        let refusal = await #expect(throws: StorageError.self) {
            try await database.write(at: .everything) { try $0.execute("INSERT INTO t (id) VALUES (1)") }
        }
        guard case .constraint = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(try await Self.ids(database) == [1])
    }

    /// What a body throws reaches its caller as it is, and nothing of the body stays.
    @Test(arguments: Engine.allCases) func aBodysErrorIsItsCallers(_ engine: Engine) async throws {
        struct Refused: Error, Equatable { let reason: String }
        let database = try engine.open(folder)
        await #expect(throws: Refused(reason: "no")) {
            try await database.write(at: .everything) { connection in
                try connection.execute("INSERT INTO t (id) VALUES (1)")
                throw Refused(reason: "no")
            }
        }
        await #expect(throws: Refused(reason: "read")) {
            try await database.read { _ in throw Refused(reason: "read") }
        }
        #expect(try await Self.ids(database) == [])
    }

    @Test(arguments: Engine.allCases) func aWriteSeesItsOwnChangesAndGivesThemBack(_ engine: Engine) async throws {
        let database = try engine.open(folder)
        let seen = try await database.write(at: .everything) { connection in
            let returned = try connection.rows("INSERT INTO t (id) VALUES (1), (2) RETURNING id") { try $0.int64("id") }
            // The same again changes what is there.
            try connection.execute(
                "INSERT INTO t (id, body) VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET body = excluded.body",
                [2, .blob([7])])
            let changed = try connection.execute("UPDATE t SET body = $1 WHERE id < $2", [.null, 2])
            #expect(changed == 1)
            let body = try connection.first("SELECT body FROM t WHERE id = 2") { try $0.bytes("body") }
            #expect(body == [7])
            return returned
        }
        #expect(seen == [1, 2])
        #expect(try await Self.ids(database) == [1, 2])
    }

    /// What was acknowledged is there for every read that begins afterwards; a read sees one moment.
    @Test(arguments: Engine.allCases) func aReadSeesOneMoment(_ engine: Engine) async throws {
        let database = try engine.open(folder)
        try await database.write(at: .everything) { try $0.execute("INSERT INTO t (id) VALUES (0)") }
        let counts = try await withThrowingTaskGroup(of: [Int64].self) { group in
            for id in Int64(1)...40 {
                group.addTask {
                    try await database.write(at: .everything) {
                        try $0.execute("INSERT INTO t (id) VALUES ($1)", [.integer(id)])
                    }
                    let isThere = try await database.read {
                        try $0.exists("SELECT 1 FROM t WHERE id = $1", [.integer(id)])
                    }
                    #expect(isThere)
                    return try await database.read { connection in
                        try (0..<20).map { _ in
                            try connection.first("SELECT COUNT(*) AS count FROM t") { try $0.int64("count") } ?? 0
                        }
                    }
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for seen in counts { #expect(Set(seen).count == 1) }
    }

    /// Only what became durable is announced, once, and before its writer is answered.
    @Test(arguments: Engine.allCases) func onlyWhatHappenedIsAnnounced(_ engine: Engine) async throws {
        struct Refused: Error {}
        let database = try engine.open(folder)
        let heard = Heard()
        database.listen { heard.add($0) }
        try await database.write(at: .everything) { connection in
            try connection.execute("INSERT INTO t (id) VALUES (1)")
            connection.announce(.notifications(of: 1))
        }
        #expect(heard.all == [.notifications(of: 1)])
        _ = try? await database.write(at: .everything) { connection in
            connection.announce(.notifications(of: 2))
            throw Refused()
        }
        try await database.read { $0.announce(.notifications(of: 3)) }
        try await database.write(at: .everything) { $0.announce(.notifications(of: 4)) }
        #expect(heard.all == [.notifications(of: 1), .notifications(of: 4)])
    }

    @Test(arguments: Engine.allCases) func whatIsClosedSaysSo(_ engine: Engine) async throws {
        let database = try engine.open(folder)
        try await database.write(at: .everything) { try $0.execute("INSERT INTO t (id) VALUES (1)") }
        try await database.close()
        await #expect(throws: StorageError.closed) {
            try await database.write(at: .everything) { try $0.execute("DELETE FROM t") }
        }
        await #expect(throws: StorageError.closed) { try await database.read { try $0.exists("SELECT 1 FROM t") } }
        // It is durable.
        #expect(try await Self.ids(try engine.open(folder)) == [1])
    }
}

private final class Heard: Sendable {
    private let announcements = Mutex<[Announcement]>([])
    var all: [Announcement] { announcements.withLock { $0 } }
    func add(_ heard: Set<Announcement>) { announcements.withLock { $0 += heard } }
}
