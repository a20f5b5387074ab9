import ArgumentParser
import Foundation
import SealPrimitives
import SealServer
import SealService

struct MigrateStorageCommand: SpeakingCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate-storage",
        abstract: "Move a stopped server's database from SQLite's file to PostgreSQL, or back.",
        discussion: """
            Everything goes along: accounts, records, sessions, change tokens, and the answers to operations that are sent again. Assets, \
            telemetry and secrets stay where they are. Run it as the server's user. The target is filled in one transaction, and every \
            table is compared with the source by its count and digest before that ends: where anything fails, or this is killed, the \
            target is as it was, and the same command works again.

            The source stays as it is, and no server starts on it by accident: the file becomes sealkit.sqlite.moved, a PostgreSQL \
            database says where it was moved to. Then start the server with the new database, or without one.

              sealkit migrate-storage --to postgresql --data /var/lib/sealkit --database-url postgresql://sealkit@localhost/sealkit
              sealkit migrate-storage --to sqlite --config /etc/sealkit/sealkit.yaml
            """)

    enum Engine: String, ExpressibleByArgument, CaseIterable { case postgresql, sqlite }

    @Option(help: ArgumentHelp("The engine that the data is moved to: postgresql or sqlite.", valueName: "engine"))
    var to: Engine

    @OptionGroup var server: ServerPlacesOptions

    @Option(
        help: ArgumentHelp(
            "The PostgreSQL database, as with serve: an empty one to move to, or the server's to move from. Default: $SEALKIT_DATABASE_URL, else what the settings file names.",
            valueName: "url"))
    var databaseUrl: String?

    @Option(
        help: ArgumentHelp(
            "File with the password at the database. Default: $SEALKIT_DATABASE_PASSWORD, else what libpq finds.",
            valueName: "file"), completion: .file())
    var databasePasswordFile: String?

    @OptionGroup var shown: ShownOptions

    var isJSON: Bool { shown.json }

    func run() async throws {
        let bar = MoveProgress(shown.output)
        let outcome = try await OperatorFailure.telling {
            let (data, secrets, database) = try places()
            let move = try StorageMove(
                dataFolder: data, secretsFolder: secrets, database: database, progress: bar.update)
            defer { bar.finish() }
            return try move.run(to == .postgresql ? .toPostgreSQL : .toSQLite)
        }
        let rows = outcome.tables.reduce(0) { $0 + $1.rows }
        let bytes = outcome.tables.reduce(0) { $0 + $1.bytes }
        try shown.output.result(
            """
            moved to \(outcome.target.escaped): \(rows) rows (\(bytes) bytes) in \(outcome.tables.count) tables, all compared; SHA-256 \(outcome.digest)
            the source stays as \(outcome.source.escaped)
            """,
            bare: outcome.digest,
            json: [
                "target": .string(outcome.target), "source": .string(outcome.source), "rows": .integer(rows),
                "bytes": .integer(bytes), "digest": .string(outcome.digest), "wasCopied": .bool(outcome.wasCopied),
                "tables": .array(outcome.tables.map(\.json)),
            ])
        if outcome.wasCopied { shown.output.note("an earlier run had copied everything; this one did the rest") }
        shown.output.note(
            to == .postgresql
                ? "start the server with --database-url, or database: in its settings file"
                : "start the server without --database-url, and without database: in its settings file")
    }

    /// - Throws: `Failure.Local`; what is wrong with the settings file.
    private func places() throws -> (data: String, secrets: String, database: DatabaseConfiguration) {
        let password = try GivenFile.secret(in: databasePasswordFile, "password")
        let found = try ServerConfiguration.places(
            data: server.data, secrets: server.secrets, environment: ProcessInfo.processInfo.environment,
            file: server.config, database: databaseUrl.map { DatabaseConfiguration(url: $0, password: password) })
        guard let data = found.data, let secrets = found.secrets else {
            throw Failure.Local(
                status: .badInput, reason: "no data folder was named",
                remedy: "give the --data or --config that the server runs with")
        }
        guard var database = found.database else {
            throw Failure.Local(
                status: .badInput, reason: "no database was named",
                remedy: "give its --database-url: postgresql://user@host/database")
        }
        if let password { database.password = password }
        return (data, secrets, database)
    }
}

/// A bar for each phase.
private struct MoveProgress: Sendable {
    private let copying: ProgressBar
    private let comparing: ProgressBar

    init(_ output: Output) {
        copying = ProgressBar("copying", unit: .records, output)
        comparing = ProgressBar("comparing", unit: .records, output)
    }

    func update(_ phase: StorageCopy.Phase, _ done: Int64, _ total: Int64) {
        (phase == .copying ? copying : comparing).update(done, of: total)
    }

    func finish() {
        copying.finish()
        comparing.finish()
    }
}

extension TableSum {
    fileprivate var json: JSONValue {
        .object([
            "table": .string(table), "rows": .integer(rows), "bytes": .integer(bytes),
            "digest": .string(Hex.encode(digest)),
        ])
    }
}
