import Foundation
import GRDB
import SealPrimitives
import SealStatements

/// Of which scopes the user was told that the server has lost something, before anything is appended there that parts
/// from what other devices know.
extension TrustStore {
    static let lossesSchema = """
        CREATE TABLE toldLoss (scope BLOB NOT NULL PRIMARY KEY, keyID BLOB NOT NULL) WITHOUT ROWID;
        """

    /// Whether the user was told, while this epoch was in force.
    func wasTold(of epoch: Roster.Epoch, in scope: Scope) async throws(SealKitError) -> Bool {
        let (key, epoch) = (Data(scope.id.bytes), Data(epoch.keyID.bytes))
        return try await reading { db in
            try Bool.fetchOne(
                db, sql: "SELECT 1 FROM toldLoss WHERE scope = ? AND keyID = ?", arguments: [key, epoch]) ?? false
        }
    }

    /// Notes that the user is being told, for as long as the epoch is in force.
    /// - Returns: false where that was so already.
    func noteTold(of epoch: Roster.Epoch, in scope: Scope) async throws(SealKitError) -> Bool {
        let (key, epoch) = (Data(scope.id.bytes), Data(epoch.keyID.bytes))
        return try await writing { db in
            try db.execute(
                sql: """
                    INSERT INTO toldLoss (scope, keyID) VALUES (?, ?)
                    ON CONFLICT (scope) DO UPDATE SET keyID = excluded.keyID WHERE keyID <> excluded.keyID
                    """, arguments: [key, epoch])
            return db.changesCount > 0
        }
    }
}
