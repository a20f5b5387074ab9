import CloudKit

func modifyZones(_ zone: CKRecordZone) {
    let _: CKModifyRecordZonesOperation = CKModifyRecordZonesOperation()
    let operation: CKModifyRecordZonesOperation = CKModifyRecordZonesOperation(
        recordZonesToSave: [zone], recordZoneIDsToDelete: [zone.zoneID])
    operation.recordZonesToSave = nil
    operation.recordZoneIDsToDelete = nil
    operation.perRecordZoneSaveBlock = { (_: CKRecordZone.ID, _: Result<CKRecordZone, any Error>) in }
    operation.perRecordZoneDeleteBlock = { (_: CKRecordZone.ID, _: Result<Void, any Error>) in }
    operation.modifyRecordZonesResultBlock = { (_: Result<Void, any Error>) in }
}

@available(*, deprecated)
func deprecatedModifyZones(_ operation: CKModifyRecordZonesOperation) {
    operation.modifyRecordZonesCompletionBlock = { (_: [CKRecordZone]?, _: [CKRecordZone.ID]?, _: (any Error)?) in }
}
