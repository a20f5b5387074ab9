import Hummingbird
import SealService
import SealStorage
import SealWire
import SwiftProtobuf

/// `subscriptions/modify`, `subscriptions/lookup`, `subscriptions/list`.
struct SubscriptionsController: Sendable {
    let transactions: Transactions
    let clock: @Sendable () -> Int64
    let quotas: Quotas
    let schemas: SchemaStore
    let webhookKeys: TokenKeys
    let webhookTargets: WebhookTargets

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.subscriptions.modify) { try await modify($0, $1) }
        router.on(Endpoints.subscriptions.lookup) { try await lookup($0, $1) }
        router.on(Endpoints.subscriptions.list) { try await list($0, $1) }
        router.on(Endpoints.server.webhookKeys) { _ in webhookKeys.published }
    }

    private func modify(
        _ message: Sealkit_V1_ModifySubscriptionsRequest, _ call: DatabaseCall
    ) async throws -> Sealkit_V1_ModifySubscriptionsResponse {
        let modification = try ModifySubscriptions(message, call.path, webhooks: webhookTargets)
        let now = clock()
        // It changes the rows of all zones that the user sees: they say what is watched.
        return try await transactions.write(as: call.session, at: .everything) { [schemas, quotas] connection in
            try modification.run(by: call.session, schemas, quotas, now: now, in: connection)
        }
    }

    private func lookup(
        _ message: Sealkit_V1_LookupSubscriptionsRequest, _ call: DatabaseCall
    ) async throws -> Sealkit_V1_LookupSubscriptionsResponse {
        try RequestItems.check(message.subscriptionIds.count, "subscriptions")
        return try await transactions.read { connection in
            try Subscriptions(of: call.session, call.path, in: connection).lookup(message)
        }
    }

    private func list(
        _ message: Sealkit_V1_ListSubscriptionsRequest, _ call: DatabaseCall
    ) async throws -> Sealkit_V1_ListSubscriptionsResponse {
        let all = try await transactions.read { try Subscriptions(of: call.session, call.path, in: $0).all() }
        return .with { $0.subscriptions = all }
    }
}
