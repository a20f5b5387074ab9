package import Foundation
package import SealPrimitives
import SealStatements
import SealStorage
package import SealWire
import SwiftProtobuf

/// What a client sends to show that it holds a login key.
package struct LoginProof: Sendable {
    static let tolerance: Int64 = 10 * 60_000_000

    package let loginKey: VerificationKey
    package let challenge: [UInt8]
    package let time: Int64
    package let signature: [UInt8]
    private let purpose: Purpose

    /// What the signature is for: none is taken for the other.
    private enum Purpose {
        case login, deletion
    }

    package init(_ request: Sealkit_V1_LoginRequest) throws(ServerError) {
        loginKey = try Self.loginKey(request.loginKey)
        challenge = [UInt8](request.challenge)
        time = request.time
        signature = [UInt8](request.signature)
        purpose = .login
    }

    package init(_ request: Sealkit_V1_DeleteAccountRequest) throws(ServerError) {
        loginKey = try Self.loginKey(request.loginKey)
        challenge = [UInt8](request.challenge)
        time = request.time
        signature = [UInt8](request.signature)
        purpose = .deletion
    }

    package static func loginKey(_ bytes: Data) throws(ServerError) -> VerificationKey {
        do {
            return try VerificationKey(bytes)
        } catch {
            throw ServerError(
                .invalidArguments, "The login key is not an Ed25519 public key of 32 bytes.",
                remedy: "Send the public key that the account's seed gives.")
        }
    }

    /// Checks all but whether the challenge was used before.
    package func check(_ terms: LoginTerms) throws(ServerError) {
        let now = terms.clock()
        guard terms.challenges.isGood(challenge, for: loginKey, now: now) else {
            throw ServerError(
                .notAuthenticated,
                "The challenge is not one that this server gave to this login key in the last two minutes.",
                remedy: "Ask for a new challenge.")
        }
        // Written so that no time that a client sends can overflow.
        guard time >= now - Self.tolerance, time <= now + Self.tolerance else {
            throw ServerError(
                .notAuthenticated, "The client's time is more than ten minutes away from the server's.",
                remedy: "Set the device's clock.")
        }
        let origin = terms.origin.value
        do {
            let message =
                switch purpose {
                case .login: Challenges.login(origin: origin, challenge: challenge, time: time)
                case .deletion: Challenges.deletion(origin: origin, challenge: challenge, time: time)
                }
            try loginKey.verify(signature, over: message)
        } catch {
            throw ServerError(
                .notAuthenticated,
                "The signature does not hold for this server's origin, \(origin), the challenge and the time.",
                remedy: "Sign the origin that the server is known under, with the login key that the challenge is for.")
        }
    }

    /// Uses the challenge up as far as this process knows, after all else has been checked: what fails before leaves it
    /// as it was, so nobody can use up another's.
    /// - Parameter holder: whose pool of spent challenges it goes into; nil looks whether the key has an account.
    /// - Throws: `notAuthenticated` for one that was used before.
    package func claimChallenge(
        _ terms: LoginTerms, as holder: LoginChallenges.Holder? = nil
    ) async throws -> ClaimedChallenge {
        let holder = if let holder { holder } else { try await self.holder(terms) }
        let now = terms.clock()
        guard try terms.challenges.spend(challenge, by: holder, now: now) else { throw ClaimedChallenge.usedBefore }
        return ClaimedChallenge(challenge: challenge, now: now)
    }

    private func holder(_ terms: LoginTerms) async throws -> LoginChallenges.Holder {
        let hasAccount = try await terms.database.read { try Accounts.find(loginKey: loginKey, in: $0) != nil }
        return hasAccount ? .account : .stranger
    }
}
