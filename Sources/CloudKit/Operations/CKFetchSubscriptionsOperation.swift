import Foundation
import SealKit

/// Fetches subscriptions by their IDs, or all of them.
open class CKFetchSubscriptionsOperation: CKDatabaseOperation, @unchecked Sendable {
    open var subscriptionIDs: [CKSubscription.ID]?
    open var perSubscriptionResultBlock:
        ((_ subscriptionID: CKSubscription.ID, _ result: Result<CKSubscription, any Error>) -> Void)?
    @available(*, deprecated, message: "use fetchSubscriptionsResultBlock")
    open var fetchSubscriptionCompletionBlock:
        (
            (
                _ subscriptionsBySubscriptionID: [CKSubscription.ID: CKSubscription]?,
                _ operationError: (any Error)?
            ) -> Void
        )?
    {
        get { oldEnd }
        set { oldEnd = newValue }
    }
    open var fetchSubscriptionsResultBlock: ((_ operationResult: Result<Void, any Error>) -> Void)?

    private var oldEnd: (([CKSubscription.ID: CKSubscription]?, (any Error)?) -> Void)?
    private var isOfAll = false
    private var found: [CKSubscription.ID: CKSubscription]?

    public required override init() { super.init() }

    public convenience init(subscriptionIDs: [CKSubscription.ID]) {
        self.init()
        self.subscriptionIDs = subscriptionIDs
    }

    open class func fetchAllSubscriptionsOperation() -> Self {
        let operation = self.init()
        operation.isOfAll = true
        return operation
    }

    override func work() async throws(CKError) {
        let results: [(CKSubscription.ID, Result<CKSubscription, CKError>)] = try await calling {
            let database = try chosenDatabase
            if isOfAll { return try await database.everySubscription().map { ($0.subscriptionID, .success($0)) } }
            let ids = subscriptionIDs?.eachOnce ?? []
            let results = try await database.fetchSubscriptions(ids)
            return ids.map { ($0, results[$0] ?? .failure(CKError(CKDatabase.lacks($0)))) }
        }
        for (id, result) in results { tell { self.perSubscriptionResultBlock?(id, result.untyped) } }
        found = results.values()
        try results.throwFailures()
    }

    override func ended(_ failure: CKError?) {
        oldEnd?(found, failure)
        fetchSubscriptionsResultBlock?(failure.asResult)
    }

    override func releaseBlocks() {
        super.releaseBlocks()
        perSubscriptionResultBlock = nil
        fetchSubscriptionsResultBlock = nil
        oldEnd = nil
    }
}
