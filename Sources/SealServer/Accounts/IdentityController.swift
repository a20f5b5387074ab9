import Hummingbird
import SealCoding
import SealPrimitives
import SealService
import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

/// Registering who an account is in a container.
struct IdentityController: Sendable {
    let transactions: Transactions
    let quotas: Quotas

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.accounts.registerIdentity) { try await register($0, $1) }
    }

    /// The same identity again changes nothing; a chain with further generations takes the place of its beginning.
    private func register(
        _ message: Sealkit_V1_RegisterIdentityRequest, _ call: SessionCall
    ) async throws -> Sealkit_V1_RegisterIdentityResponse {
        let session = call.session
        let container = try Names.requireContainer(message.container)
        let chain = try Identities.chain(message.chain, container: container)
        let binding = [UInt8](message.loginBinding)
        let quotas = self.quotas
        // Everybody finds a user by it, in whatever zone they meet.
        try await transactions.write(as: session, at: .everything) { connection in
            try Identities.checkBinding(binding, of: chain, to: session.accountID, in: connection)
            let isNew = try Identities.register(chain, account: session.accountID, container: container, in: connection)
            // New keys are always taken.
            if isNew {
                try quotas.checkContainers(of: session.accountID, in: connection)
                try StorageUsage.checkRoom(for: 0, on: .init(account: session.accountID), quotas: quotas, connection)
            }
        }
        return .with { $0.userRecordName = chain.userID.recordName }
    }
}
