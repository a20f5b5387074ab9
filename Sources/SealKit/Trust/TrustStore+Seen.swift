import Foundation
import GRDB
import SealClient
import SealPrimitives
import SealStatements

/// Of every record the newest statement that this device has seen, as far as the next one is held against it.
extension TrustStore {
    private static let remembering = """
        INSERT INTO seen (zone, incarnation, name, revision, hash, kind, type, creator, roster, place, noted, met)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11) ON CONFLICT (zone, incarnation, name) DO
        """
    private static let rememberingNew = remembering + " NOTHING"
    private static let rememberingNewest =
        remembering + """
             UPDATE SET revision = excluded.revision, hash = excluded.hash, kind = excluded.kind, type = excluded.type,
                creator = excluded.creator, roster = excluded.roster, place = excluded.place, noted = excluded.noted,
                met = MIN(met, excluded.met)
            """

    /// In the place of the moment at which a record was met: that was before this account was out of its zone. What
    /// became of it meanwhile nobody may have shown it, so the record counts as there once it is met again.
    private static let metBeforeAbsence = Int64.max

    /// - Parameters:
    ///   - own: the zone's own scope, in its present life.
    ///   - onlyNew: what was seen of the record before stays.
    /// - Returns: whether it is remembered now.
    @discardableResult
    func remember(
        _ sighting: Sighting, _ zone: Data, _ incarnation: UInt32, _ own: ScopePlace, at moment: Int64,
        onlyNew: Bool = false,
        _ db: GRDB.Database
    ) throws -> Bool {
        let statement = sighting.statement
        let place = sighting.place
        try db.cachedStatement(sql: onlyNew ? TrustStore.rememberingNew : TrustStore.rememberingNewest).execute(
            arguments: [
                zone, incarnation, statement.recordName, Int64(bitPattern: statement.revision),
                Data(sighting.hash.bytes),
                Int64(statement.kind.rawValue), statement.recordType, Data(statement.creator.id.bytes),
                Int64(bitPattern: statement.rosterSequence), place == own ? nil : Data(place.bytes), moment,
            ])
        return db.changesCount == 1
    }

    /// What this device has seen of a record before.
    enum Meeting {
        case never
        /// The very statement, which says that the record is there.
        case inThis
        /// In that, before this account was out of the zone.
        case inThisBeforeAbsence
        case inAnother(SeenStatement)
    }

    func met(_ sighting: Sighting, _ zone: Data, _ incarnation: UInt32, _ db: GRDB.Database) throws -> Meeting {
        try seen(sighting.recordName, zone, incarnation, db) { row in
            // Most of what is read was read before: nothing else of it has to be decoded.
            if sighting.deletion == nil, UInt64(bitPattern: row[0] as Int64) == sighting.revision,
                try row.withUnsafeData(atIndex: 1, { $0?.elementsEqual(sighting.hash.bytes) ?? false })
            {
                return row[7] as Int64 == TrustStore.metBeforeAbsence ? .inThisBeforeAbsence : .inThis
            }
            return .inAnother(try TrustStore.statement(row, zone, incarnation))
        } ?? .never
    }

    func seen(_ name: String, _ zone: Data, _ incarnation: UInt32, _ db: GRDB.Database) throws -> SeenStatement? {
        try seen(name, zone, incarnation, db) { try TrustStore.statement($0, zone, incarnation) }
    }

    /// Nil also for what was met only before this account was out of the zone.
    func seenSinceAbsence(
        _ name: String, _ zone: Data, _ incarnation: UInt32, _ db: GRDB.Database
    ) throws -> SeenStatement? {
        try seen(name, zone, incarnation, db) { row in
            row[7] as Int64 == TrustStore.metBeforeAbsence ? nil : try TrustStore.statement(row, zone, incarnation)
        } ?? nil
    }

    /// - Parameter body: is given the row, which is good as long as it runs.
    private func seen<T>(
        _ name: String, _ zone: Data, _ incarnation: UInt32, _ db: GRDB.Database, _ body: (Row) throws -> T
    ) throws -> T? {
        let select = try db.cachedStatement(
            sql: """
                SELECT revision, hash, kind, type, creator, roster, place, met FROM seen
                WHERE zone = ? AND incarnation = ? AND name = ?
                """)
        let rows = try Row.fetchCursor(select, arguments: [zone, incarnation, name])
        return try withExtendedLifetime(rows) { try rows.next().map(body) }
    }

