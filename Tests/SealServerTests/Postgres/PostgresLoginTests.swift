import Foundation
import SealLab
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Who may connect to PostgreSQL, and over what: passwords and TLS, with a server that asks for both.
@Suite(.withPostgres, .timeLimit(.minutes(60))) struct PostgresLoginTests {
    private static let password = "hidden-word"

    /// What a server is told that starts with a database; nil where it starts.
    private static func refusal(
        _ url: String, password: String? = password, folder: TemporaryFolder = TemporaryFolder()
    ) async -> String? {
        var configuration = ServerConfiguration(
            dataFolder: folder.file("data"), listen: ListenAddress(host: "127.0.0.1", port: 0), logLevel: .critical)
        configuration.database = DatabaseConfiguration(url: url, password: password)
        do {
            try configuration.validate()
            while true {
                do {
                    let opened = try await OpenedServer(
                        configuration, webBundle: nil, logger: Server.logger(configuration), metrics: [],
                        replacing: ServiceReplacements())
                    await opened.close()
                    return nil
                } catch is DataFolderInUse {
                    // A process that another test starts has the lock, too, until it is another program.
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
        } catch {
            let text = "\(error)"
            #expect(!text.contains(Self.password), "\(text)")
            #expect(!text.contains("wrong-word"), "\(text)")
            return text
        }
    }

    @Test func passwordsAndTLS() async throws {
        let postgres = try await PostgresProcess(listens: true)
        let port = try #require(postgres.port)
        let admin = TestPostgres(postgres.url, dataFolder: postgres.dataFolder)
        try admin.run("CREATE ROLE sealkit LOGIN PASSWORD '\(Self.password)'")
        for name in ["notes", "private"] {
            try admin.run(
                "CREATE DATABASE \(name) OWNER sealkit TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'")
        }
        func url(_ parameters: String, host: String = "localhost", _ database: String = "notes") -> String {
            "postgresql://sealkit@\(host):\(port)/\(database)?\(parameters)"
        }
        let verified = "sslmode=verify-full&sslrootcert=\(postgres.authority)"

        // All is well: by TLS, and on this machine without.
        let folder = TemporaryFolder()
        #expect(await Self.refusal(url(verified), folder: folder) == nil)
        #expect(await Self.refusal(url("sslmode=disable"), folder: folder) == nil)
        // As libpq has it where no password is given.
        let file = folder.file("pgpass")
        try "localhost:\(port):notes:sealkit:\(Self.password)\n".write(toFile: file, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file)
        #expect(await Self.refusal(url(verified + "&passfile=\(file)"), password: nil, folder: folder) == nil)

        for (name, given, password, part) in [
            ("a wrong password", url(verified), "wrong-word", "password authentication failed for user \"sealkit\""),
            ("no password", url(verified), nil, "no password supplied"),
            (
                "TLS that the database wants", url("sslmode=disable", host: "127.0.0.1", "private"), Self.password,
                "no encryption"
            ),
            ("another host's certificate", url(verified, host: "127.0.0.1"), Self.password, "does not match host name"),
            (
                "a certificate of nobody's", url("sslmode=verify-full&sslrootcert=\(folder.file("none.pem"))"),
                Self.password, "root certificate file"
            ),
            ("a user that is none", url(verified).replacing("sealkit@", with: "anna@"), Self.password, "anna"),
            ("a database that is none", url(verified, "other"), Self.password, "\"other\" does not exist"),
            (
                "another machine without TLS", url("sslmode=require", host: "192.0.2.1"), Self.password,
                "sslmode=verify-full"
            ),
        ] as [(String, String, String?, String)] {
            let refusal = await Self.refusal(given, password: password, folder: folder)
            #expect(refusal?.contains(part) == true, "\(name): \(refusal ?? "nothing")")
        }

        // TLS that the database does not offer.
        try admin.run("ALTER SYSTEM SET ssl = off")
        try admin.run("SELECT pg_reload_conf()")
        try await waitUntil("the settings are taken up") {
            await Self.refusal(url(verified), folder: folder)?.contains("server does not support SSL") == true
        }

        // What was acknowledged would be gone with the machine's power.
        try admin.run("ALTER SYSTEM SET fsync = off")
        try admin.run("SELECT pg_reload_conf()")
        try await waitUntil("the settings are taken up") {
            await Self.refusal(url("sslmode=disable"), folder: folder)?.contains("fsync = off") == true
        }
        await postgres.stop()
    }

    @Test func theFolderSaysWhichDatabaseItGoesWith() async throws {
        let server = try #require(TestPostgres.shared)
        let folder = TemporaryFolder()
        let name = try server.database(of: folder.path, hasTables: true)
        let url = server.url(of: name)
        #expect(await Self.refusal(url, folder: folder) == nil)
        // Without it a server would begin with nothing, beside the assets of what it does not find.
        let configuration = ServerConfiguration(dataFolder: folder.file("data"), logLevel: .critical)
        let error = await #expect(throws: ConfigurationError.self) {
            _ = try await OpenedServer(
                configuration, webBundle: nil, logger: Server.logger(configuration), metrics: [],
                replacing: ServiceReplacements())
        }
        #expect("\(String(describing: error))".contains("the database \(name)"))
        #expect(!FileManager.default.fileExists(atPath: folder.file("data/sealkit.sqlite")))
        // Another database has nothing of the assets that are here, and is left as it was.
        let second = server.url(of: try server.database(of: folder.path + "-second", hasTables: true))
        #expect(await Self.refusal(second, folder: folder)?.contains("is another one") == true)
        #expect(await Self.refusal(url, folder: folder) == nil)
        #expect(await Self.refusal(second) == nil)
        // And the other way round.
        let other = TemporaryFolder()
        try FileManager.default.createDirectory(atPath: other.file("data"), withIntermediateDirectories: true)
        try Data().write(to: URL(filePath: other.file("data/sealkit.sqlite")))
        #expect(await Self.refusal(url, folder: other)?.contains("sealkit.sqlite") == true)
        #expect(!FileManager.default.fileExists(atPath: other.file("data/postgresql")))
    }
}
