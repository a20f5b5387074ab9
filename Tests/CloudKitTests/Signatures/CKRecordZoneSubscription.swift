import CloudKit

func zoneSubscriptions(_ zone: CKRecordZone.ID, _ coder: NSCoder) {
    let _: CKRecordZoneSubscription = CKRecordZoneSubscription(zoneID: zone)
    let _: CKRecordZoneSubscription? = CKRecordZoneSubscription(coder: coder)
    let subscription: CKRecordZoneSubscription = CKRecordZoneSubscription(zoneID: zone, subscriptionID: "zone")
    let _: CKRecordZone.ID = subscription.zoneID
    subscription.recordType = "Note"
}
