import Dispatch
import Foundation
import HTTPTypes
import SealSystem
import SealWire
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

@Suite(.timeLimit(.minutes(60))) struct StorageTests {
    let folder = TemporaryFolder()

    static let table = [Migration(name: "001-t", sql: "CREATE TABLE t (id BIGINT PRIMARY KEY, body BLOB)")]

    func open() throws -> SQLiteDatabase { try SQLiteDatabase(path: folder.file("db.sqlite"), migrations: Self.table) }

    /// `--data d`: where a data folder goes has a parent, however short its name is.
    @Test func foldersOfOneLetterAreFolders() throws {
        let here = FileManager.default.currentDirectoryPath.absolutePath
        let found = ["d", "a/b", "/d", "/", "a/b/c"].map(\.absolutePath.folderAbove)
        #expect(found == [here, here + "/a", "/", "/", here + "/a/b"])
        #expect(throws: Never.self) { try FreeSpace.requireForNew("d") }
    }

    @Test func theWriterIsDurable() async throws {
        let database = try open()
        #expect(try await database.writerPragma("synchronous") == "2")
        #expect(try await database.writerPragma("journal_mode") == "wal")
        #expect(try await database.writerPragma("foreign_keys") == "1")
        for suffix in ["", "-wal", "-shm"] {
            #expect(FileStatus(path: folder.file("db.sqlite" + suffix))?.mode == 0o600)
        }
        try await database.close()
        await #expect(throws: StorageError.closed) {
            try await database.write(at: .everything) { try $0.execute("DELETE FROM t") }
        }
        await #expect(throws: StorageError.closed) { try await database.read { try $0.exists("SELECT 1 FROM t") } }
    }

    /// As many reads as Swift's cooperative pool has threads wait for a task, which only that pool runs.
    @Test func readsLeaveTheCooperativePool() async throws {
        let database = try open()
        let (begun, end) = (RunCounter(), DispatchSemaphore(value: 0))
        let count = ProcessInfo.processInfo.activeProcessorCount
        let ended = try await withThrowingTaskGroup(of: Bool.self) { group -> [Bool] in
            for _ in 0..<count {
                group.addTask {
                    try await database.read { _ in
                        begun.increment()
                        return end.wait(timeout: .now() + 10) == .success
                    }
                }
            }
            group.addTask {
                // Begun only once all reads are under way, or never, where they hold all threads.
                while begun.count < count { try await Task.sleep(for: .milliseconds(1)) }
                for _ in 0..<count { end.signal() }
                return true
            }
            return try await group.reduce(into: [Bool]()) { $0.append($1) }
        }
        #expect(ended == Array(repeating: true, count: count + 1))
        try await database.close()
    }

    /// What is asked for while all readers are at work waits, and is refused where the database is closed meanwhile.
    @Test func readsThatWaitAreAnsweredOrEndWithTheDatabase() async throws {
        let database = try open()
        try await database.write(at: .everything) { try $0.execute("INSERT INTO t (id) VALUES (7)") }
        let end = DispatchSemaphore(value: 0)
        let most = max(4, ProcessInfo.processInfo.activeProcessorCount * 2)
        let busy = (0..<most).map { _ in
            Task { try await database.read { _ in end.wait(timeout: .now() + 10) == .success } }
        }
        while database.busyReaders < most { try await Task.sleep(for: .milliseconds(1)) }
        let waiting = (0..<2 * most).map { _ in
            Task { try await database.read { try $0.first("SELECT id FROM t") { try $0.int64("id") } } }
        }
        while database.waitingReads < 2 * most { try await Task.sleep(for: .milliseconds(1)) }
        for _ in 0..<most { end.signal() }
        for read in busy { #expect(try await read.value) }
        for read in waiting { #expect(try await read.value == 7) }

        let again = (0..<most).map { _ in
            Task { try await database.read { _ in end.wait(timeout: .now() + 10) == .success } }
        }
        while database.busyReaders < most { try await Task.sleep(for: .milliseconds(1)) }
        let late = Task { try await database.read { try $0.exists("SELECT 1 FROM t") } }
        while database.waitingReads < 1 { try await Task.sleep(for: .milliseconds(1)) }
        try await database.close()
        await #expect(throws: StorageError.closed) { try await late.value }
        for _ in 0..<most { end.signal() }
        for read in again { #expect(try await read.value) }
    }

    /// Whoever waits for a reader that cannot be made is told so, as whoever it was to be made for is.
    @Test func readsThatGetNoConnectionAreAnswered() async throws {
        let database = try open()
        for suffix in ["", "-wal", "-shm"] {
            try FileManager.default.removeItem(atPath: folder.file("db.sqlite" + suffix))
        }
        let reads = (0..<200).map { _ in Task { try await database.read { try $0.exists("SELECT 1 FROM t") } } }
        for read in reads { await #expect(throws: (any Error).self) { try await read.value } }
        #expect(database.busyReaders == 0)
        #expect(database.waitingReads == 0)
        try? await database.close()
    }

    /// However many texts of statements there are, those that run meanwhile go on.
    @Test func aStatementGoesOnWhileOthersAreForgotten() async throws {
        let database = try open()
        try await database.write(at: .everything) { try $0.execute("INSERT INTO t (id) VALUES (1), (2), (3)") }
        let seen = try await database.read { connection in
            try connection.rows("SELECT id FROM t ORDER BY id") { row in
                let id = try row.int64("id")
                for number in 0..<1_500 {
                    let found = try connection.first("SELECT \(id * 1_500 + Int64(number)) AS n") { try $0.int64("n") }
                    guard found == id * 1_500 + Int64(number) else { return Int64(0) }
                }
                return id
            }
        }
        #expect(seen == [1, 2, 3])
        try await database.close()
    }

    @Test func aFullDiskLeavesNothingHalfWritten() async throws {
        let database = try open()
        try await database.write(at: .everything) { try $0.execute("INSERT INTO t (id) VALUES (0)") }
        try await database.limitPages(to: 40)
        await #expect(throws: StorageError.full) {
            try await database.write(at: .everything) { connection in
                for id in 1...100 {
                    try connection.execute(
                        "INSERT INTO t (id, body) VALUES ($1, $2)",
                        [.integer(Int64(id)), .blob([UInt8](repeating: 7, count: 8000))])
                }
            }
        }
        #expect(try await database.read { try $0.rows("SELECT id FROM t") { try $0.int64("id") } } == [0])
        // It still serves, and serves again once there is room.
        try await database.limitPages(to: 100_000)
        try await database.write(at: .everything) {
            try $0.execute("INSERT INTO t (id, body) VALUES (1, $1)", [.blob(.init(repeating: 7, count: 80_000))])
        }
        let (error, _) = ServerError.describing(StorageError.full, requestID: "1")
        #expect(error.code == .storageFull)
        #expect(error.status.code == 507)
    }

    @Test func migrationsRunOnceAndNewerDatabasesAreRefused() async throws {
        let path = folder.file("db.sqlite")
        let longer =
            Self.table + [Migration(name: "002-u", sql: "CREATE TABLE u (x TEXT); INSERT INTO u VALUES ('a');")]
        for migrations in [Self.table, longer, longer] {
            try await SQLiteDatabase(path: path, migrations: migrations).close()
        }
        let database = try SQLiteDatabase(path: path, migrations: longer)
        #expect(try await database.read { try $0.rows("SELECT x FROM u") { try $0.text("x") } } == ["a"])
        try await database.close()
        #expect(throws: StorageError.unknownSchema(file: path, migration: "002-u")) {
            try SQLiteDatabase(path: path, migrations: Self.table)
        }
        #expect(throws: StorageError.self) {
            try SQLiteDatabase(
                path: folder.file("bad.sqlite"), migrations: [Migration(name: "x", sql: "CREATE TABLE a (b); NONSENSE")]
            )
        }
        // The failed step left nothing.
        let repaired = try SQLiteDatabase(path: folder.file("bad.sqlite"), migrations: Self.table)
        #expect(try await repaired.read { try $0.exists("SELECT 1 FROM sqlite_master WHERE name = 'a'") } == false)
    }

    /// Each step of the schema's history takes up a database that ends with the one before.
    @Test func databasesOfEachEarlierStepGoOn() async throws {
        for steps in 1..<Migration.all.count {
            let path = folder.file("after-\(steps).sqlite")
            try await SQLiteDatabase(path: path, migrations: Array(Migration.all.prefix(steps))).close()
            let database = try SQLiteDatabase(path: path, migrations: Migration.all)
            let schema = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name"
            let grown = try await database.read { try $0.rows(schema) { try $0.text("name") + ": " + $0.text("sql") } }
            let new = try SQLiteDatabase(path: folder.file("new-\(steps).sqlite"), migrations: Migration.all)
            #expect(try await new.read { try $0.rows(schema) { try $0.text("name") + ": " + $0.text("sql") } } == grown)
            #expect(grown.contains { $0.hasPrefix("record_feed_shared: ") })
            for database in [database, new] { try await database.close() }
        }
    }

    /// A table that is made with another text is another table, whatever the steps are called.
    @Test func aDatabaseOfAnotherBuildIsRefusedByName() async throws {
        let path = folder.file("build.sqlite")
        let (one, other) = (
            Migration(named: "001-baseline", sql: "CREATE TABLE t (id BIGINT);"),
            Migration(named: "001-baseline", sql: "CREATE TABLE t (id TEXT);")
        )
        for _ in 0..<2 { try await SQLiteDatabase(path: path, migrations: [one]).close() }
        #expect(one.name != other.name)
        #expect(one.name.hasPrefix("001-baseline-"))
        #expect(throws: StorageError.unknownSchema(file: path, migration: one.name)) {
            try SQLiteDatabase(path: path, migrations: [other])
        }
        // As the builds before called theirs.
        let former = folder.file("former.sqlite")
        try await SQLiteDatabase(path: former, migrations: [Migration(name: "001-baseline", sql: one.sql)]).close()
        #expect(throws: StorageError.unknownSchema(file: former, migration: "001-baseline")) {
            try SQLiteDatabase(path: former, migrations: Migration.all)
        }
    }

    @Test func damageIsAnError() async throws {
        let path = folder.file("damaged.sqlite")
        try Data(repeating: 0x41, count: 20_000).write(to: URL(fileURLWithPath: path))
        #expect(throws: StorageError.self) { try SQLiteDatabase(path: path, migrations: Migration.all) }
    }

    @Test func oneServerADataFolder() throws {
        let first = try DataFolderLock(folder: folder.path)
        #expect(throws: DataFolderInUse(folder: folder.path, processID: getpid())) {
            try DataFolderLock(folder: folder.path)
        }
        first.release()
        try DataFolderLock(folder: folder.path).release()
    }

    /// A process that is started at that moment has copies of all files that are open, until it runs its program.
    @Test func aLockIsLetGoWhoeverElseHasTheFile() throws {
        let lock = try DataFolderLock(folder: folder.path)
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
        let path = folder.file("lock")
        let copies = open.filter { descriptor in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")) == path
        }.map { dup($0) }
        defer { for copy in copies { close(copy) } }
        #expect(copies.count == 1)
        lock.release()
        try DataFolderLock(folder: folder.path).release()
    }

    @Test(.enabled(if: ProcessInfo.processInfo.environment["SEALKIT_MEASURE"] != nil))
    func measure() async throws {
        let database = try open()
        for writers in [1, 16, 128] {
            let clock = ContinuousClock()
            let count = 2000
            let time = try await clock.measure {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for writer in 0..<writers {
                        group.addTask {
                            for index in 0..<(count / writers) {
                                let id = Int64(writers * 1_000_000 + writer * 10_000 + index)
                                try await database.write(at: .everything) {
                                    try $0.execute(
                                        "INSERT INTO t (id, body) VALUES ($1, $2)",
                                        [.integer(id), .blob(.init(repeating: 1, count: 500))])
                                }
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            print("MEASURE commits writers=\(writers)", Double(count) / (time / .seconds(1)), "a second")
        }
        let time = try await ContinuousClock().measure {
            try await database.write(at: .everything) { connection in
                for id in Int64(0)..<100_000 {
                    try connection.execute(
                        "INSERT INTO t (id, body) VALUES ($1, $2)",
                        [.integer(-id - 1), .blob(.init(repeating: 1, count: 500))])
                }
            }
        }
        print("MEASURE rows in one transaction", 100_000 / (time / .seconds(1)), "a second")
        let reads = try await ContinuousClock().measure {
            for id in Int64(0)..<10_000 {
                _ = try await database.read {
                    try $0.first("SELECT body FROM t WHERE id = $1", [.integer(-id - 1)]) { try $0.bytes("body") }
                }
            }
        }
        print("MEASURE serial reads", 10_000 / (reads / .seconds(1)), "a second")
    }
}
