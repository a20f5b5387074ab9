import CloudKit

func queryOperations(_ query: CKQuery, _ cursor: CKQueryOperation.Cursor, _ zone: CKRecordZone.ID, _ coder: NSCoder) {
    let _: CKQueryOperation = CKQueryOperation()
    let _: CKQueryOperation = CKQueryOperation(cursor: cursor)
    let operation: CKQueryOperation = CKQueryOperation(query: query)
    operation.query = nil
    operation.cursor = cursor
    let _: CKQueryOperation.Cursor? = CKQueryOperation.Cursor(coder: coder)
    operation.zoneID = zone
    operation.resultsLimit = CKQueryOperation.maximumResults
    operation.desiredKeys = ["title"]
    operation.recordMatchedBlock = { (_: CKRecord.ID, _: Result<CKRecord, any Error>) in }
    operation.queryResultBlock = { (_: Result<CKQueryOperation.Cursor?, any Error>) in }
}

@available(*, deprecated)
func deprecatedQueryOperations(_ operation: CKQueryOperation) {
    operation.recordFetchedBlock = { (_: CKRecord) in }
    operation.queryCompletionBlock = { (_: CKQueryOperation.Cursor?, _: (any Error)?) in }
}
