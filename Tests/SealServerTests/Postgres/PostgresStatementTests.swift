import CPQ
import Foundation
import Testing

@testable import SealService
@testable import SealStorage

/// That both engines take every statement that the server has, on the tables that its migrations make.
@Suite(.timeLimit(.minutes(60))) struct PostgresStatementTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources")

    /// What is SQLite's alone, by how it begins: `SearchIndex` asks for the dialect.
    private static let ofSQLite = [
        "INSERT INTO search_term (rowid", "INSERT INTO search_term (search_term",
        "SELECT d.id, d.record FROM search_term",
    ]

    /// Where both engines are asked in words of their own, for what they have no common ones: the catalog, and what
    /// fills a whole database.
    private static let inOwnWords = [
        "SealStorage/SQL/SQLConnection+Bulk.swift", "SealStorage/SQL/SQLConnection+Catalog.swift",
    ]

    private static var literal: Regex<(Substring, long: Substring?, short: Substring?)> {
        /"""\n(?<long>(?s:.*?))\n\s*"""|"(?<short>(?:[^"\\\n]|\\.)*)"/
    }

    /// Literals that are statements as a whole, with the file that has each; what is put together at run time is run by
    /// the tests of the server on PostgreSQL.
    private func statements() throws -> [(file: String, sql: String)] {
        var found: [(file: String, sql: String)] = []
        for folder in ["SealService", "SealStorage/Jobs", "SealStorage/SQL", "SealServer"] {
            let base = Self.root.appending(path: folder)
            let names = try FileManager.default.subpathsOfDirectory(atPath: base.path)
            for name in names.sorted()
            where name.hasSuffix(".swift") && !Self.inOwnWords.contains(folder + "/" + name) {
                let text = try String(contentsOf: base.appending(path: name), encoding: .utf8)
                for match in text.matches(of: Self.literal) {
                    guard let sql = (match.long ?? match.short).map(String.init), !sql.contains("\\(") else { continue }
                    let trimmed = sql.replacing("\\\n", with: "").trimmingCharacters(in: .whitespacesAndNewlines)
                    // The beginning of a statement.
                    if trimmed.hasSuffix(" AND") { continue }
                    guard
                        trimmed.contains(/^(SELECT|WITH)\s.*\sFROM\s/.dotMatchesNewlines())
                            || trimmed.contains(/^(INSERT INTO|DELETE FROM)\s+\w+/)
                            || trimmed.contains(/^UPDATE\s+\w+\s+SET\s/)
                    else { continue }
                    found.append((folder + "/" + name, trimmed))
                }
            }
        }
        return found
    }

    @Test func everyStatementIsPreparedBySQLite() async throws {
        let folder = TemporaryFolder()
        let database = try SQLiteDatabase(path: folder.file("db.sqlite"), migrations: Migration.all)
        let all = try statements()
        let failures = try await database.read { connection in
            all.compactMap { file, sql -> String? in
                let values = Array(repeating: SQLValue.null, count: PostgresStatements.highestParameter(of: sql))
                do {
                    _ = try connection.run("EXPLAIN " + sql, values) { _ in false }
                    return nil
                } catch { return "\(file): \(sql): \(error)" }
            }
        }
        #expect(failures == [])
        #expect(all.count > 250)
        try await database.close()
    }

    @Test(.withPostgres) func everyStatementIsPrepared() throws {
        let server = try #require(TestPostgres.shared)
        let folder = TemporaryFolder()
        let name = try server.database(of: folder.path, hasTables: true)
        let connection = try #require(try server.address(of: name).connect())
        defer { PQfinish(connection) }
        let all = try statements()
        var prepared = 0
        for (file, sql) in all where !Self.ofSQLite.contains(where: { sql.hasPrefix($0) }) {
            let failure = Self.prepare(sql, connection)
            #expect(failure == nil, "\(file): \(sql)")
            if failure == nil { prepared += 1 }
        }
        // Else the sources are not where they are looked for.
        #expect(prepared > 250, "\(prepared) of \(all.count)")
        withExtendedLifetime(folder) {}
    }

    /// A type that PostgreSQL cannot guess is named at run time, by the value that comes: here it is an integer's.
    private static func prepare(_ sql: String, _ connection: OpaquePointer) -> String? {
        let count = PostgresStatements.highestParameter(of: sql)
        var failure = Self.failure(of: sql, [Oid](repeating: 0, count: count), connection)
        for named in 0..<count where failure != nil {
            var types = [Oid](repeating: 0, count: count)
            types[named] = PostgresValue.int8
            failure = Self.failure(of: sql, types, connection) == nil ? nil : failure
        }
        return failure
    }

    private static func failure(of sql: String, _ types: [Oid], _ connection: OpaquePointer) -> String? {
        let result = PQprepare(connection, "", sql, CInt(types.count), types)
        defer { PQclear(result) }
        guard PQresultStatus(result) != PGRES_COMMAND_OK else { return nil }
        return PostgresFailure(result, of: connection).message
    }
}
