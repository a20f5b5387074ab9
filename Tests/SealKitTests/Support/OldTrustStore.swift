import GRDB

@testable import SealKit

extension TrustStore {
    /// Makes it one of a version that did not have these tables yet.
    func losing(_ tables: [String]) async throws {
        try await writing { db in
            for table in tables { try db.execute(sql: "DROP TABLE \(table)") }
        }
    }
}
