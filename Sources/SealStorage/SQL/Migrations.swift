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

/// Looks at a database before anything in it is changed, and throws where it is not the one that was meant.
/// - Parameter isNew: whether nothing is in it yet.
package typealias Admission = @Sendable (_ connection: any SQLConnection, _ isNew: Bool) throws -> Void

/// Brings a database to the newest schema, all steps in one transaction, and refuses one that another version made, or
/// another program.
package struct Migrator: Sendable {
    let migrations: [Migration]

    package init(migrations: [Migration]) { self.migrations = migrations }

    /// - Parameters:
    ///   - file: where the database is, named in the error.
    ///   - admit: asked before anything is changed.
    /// - Throws: `unknownSchema`; `unsuitable`, also where a step is missing and servers run that do not know of it;
    ///   what `admit` throws.
    package func migrate(_ connection: any SQLConnection, file: String, admit: Admission? = nil) throws {
        let applied = try requireKnown(connection, file: file)
        try admit?(connection, applied.isEmpty)
        guard try applied.count == migrations.count || connection.processes().isEmpty else {
            throw StorageError.unsuitable(
                message:
                    "\(file) is to be brought to a newer version, and servers of the version before run on it. Stop "
                    + "all of them, start this one, then the others in their newer version.")
        }
        try connection.execute(
            "CREATE TABLE IF NOT EXISTS migrations (position BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL)")
        let steps = migrations.map { $0.text(in: connection.dialect) }
        for (position, migration) in steps.enumerated().dropFirst(applied.count) {
            try connection.runScript(migration.sql)
            try connection.execute(
                "INSERT INTO migrations (position, name) VALUES ($1, $2)",
                [.integer(Int64(position)), .text(migration.name)])
        }
    }

    /// Reads alone.
    /// - Returns: the steps that the database has gone through; none for one with nothing in it.
    /// - Throws: `unknownSchema`; `unsuitable` for another program's.
    @discardableResult
    package func requireKnown(_ connection: any SQLConnection, file: String) throws -> [String] {
        let applied = try Self.applied(in: connection, file: file)
        let steps = migrations.map { $0.text(in: connection.dialect) }
        for (index, name) in applied.enumerated() where index >= steps.count || steps[index].name != name {
            throw StorageError.unknownSchema(file: file, migration: name)
        }
        return applied
    }

    /// That the database has gone through all of them, and no other ones.
    /// - Throws: `unknownSchema`, `unsuitable`.
    package func requireAll(_ connection: any SQLConnection, file: String) throws {
        guard try requireKnown(connection, file: file).count == migrations.count else {
            throw StorageError.unsuitable(
                message:
                    "\(file) was made by an older version. Start the server of this version on it once, and stop it.")
        }
    }

    private static func applied(in connection: any SQLConnection, file: String) throws -> [String] {
        let tables = try connection.tables()
        guard !tables.isEmpty else { return [] }
        let foreign = StorageError.unsuitable(
            message:
                "\(file) has something else in it than a server's data: the table \(tables.first { $0 != "migrations" } ?? "migrations"). "
                + "Nothing in it was changed. Give the server a database of its own.")
        // Other programs have a table of that name too.
        guard tables.contains("migrations"),
            try connection.columns(of: "migrations").map(\.name) == ["name", "position"]
        else { throw foreign }
        let applied = try connection.rows("SELECT name FROM migrations ORDER BY position") { try $0.text("name") }
        guard !applied.isEmpty || tables == ["migrations"] else { throw foreign }
        return applied
    }
}
