import SealPrimitives
import Synchronization

/// What tells in a log which requests of one day were one account's, and nobody whose: a hash with a key that is in
/// this process's memory alone, another one each day, and gone after the next.
package final class DailyPseudonyms: Sendable {
    private struct State {
        /// By the day's number since 1970.
        var keys: [Int64: SecretBytes] = [:]
    }

    private static let day: Int64 = 86_400_000_000
    private let state = Mutex(State())

    package init() {}

    /// Never 0.
    /// - Parameter time: microseconds since 1970.
    package func pseudonym(of account: Int64, at time: Int64) -> UInt32 {
        let day = time / Self.day
        let key = state.withLock { state in
            if let known = state.keys[day] { return known }
            var random = SystemRandom()
            let made = SecretBytes(random: &random)
            state.keys = state.keys.filter { abs($0.key - day) <= 1 }
            state.keys[day] = made
            return made
        }
        let hash = ServerHash.keyed(key, .logUser, ServerBytes.of(account))
        return max(1, hash.prefix(4).reduce(0) { $0 << 8 | UInt32($1) })
    }
}
