import Foundation
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// The PostgreSQL that `Tests/Support/postgres` runs beside the tests, with a database for each folder that a test has.
final class TestPostgres: Sendable {
    /// Nil where the tests run without one.
    static let shared: TestPostgres? = ProcessInfo.processInfo.environment["SEALKIT_TEST_POSTGRES"].map { url in
        TestPostgres(url, dataFolder: ProcessInfo.processInfo.environment["SEALKIT_TEST_POSTGRES_DATA"])
    }

    /// Whether servers of tests have their databases there, and not in files.
    static let isForAll = ProcessInfo.processInfo.environment["SEALKIT_TEST_DATABASE"] == "postgres"

    /// The database of a folder's server, where servers of tests have theirs there.
    static func forAll(_ folder: TemporaryFolder) throws -> DatabaseConfiguration? {
        guard isForAll else { return nil }
        let server = try #require(shared)
        return DatabaseConfiguration(url: server.url(of: try server.database(of: folder.path, hasTables: true)))
    }

    private let url: String
    /// Of the server: its number is in a file there.
    let dataFolder: String?
    private let state = Mutex(State())

    private struct State: ~Copyable {
        var names: [String: String] = [:]
        var hasTemplate = false
        var made = 0
    }

    /// - Parameter url: without a database.
    init(_ url: String, dataFolder: String?) {
        self.url = url
        self.dataFolder = dataFolder
    }

    /// The folder of its socket.
    var socket: String { url.split(separator: "host=").last.map(String.init) ?? "" }

    /// The URL of a database.
    func url(of database: String) -> String { url.replacing("@/?", with: "@/\(database)?") }

    func address(of database: String, password: String? = nil) throws -> PostgresAddress {
        try PostgresAddress(url(of: database), password: password)
    }

    /// Runs one statement, which may be one that no transaction may have.
    func run(_ sql: String, in database: String = "postgres") throws {
        let session = PostgresSession(.writer, try address(of: database)) { _ in }
        try session.connectAgain()
        try session.runScript(sql)
        session.close()
    }

    /// Ends a connection, by the number of its process.
    func end(_ process: Int64?) throws { try run("SELECT pg_terminate_backend(\(process ?? 0), 5000)") }

    /// Ends all that are connected to a database.
    func endAll(of database: String) throws {
        try run(
            """
            SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
            WHERE datname = '\(database)' AND pid <> pg_backend_pid()
            """)
    }

    /// The database of a folder, made where it is not there yet.
    /// - Parameter hasTables: the server's, as they are at its start.
    func database(of folder: String, hasTables: Bool) throws -> String {
        try state.withLock { state in
            if let known = state.names[folder] { return known }
            if hasTables, !state.hasTemplate {
                try Self.make("sealkit_template", self)
                let opened = try PostgresDatabase(try address(of: "sealkit_template"), migrations: Migration.all)
                try opened.closeNow()
                state.hasTemplate = true
            }
            state.made += 1
            let name = "sealkit_test_\(state.made)"
            if hasTables {
                try run("CREATE DATABASE \(name) TEMPLATE sealkit_template")
            } else {
                try Self.make(name, self)
            }
            state.names[folder] = name
            return name
        }
    }

    private static func make(_ name: String, _ server: TestPostgres) throws {
        try server.run("CREATE DATABASE \(name) TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'")
    }

    /// With the folder that it is of.
    func drop(of folder: String) {
        guard let name = state.withLock({ $0.names.removeValue(forKey: folder) }) else { return }
        try? run("DROP DATABASE IF EXISTS \(name) WITH (FORCE)")
    }
}

extension SQLConnection {
    /// For a write that waits for others on purpose: on a busy machine for longer than a process may stand still.
    func mayStandStill() throws { try execute("SET LOCAL idle_in_transaction_session_timeout = 0") }
}

extension Trait where Self == ConditionTrait {
    /// For a test of PostgreSQL's own.
    static var withPostgres: Self {
        .enabled("Tests/Support/postgres runs one beside a command") { TestPostgres.shared != nil }
    }

    /// For a test of the database's file, or of what SQLite does with a statement.
    static var withDatabaseFile: Self {
        .disabled(if: TestPostgres.isForAll, "the database is no file")
    }
}
