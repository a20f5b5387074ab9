import Foundation
import SealKit

/// Saves and deletes subscriptions.
open class CKModifySubscriptionsOperation: CKDatabaseOperation, @unchecked Sendable {
    open var subscriptionsToSave: [CKSubscription]?
    open var subscriptionIDsToDelete: [CKSubscription.ID]?
    open var perSubscriptionSaveBlock:
        ((_ subscriptionID: CKSubscription.ID, _ saveResult: Result<CKSubscription, any Error>) -> Void)?
    open var perSubscriptionDeleteBlock:
        ((_ subscriptionID: CKSubscription.ID, _ deleteResult: Result<Void, any Error>) -> Void)?
    @available(*, deprecated, message: "use modifySubscriptionsResultBlock")
    open var modifySubscriptionsCompletionBlock:
        (
            (
                _ savedSubscriptions: [CKSubscription]?, _ deletedSubscriptionIDs: [CKSubscription.ID]?,
                _ operationError: (any Error)?
            ) -> Void
        )?
    {
        get { oldEnd }
        set { oldEnd = newValue }
    }
    open var modifySubscriptionsResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var oldEnd: (([CKSubscription]?, [CKSubscription.ID]?, (any Error)?) -> Void)?
    private var done: ModifyOutcomes<CKSubscription, CKSubscription.ID>?

    public override init() { super.init() }

    public convenience init(
        subscriptionsToSave: [CKSubscription]? = nil, subscriptionIDsToDelete: [CKSubscription.ID]? = nil
    ) {
        self.init()
        self.subscriptionsToSave = subscriptionsToSave
        self.subscriptionIDsToDelete = subscriptionIDsToDelete
    }

    override func work() async throws(CKError) {
        let (subscriptions, ids) = (subscriptionsToSave ?? [], subscriptionIDsToDelete ?? [])
        let results = try await calling {
            try await chosenDatabase.modifySubscriptions(subscriptions, deleting: ids)
        }
        var outcomes = ModifyOutcomes<CKSubscription, CKSubscription.ID>()
        for id in subscriptions.map(\.subscriptionID) {
            guard let result = results.saveResults[id] else { continue }
            outcomes.add(saving: id, result)
            tell { self.perSubscriptionSaveBlock?(id, result.untyped) }
        }
        for id in ids {
            guard let result = results.deleteResults[id] else { continue }
            outcomes.add(deleting: id, result)
            tell { self.perSubscriptionDeleteBlock?(id, result.untyped) }
        }
        done = outcomes
        try outcomes.throwFailures()
    }

    override func ended(_ failure: CKError?) {
        oldEnd?(done?.saved, done?.deleted, failure)
        modifySubscriptionsResultBlock?(failure.asResult)
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        perSubscriptionSaveBlock = nil
        perSubscriptionDeleteBlock = nil
        modifySubscriptionsResultBlock = nil
        oldEnd = nil
    }
}
