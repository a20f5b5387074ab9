import CloudKit

func databaseNotifications(_ notification: CKDatabaseNotification) {
    let _: CKDatabase.Scope = notification.databaseScope
    let _: CKNotification = notification
}
