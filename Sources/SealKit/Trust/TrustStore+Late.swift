import Foundation
import GRDB
import SealPrimitives
import SealStatements

/// Late statements that the user has accepted, kept for the user to see.
extension TrustStore {
    static let lateSchema = """
        CREATE TABLE lateRecord (
            container TEXT NOT NULL, environment INTEGER NOT NULL, owner TEXT NOT NULL, zone TEXT NOT NULL, record TEXT NOT NULL,
            hash BLOB NOT NULL, author BLOB NOT NULL, accepted INTEGER NOT NULL,
            PRIMARY KEY (container, environment, owner, zone, record, hash)) WITHOUT ROWID;
        """

    /// Which the user has accepted, of one zone.
    struct LateStatements: Sendable {
        let hashes: Set<Digest>
        let container: String
        let environment: SealStatements.Environment
        let zone: RecordZone.ID
        /// Microseconds since 1970.
        let time: Int64
    }

    struct AcceptedRow: Sendable {
        let zone: RecordZone.ID
        let record: String
        let author: UserID
        let accepted: Int64
    }

    /// Oldest first.
    func acceptedRecords(
        container: String, environment: SealStatements.Environment
    ) async throws(SealKitError) -> [AcceptedRow] {
        try await reading { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT owner, zone, record, author, accepted FROM lateRecord WHERE container = ? AND environment = ?
                    ORDER BY accepted, owner, zone, record
                    """, arguments: [container, Int64(environment.rawValue)]
            ).map {
                AcceptedRow(
                    zone: RecordZone.ID(zoneName: $0[1], ownerName: $0[0]), record: $0[2],
                    author: UserID(try ID16($0[3] as Data)),
                    accepted: $0[4])
            }
        }
    }
}
