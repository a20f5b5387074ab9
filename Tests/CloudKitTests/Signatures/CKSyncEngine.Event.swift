import CloudKit

func syncEvents(_ event: CKSyncEngine.Event) {
    let _: String = event.description
    switch event {
    case .stateUpdate(let event):
        let _: CKSyncEngine.State.Serialization = event.stateSerialization
    case .accountChange(let event):
        let change: CKSyncEngine.Event.AccountChange.ChangeType = event.changeType
        switch change {
        case .signIn(currentUser: let user): let _: CKRecord.ID = user
        case .signOut(previousUser: let user): let _: CKRecord.ID = user
        case .switchAccounts(previousUser: let before, currentUser: let user): let _: [CKRecord.ID] = [before, user]
        }
    case .fetchedDatabaseChanges(let event):
        let _: [CKDatabase.DatabaseChange.Modification] = event.modifications
        let _: [CKDatabase.DatabaseChange.Deletion] = event.deletions
    case .fetchedRecordZoneChanges(let event):
        let _: [CKDatabase.RecordZoneChange.Modification] = event.modifications
        let _: [CKDatabase.RecordZoneChange.Deletion] = event.deletions
    case .sentDatabaseChanges(let event):
        let _: [CKRecordZone] = event.savedZones
        let _: [CKSyncEngine.Event.SentDatabaseChanges.FailedZoneSave] = event.failedZoneSaves
        let _: [CKRecordZone] = event.failedZoneSaves.map { $0.zone }
        let _: [CKError] = event.failedZoneSaves.map { $0.error }
        let _: [CKRecordZone.ID] = event.deletedZoneIDs
        let _: [CKRecordZone.ID: CKError] = event.failedZoneDeletes
    case .sentRecordZoneChanges(let event):
        let _: [CKRecord] = event.savedRecords
        let _: [CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave] = event.failedRecordSaves
        let _: [CKRecord] = event.failedRecordSaves.map { $0.record }
        let _: [CKError] = event.failedRecordSaves.map { $0.error }
        let _: [CKRecord.ID] = event.deletedRecordIDs
        let _: [CKRecord.ID: CKError] = event.failedRecordDeletes
    case .willFetchChanges(let event): let _: CKSyncEngine.FetchChangesContext = event.context
    case .willFetchRecordZoneChanges(let event): let _: CKRecordZone.ID = event.zoneID
    case .didFetchRecordZoneChanges(let event):
        let _: CKRecordZone.ID = event.zoneID
        let _: CKError? = event.error
    case .didFetchChanges(let event): let _: CKSyncEngine.FetchChangesContext = event.context
    case .willSendChanges(let event): let _: CKSyncEngine.SendChangesContext = event.context
    case .didSendChanges(let event): let _: CKSyncEngine.SendChangesContext = event.context
    }
}
