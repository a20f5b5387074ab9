import Foundation
import SealPrimitives
import SealStorage
package import SealWire
import SwiftProtobuf

/// Logs in to an account that there is: a challenge goes out, and comes back signed.
package struct LogIn: Sendable {
    private let transactions: Transactions
    private let sessions: Sessions
    private let terms: LoginTerms
    private let randomBytes: @Sendable (Int) -> [UInt8]

    /// - Parameter randomBytes: that many bytes that nobody can guess.
    package init(
        transactions: Transactions, sessions: Sessions, terms: LoginTerms,
        randomBytes: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.transactions = transactions
        self.sessions = sessions
        self.terms = terms
        self.randomBytes = randomBytes
    }

    /// For any key: whether it has an account is not looked up.
    /// - Throws: `invalidArguments`.
    package func challenge(
        _ message: Sealkit_V1_ChallengeRequest
    ) throws(ServerError) -> Sealkit_V1_ChallengeResponse {
        let loginKey = try LoginProof.loginKey(message.loginKey)
        let (challenge, expires) = terms.challenges.make(for: loginKey, now: terms.clock(), nonce: randomBytes(8))
        return .with {
            $0.challenge = Data(challenge)
            $0.expires = expires
        }
    }

    /// Where the disk is full, a device that the account has already gets a session of this process alone: a login
    /// writes nothing that reading needs. Beside other servers, which would not know it, there is none.
    /// - Throws: `StorageError.full`; `invalidArguments`; `notAuthenticated` for a login that does not hold;
    ///   `unknownItem`, `keysReplaced`; `permissionFailure` for a device that was revoked.
    package func run(_ message: Sealkit_V1_LoginRequest) async throws -> Answer {
        let login = try Login(message)
        let claim = try await login.verify(terms)
        let now = terms.clock()
        let token = randomBytes(32)
        // Whoever has none yet changes nothing but that the challenge is used up.
        let known = try await claim.checking(transactions) {
            try await transactions.read { try Accounts.find(loginKey: login.loginKey, in: $0)?.id }
        }
        let (home, bills): (Home, Set<Home>) = known.map { (.account($0), [.bill($0)]) } ?? (claim.home, [])
        do {
            let message = try await claim.write(transactions, at: home, beside: bills) { connection in
                let account = try Self.account(known, of: login, in: connection)
                return try login.begin(account, token: token, now: now, in: connection)
            }
            return Answer(message: message, provisionalOf: nil)
        } catch StorageError.full where sessions.mayBeProvisional && terms.challenges.isOwn(login.proof.challenge) {
            // Which of the others' were used nobody could note.
            let sessions = self.sessions
            let answer = try await transactions.read { connection -> Answer? in
                let account = try Self.account(known, of: login, in: connection)
                let message = try login.beginProvisionally(
                    account, token: token, now: now, sessions: sessions, in: connection)
                return message.map { Answer(message: $0, provisionalOf: account.id) }
            }
            guard let answer else { throw StorageError.full }
            return answer
        }
    }

    package struct Answer: Sendable {
        package let message: Sealkit_V1_SessionResponse
        /// The account, where the database holds nothing of its session; nil for any other session.
        package let provisionalOf: Int64?
    }

    /// Only who holds the key learns that it has no account. One that it has been given just now came after this login.
    private static func account(
        _ known: Int64?, of login: Login, in connection: any SQLConnection
    ) throws -> Accounts.Row {
        if let account = try Accounts.find(loginKey: login.loginKey, in: connection), account.id == known {
            return account
        }
        if try KeyRotation.isReplaced(login.loginKey, in: connection) { throw KeyRotation.replaced }
        throw Accounts.unknownKey
    }
}
