import Crypto
import Foundation

/// One step of the schema's history. Once released, a migration never changes; a new one is appended.
package struct Migration: Sendable {
    /// Unique and stable: the database remembers which names it has seen.
    package let name: String
    /// One or more statements in the dialect that SQLite and PostgreSQL share.
    package let sql: String

    package init(name: String, sql: String) {
        self.name = name
        self.sql = sql
    }
}

extension Migration {
    /// Until the first release its text still changes: with its digest in the name, a database of another build is
    /// refused, and not taken for one of this.
    package init(named name: String, sql: String) {
        let digest = SHA256.hash(data: Data(sql.utf8)).prefix(4).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
            .joined()
        self.init(name: "\(name)-\(digest)", sql: sql)
    }
}

/// Brings a database to the newest schema, all steps in one transaction, and refuses one that another version made.
struct Migrator: Sendable {
    let migrations: [Migration]

    /// - Parameter file: named in the error.
    func migrate(_ connection: any SQLConnection, file: String) throws {
        try connection.execute(
            "CREATE TABLE IF NOT EXISTS migrations (position BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL)")
        let applied = try connection.rows("SELECT name FROM migrations ORDER BY position") { try $0.text("name") }
        for (index, name) in applied.enumerated() where index >= migrations.count || migrations[index].name != name {
            throw StorageError.unknownSchema(file: file, migration: name)
        }
        for (position, migration) in migrations.enumerated().dropFirst(applied.count) {
            try connection.runScript(migration.sql)
            try connection.execute(
                "INSERT INTO migrations (position, name) VALUES ($1, $2)",
                [.integer(Int64(position)), .text(migration.name)])
        }
    }
}
