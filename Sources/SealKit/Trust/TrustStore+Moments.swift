import Foundation
import GRDB

/// When this device came to know what it knows, counted. An answer is held against what was known when it was asked
/// for: what this device has written or read since, in whichever process, says nothing against the server.
extension TrustStore {
    static let momentsSchema = """
        CREATE TABLE moment (last INTEGER NOT NULL);
        INSERT INTO moment (last) VALUES (0);
        """

    /// To be taken before the server is asked.
    func moment() async throws(SealKitError) -> Int64 {
        try await reading { db in try Int64.fetchOne(db.cachedStatement(sql: "SELECT last FROM moment")) ?? 0 }
    }
}
