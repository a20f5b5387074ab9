@testable import CloudKit
import SealKit
import Testing

@Suite(.timeLimit(.minutes(60))) struct SubscriptionTests {
    @Test func savedFetchedAndDeleted() async throws {
        try await Cloud.runNotes { database, zone in
            let ofDatabase = CKDatabaseSubscription(subscriptionID: "all")
            let ofZone = CKRecordZoneSubscription(zoneID: zone, subscriptionID: "zone")
            ofZone.recordType = "Note"
            let record = CKRecord.note("a", in: zone)
            record["number"] = 1
            try await database.save(record)
            let ofQuery = CKQuerySubscription(
                recordType: "Note", predicate: NSPredicate(format: "number > %d", 3), subscriptionID: "query",
                options: [.firesOnRecordCreation, .firesOnce])
            ofQuery.zoneID = zone
            ofQuery.notificationInfo = CKSubscription.NotificationInfo(alertBody: "new", desiredKeys: ["number"])
            let results = try await database.modifySubscriptions(
                saving: [ofDatabase, ofZone, ofQuery], deleting: [])
            let codes = results.saveResults.values.map(\.code)
            #expect(codes == [nil, nil, nil])
            let all = try await database.allSubscriptions()
            #expect(Set(all.map(\.subscriptionID)) == ["all", "zone", "query"])
            let query = try #require(try await database.subscription(for: "query") as? CKQuerySubscription)
            #expect(query.subscriptionType == .query)
            #expect(query.querySubscriptionOptions == [.firesOnRecordCreation, .firesOnce])
            #expect(query.zoneID == zone)
            #expect(query.notificationInfo?.desiredKeys == ["number"])
            #expect(query.notificationInfo?.alertLocalizationArgs == nil)
            // As it was fetched it is good for saving again.
            try await database.save(query)
            #expect((try await database.subscription(for: "zone") as? CKRecordZoneSubscription)?.recordType == "Note")
            #expect(try await database.deleteSubscription(withID: "all") == "all")
            await expectFailure(.unknownItem) { _ = try await database.subscription(for: "all") }
            await expectFailure(.unknownItem) { try await database.deleteSubscription(withID: "all") }
            #expect(try await database.subscriptions(for: ["all"])["all"]?.code == .unknownItem)
        }
    }

    @Test func aQuerysFiresForEachChangeWhereNothingElseIsSaid() {
        let subscription = CKQuerySubscription(
            recordType: "Note", predicate: NSPredicate(value: true), subscriptionID: "query")
        #expect(
            subscription.querySubscriptionOptions
                == [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion])
        #expect(subscription.recordType == "Note")
    }

    /// An app that saves what it has fetched takes no receiver away.
    @Test func aWebhookStays() async throws {
        try await Cloud.runNotes { _, zone in
            let url = "https://hooks.example.org/notes"
            let all: [CKSubscription] = [
                CKDatabaseSubscription(subscriptionID: "all"),
                CKRecordZoneSubscription(zoneID: zone, subscriptionID: "zone"),
                CKQuerySubscription(recordType: "Note", predicate: NSPredicate(value: true), subscriptionID: "query"),
            ]
            for subscription in all {
                subscription.webhook = url
                let face = CKSubscription.face(of: try subscription.sealed())
                #expect(face.webhook == url)
                #expect(try face.sealed().webhook == url)
                #expect((face.copy() as? CKSubscription)?.webhook == url)
            }
        }
    }

    @Test func withoutAnIDItIsTheSameAfterARestart() {
        let zone = CKRecordZone.ID(zoneName: "Notes")
        #expect(
            CKRecordZoneSubscription(zoneID: zone).subscriptionID
                == CKRecordZoneSubscription(zoneID: zone).subscriptionID)
        #expect(
            CKRecordZoneSubscription(zoneID: zone).subscriptionID
                != CKRecordZoneSubscription(zoneID: .init(zoneName: "Other")).subscriptionID)
        #expect(CKDatabaseSubscription().subscriptionID == CKDatabaseSubscription().subscriptionID)
    }

    /// What says what they are about is set after they were made.
    @Test func withoutAnIDNoneTakesAnothersPlace() async throws {
        try await Cloud.runNotes { database, zone in
            let other = try await database.save(CKRecordZone(zoneName: "Other")).zoneID
            let list = CKRecord(recordType: "List", recordID: CKRecord.ID(recordName: "b", zoneID: zone))
            try await database.modifyRecords(saving: [CKRecord.note("a", in: zone), list])
            func all() -> [CKSubscription] {
                let (notes, lists) = (CKDatabaseSubscription(), CKDatabaseSubscription())
                (notes.recordType, lists.recordType) = ("Note", "List")
                let ofZone = CKRecordZoneSubscription(zoneID: zone)
                ofZone.recordType = "Note"
                let queries: [CKSubscription] = [zone, other].map { zone in
                    let query = CKQuerySubscription(
                        recordType: "Note", predicate: NSPredicate(value: true), options: .firesOnRecordCreation)
                    query.zoneID = zone
                    return query
                }
                let others: [CKSubscription] = [
                    CKDatabaseSubscription(), notes, lists, CKRecordZoneSubscription(zoneID: zone), ofZone,
                ]
                let compounds: [CKSubscription] = ["a", "b"].map { name in
                    let parts = [NSPredicate(format: "recordID = %@", name), NSPredicate(value: true)]
                    return CKQuerySubscription(
                        recordType: "Note", predicate: NSCompoundPredicate(andPredicateWithSubpredicates: parts),
                        options: .firesOnRecordCreation)
                }
                return others + queries + compounds
            }
            for subscription in all() { try await database.save(subscription) }
            let ids = Set(all().map(\.subscriptionID))
            #expect(ids.count == 9)
            let saved = try await database.allSubscriptions()
            #expect(Set(saved.map(\.subscriptionID)) == ids)
        }
    }

    /// As the server gives it back it is archived like one that was made here.
    @Test func whatWasFetchedIsArchived() throws {
        for predicate in [NSPredicate(value: true), NSPredicate(format: "number > %d AND title BEGINSWITH %@", 3, "a")]
        {
            let made = CKQuerySubscription(recordType: "Note", predicate: predicate, subscriptionID: "query")
            let fetched = try #require(CKSubscription.face(of: try made.sealed()) as? CKQuerySubscription)
            let data = try NSKeyedArchiver.archivedData(withRootObject: fetched, requiringSecureCoding: true)
            let kept = try #require(
                try NSKeyedUnarchiver.unarchivedObject(ofClass: CKQuerySubscription.self, from: data))
            #expect(kept.subscriptionID == "query")
            #expect(kept.recordType == "Note")
            #expect(kept.predicate == fetched.predicate)
            #expect(
                try SealKit.Query.Predicate(kept.predicate).conditions
                    == SealKit.Query.Predicate(predicate).conditions)
        }
    }

    /// It is one subscription from then on, whatever it is about.
    @Test func anIDThatWasReadStays() {
        let subscription = CKDatabaseSubscription()
        let id = subscription.subscriptionID
        subscription.recordType = "Note"
        #expect(subscription.subscriptionID == id)
        #expect((subscription.copy() as? CKSubscription)?.subscriptionID == id)
    }

    @Test func whereTheyDoNotGo() async throws {
        try await Cloud.run { cloud in
            let container = try await cloud.container(of: "ann")
            let subscription = CKQuerySubscription(
                recordType: "Note", predicate: NSPredicate(value: true), subscriptionID: "query",
                options: [.firesOnRecordCreation])
            await expectFailure(.badDatabase) { try await container.sharedCloudDatabase.save(subscription) }
            let bad = CKQuerySubscription(
                recordType: "Note", predicate: NSPredicate(format: "a OR b"), subscriptionID: "bad", options: [])
            await expectFailure(.invalidArguments) { try await container.privateCloudDatabase.save(bad) }
        }
    }
}
