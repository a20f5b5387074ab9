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
            sql: "INSERT INTO share (zone, name) VALUES (?, ?) ON CONFLICT DO NOTHING", arguments: [zone, share.name])
        for (place, epoch) in share.marks {
            try db.execute(
                sql: """
                    INSERT INTO shareMark (zone, name, place, epoch) VALUES (?, ?, ?, ?)
                    ON CONFLICT (zone, name, place) DO UPDATE SET epoch = MAX(epoch, excluded.epoch)
                    """, arguments: [zone, share.name, Data(place.bytes), epoch])
        }
    }

    /// How far the rosters of a zone's hierarchical shares have come.
    /// - Returns: what is above the marks that are set (`due`), and the shares of which it was not noted.
    func marks(
        ofSharesIn zone: Digest
    ) async throws(SealKitError) -> (due: [ScopePlace: Int64], unmarked: [String]) {
        let key = Data(zone.bytes)
        return try await reading { db in
            let statement = try db.cachedStatement(
                sql: """
                    SELECT share.name, shareMark.place, shareMark.epoch FROM share
                    LEFT JOIN shareMark ON shareMark.zone = share.zone AND shareMark.name = share.name
                    LEFT JOIN scopeRead ON scopeRead.place = shareMark.place
                    WHERE share.zone = ?
                        AND (shareMark.epoch IS NULL OR scopeRead.epoch IS NULL OR scopeRead.epoch < shareMark.epoch)
                    """)
            var (due, unmarked): ([ScopePlace: Int64], [String]) = ([:], [])
            for row in try Row.fetchAll(statement, arguments: [key]) {
                guard let place = (row[1] as Data?).flatMap({ ScopePlace([UInt8]($0)) }) else {
                    unmarked.append(row[0])
                    continue
                }
                due[place] = row[2]
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
    }
}
