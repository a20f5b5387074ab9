import Hummingbird
import SealStatements
import SealWire
import SwiftProtobuf

/// `subscriptions/modify`, `subscriptions/lookup`, `subscriptions/list`.
struct SubscriptionsController: Sendable {
    let services: Services

    private static let kind = "subscriptions/modify"

    func addRoutes(to router: Router<SealRequestContext>) {
        let group = router.group(DatabasePath.route)
        group.post("subscriptions/modify") { try await modify($0, $1) }
        group.post("subscriptions/lookup") { try await lookup($0, $1) }
        group.post("subscriptions/list") { try await list($0, $1) }
        router.get(".well-known/sealkit/webhook-keys") { request, _ in
            try VerificationController.answer(services.webhookKeys, to: request)
        }
    }

    private func modify(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let path = try DatabasePath(context, takesPublic: true)
        let session = try context.requireSession(in: path)
        let message = try await request.decode(Sealkit_V1_ModifySubscriptionsRequest.self, context)
        let operation = try RepeatableOperation(message.operationID, kind: Self.kind, path, try message.serializedBytes())
        try Self.checkCount(message.saves.count + message.deletes.count)
        let drafts = message.saves.map { save in
            (save.subscriptionID, Result { () throws(ServerError) in
                try SubscriptionDraft(save, in: path.database, webhooks: services.webhookTargets)
            })
        }
        let (now, schemas, quotas) = (services.clock(), services.schemas, services.quotas)
        let response = try await services.write(as: session) { connection -> Sealkit_V1_ModifySubscriptionsResponse in
            let caller = try Caller(session, container: path.container, in: connection)
            if let answer = try operation.answer(of: caller.accountID, in: connection) {
                return try Sealkit_V1_ModifySubscriptionsResponse(serializedBytes: answer)
            }
            var subscriptions = Subscriptions(caller: caller, path: path, connection: connection)
            var response = Sealkit_V1_ModifySubscriptionsResponse()
            for (id, draft) in drafts {
                response.results.append(try result(id) { .subscription(try subscriptions.save(try draft.get(), schemas, quotas)) })
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
        return try Response(response, for: request)
    }

    private func lookup(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let path = try DatabasePath(context, takesPublic: true)
        let session = try context.requireSession(in: path)
        let message = try await request.decode(Sealkit_V1_LookupSubscriptionsRequest.self, context)
        try Self.checkCount(message.subscriptionIds.count)
        let response = try await services.database.read { connection -> Sealkit_V1_LookupSubscriptionsResponse in
            let caller = try Caller(session, container: path.container, in: connection)
            let subscriptions = Subscriptions(caller: caller, path: path, connection: connection)
            var response = Sealkit_V1_LookupSubscriptionsResponse()
            for id in message.subscriptionIds {
                response.results.append(try result(id) { .subscription(try subscriptions.find(id)) })
            }
            return response
        }
        return try Response(response, for: request)
    }

    private func list(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let path = try DatabasePath(context, takesPublic: true)
        let session = try context.requireSession(in: path)
        _ = try await request.decode(Sealkit_V1_ListSubscriptionsRequest.self, context)
        let all = try await services.database.read { connection in
            let caller = try Caller(session, container: path.container, in: connection)
            return try Subscriptions(caller: caller, path: path, connection: connection).all()
        }
        return try Response(Sealkit_V1_ListSubscriptionsResponse.with { $0.subscriptions = all }, for: request)
    }

    private static func checkCount(_ count: Int) throws(ServerError) {
        guard count <= Limits.itemsPerRequest else {
            throw ServerError(
                .limitExceeded, "A request takes at most \(Limits.itemsPerRequest) subscriptions.", remedy: "Send fewer at once.")
        }
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
