import CloudKit

func zoneNotifications(_ notification: CKRecordZoneNotification) {
    let _: CKRecordZone.ID? = notification.recordZoneID
    let _: CKDatabase.Scope = notification.databaseScope
    let _: CKNotification = notification
}
