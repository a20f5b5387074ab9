import CloudKit

func fetchDatabaseChanges(_ token: CKServerChangeToken) {
    let _: CKFetchDatabaseChangesOperation = CKFetchDatabaseChangesOperation()
    let operation: CKFetchDatabaseChangesOperation = CKFetchDatabaseChangesOperation(previousServerChangeToken: token)
    operation.previousServerChangeToken = nil
    operation.resultsLimit = 10
    operation.fetchAllChanges = true
    operation.recordZoneWithIDChangedBlock = { (_: CKRecordZone.ID) in }
    operation.recordZoneWithIDWasDeletedBlock = { (_: CKRecordZone.ID) in }
    operation.recordZoneWithIDWasPurgedBlock = { (_: CKRecordZone.ID) in }
    operation.recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock = { (_: CKRecordZone.ID) in }
    operation.changeTokenUpdatedBlock = { (_: CKServerChangeToken) in }
    operation.fetchDatabaseChangesResultBlock = {
        (_: Result<(serverChangeToken: CKServerChangeToken, moreComing: Bool), any Error>) in
    }
}

@available(*, deprecated)
func deprecatedFetchDatabaseChanges(_ operation: CKFetchDatabaseChangesOperation) {
    operation.fetchDatabaseChangesCompletionBlock = { (_: CKServerChangeToken?, _: Bool, _: (any Error)?) in }
}
