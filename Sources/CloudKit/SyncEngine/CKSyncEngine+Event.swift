import SealKit

extension CKSyncEngine {
    /// What the delegate is told, one at a time.
    public enum Event: Sendable, CustomStringConvertible {
        /// Keep it, in the place of the one before. It follows each change of the state.
        case stateUpdate(StateUpdate)
        case accountChange(AccountChange)
        case fetchedDatabaseChanges(FetchedDatabaseChanges)
        case fetchedRecordZoneChanges(FetchedRecordZoneChanges)
        case sentDatabaseChanges(SentDatabaseChanges)
        case sentRecordZoneChanges(SentRecordZoneChanges)
        case willFetchChanges(WillFetchChanges)
        case willFetchRecordZoneChanges(WillFetchRecordZoneChanges)
        case didFetchRecordZoneChanges(DidFetchRecordZoneChanges)
        case didFetchChanges(DidFetchChanges)
        case willSendChanges(WillSendChanges)
        case didSendChanges(DidSendChanges)

        /// Names and numbers only: values do not end up in logs.
        public var description: String {
            switch self {
            case .stateUpdate: "stateUpdate"
            case .accountChange(let event): "accountChange: \(event.changeType)"
            case .fetchedDatabaseChanges(let event):
                "fetchedDatabaseChanges: \(event.modifications.count) modified, \(event.deletions.count) deleted"
            case .fetchedRecordZoneChanges(let event):
                "fetchedRecordZoneChanges: \(event.modifications.count) modified, \(event.deletions.count) deleted, \(event.unopened.count) not opened"
            case .sentDatabaseChanges(let event):
                "sentDatabaseChanges: \(event.savedZones.count) saved, \(event.failedZoneSaves.count) not saved, \(event.deletedZoneIDs.count) deleted, \(event.failedZoneDeletes.count) not deleted"
            case .sentRecordZoneChanges(let event):
                "sentRecordZoneChanges: \(event.savedRecords.count) saved, \(event.failedRecordSaves.count) not saved, \(event.deletedRecordIDs.count) deleted, \(event.failedRecordDeletes.count) not deleted"
            case .willFetchChanges(let event): "willFetchChanges: \(event.context.reason)"
            case .willFetchRecordZoneChanges(let event): "willFetchRecordZoneChanges: \(event.zoneID)"
            case .didFetchRecordZoneChanges(let event):
                "didFetchRecordZoneChanges: \(event.zoneID)\(event.error.map { " \($0)" } ?? "")"
            case .didFetchChanges(let event): "didFetchChanges: \(event.context.reason)"
            case .willSendChanges(let event): "willSendChanges: \(event.context.reason)"
            case .didSendChanges(let event): "didSendChanges: \(event.context.reason)"
            }
        }
    }
}

extension CKSyncEngine.Event {
    public struct StateUpdate: Sendable {
        public let stateSerialization: CKSyncEngine.State.Serialization

        init(_ sealed: SealKit.SyncEngine.Event.StateUpdate) {
            stateSerialization = CKSyncEngine.State.Serialization(sealed.stateSerialization)
        }
    }

    /// It comes before anything is fetched or sent for the account. After a sign-out and a switch what was pending and
    /// known of the server is gone by then.
    public struct AccountChange: Sendable {
        public enum ChangeType: Sendable, Equatable {
            /// The device begins to sync: make your zones, and add what the server does not have.
            case signIn(currentUser: CKRecord.ID)
            /// Nobody is signed in any more: remove the local copy.
            case signOut(previousUser: CKRecord.ID)
            /// Somebody else is: remove the local copy, and begin as at a sign-in.
            case switchAccounts(previousUser: CKRecord.ID, currentUser: CKRecord.ID)
        }

        public let changeType: ChangeType

        init(_ sealed: SealKit.SyncEngine.Event.AccountChange) {
            changeType =
                switch sealed.changeType {
                case .signIn(let user): .signIn(currentUser: CKRecordID(user))
                case .signOut(let user): .signOut(previousUser: CKRecordID(user))
                case .switchAccounts(let previous, let current):
                    .switchAccounts(previousUser: CKRecordID(previous), currentUser: CKRecordID(current))
                }
        }
    }

    /// Which zones there are to fetch from, and which are gone: those of which only the reason is the server's word are
    /// told as `deleted`.
    public struct FetchedDatabaseChanges: Sendable {
        public let modifications: [CKDatabase.DatabaseChange.Modification]
        public let deletions: [CKDatabase.DatabaseChange.Deletion]

        init(_ sealed: SealKit.SyncEngine.Event.FetchedDatabaseChanges, mayBeReset: Bool) {
            modifications = sealed.modifications.map { .init(zoneID: CKRecordZoneID($0.zoneID)) }
            deletions = sealed.deletions.map { .init(($0.zoneID, $0.reason), mayBeReset: mayBeReset) }
        }
    }

