import Foundation
import GRDB
import SealPrimitives
import SealStatements

/// What was shown to this device and did not verify, kept for its user to see.
extension TrustStore {
    static let violationsSchema = """
        CREATE TABLE violation (
            id INTEGER PRIMARY KEY, container TEXT NOT NULL, environment INTEGER NOT NULL, code TEXT NOT NULL,
            reason TEXT NOT NULL, owner TEXT NOT NULL, zone TEXT NOT NULL, record TEXT NOT NULL, first INTEGER NOT NULL,
            last INTEGER NOT NULL, UNIQUE (container, environment, code, reason, owner, zone, record));
        """

    struct ViolationRow: Sendable {
        let code: String
        let reason: String
        /// Of the zone; empty for what concerns none.
        let owner: String
        let zone: String
        /// Empty for what concerns no single record.
        let record: String
        let first: Int64
        let last: Int64
    }

    /// Of these the newest are kept, so that a server cannot fill the disk.
    static let mostViolations = 1_000
    private static let reasonBytes = 500

    /// Notes one; the same again moves its last time on.
    func note(
        _ code: SealKitError.Code, _ reason: String, container: String, environment: SealStatements.Environment,
        zone: RecordZone.ID?, record: String?, time: Int64
    ) async throws(SealKitError) {
        let reason = String(decoding: reason.utf8.prefix(TrustStore.reasonBytes), as: UTF8.self)
        let arguments: StatementArguments = [
            container, Int64(environment.rawValue), code.rawValue, reason, zone?.ownerName ?? "", zone?.zoneName ?? "",
            record ?? "",
            time, time,
        ]
        try await writing { db in
            try db.execute(
                sql: """
                    INSERT INTO violation (container, environment, code, reason, owner, zone, record, first, last)
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    ON CONFLICT (container, environment, code, reason, owner, zone, record) DO UPDATE SET last = excluded.last
                    """, arguments: arguments)
            try db.execute(
                sql:
                    "DELETE FROM violation WHERE id NOT IN (SELECT id FROM violation ORDER BY last DESC, id DESC LIMIT ?)",
                arguments: [TrustStore.mostViolations])
        }
    }

    func violations(container: String, environment: SealStatements.Environment) async throws(SealKitError)
        -> [ViolationRow]
    {
        try await reading { db in
            try Row.fetchAll(
                db,
                sql: """
                    SELECT code, reason, owner, zone, record, first, last FROM violation
                    WHERE container = ? AND environment = ? ORDER BY last DESC, id DESC
                    """, arguments: [container, Int64(environment.rawValue)]
            ).map {
                ViolationRow(
                    code: $0[0], reason: $0[1], owner: $0[2], zone: $0[3], record: $0[4], first: $0[5], last: $0[6])
            }
        }
    }

    func forgetViolations(
        container: String, environment: SealStatements.Environment, until last: Int64
    ) async throws(SealKitError) {
        try await writing { db in
            try db.execute(
                sql: "DELETE FROM violation WHERE container = ? AND environment = ? AND last <= ?",
                arguments: [container, Int64(environment.rawValue), last])
        }
    }
}
