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

    /// Up to which epoch a scope's records were read without a gap.
    func caughtUp(in scope: ScopePlace, of place: Place) async throws(SealKitError) -> Int64? {
        try await reading { db in
            try ScopeMarks(zone: place.zone, incarnation: place.incarnation, db).caughtUp(in: scope, db)
        }
    }

    /// Notes that the feed was read on from where the app has read it to, nil for the beginning, without a gap up to each
    /// scope's epoch. The app's place stays: it reads on from there.
    func noteCaughtUp(
        zone: Digest, incarnation: UInt32, from start: Data?, to end: Data, caughtUp: [ScopePlace: UInt32]
    ) async throws(SealKitError) {
        guard let start else {
            return try await advance(zone: zone, incarnation: incarnation, since: nil, token: end, caughtUp: caughtUp)
        }
        let key = Data(zone.bytes)
        try await writing { [self] db in
            try db.execute(
                sql: """
                    UPDATE feed SET caughtUpEpoch = MAX(COALESCE(caughtUpEpoch, 0), COALESCE(?, 0))
                    WHERE zone = ? AND incarnation = ? AND token = ?
                    """, arguments: [caughtUp[ScopePlace(zone, incarnation)].map { Int64($0) }, key, incarnation, start])
            guard db.changesCount == 1 else { return }
            for (scope, epoch) in caughtUp { try noteRead(scope, epoch, db) }
        }
    }
}
