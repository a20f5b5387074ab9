import Hummingbird
import SealWire
import SwiftProtobuf

/// Keeping the sealed seeds, and handing them to whoever knows their id.
struct RecoveryController: Sendable {
    let services: Services

    func addRoutes(to router: Router<SealRequestContext>) {
        router.post("1/accounts/recover") { try await recover($0, $1) }
        router.post("1/accounts/recovery") { try await replace($0, $1) }
        router.post("1/accounts/recovery/delete") { try await delete($0, $1) }
        router.post("1/accounts/recovery/list") { try await list($0, $1) }
    }

    /// Without login: who recovers has nothing but the recovery key, from which the id comes.
    private func recover(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let message = try await request.decode(Sealkit_V1_RecoverRequest.self, context)
        let id = try RecoveryBundle.id(message.recoveryID)
        let client = context.client
        try services.limiter.count(.recovery, .client(client), rule: services.limits.recovery, now: services.clock())
        guard let sealed = try await services.database.read({ try RecoveryBundle.find(id, in: $0) }) else {
            throw ServerError(
                .unknownItem, "The server has no recovery bundle under this id.",
                remedy: "Check the recovery key, and that this is the account's server.")
        }
        return try Response(Sealkit_V1_RecoverResponse.with { $0.sealed = sealed }, for: request)
    }

    /// The answer is an empty message.
    private func replace(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let session = try context.requireSession()
        let bundle = try RecoveryBundle(try await request.decode(Sealkit_V1_RecoveryBundle.self, context))
        let now = services.clock()
        let client = context.client
        try services.countGuesses([bundle], by: [.client(client), .account(session.accountID)])
        try await services.write(as: session) { try bundle.save(account: session.accountID, now: now, in: $0) }
        return try Response(Sealkit_V1_AccountResponse(), for: request)
    }

    /// Deleting what is not there is no error. The answer is an empty message.
    private func delete(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let session = try context.requireSession()
        let kind = try RecoveryBundle.Kind(try await request.decode(Sealkit_V1_DeleteRecoveryBundleRequest.self, context).kind)
        try await services.write(as: session) { try RecoveryBundle.delete(kind, of: session.accountID, in: $0) }
        return try Response(Sealkit_V1_AccountResponse(), for: request)
    }

    private func list(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let session = try context.requireSession()
        _ = try await request.decode(Sealkit_V1_RecoveryBundlesRequest.self, context)
        let bundles = try await services.database.read { try RecoveryBundle.list(of: session.accountID, in: $0) }
        return try Response(Sealkit_V1_RecoveryBundlesResponse.with { $0.bundles = bundles }, for: request)
    }
}
