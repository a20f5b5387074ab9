import CloudKit

@available(*, deprecated)
func fetchNotificationChanges(_ token: CKServerChangeToken) {
    let operation: CKFetchNotificationChangesOperation = CKFetchNotificationChangesOperation(
        previousServerChangeToken: nil)
    operation.previousServerChangeToken = token
    operation.resultsLimit = 10
    let _: Bool = operation.moreComing
    operation.notificationChangedBlock = { (_: CKNotification) in }
    operation.fetchNotificationChangesCompletionBlock = { (_: CKServerChangeToken?, _: (any Error)?) in }
}
