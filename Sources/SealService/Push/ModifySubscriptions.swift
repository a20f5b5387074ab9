import SealStatements
package import SealStorage
package import SealWire
import SwiftProtobuf

/// Makes and deletes subscriptions of one caller in one database: a result for each.
package struct ModifySubscriptions: Sendable {
    private let path: DatabasePath
    private let operation: RepeatableOperation
    /// What is wrong with one is its own failure.
    private let drafts: [(id: String, draft: Result<SubscriptionDraft, ServerError>)]
    private let deletes: [String]

    /// - Throws: `limitExceeded`; `invalidArguments` for an id of another length.
    package init(
        _ message: Sealkit_V1_ModifySubscriptionsRequest, _ path: DatabasePath, webhooks: WebhookTargets
    ) throws {
        self.path = path
        operation = try RepeatableOperation(
            message, of: Endpoints.subscriptions.modify, path, try message.serializedBytes())
        try RequestItems.check(message.saves.count + message.deletes.count, "subscriptions")
        drafts = message.saves.map { save in
            (
                save.subscriptionID,
                Result { () throws(ServerError) in try SubscriptionDraft(save, in: path.database, webhooks: webhooks) }
            )
        }
        deletes = message.deletes
    }

    /// In the caller's transaction.
    package func run(
        by session: Session, _ schemas: SchemaStore, _ quotas: Quotas, now: Int64, in connection: any SQLConnection
    ) throws -> Sealkit_V1_ModifySubscriptionsResponse {
        let caller = try Caller(session, container: path.container, in: connection)
        if let answer = try operation.answer(of: caller.accountID, in: connection) {
            return try Sealkit_V1_ModifySubscriptionsResponse(serializedBytes: answer)
        }
        var subscriptions = Subscriptions(caller: caller, path: path, connection: connection)
        var response = Sealkit_V1_ModifySubscriptionsResponse()
        for (id, draft) in drafts {
            response.results.append(
                try .init(id) { .subscription(try subscriptions.save(try draft.get(), schemas, quotas)) })
        }
        for id in deletes {
            response.results.append(
                try .init(id) {
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
}
