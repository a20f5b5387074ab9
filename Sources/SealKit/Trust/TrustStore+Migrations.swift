import Crypto
import Foundation
import GRDB

/// The form of the store. `PRAGMA user_version` names the steps that a store has taken, by a number that their text
/// gives: one that a step of another text has made is another version's.
extension TrustStore {
    /// Once released, a step never changes, not even in a space; a new one is appended.
    static let migrations = [baseline, lossesSchema, marksSchema]

    private static let baseline = [
        schema, momentsSchema, scopesSchema, contactsSchema, violationsSchema, devicesSchema, grantsSchema, keysSchema,
        resetSchema,
        previewsSchema, lateSchema, namesSchema,
    ].joined(separator: "\n")

    /// Of a store that has taken all steps.
    static let version = versions[migrations.count]

    /// Of a store that has taken as many steps as the place in the list says; 0 for an empty one.
    static let versions =
        [0]
        + migrations.indices.map { last in
            // 31 bits, of which the lowest is set: SQLite keeps no larger number, and 0 is taken.
            let digest = SHA256.hash(data: Data(migrations[...last].joined(separator: "\n").utf8))
            return Int(digest.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) } >> 1 | 1)
        }

    /// Brings a store to the newest form: all steps in the caller's transaction, which no other process comes between.
    /// - Returns: whether there was nothing in it.
    /// - Throws: `incompatibleVersion` for a store of another version, which is left as it is.
    static func migrate(_ db: GRDB.Database, _ file: URL?) throws -> Bool {
        let version = try Int.fetchOne(db, sql: "PRAGMA user_version") ?? 0
        // A store that has taken no step is empty.
        let isEmpty = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master") == 0
        guard let taken = versions.firstIndex(of: version), (taken == 0) == isEmpty else {
            let path = file.map { " (\($0.path))" } ?? ""
            throw SealKitError(
                .incompatibleVersion, "this device's record of what it has verified was made by another version\(path)",
                remedy: "use the version that made it, or move it away: protection against rollback begins anew then")
        }
        guard taken < migrations.count else { return false }
        for migration in migrations[taken...] { try db.execute(sql: migration) }
        try db.execute(sql: "PRAGMA user_version = \(TrustStore.version)")
        return isEmpty
    }
}
