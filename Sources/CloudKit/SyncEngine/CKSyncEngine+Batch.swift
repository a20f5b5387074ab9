import SealKit

extension CKSyncEngine {
    /// Records to save and delete with one request, or with as few as it takes.
    public struct RecordZoneChangeBatch: Sendable, CustomStringConvertible {
        /// A new share belongs into one batch with its root record, whether that has changed or not.
        public var recordsToSave: [CKRecord]
        public var recordIDsToDelete: [CKRecord.ID]
        /// All of a zone's changes in it or none: if one fails, the others fail with `batchRequestFailed`.
        public var atomicByZone: Bool

        public init(
            recordsToSave: [CKRecord] = [], recordIDsToDelete: [CKRecord.ID] = [], atomicByZone: Bool = false
        ) {
            self.recordsToSave = recordsToSave
            self.recordIDsToDelete = recordIDsToDelete
            self.atomicByZone = atomicByZone
        }

        /// The first of the changes, as many as go into one request: 250, or 1 MiB of values; and the root of each
        /// share among them, where that is pending too. What has failed in this send already is passed over.
        /// - Parameters:
        ///   - pendingChanges: what is to be sent, of the engine's state.
        ///   - recordProvider: the record as it is now in the app's own copy; nil for one that is not there any more:
        ///     remove its pending change as well.
        /// - Returns: nil when there is nothing to send.
        public init?(
            pendingChanges: [PendingRecordZoneChange], recordProvider: @Sendable (CKRecord.ID) async -> CKRecord?
        ) async {
            let failed = SyncEngineAdapter.failed
            var given: [CKRecord] = []
            let changes = pendingChanges.lazy.map(\.sealed).filter { !failed.contains($0.recordID) }
            let batch = await SealKit.SyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { id in
                guard let record = await recordProvider(CKRecordID(id)) else { return nil }
                given.append(record)
                return (record as? CKShare)?.unsent ?? record.box.record
            }
            guard let batch else { return nil }
            self.init(
                recordsToSave: given, recordIDsToDelete: batch.recordIDsToDelete.map { CKRecordID($0) })
        }

        public var description: String {
            "<CKSyncEngine.RecordZoneChangeBatch: \(recordsToSave.count) to save, \(recordIDsToDelete.count) to delete>"
        }
    }
}
