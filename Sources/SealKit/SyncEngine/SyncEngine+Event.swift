extension SyncEngine {
    /// What the delegate is told, one at a time.
    public enum Event: Sendable {
        /// Keep it, in the place of the one before: the next engine is made with it. It follows each change of the
        /// state, and comes after the event that the change belongs to: a device that stops between the two is told the
        /// event again.
        case stateUpdate(StateUpdate)
        case accountChange(AccountChange)
        case willFetchChanges(WillFetchChanges)
        case fetchedDatabaseChanges(FetchedDatabaseChanges)
        case willFetchRecordZoneChanges(WillFetchRecordZoneChanges)
        case fetchedRecordZoneChanges(FetchedRecordZoneChanges)
        case didFetchRecordZoneChanges(DidFetchRecordZoneChanges)
        case didFetchChanges(DidFetchChanges)
        case willSendChanges(WillSendChanges)
        case sentDatabaseChanges(SentDatabaseChanges)
        case sentRecordZoneChanges(SentRecordZoneChanges)
        case didSendChanges(DidSendChanges)
    }
}

extension SyncEngine.Event {
    public struct StateUpdate: Sendable {
        public let stateSerialization: SyncEngine.State.Serialization
    }

    /// It comes before anything is fetched or sent for the account. After a sign-out and a switch what was pending and
    /// known of the server is gone by then, so that what the delegate adds is what is sent.
    public struct AccountChange: Sendable {
        public enum ChangeType: Sendable, Hashable {
            /// The device begins to sync: make your zones, and add what the server does not have.
            case signIn(currentUser: Record.ID)
            /// Nobody is signed in any more: remove the local copy.
            case signOut(previousUser: Record.ID)
            /// Somebody else is signed in: remove the local copy, and begin as at a sign-in.
            case switchAccounts(previousUser: Record.ID, currentUser: Record.ID)
        }

        public let changeType: ChangeType
    }

    public struct WillFetchChanges: Sendable {
        public let context: SyncEngine.FetchChangesContext
    }

    public struct DidFetchChanges: Sendable {
        public let context: SyncEngine.FetchChangesContext
        /// Why not all has come: what `fetchChanges` throws, also where the engine fetches by itself. With
        /// `integrityFailure` and `rollback` that was told of no zone, the server's word on which zones there are does
        /// not verify: show the reason to the user.
        public let error: SealKitError?
    }

    /// Which zones there are to fetch from, and which are gone. A zone that was deleted and made again is among the
    /// deletions first, and comes with an event of its own afterwards.
    public struct FetchedDatabaseChanges: Sendable {
        public typealias DeletionReason = Database.DatabaseChanges.DeletionReason

        public struct Deletion: Sendable, Hashable {
            public let zoneID: RecordZone.ID
            /// `deleted`, `purged` and `unshared`: remove the local copy. `encryptedDataReset`: keep it, make the zone
            /// again, and add all of it.
            public let reason: DeletionReason
        }

        public let modifications: [RecordZone]
        public let deletions: [Deletion]
    }

    public struct WillFetchRecordZoneChanges: Sendable {
        public let zoneID: RecordZone.ID
    }

    /// A part of a zone's changes. Children may come before their parents, and what was told before may come again.
    public struct FetchedRecordZoneChanges: Sendable {
        public typealias Modification = Database.RecordZoneChange.Modification

        public struct Deletion: Sendable, Hashable {
            public let recordID: Record.ID
            public let recordType: String
        }

        public let modifications: [Modification]
        public let deletions: [Deletion]
    }

    public struct DidFetchRecordZoneChanges: Sendable {
        public let zoneID: RecordZone.ID
        /// Why not all has come. With `integrityFailure` and `rollback` something does not verify: everything before it
        /// was told, the next fetch begins at it, and until it is settled nothing after it comes. Show the reason to
        /// the user.
        public let error: SealKitError?
    }

    public struct WillSendChanges: Sendable {
        public let context: SyncEngine.SendChangesContext
    }

    public struct DidSendChanges: Sendable {
        public let context: SyncEngine.SendChangesContext
        /// Why not all was sent: what `sendChanges` throws, also where the engine sends by itself.
        public let error: SealKitError?
    }

    public struct SentDatabaseChanges: Sendable {
        public struct FailedZoneSave: Sendable {
            public let zone: RecordZone
            public let error: SealKitError
        }

        public let savedZones: [RecordZone]
        public let failedZoneSaves: [FailedZoneSave]
        /// Those too that were gone already.
        public let deletedZoneIDs: [RecordZone.ID]
        public let failedZoneDeletes: [RecordZone.ID: SealKitError]
    }

    /// What became of one request. What failed is not pending any more unless ``SealKitError/isRetriedBySyncEngine``
    /// says so: mend it and add it again, or let go of it.
    public struct SentRecordZoneChanges: Sendable {
        public struct FailedRecordSave: Sendable {
            public let record: Record
            public let error: SealKitError
        }

        public struct FailedShareSave: Sendable {
            public let share: Share
            public let error: SealKitError
        }

        /// With their new change tags: keep their system fields for the next save.
        public let savedRecords: [Record]
        public let failedRecordSaves: [FailedRecordSave]
        /// As they are now. Where the root was shared already it is the share that was there, under its own ID.
        public let savedShares: [Share]
        public let failedShareSaves: [FailedShareSave]
        public let deletedRecordIDs: [Record.ID]
        public let failedRecordDeletes: [Record.ID: SealKitError]
    }
}
