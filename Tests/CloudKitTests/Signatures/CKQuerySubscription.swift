import CloudKit

func querySubscriptions(_ zone: CKRecordZone.ID, _ coder: NSCoder) {
    let all = NSPredicate(value: true)
    let subscription: CKQuerySubscription = CKQuerySubscription(
        recordType: "Note", predicate: all, subscriptionID: "notes",
        options: [.firesOnRecordCreation, .firesOnRecordUpdate, .firesOnRecordDeletion, .firesOnce])
    let _: CKQuerySubscription = CKQuerySubscription(recordType: "Note", predicate: all, options: [.firesOnce])
    let _: CKQuerySubscription = CKQuerySubscription(recordType: "Note", predicate: all, subscriptionID: "notes")
    let _: CKQuerySubscription = CKQuerySubscription(recordType: "Note", predicate: all)
    if let type = subscription.recordType { let _: CKRecord.RecordType = type }
    let _: CKQuerySubscription? = CKQuerySubscription(coder: coder)
    let _: CKRecord.RecordType? = subscription.recordType
    let _: NSPredicate = subscription.predicate
    let _: CKQuerySubscription.Options = subscription.querySubscriptionOptions
    let _: CKQuerySubscription.Options = CKQuerySubscription.Options(rawValue: 1)
    subscription.zoneID = zone
}
