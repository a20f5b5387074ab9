import Foundation
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// Logs in by a signed challenge when a token is needed, and keeps the token in memory only.
actor SessionKeeper {
    private let client: Client
    private let loginKey: SigningKey
    private let deviceName: String
    /// There is no account to log in to.
    private let isNobodys: Bool
    private var current: String?
    private var login: Task<String, any Error>?

    init(client: Client, loginKey: SigningKey, deviceName: String, isNobodys: Bool = false) {
        self.isNobodys = isNobodys
        self.client = client
        self.loginKey = loginKey
        self.deviceName = deviceName
    }

    nonisolated var publicKey: VerificationKey { loginKey.verificationKey }

    func token() async throws(SealKitError) -> String {
        if let current { return current }
        return try await renewedToken()
    }

    /// A new session, whatever there was. Callers that come at once share one login.
    func renewedToken() async throws(SealKitError) -> String {
        guard !isNobodys else {
            throw SealKitError(
                .notAuthenticated, "this container was made without an account", remedy: "make it with one; without, only the public database is there")
        }
        current = nil
        let task = login ?? Task { try await self.logIn() }
        login = task
        do {
            let token = try await task.value
            login = nil
            current = token
            return token
        } catch {
            login = nil
            throw error as? SealKitError ?? SealKitError(.internalError, "logging in failed")
        }
    }

    func create(recovery: Sealkit_V1_RecoveryBundle) async throws(SealKitError) {
        current = try await withAnsweredChallenge { answer throws(SealKitError) in
            let request = Sealkit_V1_CreateAccountRequest.with {
                $0.loginKey = answer.loginKey
                $0.challenge = answer.challenge
                $0.time = answer.time
                $0.signature = answer.signature
                $0.deviceName = answer.deviceName
                $0.recovery = recovery
            }
            return try await client.call(
                "/1/accounts/create", request, as: Sealkit_V1_SessionResponse.self, token: nil, isRepeatable: false)
        }
    }

    func logOut() async throws(SealKitError) {
        guard let token = current else { return }
        current = nil
        let _: Sealkit_V1_AccountResponse = try await client.call(
            "/1/accounts/logout", Sealkit_V1_ChallengeRequest(), token: token)
    }

    private func logIn() async throws(SealKitError) -> String {
        try await withAnsweredChallenge { answer throws(SealKitError) in
            try await client.call(
                "/1/accounts/login", answer, as: Sealkit_V1_SessionResponse.self, token: nil, isRepeatable: false)
        }
    }

    /// A challenge is good once: when the answer to it was lost, the next try asks for a new one. Making the same account
    /// twice logs in.
    private func withAnsweredChallenge(
        _ send: (Sealkit_V1_LoginRequest) async throws(SealKitError) -> Sealkit_V1_SessionResponse
    ) async throws(SealKitError) -> String {
        var tries = 0
        while true {
            do {
                return try await send(try await answerChallenge()).token
            } catch {
                tries += 1
                guard tries < 3, error.code == .networkFailure else { throw error }
            }
        }
    }

    private func answerChallenge() async throws(SealKitError) -> Sealkit_V1_LoginRequest {
        let publicKey = Data(loginKey.verificationKey.bytes)
        let challenge = try await client.call(
            "/1/accounts/challenge", Sealkit_V1_ChallengeRequest.with { $0.loginKey = publicKey },
            as: Sealkit_V1_ChallengeResponse.self, token: nil
        ).challenge
        let time = currentTime()
        // The origin is the one that this client dialled: an answer that a server passes on is of no use elsewhere.
        let message = Challenges.login(origin: client.transport.origin, challenge: [UInt8](challenge), time: time)
        return .with {
            $0.loginKey = publicKey
            $0.challenge = challenge
            $0.time = time
            $0.signature = Data(loginKey.sign(message))
            $0.deviceName = deviceName
        }
    }
}
