import Foundation
import SealLab
import SealQuery
import SealStatements
import SealWire
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// A server's data goes from SQLite's file to PostgreSQL and back, with everything that clients rely on.
@Suite(.withPostgres, .timeLimit(.minutes(60))) struct StorageMoveTests {
    let folder = TemporaryFolder()
    let server: TestPostgres

    init() throws { server = try #require(TestPostgres.shared) }

    /// An empty database of the folder's, in the place of the one before.
    func emptyDatabase() throws -> DatabaseConfiguration {
        server.drop(of: folder.path)
        return DatabaseConfiguration(url: server.url(of: try server.database(of: folder.path, hasTables: false)))
    }

    var data: String { folder.file("data") }
    var file: String { folder.file("data/sealkit.sqlite") }
    var moved: String { file + ".moved" }
    var draft: String { file + ".moving" }
    var mark: String { folder.file("data/postgresql") }

    func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

    @discardableResult
    func move(
        _ direction: StorageMove.Direction, _ database: DatabaseConfiguration, secrets: String? = nil,
        mostPages: Int? = nil, progress: @escaping (StorageCopy.Phase, Int64, Int64) -> Void = { _, _, _ in }
    ) throws -> StorageMove.Outcome {
        try StorageMove(
            dataFolder: data, secretsFolder: secrets ?? folder.file("data.secrets"), database: database,
            mostPages: mostPages, progress: progress
        ).run(direction)
    }

    struct Known: Sendable {
        let shared: RestoredServerTests.Shared
        let token: Data
        let databaseToken: Data
        let request: Sealkit_V1_ModifyRecordsRequest
        let results: [Sealkit_V1_RecordResult]
    }

    /// A server's life: people, a shared zone, records that are found by their words, a public database, a
    /// subscription, notifications, an account that goes.
    static func live(_ server: RunningServer) async throws -> Known {
        let shared = try await RestoredServerTests.shared(server)
        let (anna, bert) = (shared.anna, shared.bert)
        try await bert.subscribe(.database(), in: "shared")
        _ = try await QueryTests.save(
            ["a": ["name": .string("Anna Maria")], "b": ["name": .string("Bert"), "ratio": .double(-0.5)]], by: anna,
            in: shared.zone)
        _ = try await anna.savePublic([PublicWrite("p", type: "Page"), PublicWrite("q", type: "Page")])
        let (request, _) = try anna.request([Write("once")], in: shared.zone)
        let results = try await anna.send(request, to: shared.zone)
        return Known(
            shared: shared, token: try await anna.changes(in: shared.zone).token,
            databaseToken: try await bert.zoneChanges(shared: true).token, request: request, results: results)
    }

    /// Goes on where `live` ended, also after another engine went on.
    static func goOn(_ known: Known, _ server: RunningServer, saving name: String, after earlier: Int) async throws {
        let (anna, bert) = (known.shared.anna.at(server), known.shared.bert.at(server))
        let zone = known.shared.zone
        // The session holds, and what came since the token is all that comes.
        #expect(try await anna.changes(in: zone, since: known.token).records.count == earlier)
        // An operation that is sent again is answered for what it did then.
        #expect(try await anna.send(known.request, to: zone) == known.results)
        #expect(try await anna.names("self CONTAINS 'maria'", in: zone) == ["a"])
        #expect(try await bert.names("self CONTAINS 'bert'", in: zone) == ["b"])
        let saved = try await bert.save([Write(name)], in: zone)
        #expect(saved.allSatisfy { $0.result.code == nil }, "\(saved)")
        #expect(try await anna.changes(in: zone, since: known.token).records.count == earlier + 1)
        #expect(try await bert.zoneChanges(known.databaseToken, shared: true).modifications.count == 1)
        // Words are still entered and taken out.
        _ = try await QueryTests.save(["w\(earlier)": ["name": .string("Wanda")]], by: anna, in: zone)
        #expect(try await anna.names("self CONTAINS 'wanda'", in: zone).contains("w\(earlier)"))
        _ = try await anna.savePublic([PublicWrite("s\(earlier)", type: "Page")])
    }

    // MARK: There and back

    @Test func clientsGoOnAfterAMoveThereAndOneBack() async throws {
        let kept = RestoredServerTests.Box<Known>()
        try await RunningServer.with(folder: folder, hasFile: true) { kept.value = try await Self.live($0) }
        let database = try emptyDatabase()
        let there = try move(.toPostgreSQL, database)
        #expect(!isThere(file) && isThere(moved) && isThere(mark))
        #expect(there.tables.first { $0.table == "record" }?.rows == 5)
        try await RunningServer.with(folder: folder, database: database) {
            try await Self.goOn(try kept.held(), $0, saving: "on-postgres", after: 0)
        }
        let back = try move(.toSQLite, database)
        #expect(isThere(file) && !isThere(mark) && !isThere(draft))
        #expect(back.digest != there.digest)
        try await RunningServer.with(folder: folder, hasFile: true) {
            try await Self.goOn(try kept.held(), $0, saving: "on-sqlite", after: 2)
        }
        // SQLite's own look at the file, and ours at what is in it.
        let check = try DataCheck(dataFolder: data)
        #expect(try check.run().map(\.what) == [])
        check.close()
        // Neither the database that was moved away nor one of another name is taken for the folder's.
        await #expect(throws: ConfigurationError.databaseInFolder(path: file)) {
            try await RunningServer.with(folder: folder, database: database) { _ in }
        }
        let other = TemporaryFolder()
        await #expect {
            try await RunningServer.with(folder: other, database: database) { _ in }
        } throws: { error in
            if case ConfigurationError.databaseMoved(_, let place) = error { place == file } else { false }
        }
    }

    @Test func twiceThereAndBackIsTheSame() async throws {
        try await RunningServer.with(folder: folder, hasFile: true) { server in
            _ = try await Self.live(server)
            // Positions that were given out and are gone: they are not given out again.
            try await server.services.database.write(at: .everything) { connection in
                try connection.execute(
                    """
                    INSERT INTO public_change (position, zone_owner, origin, changed, reason, record, record_type, creator, author,
                        created, modified, fields, told_owner, told_id) VALUES (4711, -1, $1, 1, 1, '', '', '', '', 0, 0, $1, 0, '')
                    """, [.blob([])])
                try connection.execute("DELETE FROM public_change WHERE position = 4711")
            }
        }
        var digests: Set<String> = []
        for _ in 0..<2 {
            let database = try emptyDatabase()
            digests.insert(try move(.toPostgreSQL, database).digest)
            let hold = try PostgresHold(try database.address())
            #expect(try hold.read { try $0.lastNumber(of: "public_change", "position") } == 4711)
            hold.close()
            digests.insert(try move(.toSQLite, database).digest)
            let last = try SQLiteFile(reading: file).read { try $0.lastNumber(of: "public_change", "position") }
            #expect(last == 4711)
            try FileManager.default.removeItem(atPath: moved)
        }
        #expect(digests.count == 1)
    }

    /// A new table is either copied, or this says why not: `StorageCopy` goes by the list of all.
    @Test func everyTableGoesAlongButTwo() async throws {
        try await RunningServer.with(folder: folder, hasFile: true) { _ in }
        let names = try move(.toPostgreSQL, try emptyDatabase()).tables.map(\.table)
        #expect(Set(Tables.all.map(\.name)).subtracting(names) == ["migrations", "search_term"])
        #expect(Set(names).isSubset(of: Tables.all.map(\.name)))
    }

    /// The database says that it was moved away, and has all that the file has.
    @Test func aMoveBackToTheSameDatabaseIsServed() async throws {
        try await RunningServer.with(folder: folder, hasFile: true) { _ in }
        let database = try emptyDatabase()
        try move(.toPostgreSQL, database)
        try FileManager.default.removeItem(atPath: moved)
        try move(.toSQLite, database)
        #expect(try move(.toPostgreSQL, database).wasCopied)
        try await RunningServer.with(folder: folder, database: database) { _ in }
    }

    /// Which SQLite does not hold as they are.
    @Test func minusZeroAndNoNumberDoNotStopAMove() async throws {
        let database = try emptyDatabase()
        try await RunningServer.with(folder: folder, database: database) { server in
            try await server.services.database.write(at: .everything) { connection in
                _ = try connection.execute(
                    "INSERT INTO alert_change (time, name, fired, value, threshold) VALUES (1, 'a', 0, $1, $2)",
                    [.real(-0.0), .real(.nan)])
            }
        }
        let rows = try move(.toSQLite, database).tables.first { $0.table == "alert_change" }?.rows
        #expect(rows == 1)
    }

    // MARK: What is refused

    @Test func aRoleThatMayMakeNothingIsToldSo() async throws {
        try await RunningServer.with(folder: folder, hasFile: true) { _ in }
        let database = try emptyDatabase()
        let role = try server.database(of: folder.path, hasTables: false) + "_guest"
        try server.run("CREATE ROLE \(role) LOGIN")
        let url = database.url.replacing("//postgres@", with: "//\(role)@")
        let message = refusal { try move(.toPostgreSQL, DatabaseConfiguration(url: url)) }
        try server.run("DROP ROLE \(role)")
        #expect(message.contains("permission denied") && message.contains("createdb --owner"), "\(message)")
        #expect(isThere(file) && !isThere(mark))
    }

    private func refusal(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "none"
        } catch { return "\(error)" }
    }

    private func tables(of database: DatabaseConfiguration) throws -> [String] {
        let hold = try PostgresHold(try database.address())
        defer { hold.close() }
        return try hold.read { try $0.tables() }
    }

    @Test func aTargetThatIsNotEmptyStaysAsItIs() async throws {
        try await RunningServer.with(folder: folder, hasFile: true) { _ in }
        let database = try emptyDatabase()
        let hold = try PostgresHold(try database.address())
        try hold.write { try $0.runScript("CREATE TABLE theirs (id BIGINT)") }
        hold.close()
        #expect(refusal { try move(.toPostgreSQL, database) }.contains("is not empty"))
        #expect(try tables(of: database) == ["theirs"])
        // Another server's.
        let other = try emptyDatabase()
        try await RunningServer.with(folder: TemporaryFolder(), database: other) { _ in }
        #expect(refusal { try move(.toPostgreSQL, other) }.contains("is not empty"))
        #expect(isThere(file) && !isThere(mark))
        try await RunningServer.with(folder: folder, hasFile: true) { _ in }
    }

    @Test func whatDoesNotGoTogetherIsRefusedByName() async throws {
        try await RunningServer.with(folder: folder, hasFile: true) { _ in
            // A server runs on the folder.
            let database = try emptyDatabase()
            #expect(refusal { try move(.toPostgreSQL, database) }.contains("is in use by process"))
        }
        let database = try emptyDatabase()
        // A server runs on the target.
        try await RunningServer.with(folder: TemporaryFolder(), database: database) { _ in
            #expect(refusal { try move(.toPostgreSQL, database) }.contains("A server runs on"))
        }
        let empty = try emptyDatabase()
        // Other secrets.
        let others = folder.file("others")
        try PrivateFiles.createFolder(at: others)
        _ = try ServerSecrets(folder: others)
        let message = refusal { try move(.toPostgreSQL, empty, secrets: others) }
        #expect(message.contains("written with other secrets: address.key, registration.key"), "\(message)")
        // Nothing to be moved back.
        #expect(refusal { try move(.toSQLite, empty) }.contains("has no database of PostgreSQL"))
        // Another version's.
        let queue = try SQLiteDatabase(path: file, migrations: Migration.all)
        try await queue.write(at: .everything) {
            try $0.execute("INSERT INTO migrations (position, name) VALUES (99, '999-later')")
        }
        try await queue.close()
        #expect(refusal { try move(.toPostgreSQL, empty) }.contains("999-later"))
        #expect(try tables(of: empty) == [])
        #expect(isThere(file) && !isThere(mark))
    }

    @Test func anOlderVersionIsRefused() async throws {
        try PrivateFiles.createFolder(at: data)
        try PrivateFiles.createFolder(at: folder.file("data.secrets"))
        _ = try ServerSecrets(folder: folder.file("data.secrets"))
        try await SQLiteDatabase(path: file, migrations: Array(Migration.all.dropLast())).close()
        let database = try emptyDatabase()
        #expect(refusal { try move(.toPostgreSQL, database) }.contains("made by an older version"))
        #expect(try tables(of: database) == [])
    }

    @Test func anotherCollationIsRefused() async throws {
        try await RunningServer.with(folder: folder, hasFile: true) { _ in }
        let name = try server.database(of: folder.path, hasTables: false) + "_latin"
        try server.run("CREATE DATABASE \(name) TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8'")
        let message = refusal { try move(.toPostgreSQL, DatabaseConfiguration(url: server.url(of: name))) }
        try server.run("DROP DATABASE \(name)")
        #expect(message.contains("collation C.UTF-8") && message.contains("createdb"), "\(message)")
    }

    @Test func aTextThatPostgresDoesNotHoldIsToldByItsTable() async throws {
        try await RunningServer.with(folder: folder, hasFile: true) { _ in }
        let queue = try SQLiteDatabase(path: file, migrations: Migration.all)
        try await queue.write(at: .everything) {
            try $0.execute("INSERT INTO spent_token (token_id, expires) VALUES ('a' || char(0), 1)")
        }
        try await queue.close()
        let database = try emptyDatabase()
        #expect(
            refusal { try move(.toPostgreSQL, database) }.contains("A text in spent_token has the character U+0000"))
        #expect(try tables(of: database) == [])
        // Of another kind than its column.
        let again = try SQLiteDatabase(path: file, migrations: Migration.all)
        try await again.write(at: .everything) {
            try $0.execute("UPDATE spent_token SET token_id = 'b', expires = 'never'")
        }
        try await again.close()
        #expect(refusal { try move(.toPostgreSQL, database) }.contains("A row of spent_token does not hold"))
        #expect(try tables(of: database) == [])
    }

    // MARK: What fails in the middle

    @Test func aFullDiskLeavesNothingBehind() async throws {
        try await RunningServer.with(folder: folder, hasFile: true) { _ = try await Self.live($0) }
        let database = try emptyDatabase()
        let there = try move(.toPostgreSQL, database)
        for pages in [3, 60, 120] {
            #expect(throws: StorageError.full) { try move(.toSQLite, database, mostPages: pages) }
            #expect(try FileManager.default.contentsOfDirectory(atPath: data).filter { $0.contains("moving") } == [])
            #expect(!isThere(file) && isThere(mark))
        }
        #expect(try move(.toSQLite, database).digest == there.digest)
    }

    /// More than PostgreSQL's disk has room for: nothing of it is there, and everything once there is room.
    @Test func aFullDiskAtPostgresLeavesNothingBehind() async throws {
        try await RunningServer.with(folder: folder, hasFile: true) { _ = try await Self.live($0) }
        let source = try SQLiteDatabase(path: file, migrations: Migration.all)
        try await source.write(at: .everything) { connection in
            // What does not compress.
            for id in Int64(1)...300 {
                let bytes = (0..<100_000).map { _ in UInt8.random(in: 0...255) }
                try connection.execute(
                    "INSERT INTO outgoing_message (id, kind, sealed, attempts, expires) VALUES ($1, '', $2, 0, 1)",
                    [.blob(withUnsafeBytes(of: id) { Array($0) }), .blob(bytes)])
            }
        }
        try await source.close()
        let postgres = try await PostgresProcess(smallDisk: 40)
        let admin = TestPostgres(postgres.url, dataFolder: nil)
        try admin.run("CREATE TABLESPACE small LOCATION '\(postgres.smallFolder)'")
        try admin.run("CREATE DATABASE notes TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C' TABLESPACE small")
        let small = DatabaseConfiguration(url: admin.url(of: "notes"))
        do {
            try move(.toPostgreSQL, small)
            Issue.record("there is more room than there was to be")
        } catch StorageError.full {} catch StorageError.unavailable {
            // Where its log is what had no room it ends by itself, and does not start again without some.
            try await postgres.makeRoom()
            try await postgres.restart(.immediate)
        }
        #expect(isThere(file) && !isThere(moved) && !isThere(mark))
        try await waitUntil("the database is there again") {
            do { return try tables(of: small) == [] } catch StorageError.unavailable { return false }
        }
        await postgres.stop()
        try move(.toPostgreSQL, try emptyDatabase())
    }

    /// Wherever the connection is cut, the target is as it was before, or whole; the same again moves everything.
    @Test(arguments: CuttingProxy.Direction.allCases) func aLostConnectionLeavesNothingBehind(
        _ direction: CuttingProxy.Direction
    ) async throws {
        try await RunningServer.with(folder: folder, hasFile: true) { _ = try await Self.live($0) }
        let proxy = try await CuttingProxy(to: server.socket)
        func proxied(_ database: DatabaseConfiguration) -> DatabaseConfiguration {
            DatabaseConfiguration(url: database.url.replacing(server.socket, with: proxy.host))
        }
        var database = try emptyDatabase()
        proxy.arm(nil)
        let digest = try move(.toPostgreSQL, proxied(database)).digest
        let length = proxy.passed(direction)
        #expect(length > 10_000)
        try FileManager.default.moveItem(atPath: moved, toPath: file)
        try FileManager.default.removeItem(atPath: mark)
        for part in 1...12 {
            database = try emptyDatabase()
            proxy.arm(.init(direction: direction, bytes: length * part / 13, isSilent: false))
            #expect(throws: StorageError.self) { try move(.toPostgreSQL, proxied(database)) }
            #expect(proxy.hasCut)
            proxy.arm(nil)
            #expect(isThere(file) && !isThere(moved) && !isThere(mark))
            #expect(try tables(of: database) == [], "\(part)")
        }
        proxy.arm(nil)
        #expect(try move(.toPostgreSQL, proxied(database)).digest == digest)
        // Back, by a source that is lost.
        for part in 1...6 {
            proxy.arm(.init(direction: .fromServer, bytes: 2_000 * part, isSilent: false))
            #expect(throws: StorageError.self) { try move(.toSQLite, proxied(database)) }
            #expect(!isThere(file) && !isThere(draft) && isThere(mark))
        }
        proxy.arm(nil)
        #expect(try move(.toSQLite, proxied(database)).digest == digest)
        try await proxy.stop()
    }

    /// What a process that was killed had left at each place between the target's end and the last mark.
    @Test func whatWasLeftInTheMiddleIsFinished() async throws {
        try await RunningServer.with(folder: folder, hasFile: true) { _ = try await Self.live($0) }
        let database = try emptyDatabase()
        let first = try move(.toPostgreSQL, database)
        let marked = try Data(contentsOf: URL(filePath: mark))
        // Before the file had its other name, and before the mark was there.
        for hasMark in [true, false] {
            try FileManager.default.moveItem(atPath: moved, toPath: file)
            if !hasMark { try FileManager.default.removeItem(atPath: mark) }
            if hasMark {
                // No server starts on either.
                await #expect(throws: ConfigurationError.self) {
                    try await RunningServer.with(folder: folder, hasFile: true) { _ in }
                }
                await #expect(throws: ConfigurationError.self) {
                    try await RunningServer.with(folder: folder, database: database) { _ in }
                }
            }
            let again = try move(.toPostgreSQL, database)
            #expect(again.wasCopied && again.digest == first.digest)
            #expect(!isThere(file) && isThere(moved) && isThere(mark))
        }
        try FileManager.default.removeItem(atPath: moved)
        // A draft of one that was killed, with a journal.
        for suffix in ["", "-journal"] { try Data("half".utf8).write(to: URL(filePath: draft + suffix)) }
        #expect(try move(.toSQLite, database).digest == first.digest)
        #expect(!isThere(draft) && !isThere(draft + "-journal"))
        // Before the folder's mark was gone, and before the database had its own.
        for isMarked in [true, false] {
            try marked.write(to: URL(filePath: mark))
            if !isMarked {
                let hold = try PostgresHold(try database.address())
                try hold.write { _ = try $0.execute("DELETE FROM settings WHERE name = 'moved'") }
                hold.close()
            }
            let again = try move(.toSQLite, database)
            #expect(again.wasCopied && again.digest == first.digest)
            #expect(isThere(file) && !isThere(mark))
        }
        // What a server has gone on with is no copy any more.
        try await RunningServer.with(folder: folder, hasFile: true) { _ in }
        #expect(refusal { try move(.toPostgreSQL, database) }.contains("is not empty"))
    }

    @Test func progressEndsWithAllRows() async throws {
        try await RunningServer.with(folder: folder, hasFile: true) { _ = try await Self.live($0) }
        let told = Mutex<[StorageCopy.Phase: Int64]>([:])
        let outcome = try move(.toPostgreSQL, try emptyDatabase()) { phase, done, total in
            told.withLock { $0[phase] = done == total ? done : -1 }
        }
        let rows = outcome.tables.reduce(0) { $0 + $1.rows }
        let last = told.withLock { $0 }
        #expect(last == [.copying: rows, .comparing: rows])
    }
}
