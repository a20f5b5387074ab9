import CloudKit

/// Blocks are plain closures, which may capture a variable.
func fetchRecords(_ id: CKRecord.ID) {
    var count = 0
    let _: CKFetchRecordsOperation = CKFetchRecordsOperation()
    let _: CKFetchRecordsOperation = CKFetchRecordsOperation.fetchCurrentUserRecordOperation()
    let operation: CKFetchRecordsOperation = CKFetchRecordsOperation(recordIDs: [id])
    operation.recordIDs = nil
    operation.desiredKeys = ["title"]
    operation.perRecordProgressBlock = { (_: CKRecord.ID, _: Double) in count += 1 }
    operation.perRecordResultBlock = { (_: CKRecord.ID, _: Result<CKRecord, any Error>) in count += 1 }
    operation.fetchRecordsResultBlock = { (_: Result<Void, any Error>) in print(count) }
}

@available(*, deprecated)
func deprecatedFetchRecords(_ operation: CKFetchRecordsOperation) {
    operation.perRecordCompletionBlock = { (_: CKRecord?, _: CKRecord.ID?, _: (any Error)?) in }
    operation.fetchRecordsCompletionBlock = { (_: [CKRecord.ID: CKRecord]?, _: (any Error)?) in }
}
