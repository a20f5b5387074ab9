import Foundation
import GRDB
import SealPrimitives

/// When this device came to know what it knows, counted. An answer is held against what was known when it was asked
/// for: what this device has written or read since, in whichever process, says nothing against the server.
extension TrustStore {
    static let momentsSchema = """
        CREATE TABLE moment (last INTEGER NOT NULL);
        INSERT INTO moment (last) VALUES (0);
        """

    /// To be taken before the server is asked.
    func moment() async throws(SealKitError) -> Int64 {
        try await reading { db in try TrustStore.moment(db) }
    }

    private static func moment(_ db: GRDB.Database) throws -> Int64 {
        try Int64.fetchOne(db.cachedStatement(sql: "SELECT last FROM moment")) ?? 0
    }

    /// What this device knows before it asks, whichever of its processes has come to know it: at which moment, and
    /// where the roster of each scope ends; nil for one that it does not have.
    func standing(of scopes: [Digest]) async throws(SealKitError) -> (moment: Int64, ends: [UInt64?]) {
        try await reading { db in
            let last = try db.cachedStatement(sql: "SELECT MAX(sequence) FROM entry WHERE scope = ?")
            let ends = try scopes.map { scope in
                try Int64.fetchOne(last, arguments: [Data(scope.bytes)]).map { UInt64(clamping: $0) }
            }
            return (try TrustStore.moment(db), ends)
        }
    }
}
