import CloudKit

func fetchZones(_ id: CKRecordZone.ID) {
    let _: CKFetchRecordZonesOperation = CKFetchRecordZonesOperation()
    let _: CKFetchRecordZonesOperation = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
    let operation: CKFetchRecordZonesOperation = CKFetchRecordZonesOperation(recordZoneIDs: [id])
    operation.recordZoneIDs = nil
    operation.perRecordZoneResultBlock = { (_: CKRecordZone.ID, _: Result<CKRecordZone, any Error>) in }
    operation.fetchRecordZonesResultBlock = { (_: Result<Void, any Error>) in }
}

@available(*, deprecated)
func deprecatedFetchZones(_ operation: CKFetchRecordZonesOperation) {
    operation.fetchRecordZonesCompletionBlock = { (_: [CKRecordZone.ID: CKRecordZone]?, _: (any Error)?) in }
}
