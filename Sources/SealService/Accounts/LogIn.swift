import Foundation
import SealPrimitives
import SealStorage
package import SealWire
import SwiftProtobuf

/// Logs in to an account that there is: a challenge goes out, and comes back signed.
package struct LogIn: Sendable {
    private let transactions: Transactions
    private let terms: LoginTerms
    private let randomBytes: @Sendable (Int) -> [UInt8]

    /// - Parameter randomBytes: that many bytes that nobody can guess.
    package init(
        transactions: Transactions, terms: LoginTerms, randomBytes: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.transactions = transactions
        self.terms = terms
        self.randomBytes = randomBytes
    }

    /// For any key: whether it has an account is not looked up.
    /// - Throws: `invalidArguments`.
    package func challenge(
        _ message: Sealkit_V1_ChallengeRequest
    ) throws(ServerError) -> Sealkit_V1_ChallengeResponse {
        let loginKey = try LoginProof.loginKey(message.loginKey)
        let (challenge, expires) = terms.challenges.make(for: loginKey, now: terms.clock(), nonce: randomBytes(16))
        return .with {
            $0.challenge = Data(challenge)
            $0.expires = expires
        }
    }

    /// - Throws: `invalidArguments`; `notAuthenticated` for a login that does not hold; `unknownItem`, `keysReplaced`;
    ///   `permissionFailure` for a device that was revoked.
    package func run(_ message: Sealkit_V1_LoginRequest) async throws -> Sealkit_V1_SessionResponse {
        let login = try Login(message)
        try await login.verify(terms)
        let now = terms.clock()
        let token = randomBytes(32)
        return try await transactions.write(at: .everything) { connection in
            // Only who holds the key learns that it has no account.
            guard let account = try Accounts.find(loginKey: login.loginKey, in: connection) else {
                if try KeyRotation.isReplaced(login.loginKey, in: connection) { throw KeyRotation.replaced }
                throw ServerError(.unknownItem, "No account has this login key.", remedy: "Create the account.")
            }
            return try login.begin(account, token: token, now: now, in: connection)
        }
    }
}
