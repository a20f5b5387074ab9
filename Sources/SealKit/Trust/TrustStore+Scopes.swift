import Foundation
import GRDB
import SealPrimitives
import SealStatements

/// Several scopes in one zone: which there are, where each record was seen, and how far each was read.
extension TrustStore {
    /// A life of a scope.
    struct ScopePlace: Sendable, Hashable {
        let scope: Digest
        let incarnation: UInt32

        init(_ scope: Digest, _ incarnation: UInt32) { (self.scope, self.incarnation) = (scope, incarnation) }
        init(_ place: SealStatements.Statement.FormerScope) { self.init(place.scopeID, place.incarnation) }

        /// Nil for anything but `data`.
        init?(_ data: Data) {
            guard data.count == Digest.byteCount + 4, let scope = try? Digest([UInt8](data.prefix(Digest.byteCount))) else { return nil }
            self.init(scope, data.suffix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) })
        }

        var data: Data { Data(scope.bytes) + withUnsafeBytes(of: incarnation.littleEndian) { Data($0) } }
    }

    /// Where a statement has its record, and what it says of where that was.
    struct Stay: Sendable {
        let place: ScopePlace
        let former: ScopePlace?
        let isOwners: Bool
        let rosterSequence: UInt64
        /// What brought the record here, by an earlier revision.
        let moved: Moved?

        struct Moved: Sendable {
            let revision: UInt64
            let previous: Digest
            let former: ScopePlace?
        }

        init(_ statement: SealStatements.Statement, moved: VerifiedStatement?) {
            place = ScopePlace(statement.place)
            former = statement.formerScope.map { ScopePlace($0) }
            isOwners = statement.author == statement.owner
            rosterSequence = statement.rosterSequence
            self.moved = moved.map {
                Moved(
                    revision: $0.statement.revision, previous: $0.statement.previous,
                    former: $0.statement.formerScope.map { ScopePlace($0) })
            }
        }
    }

    /// How far each scope's records were read without a gap, and whether any record of the zone was ever seen in another
    /// scope than the zone's own.
    struct ScopeMarks {
        let own: Int64?
        let ownPlace: ScopePlace
        var hasStays: Bool

        init(zone: Digest, incarnation: UInt32, _ db: GRDB.Database) throws {
            ownPlace = ScopePlace(zone, incarnation)
            own = try Int64.fetchOne(
                db, sql: "SELECT caughtUpEpoch FROM feed WHERE zone = ? AND incarnation = ?",
                arguments: [Data(zone.bytes), incarnation])
            hasStays = try Bool.fetchOne(
                db, sql: "SELECT EXISTS (SELECT 1 FROM stay WHERE zone = ? AND incarnation = ?)",
                arguments: [Data(zone.bytes), incarnation]) ?? false
        }

        /// In a zone of one scope there is nothing to ask about where a record is.
        func arePlain(_ sighting: Sighting) -> Bool {
            !hasStays && sighting.stay.place == ownPlace && sighting.stay.former == nil
        }

        func caughtUp(in place: ScopePlace, _ db: GRDB.Database) throws -> Int64? {
            guard place != ownPlace else { return own }
            return try Int64.fetchOne(db, sql: "SELECT epoch FROM scopeRead WHERE place = ?", arguments: [place.data])
        }
    }

    static let scopesSchema = """
        CREATE TABLE IF NOT EXISTS share (
            zone BLOB NOT NULL, name TEXT NOT NULL, PRIMARY KEY (zone, name)) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS stay (
            zone BLOB NOT NULL, incarnation INTEGER NOT NULL, name TEXT NOT NULL, place BLOB NOT NULL, roster INTEGER NOT NULL,
            PRIMARY KEY (zone, incarnation, name)) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS scopeRead (
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

    /// Whether what was seen of the record may have become this: in its scope, or moved by the owner, who alone can. Where
    /// nothing is noted, the record was in the zone's own scope: rows of before there were others.
    func staysOrWasMoved(
        _ sighting: Sighting, _ zone: Data, _ incarnation: UInt32, _ db: GRDB.Database
    ) throws -> Bool {
        guard let known = try seen(sighting.recordName, zone, incarnation, db) else { return true }
        let noted = try Row.fetchOne(
            db, sql: "SELECT place, roster FROM stay WHERE zone = ? AND incarnation = ? AND name = ?",
            arguments: [zone, incarnation, sighting.recordName])
        let own = zone + withUnsafeBytes(of: incarnation.littleEndian) { Data($0) }
        let place: Data = noted.map { $0[0] } ?? own
        let stay = sighting.stay
        let isNext = Int64(bitPattern: sighting.revision) == known.revision + 1
        if stay.place.data == place {
            let roster: Int64 = noted.map { $0[1] } ?? 0
            // It may have left and come back meanwhile.
            guard stay.former == nil else { return !isNext && stay.isOwners }
            return Int64(bitPattern: stay.rosterSequence) >= roster || stay.moved != nil
        }
        if isNext { return stay.former?.data == place }
        if stay.isOwners { return true }
        guard let moved = stay.moved else { return false }
        let revision = Int64(bitPattern: moved.revision)
        guard revision > known.revision else { return false }
        return revision > known.revision + 1
            || (Data(moved.previous.bytes) == known.hash && moved.former?.data == place)
    }

    func noteStay(_ sighting: Sighting, _ zone: Data, _ incarnation: UInt32, _ db: GRDB.Database) throws {
        let stay = sighting.stay
        try db.execute(
            sql: """
                INSERT INTO stay (zone, incarnation, name, place, roster) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (zone, incarnation, name) DO UPDATE SET place = excluded.place, roster = excluded.roster
                """,
            arguments: [
                zone, incarnation, sighting.recordName, stay.place.data, Int64(bitPattern: stay.rosterSequence),
            ])
    }

    /// Where this device saw a record last; nil for one that it has not seen outside the zone's own scope.
    func lastPlace(
        of name: String, in place: Place
    ) async throws(SealKitError) -> SealStatements.Statement.FormerScope? {
        let key = Data(place.zone.bytes)
        let incarnation = place.incarnation
        let found = try await reading { db in
            try Data.fetchOne(
                db, sql: "SELECT place FROM stay WHERE zone = ? AND incarnation = ? AND name = ?",
                arguments: [key, incarnation, name])
        }
        return found.flatMap { ScopePlace($0) }.map { .init(scopeID: $0.scope, incarnation: $0.incarnation) }
    }

    func noteRead(_ place: ScopePlace, _ epoch: UInt32, _ db: GRDB.Database) throws {
        try db.execute(
            sql: """
                INSERT INTO scopeRead (place, epoch) VALUES (?, ?)
                ON CONFLICT (place) DO UPDATE SET epoch = MAX(epoch, excluded.epoch)
                """, arguments: [place.data, Int64(epoch)])
    }
}
