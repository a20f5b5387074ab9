/// One step of the schema's history. Once released, a migration never changes; a new one is appended.
struct Migration: Sendable {
    /// Unique and stable: the database remembers which names it has seen.
    let name: String
    /// One or more statements in the dialect that SQLite and PostgreSQL share.
    let sql: String
}

extension Migration {
    /// The schema, in the order in which it grew.
    static let all: [Migration] = [
        Migration(
            name: "001-settings",
            sql: """
                CREATE TABLE settings (
                    name TEXT NOT NULL PRIMARY KEY,
                    value TEXT NOT NULL
                );
                """),
        .accounts,
        .zones,
        .grantsByEpoch,
        .publicDatabase,
        .schemas,
        .serverKeys,
        .recordCascades,
        .push,
        .queries,
        .management,
        .storageUsage,
        .publicPush,
        .operationRequests,
        .deleteReferenceUpgrade,
        .operationOrder,
        .hierarchicalShares,
        .participants,
        .devices,
        .accountDeletion,
        .webhookOrigins,
        .knownKeys,
        .serverRuns,
        .newKeys,
        .messages,
        .publicCreators,
        .recoveryKinds,
    ]
}

/// Brings a database to the newest schema, all steps in one transaction, and refuses one that is ahead of this version.
struct Migrator: Sendable {
    let migrations: [Migration]

    /// - Parameter file: named in the error when the database is too new.
    func migrate(_ connection: any SQLConnection, file: String) throws {
        try connection.execute(
            "CREATE TABLE IF NOT EXISTS migrations (position BIGINT NOT NULL PRIMARY KEY, name TEXT NOT NULL)")
        let applied = try connection.rows("SELECT name FROM migrations ORDER BY position") { try $0.text(0) }
        for (index, name) in applied.enumerated() where index >= migrations.count || migrations[index].name != name {
            throw StorageError.newerSchema(file: file, migration: name)
        }
        for (position, migration) in migrations.enumerated().dropFirst(applied.count) {
            try connection.runScript(migration.sql)
            try connection.execute(
                "INSERT INTO migrations (position, name) VALUES ($1, $2)",
                [.integer(Int64(position)), .text(migration.name)])
        }
    }
}
