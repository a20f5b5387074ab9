import CloudKit
import Testing

/// What an operation holds of the app's.
@Suite(.timeLimit(.minutes(60))) struct BlockTests {
    /// What blocks hold on to.
    private final class Held: Sendable {
        let log: Log
        init(_ log: Log) { self.log = log }
        deinit { log.note("let go of") }
    }

    /// Runs an operation whose blocks hold it and something else.
    /// - Parameter set: sets all of its blocks to such as call what they are given.
    private func expectLetGo<Kind: CKOperation>(
        _ operation: Kind, in container: CKContainer, sourceLocation: SourceLocation = #_sourceLocation,
        _ set: (Kind, @escaping @Sendable () -> Void) -> Void
    ) async {
        let log = Log()
        do {
            let held = Held(log)
            set(operation) { [held, operation] in _ = (held, operation.isFinished) }
            operation.longLivedOperationWasPersistedBlock = { [held] in _ = held }
        }
        let unset = blocks(operation).filter { $0.isNil }.map(\.name)
        #expect(unset == [], "the test has to set each", sourceLocation: sourceLocation)
        operation.configuration.container = container
        let queue = OperationQueue()
        await withCheckedContinuation { done in
            operation.completionBlock = { done.resume() }
            queue.addOperation(operation)
        }
        #expect(log.all == ["let go of"], "\(type(of: operation))", sourceLocation: sourceLocation)
        let left = blocks(operation).filter { !$0.isNil }.map(\.name)
        #expect(left == [], "\(type(of: operation))", sourceLocation: sourceLocation)
    }

    /// The properties of an operation's class that are blocks, the persisted one's left out, which is never nil.
    private func blocks(_ operation: CKOperation) -> [(name: String, isNil: Bool)] {
        var blocks: [(name: String, isNil: Bool)] = []
        var mirror: Mirror? = Mirror(reflecting: operation)
        while let current = mirror, current.subjectType != CKOperation.self {
            for (name, value) in current.children {
                guard let name, name.hasSuffix("Block") || name.hasPrefix("old") else { continue }
                blocks.append((name, Mirror(reflecting: value).children.isEmpty))
            }
            mirror = current.superclassMirror
        }
        return blocks
    }

    @Test func recordsAndZones() async throws {
        try await Cloud.run { cloud in
            let container = try await cloud.container(of: "ann")
            let database = container.privateCloudDatabase
            let zone = try await database.save(CKRecordZone(zoneName: "Notes")).zoneID
            let note = CKRecord.note("a", in: zone)
            await expectLetGo(CKModifyRecordsOperation(recordsToSave: [note]), in: container) { operation, call in
                operation.perRecordProgressBlock = { _, _ in call() }
                operation.perRecordCompletionBlock = { _, _ in call() }
                operation.perRecordSaveBlock = { _, _ in call() }
                operation.perRecordDeleteBlock = { _, _ in call() }
                operation.modifyRecordsCompletionBlock = { _, _, _ in call() }
                operation.modifyRecordsResultBlock = { _ in call() }
            }
            await expectLetGo(CKFetchRecordsOperation(recordIDs: [note.recordID]), in: container) { operation, call in
                operation.perRecordProgressBlock = { _, _ in call() }
                operation.perRecordCompletionBlock = { _, _, _ in call() }
                operation.perRecordResultBlock = { _, _ in call() }
                operation.fetchRecordsCompletionBlock = { _, _ in call() }
                operation.fetchRecordsResultBlock = { _ in call() }
            }
            let query = CKQuery(recordType: "Note", predicate: NSPredicate(value: true))
            await expectLetGo(CKQueryOperation(query: query), in: container) { operation, call in
                operation.recordFetchedBlock = { _ in call() }
                operation.recordMatchedBlock = { _, _ in call() }
                operation.queryCompletionBlock = { _, _ in call() }
                operation.queryResultBlock = { _ in call() }
            }
            await expectLetGo(CKFetchRecordZonesOperation(recordZoneIDs: [zone]), in: container) { operation, call in
                operation.perRecordZoneResultBlock = { _, _ in call() }
                operation.fetchRecordZonesCompletionBlock = { _, _ in call() }
                operation.fetchRecordZonesResultBlock = { _ in call() }
            }
            let zones = CKModifyRecordZonesOperation(recordZonesToSave: [CKRecordZone(zoneName: "Other")])
            await expectLetGo(zones, in: container) { operation, call in
                operation.perRecordZoneSaveBlock = { _, _ in call() }
                operation.perRecordZoneDeleteBlock = { _, _ in call() }
                operation.modifyRecordZonesCompletionBlock = { _, _, _ in call() }
                operation.modifyRecordZonesResultBlock = { _ in call() }
            }
        }
    }

    @Test func feedsAndSubscriptions() async throws {
        try await Cloud.run { cloud in
            let container = try await cloud.container(of: "ann")
            let database = container.privateCloudDatabase
            let zone = try await database.save(CKRecordZone(zoneName: "Notes")).zoneID
            try await database.save(CKRecord.note("a", in: zone))
            let feed = CKFetchRecordZoneChangesOperation(recordZoneIDs: [zone], configurationsByRecordZoneID: nil)
            await expectLetGo(feed, in: container) { operation, call in
                operation.recordChangedBlock = { _ in call() }
                operation.recordWasChangedBlock = { _, _ in call() }
                operation.recordWithIDWasDeletedBlock = { _, _ in call() }
                operation.recordZoneChangeTokensUpdatedBlock = { _, _, _ in call() }
                operation.recordZoneFetchCompletionBlock = { _, _, _, _, _ in call() }
                operation.recordZoneFetchResultBlock = { _, _ in call() }
                operation.fetchRecordZoneChangesCompletionBlock = { _ in call() }
                operation.fetchRecordZoneChangesResultBlock = { _ in call() }
            }
            let zones = CKFetchDatabaseChangesOperation(previousServerChangeToken: nil)
            await expectLetGo(zones, in: container) { operation, call in
                operation.recordZoneWithIDChangedBlock = { _ in call() }
                operation.recordZoneWithIDWasDeletedBlock = { _ in call() }
                operation.recordZoneWithIDWasPurgedBlock = { _ in call() }
                operation.recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock = { _ in call() }
                operation.changeTokenUpdatedBlock = { _ in call() }
                operation.fetchDatabaseChangesCompletionBlock = { _, _, _ in call() }
                operation.fetchDatabaseChangesResultBlock = { _ in call() }
            }
            let old = CKFetchRecordChangesOperation(recordZoneID: zone, previousServerChangeToken: nil)
            await expectLetGo(old, in: container) { operation, call in
                operation.recordChangedBlock = { _ in call() }
                operation.recordWithIDWasDeletedBlock = { _ in call() }
                operation.fetchRecordChangesCompletionBlock = { _, _, _ in call() }
            }
            await expectLetGo(CKFetchSubscriptionsOperation(subscriptionIDs: []), in: container) { operation, call in
                operation.perSubscriptionResultBlock = { _, _ in call() }
                operation.fetchSubscriptionCompletionBlock = { _, _ in call() }
                operation.fetchSubscriptionsResultBlock = { _ in call() }
            }
            await expectLetGo(CKModifySubscriptionsOperation(), in: container) { operation, call in
                operation.perSubscriptionSaveBlock = { _, _ in call() }
                operation.perSubscriptionDeleteBlock = { _, _ in call() }
                operation.modifySubscriptionsCompletionBlock = { _, _, _ in call() }
                operation.modifySubscriptionsResultBlock = { _ in call() }
            }
        }
    }

    @Test func sharesAndPeople() async throws {
        try await Cloud.run { cloud in
            let container = try await cloud.container(of: "ann")
            await expectLetGo(CKFetchShareMetadataOperation(shareURLs: []), in: container) { operation, call in
                operation.perShareMetadataBlock = { _, _, _ in call() }
                operation.perShareMetadataResultBlock = { _, _ in call() }
                operation.fetchShareMetadataCompletionBlock = { _ in call() }
                operation.fetchShareMetadataResultBlock = { _ in call() }
            }
            let participants = CKFetchShareParticipantsOperation(userIdentityLookupInfos: [])
            await expectLetGo(participants, in: container) { operation, call in
                operation.shareParticipantFetchedBlock = { _ in call() }
                operation.perShareParticipantResultBlock = { _, _ in call() }
                operation.fetchShareParticipantsCompletionBlock = { _ in call() }
                operation.fetchShareParticipantsResultBlock = { _ in call() }
            }
            await expectLetGo(CKAcceptSharesOperation(shareMetadatas: []), in: container) { operation, call in
                operation.perShareCompletionBlock = { _, _, _ in call() }
                operation.perShareResultBlock = { _, _ in call() }
                operation.acceptSharesCompletionBlock = { _ in call() }
                operation.acceptSharesResultBlock = { _ in call() }
            }
            await expectLetGo(CKShareRequestAccessOperation(shareURLs: []), in: container) { operation, call in
                operation.perShareAccessRequestResultBlock = { _, _ in call() }
                operation.shareAccessRequestResultBlock = { _ in call() }
            }
            await expectLetGo(CKFetchWebAuthTokenOperation(apiToken: "a"), in: container) { operation, call in
                operation.fetchWebAuthTokenCompletionBlock = { _, _ in call() }
                operation.fetchWebAuthTokenResultBlock = { _ in call() }
            }
            let identities = CKDiscoverUserIdentitiesOperation(userIdentityLookupInfos: [])
            await expectLetGo(identities, in: container) { operation, call in
                operation.userIdentityDiscoveredBlock = { _, _ in call() }
                operation.discoverUserIdentitiesCompletionBlock = { _ in call() }
                operation.discoverUserIdentitiesResultBlock = { _ in call() }
            }
            await expectLetGo(CKDiscoverAllUserIdentitiesOperation(), in: container) { operation, call in
                operation.userIdentityDiscoveredBlock = { _ in call() }
                operation.discoverAllUserIdentitiesCompletionBlock = { _ in call() }
                operation.discoverAllUserIdentitiesResultBlock = { _ in call() }
            }
            let notifications = CKFetchNotificationChangesOperation(previousServerChangeToken: nil)
            await expectLetGo(notifications, in: container) { operation, call in
                operation.notificationChangedBlock = { _ in call() }
                operation.fetchNotificationChangesCompletionBlock = { _, _ in call() }
            }
            let read = CKMarkNotificationsReadOperation(notificationIDsToMarkRead: [])
            await expectLetGo(read, in: container) { operation, call in
                operation.markNotificationsReadCompletionBlock = { _, _ in call() }
            }
            await expectLetGo(CKModifyBadgeOperation(badgeValue: 1), in: container) { operation, call in
                operation.modifyBadgeCompletionBlock = { _ in call() }
            }
        }
    }
}
