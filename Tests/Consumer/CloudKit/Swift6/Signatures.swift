import CloudKit

// Each member once, with the types of Apple's documentation: it only has to compile.

func identifiers(_ coder: NSCoder) {
    let zoneID: CKRecordZone.ID = CKRecordZone.ID(zoneName: "Notes", ownerName: CKCurrentUserDefaultName)
    let _: CKRecordZone.ID = CKRecordZone.ID(zoneName: CKRecordZone.ID.defaultZoneName)
    let _: CKRecordZone.ID = .default
    let _: String = zoneID.zoneName
    let _: String = zoneID.ownerName
    let recordID: CKRecord.ID = CKRecord.ID(recordName: "first", zoneID: zoneID)
    let _: CKRecord.ID = CKRecord.ID(recordName: "first")
    let _: CKRecord.ID = CKRecord.ID(zoneID: zoneID)
    let _: String = recordID.recordName
    let _: CKRecordZone.ID = recordID.zoneID
    let reference: CKRecord.Reference = CKRecord.Reference(recordID: recordID, action: .deleteSelf)
    let _: CKRecord.ReferenceAction = reference.action
    let _: CKRecord.ID = reference.recordID
    let _: CKRecord.ID? = CKRecord.ID(coder: coder)
    let _: [any NSSecureCoding & NSCopying] = [zoneID, recordID, reference]
    let _: Set<CKRecord.ID> = [recordID]
}

func records(_ record: CKRecord, _ coder: NSCoder) {
    let _: CKRecord = CKRecord(recordType: "Note")
    let _: CKRecord = CKRecord(recordType: CKRecord.SystemType.userRecord, recordID: record.recordID)
    let _: CKRecord? = CKRecord(coder: coder)
    let _: CKRecord.RecordType = record.recordType
    let _: CKRecord.ID = record.recordID
    let _: String? = record.recordChangeTag
    let _: CKRecord.ID? = record.creatorUserRecordID
    let _: Date? = record.creationDate
    let _: CKRecord.ID? = record.lastModifiedUserRecordID
    let _: Date? = record.modificationDate
    let _: CKRecord.Reference? = record.share
    let _: CKRecord.Reference? = record.parent
    record.parent = nil
    record.setParent(record)
    record.setParent(record.recordID)
    let _: any CKRecordKeyValueSetting = record.encryptedValues
    let _: [CKRecord.FieldKey] = record.allKeys()
    let _: [CKRecord.FieldKey] = record.changedKeys()
    let _: [String] = record.allTokens()
    let _: (any CKRecordValue)? = record.object(forKey: "title")
    record.setObject("a" as CKRecordValue, forKey: "title")
    record.setObject(nil, forKey: "title")
    let _: String? = record["title"]
    let _: (any CKRecordValueProtocol)? = record["title"]
    record["title"] = "a"
    record["title"] = "a" as CKRecordValue
    record["title"] = nil
    record["tags"] = ["a"] as CKRecordValue
    record["count"] = NSNumber(value: 1)
    record["date"] = NSDate()
    record.encryptedValues["title"] = "a"
    record.encodeSystemFields(with: coder)
    for (key, value) in record { print(key, value) }
    let _: [CKRecord.FieldKey] = [
        CKRecord.SystemFieldKey.recordID, CKRecord.SystemFieldKey.creatorUserRecordID,
        CKRecord.SystemFieldKey.creationDate, CKRecord.SystemFieldKey.lastModifiedUserRecordID,
        CKRecord.SystemFieldKey.modificationDate, CKRecord.SystemFieldKey.parent, CKRecord.SystemFieldKey.share,
        CKRecordParentKey, CKRecordShareKey,
    ]
    let _: [CKRecord.RecordType] = [CKRecordTypeUserRecord, CKRecordTypeShare, CKRecord.SystemType.share]
    let asset: CKAsset = CKAsset(fileURL: URL(fileURLWithPath: "/tmp/scan"))
    let _: URL? = asset.fileURL
}

func zones(_ zone: CKRecordZone) {
    let _: CKRecordZone = CKRecordZone(zoneName: "Notes")
    let _: CKRecordZone = CKRecordZone(zoneID: zone.zoneID)
    let _: CKRecordZone = .default()
    let _: CKRecordZone.Capabilities = [.fetchChanges, .atomic, .sharing, .zoneWideSharing]
    let _: CKRecord.Reference? = zone.share
    zone.encryptionScope = .perZone
}

