import CloudKit

func queryNotifications(_ notification: CKQueryNotification) {
    let _: CKQueryNotification.Reason = notification.queryNotificationReason
    let _: [CKQueryNotification.Reason] = [.recordCreated, .recordUpdated, .recordDeleted]
    let _: CKQueryNotification.Reason? = CKQueryNotification.Reason(rawValue: 1)
    let _: CKRecord.ID? = notification.recordID
    let _: [String: Any]? = notification.recordFields
    let _: CKDatabase.Scope = notification.databaseScope
    let _: CKNotification = notification
}
