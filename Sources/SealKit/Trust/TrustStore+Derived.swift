import Foundation
import GRDB
import SealPrimitives

/// Records that went with the target of a reference: nobody signed their own deletion, so this device remembers which
/// statement it has accepted as gone.
extension TrustStore {
    /// What stands against a sighting because of such deletions; nil for nothing.
    func derived(_ sighting: Sighting, _ zone: Data, _ incarnation: UInt32, _ db: GRDB.Database) throws -> Verdict? {
        let went = try db.cachedStatement(sql: "SELECT hash FROM went WHERE zone = ? AND incarnation = ? AND name = ?")
        let gone = try Data.fetchOne(went, arguments: [zone, incarnation, sighting.recordName])
        let isKnown = gone == Data(sighting.hash.bytes)
        // What is gone is shown again as if nothing had been.
        guard let target = sighting.target else { return isKnown ? .older : nil }
        if isKnown {
            let known = try seen(sighting.recordName, zone, incarnation, db)
            return (known?.revision ?? 0) > Int64(bitPattern: sighting.revision) ? .older : .accepted
        }
        guard let known = try seen(target.recordName, zone, incarnation, db) else { return nil }
        // The deletion has to be the target's newest statement.
        if known.revision > Int64(bitPattern: target.revision) { return .outlived }
        return known.revision == Int64(bitPattern: target.revision) && known.hash != Data(target.hash.bytes) ? .forked : nil
    }

    /// Nothing that this device has not seen counts under an epoch that it has read past: neither the statement, nor the
    /// deletion that it is said to have gone with.
    func isBackdated(
        _ sighting: Sighting, known: (revision: Int64, hash: Data)?, before caughtUp: Int64, _ zone: Data,
        _ incarnation: UInt32, _ db: GRDB.Database
    ) throws -> Bool {
        if known?.hash != Data(sighting.hash.bytes), Int64(sighting.epoch) < caughtUp { return true }
        guard let target = sighting.target, Int64(target.epoch) < caughtUp else { return false }
        return try seen(target.recordName, zone, incarnation, db)?.hash != Data(target.hash.bytes)
    }

    /// Remembers an accepted notice, and the deletion that it follows from.
    func noteGone(_ sighting: Sighting, _ zone: Data, _ incarnation: UInt32, _ db: GRDB.Database) throws {
        guard let target = sighting.target else { return }
        try db.execute(
            sql: """
                INSERT INTO went (zone, incarnation, name, hash) VALUES (?, ?, ?, ?)
                ON CONFLICT (zone, incarnation, name) DO UPDATE SET hash = excluded.hash
                """, arguments: [zone, incarnation, sighting.recordName, Data(sighting.hash.bytes)])
        let revision = Int64(bitPattern: target.revision)
        if let known = try seen(target.recordName, zone, incarnation, db), known.revision >= revision { return }
        try remember(target.recordName, revision, Data(target.hash.bytes), zone, incarnation, db)
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

    func seen(
        _ name: String, _ zone: Data, _ incarnation: UInt32, _ db: GRDB.Database
    ) throws -> (revision: Int64, hash: Data)? {
        let select = try db.cachedStatement(
            sql: "SELECT revision, hash FROM seen WHERE zone = ? AND incarnation = ? AND name = ?")
        return try Row.fetchOne(select, arguments: [zone, incarnation, name]).map { ($0[0], $0[1]) }
    }
}
