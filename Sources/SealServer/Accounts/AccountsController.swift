import Foundation
import Hummingbird
import SealPrimitives
import SealService
import SealStorage
import SealWire
import SwiftProtobuf

/// Making an account, logging in and out, and what an account is told about itself.
struct AccountsController: Sendable {
    let transactions: Transactions
    let sessions: Sessions
    let rates: RequestRates
    let clock: @Sendable () -> Int64
    let randomBytes: @Sendable (Int) -> [UInt8]
    let challenges: LoginChallenges
    let loginTerms: LoginTerms
    let registration: Registration

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.accounts.challenge) { try await challenge($0, $1) }
        router.on(Endpoints.accounts.create) { try await create($0, $1) }
        router.on(Endpoints.accounts.login) { try await login($0, $1) }
        router.on(Endpoints.accounts.logout) { try await logout($0) }
        router.on(Endpoints.accounts.me) { try await me($0) }
    }

    private func challenge(
        _ message: Sealkit_V1_ChallengeRequest, _ call: OpenCall
    ) async throws -> Sealkit_V1_ChallengeResponse {
        let loginKey = try LoginProof.loginKey(message.loginKey)
        let (challenge, expires) = challenges.make(
            for: loginKey, now: clock(), nonce: randomBytes(16))
        return Sealkit_V1_ChallengeResponse.with {
            $0.challenge = Data(challenge)
            $0.expires = expires
        }
    }

    /// The same login key again logs in: an answer that was lost costs nothing.
    private func create(
        _ message: Sealkit_V1_CreateAccountRequest, _ call: OpenCall
    ) async throws -> Sealkit_V1_SessionResponse {
        let login = try Login(message)
        let bundle = message.hasRecovery ? try RecoveryBundle(message.recovery) : nil
        let now = clock()
        let client = call.context.client
        try rates.count(.accountCreation, .client(client))
        try await login.verify(loginTerms, as: .account)
        if let bundle { try rates.countGuesses([bundle], by: [.client(client)]) }
        let token = randomBytes(32)
        let name = Hex.encode(randomBytes(16))
        let registration = self.registration
        let answer = try await transactions.write(at: .everything) { connection in
            let account: Accounts.Row
            if let known = try Accounts.find(loginKey: login.loginKey, in: connection) {
                account = known
            } else {
                account = try Accounts.create(loginKey: login.loginKey, name: name, now: now, in: connection)
                // What is thrown takes the account back, and leaves the code good.
                try registration.admit(message.registrationCode, now: now, in: connection)
            }
            try bundle?.save(account: account.id, now: now, in: connection)
            return try login.begin(account, token: token, now: now, in: connection)
        }
        return answer
    }

    private func login(_ message: Sealkit_V1_LoginRequest, _ call: OpenCall) async throws -> Sealkit_V1_SessionResponse
    {
        let login = try Login(message)
        try await login.verify(loginTerms)
        let now = clock()
        let token = randomBytes(32)
        let answer = try await transactions.write(at: .everything) { connection in
            // Only who holds the key learns that it has no account.
            guard let account = try Accounts.find(loginKey: login.loginKey, in: connection) else {
                if try KeyRotation.isReplaced(login.loginKey, in: connection) { throw KeyRotation.replaced }
                throw ServerError(.unknownItem, "No account has this login key.", remedy: "Create the account.")
            }
            return try login.begin(account, token: token, now: now, in: connection)
        }
        return answer
    }

    /// The answer is an empty message.
    private func logout(_ call: SessionCall) async throws -> Sealkit_V1_AccountResponse {
        try await sessions.end(call.session, in: transactions.database)
        return Sealkit_V1_AccountResponse()
    }

    private func me(_ call: SessionCall) async throws -> Sealkit_V1_AccountResponse {
        let session = call.session
        let answer = try await transactions.read { connection -> Sealkit_V1_AccountResponse? in
            guard
                var answer = try connection.first(
                    """
                    SELECT account.name, session.expires FROM session JOIN account ON account.id = session.account
                    WHERE token_hash = $1
                    """, [.blob(session.tokenHash)],
                    { row in
                        let (name, expires) = (try row.text("name"), try row.int64("expires"))
                        return Sealkit_V1_AccountResponse.with {
                            $0.account = name
                            $0.sessionExpires = expires
                        }
                    })
            else { return nil }
            answer.identities = try connection.rows(
                "SELECT container, user_name FROM identity WHERE account = $1 ORDER BY container",
                [.integer(session.accountID)]
            ) { "\(try $0.text("container"))/\(try $0.text("user_name"))" }
            answer.linkedAddresses = UInt32(try LinkedAddresses.hashes(of: session.accountID, in: connection).count)
            return answer
        }
        guard let answer else {
            throw ServerError.endedSession
        }
        return answer
    }
}
