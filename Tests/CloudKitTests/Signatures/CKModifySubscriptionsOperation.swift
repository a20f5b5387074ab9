import CloudKit

func modifySubscriptions(_ subscription: CKSubscription) {
    let _: CKModifySubscriptionsOperation = CKModifySubscriptionsOperation()
    let operation: CKModifySubscriptionsOperation = CKModifySubscriptionsOperation(
        subscriptionsToSave: [subscription], subscriptionIDsToDelete: ["all"])
    operation.subscriptionsToSave = nil
    operation.subscriptionIDsToDelete = nil
    operation.perSubscriptionSaveBlock = { (_: CKSubscription.ID, _: Result<CKSubscription, any Error>) in }
    operation.perSubscriptionDeleteBlock = { (_: CKSubscription.ID, _: Result<Void, any Error>) in }
    operation.modifySubscriptionsResultBlock = { (_: Result<Void, any Error>) in }
}

@available(*, deprecated)
func deprecatedModifySubscriptions(_ operation: CKModifySubscriptionsOperation) {
    operation.modifySubscriptionsCompletionBlock = {
        (_: [CKSubscription]?, _: [CKSubscription.ID]?, _: (any Error)?) in
    }
}
