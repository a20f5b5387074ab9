import CloudKit

typealias RecordResults = [CKRecord.ID: Result<CKRecord, any Error>]
typealias Matches = (
    matchResults: [(CKRecord.ID, Result<CKRecord, any Error>)], queryCursor: CKQueryOperation.Cursor?
)
typealias ModifiedRecords = (saveResults: RecordResults, deleteResults: [CKRecord.ID: Result<Void, any Error>])
typealias ZoneResults = [CKRecordZone.ID: Result<CKRecordZone, any Error>]
typealias ModifiedZones = (saveResults: ZoneResults, deleteResults: [CKRecordZone.ID: Result<Void, any Error>])
typealias SubscriptionResults = [CKSubscription.ID: Result<CKSubscription, any Error>]
typealias ModifiedSubscriptions = (
    saveResults: SubscriptionResults, deleteResults: [CKSubscription.ID: Result<Void, any Error>]
)
typealias DatabaseChanges = (
    modifications: [CKDatabase.DatabaseChange.Modification], deletions: [CKDatabase.DatabaseChange.Deletion],
    changeToken: CKServerChangeToken, moreComing: Bool
)
typealias ZoneChanges = (
    modificationResultsByID: [CKRecord.ID: Result<CKDatabase.RecordZoneChange.Modification, any Error>],
    deletions: [CKDatabase.RecordZoneChange.Deletion], changeToken: CKServerChangeToken, moreComing: Bool
)

func databases(_ database: CKDatabase, _ operation: CKDatabaseOperation) async {
    let _: CKDatabase.Scope = database.databaseScope
    let _: [CKDatabase.Scope] = [CKDatabase.Scope.public, CKDatabase.Scope.private, CKDatabase.Scope.shared]
    let _: CKDatabase.Scope? = CKDatabase.Scope(rawValue: 2)
    database.add(operation)
    let _: [CKRecordZone]? = try? await database.configuredWith(
        configuration: CKOperation.Configuration(), group: CKOperationGroup(),
        body: { (database: CKDatabase) in try await database.allRecordZones() })
    let _: CKDatabase.Scope = database.configuredWith(
        configuration: CKOperation.Configuration(), group: CKOperationGroup(),
        body: { (database: CKDatabase) in database.databaseScope })
}

func recordCalls(
    _ database: CKDatabase, _ record: CKRecord, _ id: CKRecord.ID, _ zone: CKRecordZone.ID, _ query: CKQuery,
    _ cursor: CKQueryOperation.Cursor
) async throws {
    let _: CKRecord = try await database.record(for: id)
    database.fetch(withRecordID: id, completionHandler: { (_: CKRecord?, _: (any Error)?) in })
    let _: RecordResults = try await database.records(for: [id], desiredKeys: ["title"])
    database.fetch(
        withRecordIDs: [id], desiredKeys: nil, completionHandler: { (_: Result<RecordResults, any Error>) in })
    let _: Matches = try await database.records(
        matching: query, inZoneWith: zone, desiredKeys: nil, resultsLimit: CKQueryOperation.maximumResults)
    let _: Matches = try await database.records(continuingMatchFrom: cursor, desiredKeys: nil, resultsLimit: 10)
    database.fetch(
        withQuery: query, inZoneWith: zone, desiredKeys: nil, resultsLimit: 10,
        completionHandler: { (_: Result<Matches, any Error>) in })
    database.fetch(
        withCursor: cursor, desiredKeys: nil, resultsLimit: 10,
        completionHandler: { (_: Result<Matches, any Error>) in })
    let _: CKRecord = try await database.save(record)
    database.save(record, completionHandler: { (_: CKRecord?, _: (any Error)?) in })
    let _: CKRecord.ID = try await database.deleteRecord(withID: id)
    database.delete(withRecordID: id, completionHandler: { (_: CKRecord.ID?, _: (any Error)?) in })
    let _: ModifiedRecords = try await database.modifyRecords(
        saving: [record], deleting: [id], savePolicy: .changedKeys, atomically: false)
    database.modifyRecords(
        saving: [record], deleting: [id], savePolicy: .allKeys, atomically: true,
        completionHandler: { (_: Result<ModifiedRecords, any Error>) in })
}

