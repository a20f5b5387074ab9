import Foundation
import SealKit

/// Feeds of changes, by async functions.
extension CKDatabase {
    public enum RecordZoneChange {
        public struct Modification: Sendable, Hashable {
            public let record: CKRecord
        }

        public struct Deletion: Sendable, Hashable {
            public let recordID: CKRecord.ID
            public let recordType: CKRecord.RecordType
        }
    }

    public enum DatabaseChange {
        public struct Modification: Sendable, Hashable {
            public let zoneID: CKRecordZone.ID
        }

        public struct Deletion: Sendable, Hashable {
            public enum Reason: Int, Sendable {
                /// An app deleted the zone, or it is not shared any more: delete the local copy.
                case deleted = 1
                /// The user wanted the data gone: delete the local copy, and do not upload it again.
                case purged = 2
                /// The account's keys were given up: make the zone again and upload the local copy. Told only where the
                /// account has other keys than it began with, or was signed in in the place of another one.
                case encryptedDataReset = 3
            }

            public let zoneID: CKRecordZone.ID
            public let reason: Reason
            /// The user wanted the data gone.
            public var purged: Bool { reason == .purged }
        }
    }

    /// What changed in a zone since a token; nil for everything.
    /// - Throws: `changeTokenExpired`: start again from nil; `zoneNotFound`.
    public func recordZoneChanges(
        inZoneWith zoneID: CKRecordZone.ID, since changeToken: CKServerChangeToken?,
        desiredKeys: [CKRecord.FieldKey]? = nil, resultsLimit: Int? = nil
    ) async throws -> (
        modificationResultsByID: [CKRecord.ID: Result<RecordZoneChange.Modification, any Error>],
        deletions: [RecordZoneChange.Deletion], changeToken: CKServerChangeToken, moreComing: Bool
    ) {
        try await inCloudKitsWords {
            let (modified, changes) = try await changes(
                in: zoneID, since: changeToken, desiredKeys: desiredKeys, limit: resultsLimit)
            let modifications = modified.map { id, result in
                (id, result.map { RecordZoneChange.Modification(record: $0) }.untyped)
            }
            return (
                Dictionary(modifications) { $1 },
                changes.deletions.map { RecordZoneChange.Deletion(recordID: CKRecordID($0), recordType: $1) },
                CKServerChangeToken(changes.changeToken), changes.moreComing
            )
        }
    }

    /// Which zones changed since a token; nil for all.
    /// - Throws: `changeTokenExpired`: start again from nil.
    public func databaseChanges(
        since changeToken: CKServerChangeToken?, resultsLimit: Int? = nil
    ) async throws -> (
        modifications: [DatabaseChange.Modification], deletions: [DatabaseChange.Deletion],
        changeToken: CKServerChangeToken, moreComing: Bool
    ) {
        try await inCloudKitsWords {
            let changes = try await sealed().databaseChanges(since: changeToken?.sealed, resultsLimit: resultsLimit)
            return (
                changes.modifications.map { DatabaseChange.Modification(zoneID: CKRecordZoneID($0.zoneID)) },
                changes.deletions.map { DatabaseChange.Deletion($0, mayBeReset: core.mayBeReset) },
                CKServerChangeToken(changes.changeToken), changes.moreComing
            )
        }
    }
}

extension CKDatabase.DatabaseChange.Deletion {
    /// - Parameter mayBeReset: that the zone is gone is signed; why is the server's word, and what it says of a reset
    ///   counts only where the account shows that its keys were given up.
    init(
        _ deletion: (zoneID: SealKit.RecordZone.ID, reason: SealKit.Database.DatabaseChanges.DeletionReason),
        mayBeReset: Bool
    ) {
        zoneID = CKRecordZoneID(deletion.zoneID)
        reason =
            switch deletion.reason {
            case .purged: .purged
            case .encryptedDataReset where mayBeReset: .encryptedDataReset
            case .deleted, .unshared, .encryptedDataReset: .deleted
            }
    }
}
