extension SyncEngine {
    /// Records and shares to save, and what to delete, with one request, or with as few as it takes: an engine cuts
    /// what is too much for one.
    public struct RecordZoneChangeBatch: Sendable {
        /// Records to save, with the system fields of the version that they follow.
        public var recordsToSave: [Record]
        /// A new one belongs into one batch with its root record, whether that has changed or not. They are saved as by
        /// `Database.modifyRecords(saving:shares:deleting:savePolicy:atomically:progress:perRecordProgress:)`.
        public var sharesToSave: [Share]
        /// Records to delete.
        public var recordIDsToDelete: [Record.ID]
        /// All of a zone's changes in it or none: if one fails, the others fail with `batchRequestFailed`, and stay
        /// pending. Such a batch is cut between zones only, so that a zone has at most 400 changes in it. A share that
        /// there is already follows by itself.
        public var atomicByZone: Bool
        /// What fails with these, and is not sent.
        private(set) var refusals: [Record.ID: SealKitError] = [:]

        /// - Parameters:
        ///   - recordsToSave: records to save.
        ///   - sharesToSave: shares to save.
        ///   - recordIDsToDelete: records to delete.
        ///   - atomicByZone: all of a zone's changes in it or none.
        public init(
            recordsToSave: [Record] = [], sharesToSave: [Share] = [], recordIDsToDelete: [Record.ID] = [],
            atomicByZone: Bool = false
        ) {
            self.recordsToSave = recordsToSave
            self.sharesToSave = sharesToSave
            self.recordIDsToDelete = recordIDsToDelete
            self.atomicByZone = atomicByZone
        }

        /// The first of the changes, as many as go into one request: 250, or 1 MiB of values; and the root of each
        /// share among them, where that is pending too.
        ///
        /// - Parameters:
        ///   - pendingChanges: those of the engine's state that its `context.options.scope` contains.
        ///   - isolation: the caller's, which the provider may use too.
        ///   - recordProvider: the record or share as it is now in the app's own copy, made from its system fields
        ///     where it has any; nil for one that is not there any more: remove its pending change as well.
        /// - Returns: nil when there is nothing to send.
        public init?(
            pendingChanges: some Sequence<PendingRecordZoneChange>, isolation: isolated (any Actor)? = #isolation,
            recordProvider: (Record.ID) async -> (any SavableRecord)?
        ) async {
            self.init()
            var bytes = 0
            // New shares would be refused without them.
            var missingRoots: Set<Record.ID> = []
            for change in pendingChanges {
                let isFull = count >= Self.mostItems || bytes >= Self.mostBytes
                if isFull, missingRoots.isEmpty { break }
                switch change {
                case .deleteRecord(let id): if !isFull { recordIDsToDelete.append(id) }
                case .saveRecord(let id):
                    guard !isFull || missingRoots.contains(id), let given = await recordProvider(id) else { continue }
                    bytes += add(given)
                    missingRoots.remove(id)
                    guard let root = (given as? Share)?.rootRecordID else { continue }
                    if !recordsToSave.contains(where: { $0.recordID == root }) { missingRoots.insert(root) }
                }
            }
            if count == 0 { return nil }
        }

        /// - Returns: about how many bytes it takes in a request.
        private mutating func add(_ item: any SavableRecord) -> Int {
            switch item {
            case let record as Record:
                recordsToSave.append(record)
                return record.bytesOfValues
            case let share as Share:
                sharesToSave.append(share)
                return share.fields.bytesOfValues + (share.thumbnailImageData?.count ?? 0)
            default: return 0
            }
        }

        /// Refuses a share that cannot be prepared, with what cannot go without it: all of its zone where that is not
        /// for whoever it puts out.
        package mutating func refuse(_ share: Share, _ error: SealKitError) {
            let root = share.rootRecordID
            let isWhole = atomicByZone || share.takesRightAway
            for id in recordIDs where isWhole ? id.zoneID == share.zoneID : id == root {
                refusals[id] = refusals[id] ?? ZoneBatch.batchFailed
            }
            refusals[share.recordID] = error
        }

        /// Refuses what is of zones that somebody was to be put out of before.
        func refusing(_ zones: Set<RecordZone.ID>) -> RecordZoneChangeBatch {
            guard !zones.isEmpty else { return self }
            var batch = self
            for id in recordIDs where zones.contains(id.zoneID) {
                batch.refusals[id] = batch.refusals[id] ?? ZoneBatch.batchFailed
            }
            return batch
        }

        /// Zones of which a share is refused that puts somebody out, and goes before everything else there.
        func heldZones(_ isRefused: (Record.ID) -> Bool) -> [RecordZone.ID] {
            guard !atomicByZone else { return [] }
            return sharesToSave.filter { $0.takesRightAway && isRefused($0.recordID) }.map(\.zoneID)
        }

