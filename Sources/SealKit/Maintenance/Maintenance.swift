import SealClient

/// What `Database.maintain(_:)` has done in a zone, and what it could not do.
public struct Maintenance: Sendable {
    /// What there may be to do beside what an app writes.
    public enum Work: String, Sendable, CaseIterable {
        /// Invitations whose time is over are taken back, with a new key: owner and administrators.
        case revokingExpired
        /// A new key for those whose keys a restored server has lost: owner and administrators.
        case replacingLostKeys
        /// Titles and thumbnails that URLs show, and for which nobody vouches any more who administers the share: owner
        /// and administrators.
        case renewingPreviews
        /// Records follow their parents into shares and out of them: the owner.
        case movingRecords
    }

    /// A piece of work that there was to do.
    public struct Outcome: Sendable {
        /// What it was.
        public let work: Work
        /// Of a hierarchy that is shared by itself; nil for the zone.
        public let shareRecordName: String?
        /// How much was done: invitations, keys, URLs, records. Above 0 beside an error too, where some of it was.
        public let count: Int
        /// Why it, or the rest of it, could not be done; nil where all was.
        public let error: SealKitError?
    }

    /// The zone that was looked after.
    public let zoneID: RecordZone.ID
    /// In the order in which it was done; nothing of what there was no need for.
    public internal(set) var outcomes: [Outcome] = []

    /// Whether all that there was to do is done.
    public var isComplete: Bool { outcomes.allSatisfy { $0.error == nil } }

    init(of zoneID: RecordZone.ID) { self.zoneID = zoneID }

    mutating func note(_ work: Work, _ scope: ZoneView, count: Int, error: SealKitError? = nil) {
        guard count > 0 || error != nil else { return }
        let share = scope.scope.shareRecordName
        outcomes.append(
            Outcome(work: work, shareRecordName: share.isEmpty ? nil : share, count: count, error: error))
    }
}
