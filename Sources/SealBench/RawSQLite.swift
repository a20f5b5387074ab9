import Foundation
import GRDB

/// The limit of durable saves: rows of a record's size into SQLite with the server's own settings, and nothing around
/// it.
final class RawSQLite {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "sealkit-bench-\(UUID().uuidString)")
    private let queue: DatabasePool
    private var next = 0

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.execute(sql: "PRAGMA page_size = 4096") }
        queue = try DatabasePool(path: folder.appendingPathComponent("limit.sqlite").path, configuration: configuration)
        try queue.writeWithoutTransaction { database in
            try database.execute(
                sql: """
                    PRAGMA synchronous = FULL;
                    CREATE TABLE row (owner BIGINT, zone BIGINT, name TEXT, content BLOB, PRIMARY KEY (owner, zone, name));
                    """)
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func seconds(commits: Int, rowsEach: Int) throws -> Double {
        let content = Data(repeating: 7, count: 1000)
        return try queue.writeWithoutTransaction { database in
            let insert = try database.cachedStatement(sql: "INSERT INTO row VALUES (1, 1, ?, ?)")
            let start = ContinuousClock.now
            for _ in 0..<commits {
                try database.inTransaction(.immediate) {
                    for _ in 0..<rowsEach {
                        next += 1
                        try insert.execute(arguments: ["row-\(next)", content])
                    }
                    return .commit
                }
            }
            return (ContinuousClock.now - start) / .seconds(1)
        }
    }
}
