import Foundation
import GRDB
import SealClient
import SealPrimitives
import SealStatements

/// Several scopes in one zone: which there are, and how far each was read.
extension TrustStore {
    static let scopesSchema = """
        CREATE TABLE share (
            zone BLOB NOT NULL, name TEXT NOT NULL, PRIMARY KEY (zone, name)) WITHOUT ROWID;
        CREATE TABLE scopeRead (
            place BLOB NOT NULL, epoch INTEGER NOT NULL, PRIMARY KEY (place)) WITHOUT ROWID;
        """

    /// The hierarchical shares of a zone whose rosters this device has.
    func shares(of zone: Digest) async throws(SealKitError) -> [String] {
        let key = Data(zone.bytes)
        return try await reading { db in
            try String.fetchAll(db, sql: "SELECT name FROM share WHERE zone = ? ORDER BY name", arguments: [key])
        }
    }

    func noteShare(_ name: String, of zone: Digest) async throws(SealKitError) {
        let key = Data(zone.bytes)
        try await writing { db in
            try db.execute(
                sql: "INSERT INTO share (zone, name) VALUES (?, ?) ON CONFLICT DO NOTHING", arguments: [key, name])
        }
    }

    func noteRead(_ place: ScopePlace, _ epoch: Int64, _ db: GRDB.Database) throws {
        try db.execute(
            sql: """
                INSERT INTO scopeRead (place, epoch) VALUES (?, ?)
                ON CONFLICT (place) DO UPDATE SET epoch = MAX(epoch, excluded.epoch)
                """, arguments: [Data(place.bytes), epoch])
    }
}