func errors(_ error: CKError) {
    let _: CKError.Code = error.code
    let _: [String: Any] = error.userInfo
    let _: Int = error.errorCode
    let _: [AnyHashable: any Error]? = error.partialErrorsByItemID
    let _: CKRecord? = error.ancestorRecord
    let _: CKRecord? = error.serverRecord
    let _: CKRecord? = error.clientRecord
    let _: Double? = error.retryAfterSeconds
    let _: String = CKError.errorDomain
    let _: CKError.Code = CKError.zoneNotFound
    let _: NSError = error as NSError
    let _: CKError = CKError(.unknownItem)
    let _: CKError = CKError(_nsError: NSError(domain: CKErrorDomain, code: CKError.unknownItem.rawValue))
    let _: [String] = [
        CKErrorRetryAfterKey, CKPartialErrorsByItemIDKey, CKRecordChangedErrorServerRecordKey,
        CKRecordChangedErrorAncestorRecordKey, CKRecordChangedErrorClientRecordKey,
        CKErrorUserDidResetEncryptedDataKey,
    ]
}

func containers(_ container: CKContainer) async throws {
    let _: CKContainer = CKContainer(identifier: "iCloud.org.example.notes")
    let _: String? = container.containerIdentifier
    let _: CKDatabase = container.privateCloudDatabase
    let _: CKDatabase = container.publicCloudDatabase
    let _: CKDatabase = container.sharedCloudDatabase
    let _: CKDatabase = container.database(with: .private)
    let _: CKAccountStatus = try await container.accountStatus()
    container.accountStatus { (_: CKAccountStatus, _: (any Error)?) in }
    let _: CKRecord.ID = try await container.userRecordID()
    container.fetchUserRecordID { (_: CKRecord.ID?, _: (any Error)?) in }
    let _: Notification.Name = .CKAccountChanged
    let _: Int = await container.configuredWith(configuration: CKOperation.Configuration()) { _ in 1 }
}

func databases(_ database: CKDatabase, _ record: CKRecord, _ zone: CKRecordZone) async throws {
    let _: CKDatabase.Scope = database.databaseScope
    let _: CKRecord = try await database.record(for: record.recordID)
    let _: [CKRecord.ID: Result<CKRecord, any Error>] = try await database.records(for: [record.recordID])
    let _: CKRecord = try await database.save(record)
    let _: CKRecord.ID = try await database.deleteRecord(withID: record.recordID)
    let modified:
        (
            saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
            deleteResults: [CKRecord.ID: Result<Void, any Error>]
        ) = try await database.modifyRecords(
            saving: [record], deleting: [], savePolicy: .changedKeys, atomically: false)
    print(modified.saveResults.count)
    let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "date > %@ AND count = %d", NSDate(), 3))
    let page: (matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)], queryCursor: CKQueryOperation.Cursor?) =
        try await database.records(matching: query, inZoneWith: zone.zoneID, desiredKeys: nil, resultsLimit: 10)
    if let cursor = page.queryCursor { _ = try await database.records(continuingMatchFrom: cursor) }
    let _: [CKRecordZone] = try await database.allRecordZones()
    let _: CKRecordZone = try await database.recordZone(for: zone.zoneID)
    let _: [CKRecordZone.ID: Result<CKRecordZone, any Error>] = try await database.recordZones(for: [zone.zoneID])
    let _: CKRecordZone = try await database.save(zone)
    let _: CKRecordZone.ID = try await database.deleteRecordZone(withID: zone.zoneID)
    _ = try await database.modifyRecordZones(saving: [zone], deleting: [])
    let changes = try await database.recordZoneChanges(inZoneWith: zone.zoneID, since: nil)
    let _: [CKRecord.ID: Result<CKDatabase.RecordZoneChange.Modification, any Error>] =
        changes.modificationResultsByID
    let _: [CKDatabase.RecordZoneChange.Deletion] = changes.deletions
    let _: CKServerChangeToken = changes.changeToken
    let all = try await database.databaseChanges(since: nil)
    let _: [CKDatabase.DatabaseChange.Modification] = all.modifications
    let _: [CKDatabase.DatabaseChange.Deletion] = all.deletions
    let _: [CKSubscription] = try await database.allSubscriptions()
    let subscription: CKSubscription = try await database.save(CKDatabaseSubscription(subscriptionID: "all"))
    let _: CKSubscription.ID = try await database.deleteSubscription(withID: subscription.subscriptionID)
    let group = CKOperationGroup()
    group.expectedSendSize = .kilobytes
    _ = try await database.configuredWith(group: group) { try await $0.allRecordZones() }
    database.fetch(withRecordID: record.recordID) { (_: CKRecord?, _: (any Error)?) in }
    database.save(record) { (_: CKRecord?, _: (any Error)?) in }
    database.delete(withRecordID: record.recordID) { (_: CKRecord.ID?, _: (any Error)?) in }
    database.fetchAllRecordZones { (_: [CKRecordZone]?, _: (any Error)?) in }
    database.save(zone) { (_: CKRecordZone?, _: (any Error)?) in }
    database.fetchAllSubscriptions { (_: [CKSubscription]?, _: (any Error)?) in }
}

