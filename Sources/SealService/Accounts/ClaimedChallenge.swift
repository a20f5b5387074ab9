package import SealStorage
import SealWire

/// A challenge that came back rightly signed, and that nobody uses at this process any more. What it lets its client do
/// is a transaction, which uses it up at all servers of the database.
package struct ClaimedChallenge: Sendable {
    let challenge: [UInt8]
    /// When it came, in microseconds since 1970.
    let now: Int64

    static let usedBefore = ServerError(
        .notAuthenticated, "The challenge has been used before.", remedy: "Ask for a new challenge.")

    /// Where `body` refuses, nothing stays but that the challenge is used up.
    /// - Throws: `notAuthenticated` where another server has taken it; what `body` throws.
    package func write<T: Sendable>(
        _ transactions: Transactions, _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws -> T {
        do {
            return try await transactions.write(at: .everything) { connection in
                guard try LoginChallenges.spend(challenge, now: now, in: connection) else { throw Self.usedBefore }
                return try body(connection)
            }
        } catch let refusal as ServerError {
            // Else another server would take it again: for the account, for instance, that is not there yet. Where it
            // cannot be noted, what was refused stays so.
            _ = try? await transactions.write(at: .everything) {
                try LoginChallenges.spend(challenge, now: now, in: $0)
            }
            throw refusal
        }
    }
}
