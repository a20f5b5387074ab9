import Foundation
import SealStatements
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// A server that is pointed at something else's database, or another server's, refuses it before it writes anything.
@Suite(.timeLimit(.minutes(60))) struct AdmissionTests {
    let folder = TemporaryFolder()

    private var file: String { folder.file("data/sealkit.sqlite") }

    private func start(_ database: DatabaseConfiguration? = nil) async -> String {
        do {
            try await RunningServer.with(folder: folder, database: database, hasFile: true) { _ in }
            return "started"
        } catch { return "\(error)" }
    }

    // MARK: SQLite

    private func write(_ script: String) async throws {
        try PrivateFiles.createFolder(at: folder.file("data"))
        let other = try SQLiteFile(making: file)
        try other.write { try $0.runScript(script) }
        other.close()
    }

    @Test(arguments: [
        "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)",
        "CREATE TABLE migrations (id INTEGER PRIMARY KEY, migration TEXT, batch INTEGER); CREATE TABLE users (id BIGINT)",
        "CREATE TABLE migrations (position BIGINT, name TEXT); CREATE TABLE users (id BIGINT)",
    ]) func anotherProgramsFileStaysAsItIs(script: String) async throws {
        try await write(script)
        let before = try Data(contentsOf: URL(filePath: file))
        let message = await start()
        #expect(message.contains("has something else in it than a server's data: the table users"), "\(message)")
        #expect(try Data(contentsOf: URL(filePath: file)) == before)
        #expect(!FileManager.default.fileExists(atPath: file + "-wal"))
    }

    @Test func aNewerVersionsFileStaysAsItIs() async throws {
        #expect(await start() == "started")
        let database = try SQLiteDatabase(path: file, migrations: Migration.all)
        try await database.write(at: .everything) {
            try $0.execute("INSERT INTO migrations (position, name) VALUES (99, '999-later')")
        }
        try await database.close()
        let before = try Data(contentsOf: URL(filePath: file))
        #expect(await start().contains("999-later"))
        #expect(try Data(contentsOf: URL(filePath: file)) == before)
    }

    // MARK: A transaction that was cut short

    private struct CutShort: Error {}

    /// Leaves the file as a process does that is killed while it writes without a write-ahead log: some of its
    /// transaction is in the file, and what was there before in the journal.
    /// - Parameter insert: with a text as its parameter.
    private func cutShort(_ insert: String, making: (any SQLConnection) throws -> Void) throws {
        let whole = folder.file("whole.sqlite")
        let database = try SQLiteFile(making: whole)
        defer { database.close() }
        try database.write(making)
        try PrivateFiles.createFolder(at: folder.file("data"))
        #expect(throws: CutShort.self) {
            try database.write { connection in
                // What does not fit into these pages goes to the file before the transaction ends.
                try connection.execute("PRAGMA cache_size = 5")
                for number in 0..<500 {
                    try connection.execute(insert, [.text("\(number)" + String(repeating: "x", count: 1_000))])
                }
                for suffix in ["", "-journal"] {
                    try FileManager.default.copyItem(atPath: whole + suffix, toPath: file + suffix)
                }
                throw CutShort()
            }
        }
        #expect(throws: StorageError.unsettled) { try SQLiteFile(reading: file) }
    }

    private func count(_ table: String) throws -> Int64? {
        let file = try SQLiteFile(reading: file)
        defer { file.close() }
        return try file.read { try $0.first("SELECT COUNT(*) AS rows FROM \(table)") { try $0.int64("rows") } }
    }

    @Test func aServerTakesBackWhatWasCutShortAndStarts() async throws {
        try cutShort("INSERT INTO spent_token (token_id, expires) VALUES ($1, 4102444800000000)") {
            try Migrator(migrations: Migration.all).migrate($0, file: "whole")
        }
        #expect(await start() == "started")
        #expect(try count("spent_token") == 0)
    }

    @Test func anotherProgramsFileIsToldAfterWhatWasCutShort() async throws {
        try cutShort("INSERT INTO users (name) VALUES ($1)") {
            try $0.runScript("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)")
        }
        #expect(await start().contains("has something else in it than a server's data: the table users"))
        #expect(try count("users") == 0)
        #expect(!FileManager.default.fileExists(atPath: file + "-wal"))
    }

    // MARK: Secrets

    @Test func otherSecretsAreRefused() async throws {
        #expect(await start() == "started")
        let (secrets, kept) = (folder.file("data.secrets"), folder.file("kept"))
        try FileManager.default.copyItem(atPath: secrets, toPath: kept)
        try PrivateFiles.remove(secrets)
        let message = await start()
        #expect(message.contains("was written with other secrets: address.key, registration.key differs"), "\(message)")
        // What is made there would be copied as the server's.
        #expect(!FileManager.default.fileExists(atPath: secrets))
        let file = try SQLiteFile(reading: file)
        #expect(try file.read { try $0.rows("SELECT number FROM server_run") { try $0.int64("number") } }.count == 1)
        file.close()
        // One of them alone.
        try PrivateFiles.remove(secrets)
        try FileManager.default.copyItem(atPath: kept, toPath: secrets)
        try PrivateFiles.remove(secrets + "/registration.key")
        #expect(await start().contains("other secrets: registration.key differs"))
        // Keys that rotate are the folder's own affair.
        try PrivateFiles.remove(secrets)
        try FileManager.default.copyItem(atPath: kept, toPath: secrets)
        for name in ["token-keys", "webhook-keys", "operator.token", "management.token"] {
            try PrivateFiles.remove(secrets + "/" + name)
        }
        #expect(await start() == "started")
    }

    /// Whoever may write there may put an operator's token of their own in the place of the server's.
    @Test(arguments: ["", "/token-keys", "/webhook-keys", "/console-keys"])
    func secretsThatOthersCanReplaceAreRefused(name: String) throws {
        let secrets = folder.file("data.secrets")
        try PrivateFiles.createFolder(at: secrets + "/console-keys")
        _ = try ServerSecrets(folder: secrets)
        for mode: mode_t in [0o777, 0o720, 0o1777] {
            chmod(secrets + name, mode)
            #expect(throws: SecretFileError.replaceableByOthers(path: secrets + name)) {
                try ServerSecrets(folder: secrets)
            }
        }
        chmod(secrets + name, 0o755)
        #expect(throws: Never.self) { try ServerSecrets(folder: secrets) }
    }

    /// What an operator does who has lost the secrets for good, as the message says.
    @Test func lostSecretsCanBeGivenUp() async throws {
        #expect(await start() == "started")
        try PrivateFiles.remove(folder.file("data.secrets"))
        #expect(await start().contains("out of the table settings"))
        let database = try SQLiteDatabase(path: file, migrations: Migration.all)
        try await database.write(at: .everything) {
            try $0.execute("DELETE FROM settings WHERE name IN ('secret address.key', 'secret registration.key')")
        }
        try await database.close()
        #expect(await start() == "started")
        #expect(await start() == "started")
    }

    // MARK: PostgreSQL

    private func tables(of database: DatabaseConfiguration) throws -> [String] {
        let hold = try PostgresHold(try database.address())
        defer { hold.close() }
        return try hold.read { try $0.tables() }
    }

    @Test(
        .withPostgres,
        arguments: [
            "CREATE TABLE users (id BIGINT)",
            "CREATE TABLE migrations (id BIGINT, migration TEXT, batch BIGINT); CREATE TABLE users (id BIGINT)",
            "CREATE SCHEMA theirs; CREATE TABLE theirs.users (id BIGINT)",
        ]) func anotherProgramsDatabaseStaysAsItIs(script: String) async throws
    {
        let server = try #require(TestPostgres.shared)
        let name = try server.database(of: folder.path, hasTables: false)
        let database = DatabaseConfiguration(url: server.url(of: name))
        let hold = try PostgresHold(try database.address())
        try hold.write { try $0.runScript(script) }
        let before = try hold.read { try $0.tables() }
        hold.close()
        let message = await start(database)
        #expect(message.contains("has something else in it than a server's data: the table users"), "\(message)")
        #expect(try tables(of: database) == before)
    }

    /// What extensions make is nobody's data.
    @Test(.withPostgres) func anExtensionIsNoOtherProgram() async throws {
        let server = try #require(TestPostgres.shared)
        let name = try server.database(of: folder.path, hasTables: false)
        let database = DatabaseConfiguration(url: server.url(of: name))
        let hold = try PostgresHold(try database.address())
        try hold.write {
            try $0.runScript("CREATE TABLE of_extension (id BIGINT); ALTER EXTENSION plpgsql ADD TABLE of_extension")
        }
        hold.close()
        #expect(await start(database) == "started")
    }

    /// The folder goes with another database: the one that was named by mistake is not even brought up to date.
    @Test(.withPostgres) func aDatabaseThatTheFolderDoesNotGoWithStaysAsItIs() async throws {
        let server = try #require(TestPostgres.shared)
        let own = DatabaseConfiguration(url: server.url(of: try server.database(of: folder.path, hasTables: false)))
        #expect(await start(own) == "started")
        let other = TemporaryFolder()
        let name = try server.database(of: other.path, hasTables: false)
        let wrong = DatabaseConfiguration(url: server.url(of: name))
        #expect(await start(wrong).contains("goes with the database"))
        #expect(try tables(of: wrong) == [])
        // Of another server, and an older version.
        let older = Array(Migration.all.dropLast())
        let former = try PostgresDatabase(try wrong.address(), migrations: older)
        try await former.write(at: .everything) { try $0.execute("INSERT INTO server_run (number) VALUES (7)") }
        try await former.close()
        #expect(await start(wrong).contains("goes with the database"))
        let hold = try PostgresHold(try wrong.address())
        #expect(
            try hold.read { try $0.rows("SELECT name FROM migrations") { try $0.text("name") } }.count == older.count)
        hold.close()
        #expect(await start(own) == "started")
        // And other secrets there.
        try PrivateFiles.remove(folder.file("data.secrets"))
        #expect(await start(own).contains("other secrets"))
        withExtendedLifetime(other) {}
    }
}
