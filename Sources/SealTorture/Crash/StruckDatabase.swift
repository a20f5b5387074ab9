import Foundation
import SealLab

/// A PostgreSQL that can be struck while servers use it.
protocol StruckDatabase: Sendable {
    /// Of the servers' database.
    var url: String { get }
    /// Of a hundred blows, how many are against it; the others are against servers.
    var share: Int { get }
    /// Returns once the blow has fallen and what can take over is on its way; not before servers may work again.
    /// - Returns: what was done, in a word or two.
    func strike(_ random: inout SeededRandom) async throws -> String
    /// Until there is all that there was at the beginning.
    func recover() async throws
    func remove() async
}

extension StruckDatabase {
    /// The values of a statement's one column, by Debian's client and not by the server's own code.
    func values(_ statement: String) async throws -> [String] {
        let said = try await Command.finished(
            URL(fileURLWithPath: "/usr/bin/psql"),
            ["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--command", statement, url],
            environment: ["PGTARGETSESSIONATTRS": "read-write"])
        try check(said.status == 0, "psql: \(said.errors.prefix(500))")
        return said.output.split(separator: "\n").map(String.init)
    }
}

/// Debian's PostgreSQL, alone: killed, and started again as after a loss of power.
final class LonePostgres: StruckDatabase {
    private let process: PostgresProcess
    let url: String

    init() async throws {
        process = try await PostgresProcess()
        url = try await process.makeDatabase("sealkit")
    }

    var share: Int { 30 }

    func strike(_ random: inout SeededRandom) async throws -> String {
        if random.chance(50) {
            _ = try await values(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid()
                """)
            return "all connections to the database"
        }
        try process.kill()
        try await Task.sleep(for: .milliseconds(random.below(1500)))
        try await process.restart(.immediate)
        return "the database"
    }

    func recover() {}

    func remove() async { await process.stop() }
}
