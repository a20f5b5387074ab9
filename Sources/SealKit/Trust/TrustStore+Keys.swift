import Foundation
import GRDB
import SealPrimitives

/// How far the account's new keys have been stated: what a rotation that was cut off has still to do.
extension TrustStore {
    static let keysSchema = """
        CREATE TABLE stated (account BLOB NOT NULL PRIMARY KEY, generations INTEGER NOT NULL) WITHOUT ROWID;
        """

    /// How many generations every roster knows. An account begins with one.
    func statedGenerations(of account: Account) async throws(SealKitError) -> Int {
        let key = Data(account.keys.rootKey.bytes)
        return try await reading { db in
            try Int.fetchOne(db, sql: "SELECT generations FROM stated WHERE account = ?", arguments: [key]) ?? 1
        }
    }

    func noteStated(_ generations: Int, of account: Account) async throws(SealKitError) {
        let key = Data(account.keys.rootKey.bytes)
        try await writing { db in
            try db.execute(
                sql: """
                    INSERT INTO stated (account, generations) VALUES (?, ?)
                    ON CONFLICT (account) DO UPDATE SET generations = MAX(generations, excluded.generations)
                    """, arguments: [key, generations])
        }
    }
}
