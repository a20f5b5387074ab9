import CloudKit

func fetchZoneChanges(_ zone: CKRecordZone.ID, _ token: CKServerChangeToken) {
    let configuration: CKFetchRecordZoneChangesOperation.ZoneConfiguration =
        CKFetchRecordZoneChangesOperation.ZoneConfiguration(
            previousServerChangeToken: token, resultsLimit: 10, desiredKeys: ["title"])
    let _: CKServerChangeToken? = configuration.previousServerChangeToken
    let _: Int = configuration.resultsLimit
    let _: [CKRecord.FieldKey]? = configuration.desiredKeys
    let _: CKFetchRecordZoneChangesOperation = CKFetchRecordZoneChangesOperation()
    let operation: CKFetchRecordZoneChangesOperation = CKFetchRecordZoneChangesOperation(
        recordZoneIDs: [zone], configurationsByRecordZoneID: [zone: configuration])
    operation.recordZoneIDs = [zone]
    operation.configurationsByRecordZoneID = nil
    operation.fetchAllChanges = false
    operation.recordWasChangedBlock = { (_: CKRecord.ID, _: Result<CKRecord, any Error>) in }
    operation.recordWithIDWasDeletedBlock = { (_: CKRecord.ID, _: CKRecord.RecordType) in }
    operation.recordZoneChangeTokensUpdatedBlock = { (_: CKRecordZone.ID, _: CKServerChangeToken?, _: Data?) in }
    operation.recordZoneFetchResultBlock = {
        (
            _: CKRecordZone.ID,
            _: Result<
                (serverChangeToken: CKServerChangeToken, clientChangeTokenData: Data?, moreComing: Bool), any Error
            >
        ) in
    }
    operation.fetchRecordZoneChangesResultBlock = { (_: Result<Void, any Error>) in }
}

@available(*, deprecated)
func deprecatedFetchZoneChanges(_ zone: CKRecordZone.ID) {
    let options: CKFetchRecordZoneChangesOperation.ZoneOptions = CKFetchRecordZoneChangesOperation.ZoneOptions()
    let operation = CKFetchRecordZoneChangesOperation(recordZoneIDs: [zone], optionsByRecordZoneID: [zone: options])
    operation.optionsByRecordZoneID = nil
    operation.recordChangedBlock = { (_: CKRecord) in }
    operation.recordZoneFetchCompletionBlock = {
        (_: CKRecordZone.ID, _: CKServerChangeToken?, _: Data?, _: Bool, _: (any Error)?) in
    }
    operation.fetchRecordZoneChangesCompletionBlock = { (_: (any Error)?) in }
}
