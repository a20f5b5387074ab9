import Foundation
import SealPrimitives
import SealStorage
package import SealWire

/// Makes an account for a login key, and logs in to it. The same login key again logs in: an answer that was lost costs
/// nothing.
package struct CreateAccount: Sendable {
    private let transactions: Transactions
    private let rates: RequestRates
    private let terms: LoginTerms
    private let registration: Registration
    private let randomBytes: @Sendable (Int) -> [UInt8]

    /// - Parameter randomBytes: that many bytes that nobody can guess.
    package init(
        transactions: Transactions, rates: RequestRates, terms: LoginTerms, registration: Registration,
        randomBytes: @escaping @Sendable (Int) -> [UInt8]
    ) {
        self.transactions = transactions
        self.rates = rates
        self.terms = terms
        self.registration = registration
        self.randomBytes = randomBytes
    }

    /// - Parameter client: whom limits count.
    /// - Throws: `invalidArguments`, `requestRateLimited`; `notAuthenticated` for a login that does not hold; what
    ///   registration, devices and recovery bundles refuse.
    package func run(
        _ message: Sealkit_V1_CreateAccountRequest, from client: [UInt8]
    ) async throws -> Sealkit_V1_SessionResponse {
        let login = try Login(message)
        let bundle = message.hasRecovery ? try RecoveryBundle(message.recovery) : nil
        let now = terms.clock()
        try await rates.countForAll(.accountCreation, .client(client))
        let claim = try await login.verify(terms, as: .account)
        if let bundle {
            try await claim.checking(transactions) { try await rates.countGuesses([bundle], by: [.client(client)]) }
        }
        let (token, name) = (randomBytes(32), Hex.encode(randomBytes(16)))
        // A code may be another one's by then, and the key somebody's who has everything.
        return try await claim.write(transactions, at: .everything) { [registration] connection in
            let account: Accounts.Row
            if let known = try Accounts.find(loginKey: login.loginKey, in: connection) {
                account = known
                try bundle?.save(account: account.id, now: now, in: connection)
            } else {
                account = try Accounts.create(loginKey: login.loginKey, name: name, now: now, in: connection)
                // What is thrown takes the account back, and leaves the code good. Before the code is looked at:
                // whoever has made the account by it, and never heard so, learns that it is there.
                try bundle?.save(account: account.id, now: now, in: connection)
                try registration.admit(message.registrationCode, now: now, in: connection)
                try ManagementEvents.note(.init(.accountMade, account: account.id), now: now, in: connection)
            }
            return try login.begin(account, token: token, now: now, in: connection)
        }
    }
}
