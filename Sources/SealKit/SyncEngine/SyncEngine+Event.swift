extension SyncEngine {
    /// What the delegate is told, one at a time.
    public enum Event: Sendable {
        /// Keep it, in the place of the one before: the next engine is made with it. It follows each change of the
        /// state, and comes after the event that the change belongs to: a device that stops between the two is told the
        /// event again.
        case stateUpdate(StateUpdate)
        /// Another account is signed in, or none.
        case accountChange(AccountChange)
        /// A fetch begins.
        case willFetchChanges(WillFetchChanges)
        /// Which zones there are, and which are gone.
        case fetchedDatabaseChanges(FetchedDatabaseChanges)
        /// The changes of a zone are about to come.
        case willFetchRecordZoneChanges(WillFetchRecordZoneChanges)
        /// Records of a zone have come.
        case fetchedRecordZoneChanges(FetchedRecordZoneChanges)
        /// All of a zone has come, or it has failed.
        case didFetchRecordZoneChanges(DidFetchRecordZoneChanges)
        /// A fetch has ended.
        case didFetchChanges(DidFetchChanges)
        /// A send begins.
        case willSendChanges(WillSendChanges)
        /// What became of zones that were sent.
        case sentDatabaseChanges(SentDatabaseChanges)
        /// What became of records that were sent.
        case sentRecordZoneChanges(SentRecordZoneChanges)
        /// A send has ended.
        case didSendChanges(DidSendChanges)
    }
}

extension SyncEngine.Event {
    /// The engine's state has changed.
    public struct StateUpdate: Sendable {
        /// Keep it with what the app has, and give it to the next engine.
        public let stateSerialization: SyncEngine.State.Serialization
    }

    /// It comes before anything is fetched or sent for the account. After a sign-out and a switch what was pending and
    /// known of the server is gone by then, so that what the delegate adds is what is sent.
    public struct AccountChange: Sendable {
        /// What happened to the account.
        public enum ChangeType: Sendable, Hashable {
            /// The device begins to sync: make your zones, and add what the server does not have.
            case signIn(currentUser: Record.ID)
            /// Nobody is signed in any more: remove the local copy.
            case signOut(previousUser: Record.ID)
            /// Somebody else is signed in: remove the local copy, and begin as at a sign-in.
            case switchAccounts(previousUser: Record.ID, currentUser: Record.ID)
        }

        /// What happened.
        public let changeType: ChangeType
    }

    /// That a fetch begins.
    public struct WillFetchChanges: Sendable {
        /// Why, and what is fetched.
        public let context: SyncEngine.FetchChangesContext
    }

    /// That a fetch has ended.
    public struct DidFetchChanges: Sendable {
        /// Why, and what was fetched.
        public let context: SyncEngine.FetchChangesContext
        /// Why not all has come: what `fetchChanges` throws, also where the engine fetches by itself. With
        /// `integrityFailure` and `rollback` that was told of no zone, the server's word on which zones there are does
        /// not verify: show the reason to the user.
        public let error: SealKitError?
    }

    /// Which zones there are to fetch from, and which are gone. A zone that was deleted and made again is among the
    /// deletions first, and comes with an event of its own afterwards.
    public struct FetchedDatabaseChanges: Sendable {
        /// Why a zone is gone.
        public typealias DeletionReason = Database.DatabaseChanges.DeletionReason

        /// A zone that is gone.
        public struct Deletion: Sendable, Hashable {
            /// Which one.
            public let zoneID: RecordZone.ID
            /// `deleted`, `purged` and `unshared`: remove the local copy. `encryptedDataReset`: keep it, make the zone
            /// again, and add all of it.
            public let reason: DeletionReason
        }

        /// Zones that are new, or in which something has changed.
        public let modifications: [RecordZone]
        /// Zones that are gone.
        public let deletions: [Deletion]
    }

    /// That the changes of a zone are about to come.
    public struct WillFetchRecordZoneChanges: Sendable {
        /// Which zone.
        public let zoneID: RecordZone.ID
    }

