import Foundation
import GRDB
import SealPrimitives

/// Records that went with the target of a reference: nobody signed their own deletion, so this device remembers which
/// statement it has accepted as gone.
extension TrustStore {
    /// What stands against a sighting because of such deletions; nil for nothing.
    func derived(_ sighting: Sighting, _ zone: Data, _ incarnation: UInt32, _ db: GRDB.Database) throws -> Verdict? {
        let isKnown = try hasGone(sighting.recordName, sighting.hash, zone, incarnation, db)
        // What is gone is shown again as if nothing had been.
        guard sighting.isDerived else { return isKnown ? .older : nil }
        if isKnown {
            let known = try seen(sighting.recordName, zone, incarnation, db)
            return (known?.revision ?? 0) > Int64(bitPattern: sighting.revision) ? .older : .accepted
        }
        // What this device never had is taken from nobody by a record in between that was made again since.
        let isNew = try seen(sighting.recordName, zone, incarnation, db) == nil
        for cited in isNew ? sighting.grounds.suffix(1) : sighting.grounds[...] {
            if let verdict = try outdated(cited, zone, incarnation, db) { return verdict }
        }
        return nil
    }

    /// What stands against a statement that a notice gives for its record's newest; nil for nothing. One that this device has
    /// accepted as gone was the newest when it went, whatever the record has become since.
    private func outdated(
        _ cited: Sighting.Cited, _ zone: Data, _ incarnation: UInt32, _ db: GRDB.Database
    ) throws -> Verdict? {
        guard let known = try seen(cited.recordName, zone, incarnation, db),
            try !hasGone(cited.recordName, cited.hash, zone, incarnation, db)
        else { return nil }
        let revision = Int64(bitPattern: cited.revision)
        if known.revision > revision { return .outlived }
        if known.revision == revision, known.hash != Data(cited.hash.bytes) { return .forked }
        return known.revision + 1 == revision && known.hash != Data(cited.previous.bytes) ? .forked : nil
    }

    /// Nothing that this device has not seen counts under an epoch that it has read past: neither the statement, nor any that
    /// its deletion is said to follow from.
    func isBackdated(
        _ sighting: Sighting, known: (revision: Int64, hash: Data)?, before caughtUp: Int64, _ zone: Data,
        _ incarnation: UInt32, _ db: GRDB.Database
    ) throws -> Bool {
        if known?.hash != Data(sighting.hash.bytes), Int64(sighting.epoch) < caughtUp { return true }
        return try sighting.grounds.contains { cited in
            try Int64(cited.epoch) < caughtUp
                && seen(cited.recordName, zone, incarnation, db)?.hash != Data(cited.hash.bytes)
                && !hasGone(cited.recordName, cited.hash, zone, incarnation, db)
        }
    }

    /// Remembers an accepted notice, and what it follows from.
    func noteGone(_ sighting: Sighting, _ zone: Data, _ incarnation: UInt32, _ db: GRDB.Database) throws {
        guard sighting.isDerived else { return }
        try db.execute(
            sql: """
                INSERT INTO went (zone, incarnation, name, hash) VALUES (?, ?, ?, ?)
                ON CONFLICT (zone, incarnation, name) DO UPDATE SET hash = excluded.hash
                """, arguments: [zone, incarnation, sighting.recordName, Data(sighting.hash.bytes)])
        for cited in sighting.grounds {
            let revision = Int64(bitPattern: cited.revision)
            if let known = try seen(cited.recordName, zone, incarnation, db), known.revision >= revision { continue }
            try remember(cited.recordName, revision, Data(cited.hash.bytes), zone, incarnation, db)
        }
    }

    /// Whether this device has accepted that the record went, with this statement as its newest.
    private func hasGone(
        _ name: String, _ hash: Digest, _ zone: Data, _ incarnation: UInt32, _ db: GRDB.Database
    ) throws -> Bool {
        let went = try db.cachedStatement(sql: "SELECT hash FROM went WHERE zone = ? AND incarnation = ? AND name = ?")
        return try Data.fetchOne(went, arguments: [zone, incarnation, name]) == Data(hash.bytes)
    }

    func remember(
        _ name: String, _ revision: Int64, _ hash: Data, _ zone: Data, _ incarnation: UInt32, _ db: GRDB.Database
    ) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO seen (zone, incarnation, name, revision, hash) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (zone, incarnation, name) DO UPDATE SET revision = excluded.revision, hash = excluded.hash
                """
        ).execute(arguments: [zone, incarnation, name, revision, hash])
    }

    /// The highest revision of a record that this device has seen.
    func lastSeen(_ name: String, in place: Place) async throws(SealKitError) -> (revision: UInt64, hash: Digest)? {
        let (zone, incarnation) = (Data(place.zone.bytes), place.incarnation)
        let found = try await reading { db in try self.seen(name, zone, incarnation, db) }
        return found.flatMap { found in
            (try? Digest([UInt8](found.hash))).map { (UInt64(bitPattern: found.revision), $0) }
        }
    }

    func seen(
        _ name: String, _ zone: Data, _ incarnation: UInt32, _ db: GRDB.Database
    ) throws -> (revision: Int64, hash: Data)? {
        let select = try db.cachedStatement(
            sql: "SELECT revision, hash FROM seen WHERE zone = ? AND incarnation = ? AND name = ?")
        return try Row.fetchOne(select, arguments: [zone, incarnation, name]).map { ($0[0], $0[1]) }
    }
}