        static let mostItems = 250
        static let mostBytes = 1 << 20
        /// What a request takes.
        private static let itemsPerRequest = 400

        var count: Int { recordsToSave.count + sharesToSave.count + recordIDsToDelete.count }
        /// Of a request: a new share's record, and its opening entry.
        private var items: Int { count + sharesToSave.count }
        var recordIDs: [Record.ID] { recordsToSave.map(\.recordID) + sharesToSave.map(\.recordID) + recordIDsToDelete }

        func without(_ ids: Set<Record.ID>) -> RecordZoneChangeBatch {
            ids.isEmpty ? self : only { !ids.contains($0) }
        }

        func only(_ isWanted: (Record.ID) -> Bool) -> RecordZoneChangeBatch {
            var batch = self
            batch.recordsToSave = recordsToSave.filter { isWanted($0.recordID) }
            batch.sharesToSave = sharesToSave.filter { isWanted($0.recordID) }
            batch.recordIDsToDelete = recordIDsToDelete.filter(isWanted)
            batch.refusals = refusals.filter { isWanted($0.key) }
            return batch
        }

        /// What is sent at once each.
        var requests: [RecordZoneChangeBatch] {
            guard items > Self.itemsPerRequest else { return [self] }
            return atomicByZone ? byZone : parts(atMost: Self.itemsPerRequest)
        }

        /// nil for what cannot be cut: one change, a share with its root, or those of a zone that go together.
        var halves: [RecordZoneChangeBatch]? {
            let parts = atomicByZone ? byZone : parts(atMost: (items + 1) / 2)
            return parts.count > 1 ? parts : nil
        }

        private var byZone: [RecordZoneChangeBatch] {
            let zones = Dictionary(grouping: recordIDs, by: \.zoneID)
            return zones.sorted { $0.key.description < $1.key.description }.map { _, ids in
                only(Set(ids).contains)
            }
        }

        /// In their order, but shares first, each with what it cannot do without.
        private func parts(atMost most: Int) -> [RecordZoneChangeBatch] {
            var parts: [RecordZoneChangeBatch] = []
            for unit in units {
                if let last = parts.indices.last, parts[last].items + unit.items <= most {
                    parts[last].recordsToSave += unit.recordsToSave
                    parts[last].sharesToSave += unit.sharesToSave
                    parts[last].recordIDsToDelete += unit.recordIDsToDelete
                } else {
                    parts.append(unit)
                }
            }
            return parts
        }

        /// What is not cut: shares with their roots and those above them, all of them that have one in common.
        private var units: [RecordZoneChangeBatch] {
            let byZone = sharesToSave.isEmpty ? [:] : Dictionary(grouping: recordsToSave, by: \.recordID.zoneID)
            var groups: [(shares: [Share], needed: Set<Record.ID>)] = []
            for share in sharesToSave {
                let names = Share.rootsWithAncestors(of: [share], among: byZone[share.zoneID] ?? [])
                let needed = Set(names.map { Record.ID(recordName: $0, zoneID: share.zoneID) })
                var group = (shares: [share], needed: needed)
                groups.removeAll { other in
                    guard !other.needed.isDisjoint(with: group.needed) else { return false }
                    group = (other.shares + group.shares, other.needed.union(group.needed))
                    return true
                }
                groups.append(group)
            }
            var left = recordsToSave
            let shares = groups.map { group in
                let isTogether = { (record: Record) in group.needed.contains(record.recordID) }
                defer { left.removeAll(where: isTogether) }
                return RecordZoneChangeBatch(recordsToSave: left.filter(isTogether), sharesToSave: group.shares)
            }
            return shares + left.map { RecordZoneChangeBatch(recordsToSave: [$0]) }
                + recordIDsToDelete.map { RecordZoneChangeBatch(recordIDsToDelete: [$0]) }
        }
    }
}

extension Record {
    /// About what its values take in a request; assets go by themselves.
    fileprivate var bytesOfValues: Int {
        var bytes = 0
        for (key, value) in self {
            bytes += key.utf8.count
            if case .value(let value) = value.fieldContent { bytes += value.bytes }
        }
        for (key, value) in encryptedValues { bytes += key.utf8.count + value.recordValue.bytes }
        return bytes
    }
}

extension RecordValue {
    fileprivate var bytes: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .data(let bytes): bytes.count
        case .list(let elements): elements.reduce(0) { $0 + $1.bytes }
        case .int64, .double, .date: 8
        case .location: 64
        case .reference(let reference): reference.recordName.utf8.count
        }
    }
}

extension Array {
    func inParts(of count: Int) -> [[Element]] {
        stride(from: 0, to: self.count, by: count).map { Array(self[$0..<Swift.min($0 + count, self.count)]) }
    }
}
