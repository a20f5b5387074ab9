import CloudKit

@available(*, deprecated)
func fetchRecordChanges(_ zone: CKRecordZone.ID, _ token: CKServerChangeToken) {
    let _: CKFetchRecordChangesOperation = CKFetchRecordChangesOperation()
    let operation: CKFetchRecordChangesOperation = CKFetchRecordChangesOperation(
        recordZoneID: zone, previousServerChangeToken: token)
    operation.recordZoneID = zone
    operation.previousServerChangeToken = nil
    operation.desiredKeys = ["title"]
    operation.resultsLimit = 10
    let _: Bool = operation.moreComing
    operation.recordChangedBlock = { (_: CKRecord) in }
    operation.recordWithIDWasDeletedBlock = { (_: CKRecord.ID) in }
    operation.fetchRecordChangesCompletionBlock = { (_: CKServerChangeToken?, _: Data?, _: (any Error)?) in }
}