    /// A part of a zone's changes. Children may come before their parents.
    public struct FetchedRecordZoneChanges: Sendable {
        /// A record that verifies and does not open: somebody who may write made it so, or this account was not given
        /// the key. Not CloudKit's.
        public struct UnopenedRecord: Sendable {
            public let recordID: CKRecord.ID
            /// Why, and by whose doing: show it to the user.
            public let error: CKError
        }

        public let modifications: [CKDatabase.RecordZoneChange.Modification]
        public let deletions: [CKDatabase.RecordZoneChange.Deletion]
        /// Records that were made or changed, and do not open; what the app has of them stays as it is. None keeps
        /// others from coming, and one for which a key is missing comes as a modification once the key is there. Not
        /// CloudKit's.
        public let unopened: [UnopenedRecord]

        /// - Parameter records: the objects of what was modified.
        init(
            _ sealed: SealKit.SyncEngine.Event.FetchedRecordZoneChanges, records: [CKRecord], _ core: ContainerCore
        ) {
            unopened = sealed.unopened.map { .init(recordID: CKRecordID($0.recordID), error: core.words($0.error)) }
            modifications = records.map { .init(record: $0) }
            deletions = sealed.deletions.map {
                .init(recordID: CKRecordID($0.recordID), recordType: $0.recordType)
            }
        }
    }

    public struct SentDatabaseChanges: Sendable {
        public struct FailedZoneSave: Sendable {
            public let zone: CKRecordZone
            public let error: CKError
        }

        public let savedZones: [CKRecordZone]
        public let failedZoneSaves: [FailedZoneSave]
        /// Those too that were gone already.
        public let deletedZoneIDs: [CKRecordZone.ID]
        public let failedZoneDeletes: [CKRecordZone.ID: CKError]

        init(_ sealed: SealKit.SyncEngine.Event.SentDatabaseChanges, _ core: ContainerCore) {
            savedZones = sealed.savedZones.map { CKRecordZone($0) }
            failedZoneSaves = sealed.failedZoneSaves.map {
                FailedZoneSave(zone: CKRecordZone($0.zone), error: core.words($0.error))
            }
            deletedZoneIDs = sealed.deletedZoneIDs.map { CKRecordZoneID($0) }
            failedZoneDeletes = Dictionary(
                sealed.failedZoneDeletes.map { (CKRecordZoneID($0), core.words($1)) }
            ) { $1 }
        }
    }

    /// What became of one request. What failed for good is not pending any more: mend it and add it again.
    public struct SentRecordZoneChanges: Sendable {
        public struct FailedRecordSave: Sendable {
            public let record: CKRecord
            public let error: CKError
        }

        /// The objects of the batch, with their new change tags.
        public let savedRecords: [CKRecord]
        public let failedRecordSaves: [FailedRecordSave]
        public let deletedRecordIDs: [CKRecord.ID]
        public let failedRecordDeletes: [CKRecord.ID: CKError]
    }

    public struct WillFetchChanges: Sendable {
        public let context: CKSyncEngine.FetchChangesContext

        init(_ sealed: SealKit.SyncEngine.Event.WillFetchChanges) {
            context = CKSyncEngine.FetchChangesContext(sealed.context)
        }
    }

    public struct WillFetchRecordZoneChanges: Sendable {
        public let zoneID: CKRecordZone.ID

        init(_ sealed: SealKit.SyncEngine.Event.WillFetchRecordZoneChanges) { zoneID = CKRecordZoneID(sealed.zoneID) }
    }

    public struct DidFetchRecordZoneChanges: Sendable {
        public let zoneID: CKRecordZone.ID
        /// Why not all has come. `serverRejectedRequest` is also what does not verify: everything before it was told,
        /// and the next fetch begins at it. Show the reason to the user.
        public let error: CKError?

        init(_ sealed: SealKit.SyncEngine.Event.DidFetchRecordZoneChanges, _ core: ContainerCore) {
            zoneID = CKRecordZoneID(sealed.zoneID)
            error = sealed.error.map { core.words($0) }
        }
    }

    public struct DidFetchChanges: Sendable {
        public let context: CKSyncEngine.FetchChangesContext
        /// Why not all has come, also where the engine fetches by itself. Not CloudKit's.
        public let error: CKError?

        init(_ sealed: SealKit.SyncEngine.Event.DidFetchChanges, _ core: ContainerCore) {
            context = CKSyncEngine.FetchChangesContext(sealed.context)
            error = sealed.error.map { core.words($0) }
        }
    }

    public struct WillSendChanges: Sendable {
        public let context: CKSyncEngine.SendChangesContext

        init(_ sealed: SealKit.SyncEngine.Event.WillSendChanges) {
            context = CKSyncEngine.SendChangesContext(sealed.context)
        }
    }

    public struct DidSendChanges: Sendable {
        public let context: CKSyncEngine.SendChangesContext
        /// Why not all was sent, also where the engine sends by itself. Not CloudKit's.
        public let error: CKError?

        init(_ sealed: SealKit.SyncEngine.Event.DidSendChanges, _ core: ContainerCore) {
            context = CKSyncEngine.SendChangesContext(sealed.context)
            error = sealed.error.map { core.words($0) }
        }
    }
}
