import Foundation
import GRDB
import SealClient
import SealPrimitives
import SealStatements

/// This account's own grants, sealed as they came: a server that has lost them is given them back with the roster.
extension TrustStore {
    static let grantsSchema = """
        CREATE TABLE ownGrant (
            scope BLOB NOT NULL, zoneLife INTEGER NOT NULL, scopeLife INTEGER NOT NULL, epoch INTEGER NOT NULL,
            sealed BLOB NOT NULL, PRIMARY KEY (scope, zoneLife, scopeLife, epoch)) WITHOUT ROWID;
        """

    /// Keeps grants of the roster's present life.
    func keep(_ grants: [OwnGrant], in roster: Roster) async throws(SealKitError) {
        guard !grants.isEmpty else { return }
        let held = Set(try await self.grants(of: roster))
        let fresh = grants.filter { !held.contains($0) }
        guard !fresh.isEmpty else { return }
        let (scope, life) = (Data(roster.scopeID.bytes), roster.incarnations)
        try await writing { db in
            for grant in fresh {
                try db.execute(
                    sql: """
                        INSERT INTO ownGrant (scope, zoneLife, scopeLife, epoch, sealed) VALUES (?, ?, ?, ?, ?)
                        ON CONFLICT (scope, zoneLife, scopeLife, epoch) DO UPDATE SET sealed = excluded.sealed
                        """, arguments: [scope, life.zone, life.scope, Int64(grant.epoch), Data(grant.sealed)])
            }
        }
    }

    /// Of the roster's present life, the oldest epoch first.
    func grants(of roster: Roster) async throws(SealKitError) -> [OwnGrant] {
        let (scope, life) = (Data(roster.scopeID.bytes), roster.incarnations)
        return try await reading { db in
            try Row.fetchAll(
                db,
                sql:
                    "SELECT epoch, sealed FROM ownGrant WHERE scope = ? AND zoneLife = ? AND scopeLife = ? ORDER BY epoch",
                arguments: [scope, life.zone, life.scope]
            ).map { OwnGrant(epoch: UInt32(truncatingIfNeeded: $0[0] as Int64), sealed: [UInt8]($0[1] as Data)) }
        }
    }

    /// The log with which the owner has ended a fork, in the place of the branch that it gave up. Where it is there
    /// already, by another call or process, what has followed it since stays.
    ///
    /// How far the scope was read goes with the branch: a share's lives before its end are in the new log by the same
    /// numbers, with other epochs. The next reading to an end reads past all of them.
    /// - Throws: `rollback` where what is there is neither.
    func replace(
        _ branch: [SignedRosterEntry], by entries: [SignedRosterEntry], scope: Digest
    ) async throws(SealKitError) {
        let key = Data(scope.bytes)
        try await writing { db in
            func held(_ sequence: Int) throws -> Data? {
                try Data.fetchOne(
                    db, sql: "SELECT bytes FROM entry WHERE scope = ? AND sequence = ?",
                    arguments: [key, Int64(sequence)])
            }
            // Each entry names the one before it: where one is the same, all before it are.
            if let last = entries.last, try held(entries.count - 1) == Data(last.bytes) { return }
            let end = try Int.fetchOne(db, sql: "SELECT MAX(sequence) FROM entry WHERE scope = ?", arguments: [key])
            if let end {
                guard end < branch.count, try held(end) == Data(branch[end].bytes) else {
                    throw TrustStore.differentRosters
                }
            }
            try db.execute(sql: "DELETE FROM entry WHERE scope = ?", arguments: [key])
            for table in ["scopeRead", "shareMark"] {
                try db.execute(
                    sql: "DELETE FROM \(table) WHERE place BETWEEN ? AND ?",
                    arguments: [
                        Data(ScopePlace(scope, .min).bytes), Data(ScopePlace(scope, .max).bytes),
                    ])
            }
            for (sequence, entry) in entries.enumerated() {
                try db.execute(
                    sql: "INSERT INTO entry (scope, sequence, bytes, signature) VALUES (?, ?, ?, ?)",
                    arguments: [key, Int64(sequence), Data(entry.bytes), Data(entry.signature)])
            }
        }
    }
}
