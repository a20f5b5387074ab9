import Foundation
import SealLab
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// A server's data folder at one moment, and its database where that is no file in it.
extension TemporaryFolder {
    /// Nobody writes meanwhile.
    func backUpServer() async throws {
        try FileManager.default.copyItem(atPath: file("data"), toPath: file("backup"))
        if TestPostgres.isForAll { try await TestPostgres.shared?.dump(of: path, to: file("backup.dump")) }
    }

    /// With no server on it.
    func restoreServer() async throws {
        try FileManager.default.removeItem(atPath: file("data"))
        try FileManager.default.moveItem(atPath: file("backup"), toPath: file("data"))
        if TestPostgres.isForAll { try await TestPostgres.shared?.restore(path, from: file("backup.dump")) }
    }

    /// That database, without a server.
    func openServerDatabase() throws -> any EngineDatabase {
        guard let database = try TestPostgres.forAll(self) else {
            return try SQLiteDatabase(path: file("data/sealkit.sqlite"), migrations: Migration.all)
        }
        return try PostgresDatabase(try database.address(), migrations: Migration.all)
    }
}

extension TestPostgres {
    fileprivate func dump(of folder: String, to path: String) async throws {
        let name = try database(of: folder, hasTables: true)
        try await Self.run("pg_dump", ["--format=custom", "--file", path, url(of: name)])
    }

    fileprivate func restore(_ folder: String, from path: String) async throws {
        drop(of: folder)
        let name = try database(of: folder, hasTables: false)
        try await Self.run("pg_restore", ["--exit-on-error", "--dbname", url(of: name), path])
    }

    private static func run(_ program: String, _ arguments: [String]) async throws {
        let said = try await Command.finished(URL(fileURLWithPath: "/usr/bin/\(program)"), arguments)
        try #require(said.status == 0, "\(program): \(said.errors)")
    }
}