func subscriptions(_ zoneID: CKRecordZone.ID) {
    let info = CKSubscription.NotificationInfo(alertBody: "new", shouldSendContentAvailable: true)
    info.desiredKeys = ["title"]
    info.alertLocalizationArgs = nil
    let query = CKQuerySubscription(
        recordType: "Note", predicate: NSPredicate(value: true), subscriptionID: "notes",
        options: [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion, .firesOnce])
    query.notificationInfo = info
    query.zoneID = zoneID
    let zone = CKRecordZoneSubscription(zoneID: zoneID, subscriptionID: "zone")
    zone.recordType = "Note"
    let database = CKDatabaseSubscription(subscriptionID: "all")
    let _: [CKSubscription] = [query, zone, database, CKRecordZoneSubscription(zoneID: zoneID)]
    let _: CKSubscription.SubscriptionType = query.subscriptionType
}

/// Blocks are plain closures, which may capture a variable.
func operations(_ database: CKDatabase, _ container: CKContainer, _ record: CKRecord, _ zoneID: CKRecordZone.ID) {
    var count = 0
    let modify = CKModifyRecordsOperation(recordsToSave: [record], recordIDsToDelete: nil)
    modify.savePolicy = .allKeys
    modify.isAtomic = false
    modify.clientChangeTokenData = nil
    modify.qualityOfService = .userInitiated
    modify.configuration = CKOperation.Configuration()
    modify.configuration.isLongLived = false
    modify.perRecordProgressBlock = { (_: CKRecord, _: Double) in count += 1 }
    modify.perRecordSaveBlock = { (_: CKRecord.ID, _: Result<CKRecord, any Error>) in count += 1 }
    modify.perRecordDeleteBlock = { (_: CKRecord.ID, _: Result<Void, any Error>) in count += 1 }
    modify.modifyRecordsResultBlock = { (_: Result<Void, any Error>) in print(count) }
    database.add(modify)
    let fetch = CKFetchRecordsOperation(recordIDs: [record.recordID])
    fetch.desiredKeys = ["title"]
    fetch.perRecordResultBlock = { (_: CKRecord.ID, _: Result<CKRecord, any Error>) in }
    fetch.fetchRecordsResultBlock = { (_: Result<Void, any Error>) in }
    fetch.addDependency(modify)
    container.add(CKFetchRecordsOperation.fetchCurrentUserRecordOperation())
    let query = CKQueryOperation(query: CKQuery(recordType: "Note", predicate: NSPredicate(value: true)))
    query.resultsLimit = CKQueryOperation.maximumResults
    query.recordMatchedBlock = { (_: CKRecord.ID, _: Result<CKRecord, any Error>) in }
    query.queryResultBlock = { (_: Result<CKQueryOperation.Cursor?, any Error>) in }
    let changes = CKFetchRecordZoneChangesOperation(
        recordZoneIDs: [zoneID],
        configurationsByRecordZoneID: [zoneID: CKFetchRecordZoneChangesOperation.ZoneConfiguration()])
    changes.fetchAllChanges = true
    changes.recordWasChangedBlock = { (_: CKRecord.ID, _: Result<CKRecord, any Error>) in }
    changes.recordWithIDWasDeletedBlock = { (_: CKRecord.ID, _: CKRecord.RecordType) in }
    changes.recordZoneChangeTokensUpdatedBlock = { (_: CKRecordZone.ID, _: CKServerChangeToken?, _: Data?) in }
    changes.recordZoneFetchResultBlock = { (_: CKRecordZone.ID, result) in
        if case .success(let (token, data, isMore)) = result { print(token, data as Any, isMore) }
    }
    changes.fetchRecordZoneChangesResultBlock = { (_: Result<Void, any Error>) in }
    let feed = CKFetchDatabaseChangesOperation(previousServerChangeToken: nil)
    feed.recordZoneWithIDChangedBlock = { (_: CKRecordZone.ID) in }
    feed.recordZoneWithIDWasDeletedBlock = { (_: CKRecordZone.ID) in }
    feed.recordZoneWithIDWasPurgedBlock = { (_: CKRecordZone.ID) in }
    feed.recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock = { (_: CKRecordZone.ID) in }
    feed.changeTokenUpdatedBlock = { (_: CKServerChangeToken) in }
    feed.fetchDatabaseChangesResultBlock = { result in
        if case .success(let (token, isMore)) = result { print(token, isMore) }
    }
    let operations: [CKDatabaseOperation] = [
        fetch, query, changes, feed, CKFetchRecordZonesOperation(recordZoneIDs: [zoneID]),
        CKFetchRecordZonesOperation.fetchAllRecordZonesOperation(),
        CKModifyRecordZonesOperation(recordZonesToSave: [], recordZoneIDsToDelete: []),
        CKFetchSubscriptionsOperation(subscriptionIDs: ["all"]),
        CKFetchSubscriptionsOperation.fetchAllSubscriptionsOperation(),
        CKModifySubscriptionsOperation(subscriptionsToSave: [], subscriptionIDsToDelete: []),
    ]
    let queue = OperationQueue()
    queue.addOperations(operations, waitUntilFinished: false)
}
