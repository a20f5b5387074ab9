import Crypto
import Foundation

/// One step of the schema's history. Once released, a migration never changes; a new one is appended.
struct Migration: Sendable {
    /// Unique and stable: the database remembers which names it has seen.
    let name: String
    /// One or more statements in the dialect that SQLite and PostgreSQL share.
    let sql: String
}

extension Migration {
    /// What every database goes through, oldest first.
    static let all: [Migration] = [baseline]

    /// Every room's tables. Those that others refer to come first.
    private static let baseline = Migration(
        named: "001-baseline",
        sql: [
            SettingTables.tables, AccountTables.tables, AccountDeletionTables.tables, DeviceTables.tables, VerificationTables.tables,
            OutgoingMessages.tables, ManagementTables.tables, ServerRuns.tables, RepeatableOperation.tables, ZoneTables.tables,
            ZoneRemains.tables,
            SharingTables.tables, RecordTables.tables, AssetTables.tables, StorageUsage.tables, PublicTables.tables,
            SchemaTables.tables, QueryTables.tables, PushTables.tables, RegistrationTables.tables, JobLease.tables,
            BilledTable.triggers,
        ].joined(separator: "\n"))

    /// Until the first release its text still changes: with its digest in the name, a database of another build is refused, and not
    /// taken for one of this.
    init(named name: String, sql: String) {
        let digest = SHA256.hash(data: Data(sql.utf8)).prefix(4).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
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
        let applied = try connection.rows("SELECT name FROM migrations ORDER BY position") { try $0.text(0) }
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
