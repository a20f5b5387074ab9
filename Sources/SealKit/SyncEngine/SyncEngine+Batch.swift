extension SyncEngine {
    /// Records to save and delete with one request, or with as few as it takes: an engine cuts what is too much for
    /// one.
    public struct RecordZoneChangeBatch: Sendable {
        public var recordsToSave: [Record]
        public var recordIDsToDelete: [Record.ID]
        /// All of a zone's changes in it or none: if one fails, the others fail with `batchRequestFailed`, and stay
        /// pending. Such a batch is cut between zones only, so that a zone has at most 400 changes in it.
        public var atomicByZone: Bool

        public init(recordsToSave: [Record] = [], recordIDsToDelete: [Record.ID] = [], atomicByZone: Bool = false) {
            self.recordsToSave = recordsToSave
            self.recordIDsToDelete = recordIDsToDelete
            self.atomicByZone = atomicByZone
        }

        /// The first of the changes, as many as go into one request: 250, or 1 MiB of values.
        ///
        /// - Parameters:
        ///   - pendingChanges: those of the engine's state that its `context.options.scope` contains.
        ///   - isolation: the caller's, which the provider may use too.
        ///   - recordProvider: the record as it is now in the app's own copy, made from its system fields where it has
        ///     any; nil for one that is not there any more: remove its pending change as well.
        /// - Returns: nil when there is nothing to send.
        public init?(
            pendingChanges: some Sequence<PendingRecordZoneChange>, isolation: isolated (any Actor)? = #isolation,
            recordProvider: (Record.ID) async -> Record?
        ) async {
            self.init()
            var bytes = 0
            for change in pendingChanges {
                guard count < Self.mostItems, bytes < Self.mostBytes else { break }
                switch change {
                case .deleteRecord(let id): recordIDsToDelete.append(id)
                case .saveRecord(let id):
                    guard let record = await recordProvider(id) else { continue }
                    bytes += record.bytesOfValues
                    recordsToSave.append(record)
                }
            }
            if count == 0 { return nil }
        }

        static let mostItems = 250
        static let mostBytes = 1 << 20
        /// What a request takes.
        private static let itemsPerRequest = 400

        var count: Int { recordsToSave.count + recordIDsToDelete.count }
        var recordIDs: [Record.ID] { recordsToSave.map(\.recordID) + recordIDsToDelete }

        func without(_ ids: Set<Record.ID>) -> RecordZoneChangeBatch {
            guard !ids.isEmpty else { return self }
            return RecordZoneChangeBatch(
                recordsToSave: recordsToSave.filter { !ids.contains($0.recordID) },
                recordIDsToDelete: recordIDsToDelete.filter { !ids.contains($0) }, atomicByZone: atomicByZone)
        }

        func only(_ ids: Set<Record.ID>) -> RecordZoneChangeBatch {
            RecordZoneChangeBatch(
                recordsToSave: recordsToSave.filter { ids.contains($0.recordID) },
                recordIDsToDelete: recordIDsToDelete.filter(ids.contains), atomicByZone: atomicByZone)
        }

        /// What is sent at once each.
        var requests: [RecordZoneChangeBatch] {
            guard count > Self.itemsPerRequest else { return [self] }
            guard !atomicByZone else { return byZone }
            return recordsToSave.inParts(of: Self.itemsPerRequest).map { RecordZoneChangeBatch(recordsToSave: $0) }
                + recordIDsToDelete.inParts(of: Self.itemsPerRequest).map {
                    RecordZoneChangeBatch(recordIDsToDelete: $0)
                }
        }

        /// nil for what cannot be cut: one change, or those of a zone that go together.
        var halves: [RecordZoneChangeBatch]? {
            guard !atomicByZone else {
                let zones = byZone
                return zones.count > 1 ? zones : nil
            }
            guard count > 1 else { return nil }
            let (saves, deletes) = (recordsToSave.count / 2, recordIDsToDelete.count / 2)
            guard recordsToSave.count > 1 || recordIDsToDelete.count > 1 else {
                return [
                    RecordZoneChangeBatch(recordsToSave: recordsToSave),
                    RecordZoneChangeBatch(recordIDsToDelete: recordIDsToDelete),
                ]
            }
            return [
                RecordZoneChangeBatch(
                    recordsToSave: Array(recordsToSave.prefix(saves)),
                    recordIDsToDelete: Array(recordIDsToDelete.prefix(deletes))),
                RecordZoneChangeBatch(
                    recordsToSave: Array(recordsToSave.dropFirst(saves)),
                    recordIDsToDelete: Array(recordIDsToDelete.dropFirst(deletes))),
            ].filter { $0.count > 0 }
        }

        private var byZone: [RecordZoneChangeBatch] {
            let saves = Dictionary(grouping: recordsToSave, by: \.recordID.zoneID)
            let deletes = Dictionary(grouping: recordIDsToDelete, by: \.zoneID)
            return Set(saves.keys).union(deletes.keys).sorted { $0.description < $1.description }.map { zone in
                RecordZoneChangeBatch(
                    recordsToSave: saves[zone] ?? [], recordIDsToDelete: deletes[zone] ?? [], atomicByZone: true)
            }
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
