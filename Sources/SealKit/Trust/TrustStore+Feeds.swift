import Foundation
import GRDB
import SealClient
import SealPrimitives

/// Where feeds were read to, for what the SDK reads by itself.
extension TrustStore {
    /// Where the app has read a zone's feed to, and the first epoch of a scope in it that something may be missing of.
    func feed(
        zone: Digest, incarnation: UInt32, _ place: ScopePlace
    ) async throws(SealKitError) -> (token: Data, caughtUpEpoch: UInt32?)? {
        let key = Data(zone.bytes)
        return try await reading { db in
            let token = try Data.fetchOne(
                db, sql: "SELECT token FROM feed WHERE zone = ? AND incarnation = ?", arguments: [key, incarnation])
            let epoch = try TrustSightings(ScopePlace(zone, incarnation), late: nil, db).caughtUp(in: place)
            return token.map { ($0, epoch.map { UInt32(clamping: $0) }) }
        }
    }

    /// Notes that the feed was read on from where the app has read it to, nil for the beginning, without a gap up to an
    /// epoch of each scope. The app's place stays: it reads on from there.
    func noteCaughtUp(
        zone: Digest, incarnation: UInt32, from start: Data?, to end: Data, caughtUp: [ScopePlace: Int64]
    ) async throws(SealKitError) {
        let key = Data(zone.bytes)
        let own = caughtUp[ScopePlace(zone, incarnation)]
        try await writing { db in
            if let start {
                try db.execute(
                    sql: """
                        UPDATE feed SET caughtUpEpoch = MAX(COALESCE(caughtUpEpoch, 0), COALESCE(?, 0))
                        WHERE zone = ? AND incarnation = ? AND token = ?
                        """, arguments: [own, key, incarnation, start])
            } else {
                // The app may have read meanwhile: only where it has not, this is where it goes on from.
                try db.execute(
                    sql: """
                        INSERT INTO feed (zone, incarnation, token, caughtUpEpoch) VALUES (?, ?, ?, ?)
                        ON CONFLICT (zone, incarnation) DO UPDATE SET
                            caughtUpEpoch = MAX(COALESCE(caughtUpEpoch, 0), COALESCE(excluded.caughtUpEpoch, 0))
                        """, arguments: [key, incarnation, end, own])
            }
            guard db.changesCount == 1 else { return }
            for (place, epoch) in caughtUp { try self.noteRead(place, epoch, db) }
        }
    }
}
