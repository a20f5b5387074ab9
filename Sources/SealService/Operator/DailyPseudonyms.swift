import SealPrimitives
import Synchronization

/// What tells in a log which requests in one container on one day were one account's, and nobody whose: a hash with a
/// key that is in this process's memory alone, another one each day, and gone after the next. Whoever manages two
/// containers finds nobody of the one in the other.
package final class DailyPseudonyms: Sendable {
    private struct State {
        /// By the day's number since 1970.
        var keys: [Int64: SecretBytes] = [:]
    }

    private static let day: Int64 = 86_400_000_000
    private let state = Mutex(State())

    package init() {}

    /// Never 0.
    /// - Parameters:
    ///   - container: empty for what is asked outside of any.
    ///   - time: microseconds since 1970.
    package func pseudonym(of account: Int64, in container: String, at time: Int64) -> UInt32 {
        let day = time / Self.day
        let key = state.withLock { state in
            if let known = state.keys[day] { return known }
            var random = SystemRandom()
            let made = SecretBytes(random: &random)
            state.keys = state.keys.filter { abs($0.key - day) <= 1 }
            state.keys[day] = made
            return made
        }
        let hash = ServerHash.keyed(key, .logUser, ServerBytes.of(account), Array(container.utf8))
        return max(1, hash.prefix(4).reduce(0) { $0 << 8 | UInt32($1) })
    }
}
