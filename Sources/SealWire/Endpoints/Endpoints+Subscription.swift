extension Endpoints {
    public static let subscriptions = SubscriptionEndpoints()
}

/// Subscriptions, and the stream of what they fire.
public struct SubscriptionEndpoints: Sendable {
    public let modify = Endpoint<
        InAnyDatabase, Sealkit_V1_ModifySubscriptionsRequest, Sealkit_V1_ModifySubscriptionsResponse
    >(
        "subscriptions/modify", path: "subscriptions/modify", InAnyDatabase(.user),
        again: .operation, work: .write { $0.saves.count + $0.deletes.count },
        refusals: [.message, .user, .path, .stored],
        about: "makes, replaces and removes subscriptions; each fails by itself")

    public let lookup = Endpoint<
        InAnyDatabase, Sealkit_V1_LookupSubscriptionsRequest, Sealkit_V1_LookupSubscriptionsResponse
    >(
        "subscriptions/lookup", path: "subscriptions/lookup", InAnyDatabase(.user),
        again: .read, work: .read { $0.subscriptionIds.count },
        refusals: [.message, .user, .path],
        about: "subscriptions by id")

    public let list = Endpoint<
        InAnyDatabase, Sealkit_V1_ListSubscriptionsRequest, Sealkit_V1_ListSubscriptionsResponse
    >(
        "subscriptions/list", path: "subscriptions/list", InAnyDatabase(.user),
        again: .read, work: .read(feedPage),
        refusals: [.message, .user, .path],
        about: "all of the caller's in this database")

    public let notifications = Endpoint<InContainer, NoContent, EventContent>(
        "notifications", .get, path: "notifications", InContainer(),
        again: .read, work: .read(1), body: .none,
        refusals: [.user, .path],
        about: #""Event streams". Too many open: `requestRateLimited`"#)
}
