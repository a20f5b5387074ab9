import Hummingbird
import SealWire
import SwiftProtobuf

/// Deleting an account: closed at once, erased step by step beside the other requests.
struct AccountDeletionController: Sendable {
    let services: Services

    func addRoutes(to router: Router<SealRequestContext>) {
        router.post("1/accounts/delete") { try await delete($0, $1) }
    }

    private func delete(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let proof = try LoginProof(try await request.decode(Sealkit_V1_DeleteAccountRequest.self, context))
        try proof.check(services)
        try await proof.spendChallenge(services)
        let closed = try await services.database.write { try AccountDeletion.close(proof.loginKey, in: $0) }
        for account in closed { services.sessions.forget(account: account) }
        services.jobs.wake(.erasure)
        let erased = try await services.database.read { try AccountDeletion.isErased(proof.loginKey, in: $0) }
        return try Response(Sealkit_V1_DeleteAccountResponse.with { $0.erased = erased }, for: request)
    }
}
