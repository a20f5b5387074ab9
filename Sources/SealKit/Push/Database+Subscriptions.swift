import SealWire
import SwiftProtobuf

extension Database {
    /// The user's subscriptions in this database.
    /// - Throws: what concerns the whole request, such as `networkFailure` or `notAuthenticated`.
    public func allSubscriptions() async throws(SealKitError) -> [any Subscription] {
        let response: Sealkit_V1_ListSubscriptionsResponse = try await core.call(
            scope, Endpoints.subscriptions.list, Sealkit_V1_ListSubscriptionsRequest())
        var all: [any Subscription] = []
        for wire in response.subscriptions { all.append(try subscription(wire)) }
        return all
    }

    /// - Throws: `unknownItem`.
    public func subscription(for subscriptionID: Subscription.ID) async throws(SealKitError) -> any Subscription {
        try await subscriptions(for: [subscriptionID])[subscriptionID].answered("the subscription")
    }

    /// - Returns: a result for each id; an absent subscription is that id's `unknownItem`.
    /// - Throws: `limitExceeded` above 400 ids; whatever concerns the whole request.
    public func subscriptions(
        for subscriptionIDs: [Subscription.ID]
    ) async throws(SealKitError) -> [Subscription.ID: Result<any Subscription, SealKitError>] {
        let request = Sealkit_V1_LookupSubscriptionsRequest.with { $0.subscriptionIds = Set(subscriptionIDs).sorted() }
        let response: Sealkit_V1_LookupSubscriptionsResponse = try await core.call(
            scope, Endpoints.subscriptions.lookup, request)
        var results: [Subscription.ID: Result<any Subscription, SealKitError>] = [:]
        for result in response.results { results[result.subscriptionID] = outcome(result) }
        return results
    }

    /// In the public database the user is told of the records that it may read, by their type's grants at the time.
    /// - Throws: `badDatabase` where this database does not take the kind: the private one takes all, the public one
    ///   query subscriptions, the shared one database subscriptions; `notAuthenticated` without an account;
    ///   `zoneNotFound`, `limitExceeded`; `invalidArguments`, also for a predicate over encrypted fields.
    @discardableResult
    public func save(_ subscription: any Subscription) async throws(SealKitError) -> any Subscription {
        let results = try await modifySubscriptions(saving: [subscription]).saveResults
        return try results[subscription.subscriptionID].answered("the subscription")
    }

    /// - Throws: `unknownItem`.
    public func deleteSubscription(withID subscriptionID: Subscription.ID) async throws(SealKitError) {
        let results = try await modifySubscriptions(deleting: [subscriptionID]).deleteResults
        try results[subscriptionID].answered("the subscription")
    }

    /// - Returns: a result for each id.
    /// - Throws: `limitExceeded` above 400 items; whatever concerns the whole request.
    public func modifySubscriptions(
        saving: [any Subscription] = [], deleting: [Subscription.ID] = []
    ) async throws(SealKitError) -> (
        saveResults: [Subscription.ID: Result<any Subscription, SealKitError>],
        deleteResults: [Subscription.ID: Result<Void, SealKitError>]
    ) {
        var saveResults: [Subscription.ID: Result<any Subscription, SealKitError>] = [:]
        var deleteResults: [Subscription.ID: Result<Void, SealKitError>] = [:]
        var request = Sealkit_V1_ModifySubscriptionsRequest()
        request.operationID = newOperationID()
        for subscription in saving {
            // What cannot be sent is that item's failure.
            do { request.saves.append(try wire(subscription)) } catch {
                saveResults[subscription.subscriptionID] = .failure(error)
            }
        }
        request.deletes = deleting
        let response: Sealkit_V1_ModifySubscriptionsResponse = try await core.call(
            scope, Endpoints.subscriptions.modify, request)
        guard response.results.count == request.saves.count + request.deletes.count else {
            throw SealKitError(.serverRejectedRequest, "the server did not answer every subscription")
        }
        for (save, result) in zip(request.saves, response.results) {
            saveResults[save.subscriptionID] = outcome(result)
        }
        for (id, result) in zip(deleting, response.results.dropFirst(request.saves.count)) {
            if case .failure(let failure)? = result.outcome {
                deleteResults[id] = .failure(SealKitError(failure))
            } else {
                deleteResults[id] = .success(())
            }
        }
        return (saveResults, deleteResults)
    }

    private func outcome(_ result: Sealkit_V1_SubscriptionResult) -> Result<any Subscription, SealKitError> {
        switch result.outcome {
        case .subscription(let wire): Result { () throws(SealKitError) in try subscription(wire) }
        case .failure(let failure): .failure(SealKitError(failure))
        case .deleted, nil: .failure(.lacking("a subscription"))
        }
    }
}
