import Foundation
import GRDB
import SealClient
import SealPrimitives

/// How far feeds were read without a gap.
extension TrustStore {
    /// What marks go by (R-SEEN-4): how far the rosters of hierarchical shares have come beyond what was read, and the
    /// places in feeds that a reading without a gap has come to.
    static let marksSchema = """
        CREATE TABLE shareMark (
            place BLOB NOT NULL, zone BLOB NOT NULL, epoch INTEGER NOT NULL, PRIMARY KEY (place)) WITHOUT ROWID;
        CREATE INDEX shareMarkOfZone ON shareMark (zone);
        -- Whether that was noted of a share.
        ALTER TABLE share ADD COLUMN marked INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX shareUnmarked ON share (zone) WHERE marked = 0;
        CREATE TABLE feedPlace (
            zone BLOB NOT NULL, incarnation INTEGER NOT NULL, token BLOB NOT NULL, used INTEGER NOT NULL,
            PRIMARY KEY (zone, incarnation, token)) WITHOUT ROWID;
        INSERT INTO feedPlace (zone, incarnation, token, used) SELECT zone, incarnation, token, 0 FROM feed;
        """

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

    /// Notes that the app has read a feed on, from `since` to `token`, and up to an epoch of each scope. Only a reading
    /// that starts where one without a gap has come to, or at the beginning, counts.
    func advance(
        zone: Digest, incarnation: UInt32, since: Data?, token: Data, caughtUp: [ScopePlace: Int64]
    ) async throws(SealKitError) {
        let reading = Reading(zone: zone, incarnation: incarnation, start: since, end: token, caughtUp: caughtUp)
        try await writing { try reading.note(movingApp: true, $0) }
    }

    /// As `advance`, of what the SDK has read for itself. The app's place stays: it reads on from there. Where it has
    /// read nothing yet, this is where the SDK goes on from.
    func noteCaughtUp(
        zone: Digest, incarnation: UInt32, from start: Data?, to end: Data, caughtUp: [ScopePlace: Int64]
    ) async throws(SealKitError) {
        let reading = Reading(zone: zone, incarnation: incarnation, start: start, end: end, caughtUp: caughtUp)
        try await writing { try reading.note(movingApp: false, $0) }
    }

    /// A part of a feed that was read.
    private struct Reading: Sendable {
        let zone: Digest
        let incarnation: UInt32
        /// nil for the beginning.
        let start: Data?
        let end: Data
        /// Up to which epoch of each scope, where nothing more was coming.
        let caughtUp: [ScopePlace: Int64]

        /// Where readings without a gap began and ended is kept for as many more: an app may come back to a place that
        /// it kept before it was ended, or from which it could not go on, and another process has one of its own.
        private static let readingsKept: Int64 = 64

        func note(movingApp: Bool, _ db: GRDB.Database) throws {
            let key = Data(zone.bytes)
            if let start {
                let isPlace = try Bool.fetchOne(
                    db,
                    sql: """
                        SELECT EXISTS (SELECT 1 FROM feedPlace WHERE zone = ? AND incarnation = ? AND token = ?)
                        """, arguments: [key, incarnation, start])
                guard isPlace ?? false else { return }
            }
            try db.execute(
                sql: """
                    INSERT INTO feed (zone, incarnation, token, caughtUpEpoch) VALUES (?1, ?2, ?3, ?4)
                    ON CONFLICT (zone, incarnation) DO UPDATE SET
                        token = CASE WHEN ?5 THEN excluded.token ELSE token END,
                        caughtUpEpoch = MAX(
                            COALESCE(caughtUpEpoch, excluded.caughtUpEpoch),
                            COALESCE(excluded.caughtUpEpoch, caughtUpEpoch))
                    """, arguments: [key, incarnation, end, caughtUp[ScopePlace(zone, incarnation)], movingApp])
            let before = try Int64.fetchOne(
                db, sql: "SELECT MAX(used) FROM feedPlace WHERE zone = ? AND incarnation = ?",
                arguments: [key, incarnation])
            let now = (before ?? 0) + 1
            for place in [start, end].compactMap(\.self) {
                try db.execute(
                    sql: """
                        INSERT INTO feedPlace (zone, incarnation, token, used) VALUES (?, ?, ?, ?)
                        ON CONFLICT (zone, incarnation, token) DO UPDATE SET used = excluded.used
                        """, arguments: [key, incarnation, place, now])
            }
            try db.execute(
                sql: """
                    DELETE FROM feedPlace WHERE zone = ?1 AND incarnation = ?2 AND used <= ?3
                        AND token <> (SELECT token FROM feed WHERE zone = ?1 AND incarnation = ?2)
                    """, arguments: [key, incarnation, now - Self.readingsKept])
            for (place, epoch) in caughtUp { try TrustStore.noteRead(place, epoch, db) }
        }
    }
}
