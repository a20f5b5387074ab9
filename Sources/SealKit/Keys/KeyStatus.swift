import SealClient
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

extension RecordZone {
    /// Which keys a zone's records are sealed under.
    public struct KeyStatus: Sendable {
        /// The key that is written with: keys are counted from 0.
        public let newestEpoch: Int
        /// The key of the record that was written longest ago, `newestEpoch` where nothing older is in use.
        ///
        /// Whoever has that key, a former member perhaps, opens that record. Read off the record's signed statement; a
        /// server that withholds a record withholds it here too.
        public let oldestEpochInUse: Int
        /// How many records are sealed under an older key than the newest, or came from another scope with a key that
        /// others may know, as the server counts.
        public let staleRecordCount: Int
        /// Somebody left or has changed keys: the next member who writes opens a new key first.
        public let isRotationDue: Bool
        /// Whether this account was given the newest key. Where not, whoever opened it gave out bad grants, or the
        /// server withholds one: nothing can be written until an owner or administrator opens another one
        /// (`rotateKeys(of:)`).
        public let isNewestHeld: Bool
        /// Records that were looked at on the way and do not open, and why: the one that was written longest ago, if it
        /// is such.
        public let failures: [Record.ID: SealKitError]
    }
}

extension Database {
    /// Which keys a zone's records are sealed under: `rekey(_:progress:)` brings all to the newest.
    /// - Parameter zoneID: of the zone.
    /// - Parameter shareRecordName: of a hierarchy that is shared by itself, which has keys of its own; nil for the
    ///   zone's.
    /// - Throws: `zoneNotFound`; `unknownItem` for no such share; `badDatabase` in the public database;
    ///   `integrityFailure`, `rollback`.
    public func keyStatus(
        of zoneID: RecordZone.ID, shareRecordName: String? = nil
    ) async throws(SealKitError) -> RecordZone.KeyStatus {
        let keeper = try keeper(zoneID, shareRecordName)
        let page = try await stale(keeper, zoneID, StalePlace(limit: 1, isCounting: true), desiredKeys: []) { _ in }
        let roster = page.view.roster
        let newest = roster.currentEpoch.number
        var oldest = newest
        var failures: [Record.ID: SealKitError] = [:]
        for entry in page.outcomes {
            let found = try entry.outcome.get()
            // Under which key it is, its statement says, whether or not it opens.
            guard let statement = found.present?.base?.statement else { continue }
            oldest = min(oldest, statement.epoch)
            if case .unopened(let there) = found { failures[entry.recordID] = there.error }
        }
        return RecordZone.KeyStatus(
            newestEpoch: Int(newest), oldestEpochInUse: Int(oldest), staleRecordCount: page.count,
            isRotationDue: roster.rotationDue, isNewestHeld: page.view.keys[newest] != nil, failures: failures)
    }

    struct StalePlace {
        /// The feed's place of the last record that was dealt with.
        var after: UInt64 = 0
        var limit = 0
        var isCounting = false
    }

    struct StalePage {
        let view: ZoneView
        let count: Int
        /// In feed order, each with its place.
        let outcomes: [(position: UInt64, recordID: Record.ID, outcome: Outcome)]
    }

    /// Records of a scope that the server has under older keys, verified.
    /// - Parameter prepare: is run before they are judged, with the roster that the answer goes by.
    func stale(
        _ keeper: ZoneKeeper, _ zoneID: RecordZone.ID, _ place: StalePlace, desiredKeys: [String]?,
        _ prepare: (Roster) async throws(SealKitError) -> Void
    ) async throws(SealKitError) -> StalePage {
        let asked = try await keeper.current()
        let moment = try await core.trust.moment()
        let request = Sealkit_V1_StaleRecordsRequest.with {
            $0.zone = asked.scope.zoneIDOnWire
            $0.shareRecordName = asked.scope.shareRecordName
            $0.after = place.after
            $0.resultsLimit = UInt32(clamping: place.limit)
            $0.counting = place.isCounting
            if let desiredKeys { $0.desiredKeys = Sealkit_V1_DesiredKeys(desiredKeys) }
        }
        let response: Sealkit_V1_StaleRecordsResponse = try await core.call(scope, Endpoints.records.stale, request)
        let view = try await keeper.current(citedBy: response.scopes, asked: asked.roster.sequence)
        try await prepare(view.roster)
        let outcomes = try await read(
            response.records, zone: zoneID, desiredKeys: desiredKeys,
            ground: .zone(ZoneGround(view, asked: moment)))
        return StalePage(
            view: view, count: Int(clamping: response.count),
            outcomes: zip(response.records, outcomes).map { wire, outcome in
                (wire.position, Record.ID(recordName: wire.recordName, zoneID: zoneID), outcome)
            })
    }
}
