import Crypto
import Foundation

/// One step of the schema's history. Once released, a migration never changes; a new one is appended.
package struct Migration: Sendable {
    /// Unique and stable: the database remembers which names it has seen.
    package let name: String
    /// One or more statements as SQLite has them: an engine of another dialect writes its own words for these types.
    package let sql: String
    /// What PostgreSQL gets in their place, and by which name.
    package let postgres: Text

    package struct Text: Sendable {
        package let name: String
        package let sql: String
    }

    /// - Parameter sql: in what both dialects share.
    package init(name: String, sql: String) {
        self.name = name
        self.sql = sql
        postgres = Text(name: name, sql: sql)
    }

    func text(in dialect: SQLDialect) -> Text {
        switch dialect {
        case .sqlite: Text(name: name, sql: sql)
        case .postgres: postgres
        }
    }
}

extension Migration {
    /// Until the first release its text still changes: with its digest in the name, a database of another build is
    /// refused, and not taken for one of this.
    package init(named name: String, sql: String, postgres: String? = nil) {
        self.name = Self.name(name, of: sql)
        self.sql = sql
        self.postgres = Text(name: Self.name(name, of: postgres ?? sql), sql: postgres ?? sql)
    }

    private static func name(_ name: String, of sql: String) -> String {
        let digest = SHA256.hash(data: Data(sql.utf8)).prefix(4).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
            .joined()
        return "\(name)-\(digest)"
    }
}

/// Brings a database to the newest schema, all steps in one transaction, and refuses one that another version made.
struct Migrator: Sendable {
    let migrations: [Migration]

    /// - Parameter file: where the database is, named in the error.
    func migrate(_ connection: any SQLConnection, file: String) throws {
        try connection.execute(
            "CREATE TABLE IF NOT EXISTS migrations (position BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL)")
        let applied = try connection.rows("SELECT name FROM migrations ORDER BY position") { try $0.text("name") }
        let steps = migrations.map { $0.text(in: connection.dialect) }
        for (index, name) in applied.enumerated() where index >= steps.count || steps[index].name != name {
            throw StorageError.unknownSchema(file: file, migration: name)
        }
        for (position, migration) in steps.enumerated().dropFirst(applied.count) {
            try connection.runScript(migration.sql)
            try connection.execute(
                "INSERT INTO migrations (position, name) VALUES ($1, $2)",
                [.integer(Int64(position)), .text(migration.name)])
        }
    }
}
