import CloudKit

func databaseSubscriptions(_ coder: NSCoder) {
    let _: CKDatabaseSubscription = CKDatabaseSubscription()
    let _: CKDatabaseSubscription? = CKDatabaseSubscription(coder: coder)
    let subscription: CKDatabaseSubscription = CKDatabaseSubscription(subscriptionID: "all")
    subscription.recordType = "Note"
}
