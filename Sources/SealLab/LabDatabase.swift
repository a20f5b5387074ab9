public import Foundation

/// The databases of servers that are started beside tests, where `SEALKIT_TEST_DATABASE=postgres` asks for PostgreSQL's
/// and `Tests/Support/postgres` runs one: each folder of a server has its own, as it has its own file with SQLite.
public enum LabDatabase {
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// Of PostgreSQL, without a database; nil where servers have files.
    private static let server: String? = {
        let environment = ProcessInfo.processInfo.environment
        return environment["SEALKIT_TEST_DATABASE"] == "postgres" ? environment["SEALKIT_TEST_POSTGRES"] : nil
    }()

    /// The settings of a folder's server, whose database is made where it is not there yet.
    static func settings(of folder: URL) throws -> [String] {
        guard let server else { return [] }
        if name(of: folder) == nil {
            let name = "sealkit_lab_" + UUID().uuidString.lowercased().filter { $0 != "-" }
            try createdb(PostgresProcess.databaseOptions + [name])
            try Data(name.utf8).write(to: note(of: folder))
        }
        guard let name = name(of: folder) else { throw Failure(description: "the database of \(folder.path) is gone") }
        return ["--database-url", PostgresProcess.url(of: name, at: server)]
    }

    /// Keeps a copy of what a stopped server has, in the place of any former one; nothing where it has files.
    public static func keep(of folder: URL) throws {
        guard let name = name(of: folder) else { return }
        try drop(kept(name))
        try createdb(["--template=\(name)", kept(name)])
    }

    /// A stopped server has what was kept.
    public static func bringBack(of folder: URL) throws {
        guard let name = name(of: folder) else { return }
        try drop(name)
        try createdb(["--template=\(kept(name))", name])
    }

    /// What whoever runs a server may do behind its back.
    /// - Returns: false where it has a file.
    public static func execute(_ statement: String, of folder: URL) throws -> Bool {
        guard let server, let name = name(of: folder) else { return false }
        let said = try Command.run(
            URL(fileURLWithPath: "/usr/bin/psql"),
            ["--no-psqlrc", "--quiet", "--command", statement, PostgresProcess.url(of: name, at: server)],
            environment: [:])
        guard said.status == 0 else { throw Failure(description: "psql: \(said.errors)") }
        return true
    }

    /// With the folder that it is of.
    static func remove(of folder: URL) {
        guard let name = name(of: folder) else { return }
        for name in [name, kept(name)] { try? drop(name) }
    }

    private static func kept(_ name: String) -> String { name + "_kept" }

    private static func note(of folder: URL) -> URL { folder.appendingPathComponent("database") }

    private static func name(of folder: URL) -> String? {
        server.flatMap { _ in try? String(contentsOf: note(of: folder), encoding: .utf8) }
    }

    private static func drop(_ name: String) throws { try run("dropdb", ["--force", "--if-exists", name]) }

    private static func createdb(_ arguments: [String]) throws { try run("createdb", arguments) }

    private static func run(_ program: String, _ arguments: [String]) throws {
        let server = PostgresProcess.url(of: "postgres", at: server ?? "")
        let said = try Command.run(
            URL(fileURLWithPath: "/usr/bin/\(program)"), ["--maintenance-db", server] + arguments, environment: [:])
        guard said.status == 0 else { throw Failure(description: "\(program): \(said.errors)") }
    }
}
