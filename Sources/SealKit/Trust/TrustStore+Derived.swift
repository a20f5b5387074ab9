import Foundation
import GRDB
import SealPrimitives
import SealStatements

/// Records that went with the target of a reference: nobody signed their own deletion, so this device remembers which
/// statement it has accepted as gone.
extension TrustStore {
    /// What such a deletion says of a sighting; nil for nothing.
    func derived(_ sighting: Sighting, _ zone: Data, _ incarnation: UInt32, _ db: GRDB.Database) throws -> Verdict? {
        guard try hasGone(sighting.recordName, sighting.hash, zone, incarnation, db) else { return nil }
        // What is gone is shown again as if nothing had been.
        if case .newest = sighting.role { return .older }
        let known = try seen(sighting.recordName, zone, incarnation, db)
        return (known?.revision ?? 0) > sighting.revision ? .older : .accepted
    }

    /// Nothing that this device has not seen counts under an epoch that it has read past: neither the statement, nor
    /// the deletion that it is said to have gone with.
    func isBackdated(
        _ sighting: Sighting, known: SeenStatement?, before caughtUp: Int64, _ zone: Data,
        _ incarnation: UInt32, _ db: GRDB.Database
    ) throws -> Bool {
        if known?.hash != sighting.hash, Int64(sighting.statement.epoch) < caughtUp { return true }
        guard let deletion = sighting.deletion, Int64(deletion.epoch) < caughtUp else { return false }
        return try seen(deletion.recordName, zone, incarnation, db)?.hash != deletion.hash
    }

    /// Remembers an accepted notice, which a sighting with a deletion is. What the target has become since its deletion
    /// is for its own statements to say.
    func noteGone(
        _ sighting: Sighting, _ zone: Data, _ incarnation: UInt32, at moment: Int64, _ db: GRDB.Database
    ) throws {
        try db.cachedStatement(
            sql: """
                INSERT INTO went (zone, incarnation, name, hash, noted) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (zone, incarnation, name) DO UPDATE SET hash = excluded.hash, noted = excluded.noted
                """
        ).execute(arguments: [zone, incarnation, sighting.recordName, Data(sighting.hash.bytes), moment])
    }

    /// Whether this device has accepted that any record of the zone's life went.
    func hasAnyGone(_ zone: Data, _ incarnation: UInt32, _ db: GRDB.Database) throws -> Bool {
        let any = try db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM went WHERE zone = ? AND incarnation = ?)")
        return try Bool.fetchOne(any, arguments: [zone, incarnation]) ?? false
    }

    /// Whether this device has accepted that the record went, with this statement as its newest.
    func hasGone(
        _ name: String, _ hash: Digest, _ zone: Data, _ incarnation: UInt32, _ db: GRDB.Database
    ) throws -> Bool {
        let went = try db.cachedStatement(sql: "SELECT hash FROM went WHERE zone = ? AND incarnation = ? AND name = ?")
        return try Data.fetchOne(went, arguments: [zone, incarnation, name]) == Data(hash.bytes)
    }
}
