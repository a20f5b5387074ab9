import Hummingbird
import SealService
import SealStorage
import SealWire
import SwiftProtobuf

/// Giving an account new keys.
struct KeyRotationController: Sendable {
    let services: Services

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.accounts.rotate) { try await rotate($0, $1) }
    }

    /// Without a session: both keys sign, which says more than a token, and the first of two answers may be lost
    /// together with every token there was.
    private func rotate(_ message: Sealkit_V1_RotateKeysRequest, _ call: OpenCall) async throws
        -> Sealkit_V1_SessionResponse
    {
        let rotation = try KeyRotation(message, origin: services.origin.value)
        // Whoever signs with a key of no account is one stranger of many.
        let (formerKey, newKey) = (rotation.formerKey, rotation.login.loginKey)
        let known = try await services.database.read { connection in
            try Accounts.find(loginKey: formerKey, in: connection) ?? Accounts.find(loginKey: newKey, in: connection)
        }
        try await rotation.login.verify(services.loginTerms, as: known == nil ? .stranger : .account)
        let now = services.clock()
        let client = call.context.client
        try services.countGuesses(rotation.bundles, by: [.client(client)] + (known.map { [.account($0.id)] } ?? []))
        let token = services.randomBytes(32)
        let (answer, account) = try await services.database.write(at: .everything) { connection in
            let account = try rotation.run(now: now, in: connection)
            return (try rotation.login.begin(account, token: token, now: now, in: connection), account.id)
        }
        services.sessions.forget(account: account)
        return answer
    }
}
