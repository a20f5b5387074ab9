import Hummingbird
import SealService
import SealStorage
import SealWire
import SwiftProtobuf

/// Deleting an account: closed at once, erased step by step beside the other requests.
struct AccountDeletionController: Sendable {
    let transactions: Transactions
    let sessions: Sessions
    let jobs: Jobs
    let loginTerms: LoginTerms

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.accounts.delete) { try await delete($0, $1) }
    }

    private func delete(
        _ message: Sealkit_V1_DeleteAccountRequest, _ call: OpenCall
    ) async throws -> Sealkit_V1_DeleteAccountResponse {
        let proof = try LoginProof(message)
        try proof.check(loginTerms)
        let claim = try await proof.claimChallenge(loginTerms)
        let now = loginTerms.clock()
        let closed = try await claim.write(transactions, at: .everything) {
            try AccountDeletion.close(proof.loginKey, now: now, in: $0)
        }
        for account in closed { sessions.forget(account: account) }
        jobs.wake(.erasure)
        let erased = try await transactions.read { try AccountDeletion.isErased(proof.loginKey, in: $0) }
        return Sealkit_V1_DeleteAccountResponse.with { $0.erased = erased }
    }
}
