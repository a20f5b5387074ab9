import Foundation
import GRDB
import SealClient
import SealPrimitives
import SealStatements

/// Several scopes in one zone: which there are, where a record was seen last, and how far each was read.
extension TrustStore {
    /// How far each scope's records were read without a gap.
    struct ScopeMarks {
        let own: Int64?
        let ownPlace: ScopePlace
        private var others: [ScopePlace: Int64?] = [:]

        init(zone: Digest, incarnation: UInt32, _ db: GRDB.Database) throws {
            ownPlace = ScopePlace(zone, incarnation)
            own = try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT caughtUpEpoch FROM feed WHERE zone = ? AND incarnation = ?"),
                arguments: [Data(zone.bytes), incarnation])
        }

        mutating func caughtUp(in place: ScopePlace, _ db: GRDB.Database) throws -> Int64? {
            guard place != ownPlace else { return own }
            if let known = others[place] { return known }
            let epoch = try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT epoch FROM scopeRead WHERE place = ?"), arguments: [Data(place.bytes)])
            others.updateValue(epoch, forKey: place)
            return epoch
        }
    }

    static let scopesSchema = """
        CREATE TABLE share (
            zone BLOB NOT NULL, name TEXT NOT NULL, PRIMARY KEY (zone, name)) WITHOUT ROWID;
        CREATE TABLE scopeRead (
            place BLOB NOT NULL, epoch INTEGER NOT NULL, PRIMARY KEY (place)) WITHOUT ROWID;
        """

    // MARK: Shares

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

    // MARK: Places

    /// The scope that this device saw a record in last; nil for one that it has not seen, and for one that is gone.
    func lastPlace(
        of name: String, in place: Place
    ) async throws(SealKitError) -> SealStatements.Statement.FormerScope? {
        let key = Data(place.zone.bytes)
        let incarnation = place.incarnation
        return try await reading { db in
            guard let seen = try self.seen(name, key, incarnation, db), seen.kind == .save,
                try !self.hasGone(name, seen.hash, key, incarnation, db)
            else { return nil }
            return seen.place
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
