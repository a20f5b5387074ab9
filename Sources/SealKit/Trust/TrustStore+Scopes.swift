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

    /// How far the roster of a hierarchical share has come (`Roster.marks`).
    struct ShareMarks: Sendable {
        let zone: Digest
        let name: String
        let marks: [ScopePlace: Int64]
    }

    func note(_ share: ShareMarks) async throws(SealKitError) { try await writing { try TrustStore.note(share, $0) } }

    /// A roster only ever grows; and where its owner has given a branch up, all lives in that are over.
    static func note(_ share: ShareMarks, _ db: GRDB.Database) throws {
        let zone = Data(share.zone.bytes)
        try db.execute(
            sql: """
                INSERT INTO share (zone, name, marked) VALUES (?, ?, 1)
                ON CONFLICT (zone, name) DO UPDATE SET marked = 1 WHERE marked = 0
                """, arguments: [zone, share.name])
        for (place, epoch) in share.marks {
            try db.execute(
                sql: """
                    INSERT INTO shareMark (place, zone, epoch) SELECT ?1, ?2, ?3
                    WHERE NOT EXISTS (SELECT 1 FROM scopeRead WHERE place = ?1 AND epoch >= ?3)
                    ON CONFLICT (place) DO UPDATE SET epoch = MAX(epoch, excluded.epoch)
                    """, arguments: [Data(place.bytes), zone, epoch])
        }
    }

    /// How far the rosters of a zone's hierarchical shares have come.
    /// - Returns: what is above the marks that are set (`due`), and the shares of which it was not noted.
    func marks(
        ofSharesIn zone: Digest
    ) async throws(SealKitError) -> (due: [ScopePlace: Int64], unmarked: [String]) {
        let key = Data(zone.bytes)
        return try await reading { db in
            // Both find what is due alone: this is asked with each page of a feed, and a zone may have many shares.
            let unmarked = try String.fetchAll(
                db.cachedStatement(
                    sql: "SELECT name FROM share INDEXED BY shareUnmarked WHERE zone = ? AND marked = 0"),
                arguments: [key])
            var due: [ScopePlace: Int64] = [:]
            let marks = try db.cachedStatement(sql: "SELECT place, epoch FROM shareMark WHERE zone = ?")
            for row in try Row.fetchAll(marks, arguments: [key]) {
                if let place = ScopePlace([UInt8](row[0] as Data)) { due[place] = row[1] }
            }
            return (due, unmarked)
        }
    }

    static func noteRead(_ place: ScopePlace, _ epoch: Int64, _ db: GRDB.Database) throws {
        try db.execute(
            sql: """
                INSERT INTO scopeRead (place, epoch) VALUES (?, ?)
                ON CONFLICT (place) DO UPDATE SET epoch = MAX(epoch, excluded.epoch)
                """, arguments: [Data(place.bytes), epoch])
        try db.execute(
            sql: "DELETE FROM shareMark WHERE place = ? AND epoch <= ?", arguments: [Data(place.bytes), epoch])
    }
}
