import CloudKit

@available(*, deprecated)
func modifyBadge() {
    let operation: CKModifyBadgeOperation = CKModifyBadgeOperation(badgeValue: 1)
    operation.badgeValue = 2
    operation.modifyBadgeCompletionBlock = { (_: (any Error)?) in }
}
