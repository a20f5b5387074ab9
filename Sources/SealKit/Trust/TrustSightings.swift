import Foundation
import GRDB
import SealClient
import SealPrimitives
import SealStatements

/// What the trust store remembers of the records of one life of a zone, in the caller's transaction.
struct TrustSightings: SightingStore {
    /// The zone's own scope, in that life.
    private let own: ScopePlace
    private let zone: [UInt8]
    private let late: TrustStore.LateStatements?
    private let db: GRDB.Database
    // Run for each record.
    private let selecting, remembering, rememberingNew: RecordStatement

    /// - Parameter late: nil where no late statements are accepted.
    init(_ own: ScopePlace, late: TrustStore.LateStatements?, _ db: GRDB.Database) throws {
        (self.own, self.late, self.db) = (own, late, db)
        zone = own.scope.bytes
        selecting = try RecordStatement(Self.select, db)
        remembering = try RecordStatement(Self.insert + Self.orReplace, db)
        rememberingNew = try RecordStatement(Self.insert + " NOTHING", db)
    }

    // MARK: Records

    private static let insert = """
        INSERT INTO seen (zone, incarnation, name, revision, hash, kind, type, creator, roster, place, noted, met)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11) ON CONFLICT (zone, incarnation, name) DO
        """
    private static let orReplace = """
         UPDATE SET revision = excluded.revision, hash = excluded.hash, kind = excluded.kind, type = excluded.type,
            creator = excluded.creator, roster = excluded.roster, place = excluded.place, noted = excluded.noted,
            met = MIN(met, excluded.met)
        """
    private static let select = """
        SELECT revision, hash, kind, type, creator, roster, place, met FROM seen
        WHERE zone = ?1 AND incarnation = ?2 AND name = ?3
        """

    /// In the place of the moment at which a record was met: that was before this account was out of its zone.
    static let metBeforeAbsence = Int64.max

    func remember(_ sighting: Sighting, at moment: Int64, onlyNew: Bool) throws -> Bool {
        let statement = sighting.statement
        let place = sighting.place
        let insert = onlyNew ? rememberingNew : remembering
        try name(statement.recordName, to: insert)
        try insert.bind(Int64(bitPattern: statement.revision), 4)
        try insert.bind(sighting.hash.bytes, 5)
        try insert.bind(Int64(statement.kind.rawValue), 6)
        try insert.bind(statement.recordType, 7)
        try insert.bind(statement.creator.id.bytes, 8)
        try insert.bind(Int64(bitPattern: statement.rosterSequence), 9)
        try insert.bind(place == own ? nil : place.bytes, 10)
        try insert.bind(moment, 11)
        return try insert.change()
    }

    /// The record that a statement is about: its first three parameters.
    private func name(_ name: String, to statement: RecordStatement) throws {
        try statement.bind(zone, 1)
        try statement.bind(Int64(own.incarnation), 2)
        try statement.bind(name, 3)
    }

    func seen(_ name: String, comparedWith sighting: Sighting?) throws -> Seen {
        try self.name(name, to: selecting)
        return try selecting.row { row in
            let isBeforeAbsence = row.number(7) == Self.metBeforeAbsence
            let (revision, hash) = (UInt64(bitPattern: row.number(0)), try Digest(row.bytes(1) ?? []))
            // Most of what is read was read before: nothing else of it has to be decoded.
            if let sighting, revision == sighting.revision, hash == sighting.hash {
                return .same(isBeforeAbsence: isBeforeAbsence)
            }
            return .other(try statement(row, revision: revision, hash: hash), isBeforeAbsence: isBeforeAbsence)
        } ?? .never
    }

    private func statement(_ row: RecordStatement, revision: UInt64, hash: Digest) throws -> SeenStatement {
        let place = row.bytes(6).map { ScopePlace($0) } ?? own
        guard let byte = UInt8(exactly: row.number(2)), let kind = SealStatements.Statement.Kind(rawValue: byte),
            let place
        else { throw SealError.malformed }
        return SeenStatement(
            kind: kind, recordType: row.text(3), creator: UserID(try ID16(row.bytes(4) ?? [])), revision: revision,
            hash: hash,
            place: SealStatements.Statement.FormerScope(scopeID: place.scope, incarnation: place.incarnation),
            rosterSequence: UInt64(bitPattern: row.number(5)))
    }