@available(*, deprecated)
func deprecatedRecordCalls(_ database: CKDatabase, _ zone: CKRecordZone.ID, _ query: CKQuery) async throws {
    database.perform(query, inZoneWith: zone, completionHandler: { (_: [CKRecord]?, _: (any Error)?) in })
    let _: [CKRecord] = try await database.records(matching: query, inZoneWith: zone)
}

func zoneCalls(_ database: CKDatabase, _ zone: CKRecordZone, _ id: CKRecordZone.ID) async throws {
    let _: [CKRecordZone] = try await database.allRecordZones()
    database.fetchAllRecordZones(completionHandler: { (_: [CKRecordZone]?, _: (any Error)?) in })
    let _: CKRecordZone = try await database.recordZone(for: id)
    database.fetch(withRecordZoneID: id, completionHandler: { (_: CKRecordZone?, _: (any Error)?) in })
    let _: ZoneResults = try await database.recordZones(for: [id])
    database.fetch(withRecordZoneIDs: [id], completionHandler: { (_: Result<ZoneResults, any Error>) in })
    let _: CKRecordZone = try await database.save(zone)
    database.save(zone, completionHandler: { (_: CKRecordZone?, _: (any Error)?) in })
    let _: CKRecordZone.ID = try await database.deleteRecordZone(withID: id)
    database.delete(withRecordZoneID: id, completionHandler: { (_: CKRecordZone.ID?, _: (any Error)?) in })
    let _: ModifiedZones = try await database.modifyRecordZones(saving: [zone], deleting: [id])
    database.modifyRecordZones(
        saving: [zone], deleting: [id], completionHandler: { (_: Result<ModifiedZones, any Error>) in })
}

func subscriptionCalls(_ database: CKDatabase, _ subscription: CKSubscription, _ id: CKSubscription.ID) async throws {
    let _: [CKSubscription] = try await database.allSubscriptions()
    database.fetchAllSubscriptions(completionHandler: { (_: [CKSubscription]?, _: (any Error)?) in })
    let _: CKSubscription = try await database.subscription(for: id)
    database.fetch(withSubscriptionID: id, completionHandler: { (_: CKSubscription?, _: (any Error)?) in })
    let _: SubscriptionResults = try await database.subscriptions(for: [id])
    database.fetch(withSubscriptionIDs: [id], completionHandler: { (_: Result<SubscriptionResults, any Error>) in })
    let _: CKSubscription = try await database.save(subscription)
    database.save(subscription, completionHandler: { (_: CKSubscription?, _: (any Error)?) in })
    let _: CKSubscription.ID = try await database.deleteSubscription(withID: id)
    database.delete(withSubscriptionID: id, completionHandler: { (_: String?, _: (any Error)?) in })
    let _: ModifiedSubscriptions = try await database.modifySubscriptions(saving: [subscription], deleting: [id])
    database.modifySubscriptions(
        saving: [subscription], deleting: [id],
        completionHandler: { (_: Result<ModifiedSubscriptions, any Error>) in })
}

func feedCalls(_ database: CKDatabase, _ zone: CKRecordZone.ID, _ token: CKServerChangeToken) async throws {
    let changes: DatabaseChanges = try await database.databaseChanges(since: token, resultsLimit: 10)
    database.fetchDatabaseChanges(
        since: token, resultsLimit: nil, completionHandler: { (_: Result<DatabaseChanges, any Error>) in })
    let records: ZoneChanges = try await database.recordZoneChanges(
        inZoneWith: zone, since: token, desiredKeys: nil, resultsLimit: 10)
    database.fetchRecordZoneChanges(
        inZoneWith: zone, since: token, desiredKeys: nil, resultsLimit: nil,
        completionHandler: { (_: Result<ZoneChanges, any Error>) in })
    let _: [CKRecordZone.ID] = changes.modifications.map { $0.zoneID }
    let _: [CKRecordZone.ID] = changes.deletions.map { $0.zoneID }
    let _: [Bool] = changes.deletions.map { $0.purged }
    let _: [CKDatabase.DatabaseChange.Deletion.Reason] = changes.deletions.map { $0.reason }
    let _: [CKDatabase.DatabaseChange.Deletion.Reason] = [.deleted, .purged, .encryptedDataReset]
    let _: [CKRecord] = try records.modificationResultsByID.values.map { try $0.get().record }
    let _: [CKRecord.ID] = records.deletions.map { $0.recordID }
    let _: [CKRecord.RecordType] = records.deletions.map { $0.recordType }
}
