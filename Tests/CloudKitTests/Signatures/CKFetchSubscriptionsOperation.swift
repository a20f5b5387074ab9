import CloudKit

func fetchSubscriptions() {
    let _: CKFetchSubscriptionsOperation = CKFetchSubscriptionsOperation()
    let _: CKFetchSubscriptionsOperation = CKFetchSubscriptionsOperation.fetchAllSubscriptionsOperation()
    let operation: CKFetchSubscriptionsOperation = CKFetchSubscriptionsOperation(subscriptionIDs: ["all"])
    operation.subscriptionIDs = nil
    operation.perSubscriptionResultBlock = { (_: CKSubscription.ID, _: Result<CKSubscription, any Error>) in }
    operation.fetchSubscriptionsResultBlock = { (_: Result<Void, any Error>) in }
}

@available(*, deprecated)
func deprecatedFetchSubscriptions(_ operation: CKFetchSubscriptionsOperation) {
    operation.fetchSubscriptionCompletionBlock = { (_: [CKSubscription.ID: CKSubscription]?, _: (any Error)?) in }
}