    private static func statement(_ row: Row, _ zone: Data, _ incarnation: UInt32) throws -> SeenStatement {
        let place = try (row[6] as Data?).map { ScopePlace([UInt8]($0)) } ?? ScopePlace(try Digest(zone), incarnation)
        guard let kind = SealStatements.Statement.Kind(rawValue: row[2]), let place else { throw SealError.malformed }
        return SeenStatement(
            kind: kind, recordType: row[3], creator: UserID(try ID16(row[4] as Data)),
            revision: UInt64(bitPattern: row[0] as Int64), hash: try Digest(row[1] as Data),
            place: SealStatements.Statement.FormerScope(scopeID: place.scope, incarnation: place.incarnation),
            rosterSequence: UInt64(bitPattern: row[5] as Int64))
    }

    /// The records of a zone's life that are there as far as this device knows, by name.
    /// - Parameters:
    ///   - scopes: those that are this account's to read, where that is not all of the zone.
    ///   - moment: those alone that were known by then; nil for all.
    ///   - isMissing: of a name, whether it is wanted.
    func living(
        in place: Place, scopes: Set<ScopePlace>?, since moment: Int64? = nil,
        where isMissing: @escaping @Sendable (String) -> Bool
    ) async throws(SealKitError) -> [String] {
        let (zone, incarnation) = (Data(place.zone.bytes), place.incarnation)
        let own = ScopePlace(place.zone, incarnation)
        return try await reading { db in
            let rows = try Row.fetchCursor(
                db,
                sql: """
                    SELECT name, place FROM seen WHERE zone = ? AND incarnation = ? AND kind = ? AND met <= ? AND NOT EXISTS (
                        SELECT 1 FROM went WHERE went.zone = seen.zone AND went.incarnation = seen.incarnation
                            AND went.name = seen.name AND went.hash = seen.hash)
                    ORDER BY name
                    """,
                arguments: [
                    zone, incarnation, Int64(SealStatements.Statement.Kind.save.rawValue),
                    moment ?? TrustStore.metBeforeAbsence - 1,
                ])
            var names: [String] = []
            while let row = try rows.next() {
                let name: String = row[0]
                guard isMissing(name) else { continue }
                if let scopes {
                    guard let place = (row[1] as Data?).map({ ScopePlace([UInt8]($0)) }) ?? own, scopes.contains(place)
                    else {
                        continue
                    }
                }
                names.append(name)
            }
            return names
        }
    }

    /// Notes that this account was out of a zone as a whole: of what it met there before, nothing needs to be there
    /// still.
    static func noteAbsence(from zone: Data, _ db: GRDB.Database) throws {
        try db.execute(
            sql: "UPDATE seen SET met = ? WHERE zone = ? AND place IS NULL", arguments: [metBeforeAbsence, zone])
    }

    /// The highest revision of a record that this device has seen.
    func lastSeen(_ name: String, in place: Place) async throws(SealKitError) -> (revision: UInt64, hash: Digest)? {
        let (zone, incarnation) = (Data(place.zone.bytes), place.incarnation)
        return try await reading { db in try self.seen(name, zone, incarnation, db).map { ($0.revision, $0.hash) } }
    }
}

extension TrustStore.Sighting {
    /// What was seen of the record says of this; nil where it may have become this.
    func verdict(after known: SeenStatement) -> TrustStore.Verdict? {
        if revision < known.revision { return .older }
        if revision == known.revision {
            if hash != known.hash { return .forked }
            return deletion == nil ? .accepted : nil
        }
        if continues(known) { return nil }
        if revision - known.revision == 1, statement.previous != known.hash { return .forked }
        if statement.place == known.place, statement.rosterSequence < known.rosterSequence { return .behind }
        return (statement.formerScope ?? statement.place) == known.place ? .changed : .misplaced
    }

    /// By itself, or by what brought the record from where it was seen: that counts as if it had been seen next.
    private func continues(_ known: SeenStatement) -> Bool {
        if (try? statement.check(after: known)) != nil { return true }
        guard let moved else { return false }
        return (try? moved.statement.check(after: known)) != nil
    }
}
