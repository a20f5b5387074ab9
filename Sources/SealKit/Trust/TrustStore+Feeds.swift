import Foundation
import GRDB
import SealPrimitives

/// Where feeds were read to, for what the SDK reads by itself.
extension TrustStore {
    func feed(zone: Digest, incarnation: UInt32) async throws(SealKitError) -> (token: Data, caughtUpEpoch: UInt32?)? {
        let key = Data(zone.bytes)
        return try await reading { db in
            try Row.fetchOne(
                db, sql: "SELECT token, caughtUpEpoch FROM feed WHERE zone = ? AND incarnation = ?", arguments: [key, incarnation]
            ).map { row in (row[0], (row[1] as Int64?).map { UInt32(clamping: $0) }) }
        }
    }

    /// Notes that the feed was read on from where the app has read it to, nil for the beginning, without a gap up to an
    /// epoch. The app's place stays: it reads on from there.
    func noteCaughtUp(
        zone: Digest, incarnation: UInt32, from start: Data?, to end: Data, epoch: UInt32
    ) async throws(SealKitError) {
        guard let start else {
            return try await advance(zone: zone, incarnation: incarnation, since: nil, token: end, caughtUpEpoch: epoch)
        }
        let key = Data(zone.bytes)
        try await writing { db in
            try db.execute(
                sql: """
                    UPDATE feed SET caughtUpEpoch = MAX(COALESCE(caughtUpEpoch, 0), ?)
                    WHERE zone = ? AND incarnation = ? AND token = ?
                    """, arguments: [Int64(epoch), key, incarnation, start])
        }
    }
}
