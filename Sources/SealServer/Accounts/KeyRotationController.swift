import Hummingbird
import SealService
import SealStorage
import SealWire
import SwiftProtobuf

/// Giving an account new keys.
struct KeyRotationController: Sendable {
    let transactions: Transactions
    let sessions: Sessions
    let rates: RequestRates
    let clock: @Sendable () -> Int64
    let randomBytes: @Sendable (Int) -> [UInt8]
    let origin: ServerOrigin
    let loginTerms: LoginTerms

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.accounts.rotate) { try await rotate($0, $1) }
    }

    /// Without a session: both keys sign, which says more than a token, and the first of two answers may be lost
    /// together with every token there was.
    private func rotate(_ message: Sealkit_V1_RotateKeysRequest, _ call: OpenCall) async throws
        -> Sealkit_V1_SessionResponse
    {
        let rotation = try KeyRotation(message, origin: origin.value)
        // Whoever signs with a key of no account is one stranger of many.
        let (formerKey, newKey) = (rotation.formerKey, rotation.login.loginKey)
        let known = try await transactions.read { connection in
            try Accounts.find(loginKey: formerKey, in: connection) ?? Accounts.find(loginKey: newKey, in: connection)
        }
        let claim = try await rotation.login.verify(loginTerms, as: known == nil ? .stranger : .account)
        let now = clock()
        let client = call.context.client
        try await claim.checking(transactions) {
            try await rates.countGuesses(
                rotation.bundles, by: [.client(client)] + (known.map { [.account($0.id)] } ?? []))
        }
        let token = randomBytes(32)
        let (answer, account) = try await claim.write(transactions, at: .everything) { connection in
            let (account, isFirst) = try rotation.run(now: now, in: connection)
            if isFirst {
                // What goes on without a session may have been set up by whoever had the old key.
                try ServerKeys.revokeAll(of: account.id, now: now, in: connection)
                try Subscriptions.endWebhooks(of: account.id, in: connection)
            }
            return (try rotation.login.begin(account, token: token, now: now, in: connection), account.id)
        }
        sessions.forget(account: account)
        return answer
    }
}
