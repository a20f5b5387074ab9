import CloudKit

func modifyRecords(_ record: CKRecord, _ id: CKRecord.ID) {
    var count = 0
    let _: CKModifyRecordsOperation = CKModifyRecordsOperation()
    let operation: CKModifyRecordsOperation = CKModifyRecordsOperation(
        recordsToSave: [record], recordIDsToDelete: [id])
    operation.recordsToSave = nil
    operation.recordIDsToDelete = nil
    operation.savePolicy = .ifServerRecordUnchanged
    let _: [CKModifyRecordsOperation.RecordSavePolicy] = [.changedKeys, .allKeys]
    let _: CKModifyRecordsOperation.RecordSavePolicy? = CKModifyRecordsOperation.RecordSavePolicy(rawValue: 1)
    operation.isAtomic = false
    operation.clientChangeTokenData = Data()
    operation.perRecordProgressBlock = { (_: CKRecord, _: Double) in count += 1 }
    operation.perRecordSaveBlock = { (_: CKRecord.ID, _: Result<CKRecord, any Error>) in count += 1 }
    operation.perRecordDeleteBlock = { (_: CKRecord.ID, _: Result<Void, any Error>) in count += 1 }
    operation.modifyRecordsResultBlock = { (_: Result<Void, any Error>) in print(count) }
}

@available(*, deprecated)
func deprecatedModifyRecords(_ operation: CKModifyRecordsOperation) {
    operation.perRecordCompletionBlock = { (_: CKRecord, _: (any Error)?) in }
    operation.modifyRecordsCompletionBlock = { (_: [CKRecord]?, _: [CKRecord.ID]?, _: (any Error)?) in }
}
