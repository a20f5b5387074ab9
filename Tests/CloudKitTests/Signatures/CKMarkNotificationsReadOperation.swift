import CloudKit

@available(*, deprecated)
func markNotificationsRead(_ id: CKNotification.ID) {
    let operation: CKMarkNotificationsReadOperation = CKMarkNotificationsReadOperation(
        notificationIDsToMarkRead: [id])
    operation.notificationIDs = []
    operation.markNotificationsReadCompletionBlock = { (_: [CKNotification.ID]?, _: (any Error)?) in }
}
