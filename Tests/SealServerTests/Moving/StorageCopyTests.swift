import SealStatements
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// What a copy takes and what it makes of values, without a server.
@Suite(.timeLimit(.minutes(60))) struct StorageCopyTests {
    let folder = TemporaryFolder()

    private func file(_ name: String) throws -> SQLiteFile {
        let file = try SQLiteFile(making: folder.file(name))
        try file.write { try Migrator(migrations: Migration.all).migrate($0, file: name) }
        return file
    }

    /// Another server's database has all the tables: nothing of them is emptied.
    @Test func aTargetThatIsNotEmptyIsNotFilled() throws {
        let (source, target) = (try file("source"), try file("target"))
        defer {
            source.close()
            target.close()
        }
        try target.write { _ = try $0.execute("INSERT INTO spent_token (token_id, expires) VALUES ('theirs', 1)") }
        #expect(throws: TargetNotEmpty.self) {
            try source.read { source in
                _ = try target.write { try StorageCopy(from: source).fill($0, file: "target") }
            }
        }
        let kept = try target.read { try $0.rows("SELECT token_id FROM spent_token") { try $0.text("token_id") } }
        #expect(kept == ["theirs"])
    }

    /// SQLite gives back something else than -0 and NaN, which PostgreSQL holds: the same values have the same sum.
    @Test func realsCountAsSQLiteHoldsThem() throws {
        let values: [SQLValue] = [.real(-0.0), .real(.nan), .real(-.infinity), .real(-0.5)]
        let database = try SQLiteFile(making: folder.file("reals"))
        defer { database.close() }
        let held = try database.write { connection in
            let columns = ["a", "b", "c", "d"].map { "\($0) DOUBLE PRECISION" }.joined(separator: ", ")
            try connection.runScript("CREATE TABLE t (\(columns))")
            try connection.execute("INSERT INTO t (a, b, c, d) VALUES ($1, $2, $3, $4)", values)
            return try connection.rows("SELECT a, b, c, d FROM t") { row in try (0..<4).map { try row.value(at: $0) } }
        }
        func bytes(_ values: [SQLValue]) throws -> [UInt8] {
            var bytes: [UInt8] = []
            try RowBytes.append(values, to: &bytes)
            return bytes
        }
        #expect(held.count == 1)
        #expect(try held.map(bytes) == [bytes(values)])
        #expect(try bytes([.real(0)]) != bytes([.null]))
    }
}
