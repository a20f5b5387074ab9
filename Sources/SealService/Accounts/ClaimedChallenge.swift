package import SealStorage
import SealWire

/// A challenge that came back rightly signed, which this process takes no second time. What it lets its client do is a
/// transaction, which uses it up at all servers of the database.
package struct ClaimedChallenge: Sendable {
    let challenge: [UInt8]
    /// When it came, in microseconds since 1970.
    let now: Int64

    static let usedBefore = ServerError(
        .notAuthenticated, "The challenge has been used before.", remedy: "Ask for a new challenge.")

    private struct UsedBefore: Error {}

    /// Of what does no more than use it up.
    var home: Home { LoginChallenges.home(of: challenge) }

    /// Where `body` throws, nothing stays but that the challenge is used up.
    /// - Parameter place: where `body` is at home.
    /// - Throws: `notAuthenticated` where another server has taken it; what `body` throws.
    package func write<T: Sendable>(
        _ transactions: Transactions, at place: Home, beside others: Set<Home> = [],
        _ body: @escaping @Sendable (any SQLConnection) throws -> T
    ) async throws -> T {
        do {
            return try await transactions.write(at: place, beside: others) { connection in
                try LoginChallenges.sweep(now: now, in: connection)
                guard try LoginChallenges.spend(challenge, now: now, in: connection) else { throw UsedBefore() }
                return try body(connection)
            }
        } catch is UsedBefore {
            throw Self.usedBefore
        } catch {
            await spend(transactions)
            throw error
        }
    }

    /// Runs what may refuse the client before that transaction.
    /// - Throws: what `body` throws; the challenge is used up then.
    package func checking<T>(
        _ transactions: Transactions, _ body: () async throws -> T
    ) async throws -> T {
        do { return try await body() } catch {
            await spend(transactions)
            throw error
        }
    }

    /// Else another server would take it again: for the account, for instance, that is not there yet. Where it cannot
    /// be noted, what was refused stays so.
    private func spend(_ transactions: Transactions) async {
        _ = try? await transactions.write(at: home) {
            try LoginChallenges.spend(challenge, now: now, in: $0)
        }
    }
}