    /// A part of a zone's changes. Children may come before their parents, and what was told before may come again.
    public struct FetchedRecordZoneChanges: Sendable {
        /// A record that was made or changed.
        public typealias Modification = Database.RecordZoneChange.Modification

        /// A record that was deleted.
        public struct Deletion: Sendable, Hashable {
            /// Which one.
            public let recordID: Record.ID
            /// Of which type it was.
            public let recordType: String
        }

        /// A record that was made or changed, verifies, and does not open: somebody who may write made it so, or this
        /// account was not given the key. Nothing of it is given out; what the app has of it stays as it is.
        public struct UnopenedRecord: Sendable {
            /// Which one.
            public let recordID: Record.ID
            /// Why, and by whose doing: show the reason to the user. To be rid of the record delete it, or save another
            /// one over it with the policy `allKeys`.
            public let error: SealKitError
        }

        /// Records that were made or changed, as they are now.
        public let modifications: [Modification]
        /// Records that were deleted.
        public let deletions: [Deletion]
        /// Records that do not open, none of which keeps others from coming. One for which a key is missing is among
        /// the modifications of a later fetch, once the key is there.
        public let unopened: [UnopenedRecord]
    }

    /// That all of a zone has come, or why not.
    public struct DidFetchRecordZoneChanges: Sendable {
        /// Which zone.
        public let zoneID: RecordZone.ID
        /// Why not all has come. With `integrityFailure` and `rollback` something does not verify: everything before it
        /// was told, the next fetch begins at it, and until it is settled nothing after it comes. Show the reason to
        /// the user. What verifies and does not open is none of it (``FetchedRecordZoneChanges/unopened``).
        public let error: SealKitError?
    }

    /// That a send begins.
    public struct WillSendChanges: Sendable {
        /// Why, and what is sent.
        public let context: SyncEngine.SendChangesContext
    }

    /// That a send has ended.
    public struct DidSendChanges: Sendable {
        /// Why, and what was sent.
        public let context: SyncEngine.SendChangesContext
        /// Why not all was sent: what `sendChanges` throws, also where the engine sends by itself.
        public let error: SealKitError?
    }

    /// What became of zones that were to be made or deleted.
    public struct SentDatabaseChanges: Sendable {
        /// A zone that was not made.
        public struct FailedZoneSave: Sendable {
            /// Which zone.
            public let zone: RecordZone
            /// Why.
            public let error: SealKitError
        }

        /// Zones that are there now.
        public let savedZones: [RecordZone]
        /// Zones that were not made.
        public let failedZoneSaves: [FailedZoneSave]
        /// Those too that were gone already.
        public let deletedZoneIDs: [RecordZone.ID]
        /// Zones that were not deleted, and why.
        public let failedZoneDeletes: [RecordZone.ID: SealKitError]
    }

    /// What became of one request. What failed is not pending any more unless ``SealKitError/isRetriedBySyncEngine``
    /// says so: mend it and add it again, or let go of it.
    public struct SentRecordZoneChanges: Sendable {
        /// A record that was not saved.
        public struct FailedRecordSave: Sendable {
            /// As it was to be saved.
            public let record: Record
            /// Why; of a conflict it has the stored record.
            public let error: SealKitError
        }

        /// A share that was not saved.
        public struct FailedShareSave: Sendable {
            /// As it was to be saved.
            public let share: Share
            /// Why.
            public let error: SealKitError
        }

        /// With their new change tags: keep their system fields for the next save.
        public let savedRecords: [Record]
        /// Records that were not saved.
        public let failedRecordSaves: [FailedRecordSave]
        /// As they are now. Where the root was shared already it is the share that was there, under its own ID.
        public let savedShares: [Share]
        /// Shares that were not saved.
        public let failedShareSaves: [FailedShareSave]
        /// Records that are gone, those too that were gone already.
        public let deletedRecordIDs: [Record.ID]
        /// Records that were not deleted, and why.
        public let failedRecordDeletes: [Record.ID: SealKitError]
    }
}