    func living(
        metBy moment: Int64?, where isWanted: (String) -> Bool
    ) throws -> [(name: String, place: ScopePlace?)] {
        let rows = try Row.fetchCursor(
            db,
            sql: """
                SELECT name, place FROM seen WHERE zone = ? AND incarnation = ? AND kind = ? AND met <= ? AND NOT EXISTS (
                    SELECT 1 FROM went WHERE went.zone = seen.zone AND went.incarnation = seen.incarnation
                        AND went.name = seen.name AND went.hash = seen.hash)
                ORDER BY name
                """,
            arguments: [
                Data(zone), own.incarnation, Int64(SealStatements.Statement.Kind.save.rawValue),
                moment ?? Self.metBeforeAbsence - 1,
            ])
        var found: [(name: String, place: ScopePlace?)] = []
        while let row = try rows.next() {
            let name: String = row[0]
            guard isWanted(name) else { continue }
            found.append((name, (row[1] as Data?).map { ScopePlace([UInt8]($0)) } ?? own))
        }
        return found
    }

    // MARK: Derived deletions

    func noteGone(_ name: String, _ hash: Digest, at moment: Int64) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO went (zone, incarnation, name, hash, noted) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (zone, incarnation, name) DO UPDATE SET hash = excluded.hash, noted = excluded.noted
                """
        ).execute(arguments: [Data(zone), own.incarnation, name, Data(hash.bytes), moment])
    }

    func hasAnyGone() throws -> Bool {
        let any = try db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM went WHERE zone = ? AND incarnation = ?)")
        return try Bool.fetchOne(any, arguments: [Data(zone), own.incarnation]) ?? false
    }

    func gone(_ name: String) throws -> Digest? {
        let went = try db.cachedStatement(sql: "SELECT hash FROM went WHERE zone = ? AND incarnation = ? AND name = ?")
        return try Data.fetchOne(went, arguments: [Data(zone), own.incarnation, name]).map { try Digest($0) }
    }

    // MARK: Moments

    func lastMoment() throws -> Int64 {
        try Int64.fetchOne(db.cachedStatement(sql: "SELECT last FROM moment")) ?? 0
    }

    func setMoment(_ moment: Int64) throws {
        try db.cachedStatement(sql: "UPDATE moment SET last = ?").execute(arguments: [moment])
    }

    func isNoted(_ name: String, after moment: Int64) throws -> Bool {
        let noted = try db.cachedStatement(
            sql: """
                SELECT EXISTS (SELECT 1 FROM seen WHERE zone = ?1 AND incarnation = ?2 AND name = ?3 AND noted > ?4)
                    OR EXISTS (SELECT 1 FROM went WHERE zone = ?1 AND incarnation = ?2 AND name = ?3 AND noted > ?4)
                """)
        return try Bool.fetchOne(noted, arguments: [Data(zone), own.incarnation, name, moment]) ?? false
    }

    // MARK: Feeds

    func caughtUp(in place: ScopePlace) throws -> Int64? {
        guard place == own else {
            return try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT epoch FROM scopeRead WHERE place = ?"), arguments: [Data(place.bytes)])
        }
        return try Int64.fetchOne(
            db.cachedStatement(sql: "SELECT caughtUpEpoch FROM feed WHERE zone = ? AND incarnation = ?"),
            arguments: [Data(zone), own.incarnation])
    }

    // MARK: Late statements

    func noteLate(_ sighting: Sighting) throws {
        guard let late else { return }
        try db.execute(
            sql: "INSERT INTO lateRecord VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            arguments: [
                late.container, Int64(late.environment.rawValue), late.zone.ownerName, late.zone.zoneName,
                sighting.recordName,
                Data(sighting.hash.bytes), Data(sighting.statement.author.id.bytes), late.time,
            ])
    }
}
