import Hummingbird
import SealService
import SealStorage
import SealWire
import SwiftProtobuf

/// Deleting an account: closed at once, erased step by step beside the other requests.
struct AccountDeletionController: Sendable {
    let services: Services

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.accounts.delete) { try await delete($0, $1) }
    }

    private func delete(
        _ message: Sealkit_V1_DeleteAccountRequest, _ call: OpenCall
    ) async throws -> Sealkit_V1_DeleteAccountResponse {
        let proof = try LoginProof(message)
        try proof.check(services.loginTerms)
        try await proof.spendChallenge(services.loginTerms)
        let closed = try await services.database.write(at: .everything) {
            try AccountDeletion.close(proof.loginKey, in: $0)
        }
        for account in closed { services.sessions.forget(account: account) }
        services.jobs.wake(.erasure)
        let erased = try await services.database.read { try AccountDeletion.isErased(proof.loginKey, in: $0) }
        return Sealkit_V1_DeleteAccountResponse.with { $0.erased = erased }
    }
}
