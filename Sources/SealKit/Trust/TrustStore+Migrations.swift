import Foundation
import GRDB

/// The form of the store. `PRAGMA user_version` counts the steps that a store has taken.
extension TrustStore {
    /// Once released, a step never changes; a new one is appended.
    private static let migrations = [baseline]

    private static let baseline = [
        schema, momentsSchema, scopesSchema, contactsSchema, violationsSchema, devicesSchema, grantsSchema, keysSchema, resetSchema,
        previewsSchema, lateSchema, namesSchema,
    ].joined(separator: "\n")

    /// Brings a store to the newest form: all steps in the caller's transaction, which no other process comes between.
    /// - Throws: `incompatibleVersion` for a store of another version, which is left as it is.
    static func migrate(_ db: GRDB.Database, _ file: URL?) throws {
        let taken = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        // A store that counts no step is empty.
        let isEmpty = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") == 0
        guard taken <= migrations.count, (taken == 0) == isEmpty else {
            let path = file.map { " (\($0.path))" } ?? ""
            throw SealKitError(
                .incompatibleVersion, "this device's record of what it has verified was made by another version\(path)",
                remedy: "use the version that made it, or move it away: protection against rollback begins anew then")
        }
        guard taken < migrations.count else { return }
        for migration in migrations[taken...] { try db.execute(sql: migration) }
        try db.execute(sql: "PRAGMA user_version = \(migrations.count)")
    }
}
