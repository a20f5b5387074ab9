import Hummingbird
import SealService
import SealStatements
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
        let (session, path) = (call.session, call.path)
        let operation = try RepeatableOperation(
            message, of: Endpoints.subscriptions.modify, path, try message.serializedBytes())
        try RequestItems.check(message.saves.count + message.deletes.count, "subscriptions")
        let drafts = message.saves.map { save in
            (
                save.subscriptionID,
                Result { () throws(ServerError) in
                    try SubscriptionDraft(save, in: path.database, webhooks: webhookTargets)
                }
            )
        }
        let (now, schemas, quotas) = (clock(), self.schemas, self.quotas)
        let response = try await transactions.write(as: session, at: .everything) {
            connection -> Sealkit_V1_ModifySubscriptionsResponse in
            let caller = try Caller(session, container: path.container, in: connection)
            if let answer = try operation.answer(of: caller.accountID, in: connection) {
                return try Sealkit_V1_ModifySubscriptionsResponse(serializedBytes: answer)
            }
            var subscriptions = Subscriptions(caller: caller, path: path, connection: connection)
            var response = Sealkit_V1_ModifySubscriptionsResponse()
            for (id, draft) in drafts {
                response.results.append(
                    try result(id) { .subscription(try subscriptions.save(try draft.get(), schemas, quotas)) })
            }
            for id in message.deletes {
                response.results.append(
                    try result(id) {
                        try subscriptions.delete(id)
                        return .deleted(true)
                    })
            }
            if response.results.contains(where: { if case .failure = $0.outcome { false } else { true } }) {
                try subscriptions.refreshWatch()
                try operation.keep(try response.serializedData(), of: caller.accountID, now: now, in: connection)
            }
            return response
        }
        return response
    }

    private func lookup(
        _ message: Sealkit_V1_LookupSubscriptionsRequest, _ call: DatabaseCall
    ) async throws -> Sealkit_V1_LookupSubscriptionsResponse {
        let (session, path) = (call.session, call.path)
        try RequestItems.check(message.subscriptionIds.count, "subscriptions")
        let response = try await transactions.read { connection -> Sealkit_V1_LookupSubscriptionsResponse in
            let caller = try Caller(session, container: path.container, in: connection)
            let subscriptions = Subscriptions(caller: caller, path: path, connection: connection)
            var response = Sealkit_V1_LookupSubscriptionsResponse()
            for id in message.subscriptionIds {
                response.results.append(try result(id) { .subscription(try subscriptions.find(id)) })
            }
            return response
        }
        return response
    }

    private func list(
        _ message: Sealkit_V1_ListSubscriptionsRequest, _ call: DatabaseCall
    ) async throws -> Sealkit_V1_ListSubscriptionsResponse {
        let (session, path) = (call.session, call.path)
        let all = try await transactions.read { connection in
            let caller = try Caller(session, container: path.container, in: connection)
            return try Subscriptions(caller: caller, path: path, connection: connection).all()
        }
        return Sealkit_V1_ListSubscriptionsResponse.with { $0.subscriptions = all }
    }
}

/// One item's outcome: what the server refuses about it is the item's failure, anything else ends the request.
private func result(
    _ id: String, _ body: () throws -> Sealkit_V1_SubscriptionResult.OneOf_Outcome
) throws -> Sealkit_V1_SubscriptionResult {
    var result = Sealkit_V1_SubscriptionResult()
    result.subscriptionID = id
    do {
        result.outcome = try body()
    } catch let error as ServerError where error.code != .internalError {
        result.failure = error.failure
    }
    return result
}
