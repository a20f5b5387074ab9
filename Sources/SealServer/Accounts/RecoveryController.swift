import Hummingbird
import SealService
import SealStorage
import SealWire
import SwiftProtobuf

/// Keeping the sealed seeds, and handing them to whoever knows their id.
struct RecoveryController: Sendable {
    let transactions: Transactions
    let rates: RequestRates
    let clock: @Sendable () -> Int64

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.accounts.recover) { try await recover($0, $1) }
        router.on(Endpoints.accounts.saveRecovery) { try await replace($0, $1) }
        router.on(Endpoints.accounts.deleteRecovery) { try await delete($0, $1) }
        router.on(Endpoints.accounts.listRecovery) { try await list($0, $1) }
    }

    /// Without login: who recovers has nothing but the recovery key, from which the id comes.
    private func recover(_ message: Sealkit_V1_RecoverRequest, _ call: OpenCall) async throws
        -> Sealkit_V1_RecoverResponse
    {
        let id = try RecoveryBundle.id(message.recoveryID)
        let client = call.context.client
        try await rates.countForAll(.recovery, .client(client))
        let sealed = try await transactions.read { try RecoveryBundle.find(id, in: $0) }
        return Sealkit_V1_RecoverResponse.with { $0.sealed = sealed }
    }

    /// The answer is an empty message.
    private func replace(_ message: Sealkit_V1_RecoveryBundle, _ call: SessionCall) async throws
        -> Sealkit_V1_AccountResponse
    {
        let session = call.session
        let bundle = try RecoveryBundle(message)
        let now = clock()
        let client = call.context.client
        try await rates.countGuesses([bundle], by: [.client(client), .account(session.accountID)])
        // Its id may be that of another account's.
        try await transactions.write(as: session, at: .everything) {
            try bundle.save(account: session.accountID, now: now, in: $0)
        }
        return Sealkit_V1_AccountResponse()
    }

    /// Deleting what is not there is no error. The answer is an empty message.
    private func delete(
        _ message: Sealkit_V1_DeleteRecoveryBundleRequest, _ call: SessionCall
    ) async throws -> Sealkit_V1_AccountResponse {
        let session = call.session
        let kind = try RecoveryBundle.Kind(message.kind)
        try await transactions.write(asAccountOf: session) {
            try RecoveryBundle.delete(kind, of: session.accountID, in: $0)
        }
        return Sealkit_V1_AccountResponse()
    }

    private func list(
        _ message: Sealkit_V1_RecoveryBundlesRequest, _ call: SessionCall
    ) async throws -> Sealkit_V1_RecoveryBundlesResponse {
        let session = call.session
        let bundles = try await transactions.read { try RecoveryBundle.list(of: session.accountID, in: $0) }
        return Sealkit_V1_RecoveryBundlesResponse.with { $0.bundles = bundles }
    }
}
