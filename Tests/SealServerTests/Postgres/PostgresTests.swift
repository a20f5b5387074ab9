import Foundation
import SealWire
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// What is PostgreSQL's own among the engines; what all of them do is in `SQLDatabaseTests`.
@Suite(.withPostgres, .timeLimit(.minutes(60))) struct PostgresTests {
    let folder = TemporaryFolder()
    let server: TestPostgres
    let name: String

    init() throws {
        server = try #require(TestPostgres.shared)
        name = try server.database(of: folder.path, hasTables: false)
    }

    private func open(
        _ parameters: String = "", migrations: [Migration] = [SQLDatabaseTests.table],
        budget: WriteBudget = WriteBudget()
    ) throws -> PostgresDatabase {
        let address = try PostgresAddress(server.url(of: name) + parameters, password: "hidden-word")
        return try PostgresDatabase(address, migrations: migrations, budget: budget)
    }

    private static func ids(_ database: any SQLDatabase) async throws -> [Int64] {
        try await database.read { try $0.rows("SELECT id FROM t ORDER BY id") { try $0.int64("id") } }
    }

    private func refusal(_ body: () throws -> Any) -> String {
        do {
            _ = try body()
            return "none"
        } catch StorageError.unsuitable(let message) {
            return message
        } catch {
            return "\(error)"
        }
    }

    // MARK: What it runs on

    @Test(arguments: [("UTF8", "C.UTF-8"), ("SQL_ASCII", "C")])
    func anotherEncodingOrOrderIsRefused(encoding: String, locale: String) throws {
        let other = name + "_other"
        try server.run("CREATE DATABASE \(other) TEMPLATE template0 ENCODING '\(encoding)' LOCALE '\(locale)'")
        let message = refusal {
            try PostgresDatabase(try server.address(of: other), migrations: [SQLDatabaseTests.table])
        }
        try server.run("DROP DATABASE \(other)")
        #expect(message.contains("encoding \(encoding) and the collation \(locale)"), "\(message)")
        #expect(message.contains("createdb"))
    }

    /// Servers share a database; whoever moves it has it alone.
    @Test func whoHasTheDatabaseAloneIsAloneWithIt() async throws {
        let (first, second) = (try open(), try open())
        try await first.write(at: .everything) { try $0.execute("INSERT INTO t (id) VALUES (1)") }
        #expect(try await Self.ids(second) == [1])
        let address = try server.address(of: name)
        let refused = refusal { try PostgresHold(address) }
        #expect(refused.hasPrefix("A server runs on the database \(name)"), "\(refused)")
        try await first.close()
        #expect(refusal { try PostgresHold(address) }.hasPrefix("A server runs on"))
        try await second.close()
        let hold = try PostgresHold(address)
        let message = refusal { try open() }
        #expect(message.hasPrefix("Somebody has the database \(name)"), "\(message)")
        hold.close()
        try await open().close()
    }

    /// Besides the writer's there is one connection: whoever gets none waits for it.
    @Test func readsWithoutAConnectionWaitForOne() async throws {
        let role = name + "_few"
        try server.run("CREATE ROLE \(role) LOGIN CONNECTION LIMIT 2")
        try server.run("ALTER DATABASE \(name) OWNER TO \(role)")
        let url = server.url(of: name).replacing("//postgres@", with: "//\(role)@")
        let database = try PostgresDatabase(
            try PostgresAddress(url, password: nil), migrations: [SQLDatabaseTests.table])
        try await withThrowingTaskGroup(of: Int64?.self) { group in
            for number in 0..<8 {
                group.addTask {
                    try await database.read { connection in
                        try connection.first("SELECT $1 + 0 AS n FROM pg_sleep(0.05)", [.integer(Int64(number))]) {
                            try $0.int64("n")
                        }
                    }
                }
            }
            let read = try await group.reduce(into: Set()) { $0.insert($1) }
            #expect(read == Set(0..<8))
        }
        try await database.close()
    }

    @Test func whatOnlyReadsIsRefused() async throws {
        try server.run("ALTER DATABASE \(name) SET default_transaction_read_only = on")
        let message = refusal { try open() }
        #expect(message.contains("standby"), "\(message)")
    }

    @Test func aRoleThatMayMakeNothingIsToldSo() throws {
        let role = name + "_guest"
        try server.run("CREATE ROLE \(role) LOGIN")
        let url = server.url(of: name).replacing("//postgres@", with: "//\(role)@")
        let message = refusal {
            try PostgresDatabase(try PostgresAddress(url, password: nil), migrations: [SQLDatabaseTests.table])
        }
        try server.run("DROP ROLE \(role)")
        #expect(message.contains("permission denied") && message.contains("createdb --owner"), "\(message)")
    }

    /// What was held is not held any more: another one may have written meanwhile.
    @Test func aHoldThatWasLostIsNotTakenAgain() throws {
        let hold = try PostgresHold(try server.address(of: name))
        let process = try hold.read { try $0.first("SELECT pg_backend_pid() AS pid") { try $0.int64("pid") } }
        try server.end(process)
        for _ in 0..<2 {
            #expect(throws: StorageError.self) { try hold.write { try $0.runScript("CREATE TABLE t (id BIGINT)") } }
        }
        hold.close()
        let again = try PostgresHold(try server.address(of: name))
        #expect(try again.read { try $0.tables() } == [])
        again.close()
    }

    @Test func aDatabaseOfAnotherVersionIsRefused() async throws {
        try await open().close()
        #expect(
            throws: StorageError.unknownSchema(file: "the database \(name) at \(server.socket)", migration: "001-t")
        ) {
            try open(migrations: [Migration(name: "001-other", sql: "CREATE TABLE other (id BIGINT)")])
        }
        try await open().close()
    }

    @Test func whatWasAcknowledgedIsOnTheDisk() async throws {
        try server.run("ALTER DATABASE \(name) SET synchronous_commit = off")
        let database = try open()
        let setting = try await database.write(at: .everything) { connection in
            try connection.first("SHOW synchronous_commit") { try $0.text("synchronous_commit") }
        }
        #expect(setting == "on")
        try await database.close()
    }

    // MARK: Addresses

    @Test func whatIsNoAddressIsRefused() {
        for (url, error) in [
            ("mysql://localhost/x", PostgresAddress.Malformed.notPostgres), ("host=x dbname=y", .notPostgres),
            ("postgres://u@[h/x", .unreadable), ("postgres://h/x?nonsense=1", .unreadable),
            ("postgres://u:secret@h/x", .hasPassword), ("postgres://h/x?password=secret", .hasPassword),
            ("postgres://h/x?sslpassword=secret", .hasPassword),
            ("postgres://h", .hasNoDatabase), ("postgres://h/x?service=other", .hasService),
        ] {
            #expect(throws: error) { try PostgresAddress(url, password: nil) }
        }
    }

    /// As libpq connects to them: whoever is reached over a network has to be there.
    @Test func hostsAreToldByTheirPlaces() throws {
        for (parameters, hosts) in [
            ("host=a,b&hostaddr=127.0.0.1,", ["127.0.0.1", "b"]), ("host=a,b", ["a", "b"]),
            ("host=/run/x,b", ["b"]), ("hostaddr=192.0.2.1", ["192.0.2.1"]),
            ("host=/run/x&hostaddr=192.0.2.1", ["192.0.2.1"]), ("host=/run/x", []),
        ] {
            #expect(try PostgresAddress("postgres:///notes?\(parameters)", password: nil).hosts == hosts)
        }
    }

    @Test func aServerThatIsAwayIsUnavailableAndNoPasswordIsTold() throws {
        let address = try PostgresAddress("postgres://anna@127.0.0.1:1/notes", password: "hidden-word")
        do {
            _ = try PostgresDatabase(address, migrations: [])
            Issue.record("something listens on port 1")
        } catch StorageError.unavailable(let message) {
            #expect(!message.contains("hidden-word"))
        }
        #expect(address.name == "the database notes at 127.0.0.1")
        #expect(address.withoutSecret("a hidden-word b") == "a … b")
    }

    // MARK: Values and statements

    @Test func aTextWithZeroIsRefusedAndNothingOfItIsThere() async throws {
        let database = try open()
        await #expect(throws: StorageError.zeroCharacter) {
            try await database.write(at: .everything) { connection in
                try connection.execute("INSERT INTO t (id) VALUES (1)")
                try connection.execute("INSERT INTO t (id) SELECT 2 WHERE $1 = ''", [.text("a\0b")])
            }
        }
        #expect(try await Self.ids(database) == [])
        let (error, isInternal) = ServerError.describing(StorageError.zeroCharacter, requestID: "1")
        #expect(error.code == .invalidArguments)
        #expect(!isInternal)
        try await database.close()
    }

    /// Null has no type of its own: it takes that of whatever else came there.
    @Test func nullMayComeInAnyPlace() async throws {
        let database = try open()
        let sql = "INSERT INTO t (id, body) VALUES ($1, $2)"
        try await database.write(at: .everything) { connection in
            try connection.execute(sql, [1, .null])
            try connection.execute(sql, [2, .blob([7])])
            try connection.execute(sql, [3, .null])
            try connection.execute(sql, [4, .data(Data([8]))])
        }
        let bodies = try await database.read { connection in
            try connection.rows("SELECT body FROM t ORDER BY id") { try $0.optionalBytes("body") }
        }
        #expect(bodies == [nil, [7], nil, [8]])
        try await database.close()
    }

    @Test func manyStatementsDoNotPileUp() async throws {
        let database = try open()
        let count = try await database.write(at: .everything) { connection in
            for number in 0..<1_200 {
                _ = try connection.exists("SELECT \(number) AS n WHERE $1 = 1", [1])
            }
            return try connection.first("SELECT COUNT(*) AS count FROM pg_prepared_statements") {
                try $0.int64("count")
            }
        }
        #expect((1...1_000).contains(count ?? 0))
        try await database.close()
    }

    /// A long answer that nobody reads to its end, and statements between its rows.
    @Test func rowsComeOneByOne() async throws {
        let database = try open()
        let seen = try await database.read { connection in
            var seen: [Int64] = []
            try connection.run("SELECT n FROM generate_series(1, 100000) AS n", []) { row in
                let n = try row.int64("n")
                let twice = try connection.first("SELECT $1 * 2 AS twice", [.integer(n)]) { try $0.int64("twice") }
                seen.append(twice ?? 0)
                return seen.count < 3
            }
            let after = try connection.first("SELECT 7 AS seven") { try $0.int64("seven") }
            return seen + [after ?? 0]
        }
        #expect(seen == [2, 4, 6, 7])
        try await database.close()
    }

    /// What nobody reads the database does not even look up; statements go between the rows, and other streams.
    @Test func aLongAnswerThatIsLeftComesInPortions() async throws {
        let database = try open()
        let sql = "SELECT n, nextval('made') AS made FROM generate_series(1, 100000) AS n"
        let (seen, made) = try await database.write(at: .everything) { connection in
            try connection.execute("CREATE SEQUENCE made")
            var seen: [Int64] = []
            try connection.stream(sql, []) { row in
                let n = try row.int64("n")
                try connection.stream("SELECT $1 + m AS sum FROM generate_series(1, 40) AS m", [.integer(n)]) { inner in
                    seen.append(try inner.int64("sum"))
                    return seen.count % 2 == 1
                }
                return seen.count < 6
            }
            let made = try connection.first("SELECT last_value AS made FROM made") { try $0.int64("made") }
            return (seen, made)
        }
        #expect(seen == [2, 3, 3, 4, 4, 5])
        #expect(try #require(made) < 100)
        let all = try await database.read { connection in
            var all: [Int64] = []
            try connection.stream("SELECT n FROM generate_series(1, 2000) AS n", []) { row in
                all.append(try row.int64("n"))
                return true
            }
            return all
        }
        #expect(all == Array(1...2_000))
        try await database.close()
    }

    /// A write that fails between the rows of its answer is taken back alone.
    @Test func aFailureBetweenRowsIsItsWritesAlone() async throws {
        let database = try open()
        try await database.write(at: .everything) { try $0.execute("INSERT INTO t (id) VALUES (1)") }
        await withTaskGroup(of: Void.self) { group in
            for id in Int64(2)...9 {
                group.addTask {
                    let result = try? await database.write(at: .everything) { connection in
                        try connection.execute("INSERT INTO t (id) VALUES ($1)", [.integer(id)])
                        try connection.stream("SELECT id FROM t", []) { _ in
                            if id % 2 == 0 { try connection.execute("INSERT INTO t (id) VALUES (1)") }
                            return true
                        }
                        return true
                    }
                    #expect((result == true) == (id % 2 == 1))
                }
            }
        }
        #expect(try await Self.ids(database) == [1, 3, 5, 7, 9])
        try await database.close()
    }

    /// What a body makes of a statement's failure is of no account: nothing after it can have happened.
    @Test func noBodyGoesOnAfterAFailure() async throws {
        let database = try open()
        try await database.write(at: .everything) { try $0.execute("INSERT INTO t (id) VALUES (1)") }
        let error = await #expect(throws: StorageError.self) {
            try await database.write(at: .everything) { connection in
                try connection.execute("INSERT INTO t (id) VALUES (2)")
                _ = try? connection.execute("INSERT INTO t (id) VALUES (1)")
            }
        }
        guard case .constraint = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try await Self.ids(database) == [1])
        try await database.close()
    }

    /// A message quotes no value, which PostgreSQL's details do.
    @Test func errorsQuoteNoValues() async throws {
        let database = try open()
        try await database.write(at: .everything) { connection in
            try connection.execute("CREATE TABLE u (name TEXT PRIMARY KEY)")
            try connection.execute("INSERT INTO u (name) VALUES ($1)", ["canary"])
        }
        let error = await #expect(throws: StorageError.self) {
            try await database.write(at: .everything) { try $0.execute("INSERT INTO u (name) VALUES ($1)", ["canary"]) }
        }
        #expect("\(String(describing: error))".contains("u_pkey"))
        #expect(!"\(String(describing: error))".contains("canary"))
        try await database.close()
    }

    // MARK: Time

    @Test func aStatementThatTakesTooLongIsEnded() async throws {
        let database = try open(budget: WriteBudget(limit: 200_000))
        let turn = WriteTurn(payer: .account(1), route: .init(method: "POST", path: "/"))
        await #expect(throws: StorageError.overBudget) {
            try await WriteTurn.$current.withValue(turn) {
                try await database.write(at: .everything) { connection in
                    try connection.execute("INSERT INTO t (id) VALUES (1)")
                    _ = try connection.exists("SELECT 1 FROM (SELECT pg_sleep(20)) AS s")
                }
            }
        }
        // What has no turn takes as long as it takes.
        try await database.write(at: .everything) { connection in
            _ = try connection.exists("SELECT 1 FROM (SELECT pg_sleep(0.4)) AS s")
            try connection.execute("INSERT INTO t (id) VALUES (2)")
        }
        #expect(try await Self.ids(database) == [2])
        try await database.close()
    }

    // MARK: Lost connections

    @Test func aConnectionThatWasLostBetweenWritesIsOpenedAgain() async throws {
        let database = try open()
        let process = try await database.writerProcess()
        try server.end(process)
        try await database.write(at: .everything) { try $0.execute("INSERT INTO t (id) VALUES (1)") }
        #expect(try await database.writerProcess() != process)
        #expect(try await Self.ids(database) == [1])
        // Readers' too: all that are connected to this database but the writer's.
        try server.endAll(of: name)
        #expect(try await Self.ids(database) == [1])
        try await database.close()
    }

    /// It may be to another server, with another history; here it is the same one, as it was open.
    @Test func whatComesFirstComesFirstAfterANewConnection() async throws {
        let database = try open(migrations: Migration.all)
        let openings = Mutex<[String]>([])
        database.whenReopened { connection in
            let opening = try connection.storeOpening() ?? "none"
            openings.withLock { $0.append(opening) }
            try connection.execute("INSERT INTO settings (name, value) VALUES ('reopened', '1')")
        }
        let before = try await database.write(at: .everything) { try $0.storeOpening() }
        #expect(openings.withLock { $0 }.isEmpty)
        try server.end(try await database.writerProcess())
        let isThere = try await database.write(at: .everything) { connection in
            try connection.exists("SELECT 1 FROM settings WHERE name = 'reopened'")
        }
        #expect(isThere)
        #expect(openings.withLock { $0 } == [before ?? "none"])
        // Where it fails, nothing is written by that connection.
        try server.end(try await database.writerProcess())
        await #expect(throws: StorageError.self) {
            try await database.write(at: .everything) { try $0.execute("DELETE FROM settings WHERE name = 'reopened'") }
        }
        database.whenReopened { _ in }
        #expect(try await database.read { try $0.exists("SELECT 1 FROM settings WHERE name = 'reopened'") })
        try await database.close()
    }

    /// In the middle of a body, with other writes in the same transaction: all are run again, and announced once.
    @Test func aTransactionThatWasLostIsBegunAnew() async throws {
        let database = try open()
        let process = try await database.writerProcess()
        let announced = Mutex<[Announcement]>([])
        database.listen { all in announced.withLock { $0 += all } }
        let runs = RunCounter()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in Int64(1)...5 {
                group.addTask {
                    try await database.write(at: .everything) { connection in
                        try connection.execute("INSERT INTO t (id) VALUES ($1)", [.integer(id)])
                        connection.announce(.notifications(of: id))
                        guard id == 3 else { return }
                        runs.increment()
                        if runs.count == 1 { try server.end(process) }
                        try connection.execute("UPDATE t SET body = $1 WHERE id = 3", [.blob([1])])
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(runs.count == 2)
        #expect(try await Self.ids(database) == [1, 2, 3, 4, 5])
        let told = announced.withLock { $0 }
        #expect(told.count == 5)
        #expect(Set(told) == Set((Int64(1)...5).map { .notifications(of: $0) }))
        try await database.close()
    }

    /// Nobody knows then whether it is there: it is not tried again by itself.
    @Test func aCommitWhoseEndIsUnknownIsToldSo() async throws {
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
        let runs = Mutex(0)
        let error = await #expect(throws: StorageError.self) {
            try await database.write(at: .everything) { connection in
                runs.withLock { $0 += 1 }
                try connection.execute("INSERT INTO t (id) VALUES (13)")
            }
        }
        guard case .unavailable(let message) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(message.contains("not known"), "\(message)")
        #expect(runs.withLock { $0 } == 1)
        let (told, _) = ServerError.describing(StorageError.unavailable(message: message), requestID: "1")
        #expect(told.code == .serviceUnavailable)
        #expect(told.retryAfter > 0)
        try await database.write(at: .everything) { try $0.execute("INSERT INTO t (id) VALUES (14)") }
        #expect(try await Self.ids(database) == [14])
        try await database.close()
    }

    // MARK: Conflicts

    /// Fails with a state until a sequence, which no rollback takes back, has come so far.
    private func conflicts(_ state: String, until last: Int, _ database: PostgresDatabase) async throws {
        try await database.write(at: .everything) { connection in
            try connection.runScript(
                """
                CREATE SEQUENCE tries;
                CREATE FUNCTION conflict() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN
                IF nextval('tries') < \(last) THEN RAISE EXCEPTION 'in the way' USING ERRCODE = '\(state)'; END IF;
                RETURN NEW;
                END $$;
                CREATE TRIGGER conflicts BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION conflict();
                """)
        }
    }

    @Test(arguments: ["40001", "40P01"]) func aConflictIsTriedAgain(state: String) async throws {
        let database = try open()
        try await conflicts(state, until: 4, database)
        try await database.write(at: .everything) { try $0.execute("INSERT INTO t (id) VALUES (1)") }
        #expect(try await Self.ids(database) == [1])
        try await database.close()
    }

    @Test func aConflictThatStaysIsTold() async throws {
        let database = try open()
        try await conflicts("40001", until: 1_000, database)
        let error = await #expect(throws: StorageError.self) {
            try await database.write(at: .everything) { try $0.execute("INSERT INTO t (id) VALUES (1)") }
        }
        guard case .unavailable = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        let tries = try await database.read { connection in
            try connection.first("SELECT last_value FROM tries") { try $0.int64("last_value") }
        }
        #expect(tries == 8)
        #expect(try await Self.ids(database) == [])
        try await database.close()
    }
}
