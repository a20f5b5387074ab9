import Foundation
import GRDB
import SealEnvelope
import SealPrimitives

/// The newest preview that was verified behind each URL: an older one is a rollback.
extension TrustStore {
    static let previewsSchema = """
        CREATE TABLE preview (
            scope BLOB NOT NULL, link BLOB NOT NULL, sequence INTEGER NOT NULL, time INTEGER NOT NULL,
            PRIMARY KEY (scope, link)) WITHOUT ROWID;
        """

    /// Remembers a verified preview, unless this device has seen a newer one behind the same URL.
    /// - Parameter link: the URL's routing id: what another URL of the share shows, whoever made that one renews.
    /// - Returns: false for an older one.
    func admit(_ preview: SignedPreview, behind link: ID16, scope: Digest) async throws(SealKitError) -> Bool {
        let key: StatementArguments = [Data(scope.bytes), Data(link.bytes)]
        return try await writing { db in
            let seen = try Row.fetchOne(
                db, sql: "SELECT sequence, time FROM preview WHERE scope = ? AND link = ?", arguments: key)
            if let seen, preview.isOlder(than: (UInt64(bitPattern: seen[0] as Int64), seen[1])) { return false }
            try db.execute(
                sql: """
                    INSERT INTO preview (scope, link, sequence, time) VALUES (?, ?, ?, ?)
                    ON CONFLICT (scope, link) DO UPDATE SET sequence = excluded.sequence, time = excluded.time
                    """,
                arguments: key + [Int64(bitPattern: preview.rosterSequence), preview.time])
            return true
        }
    }
}
