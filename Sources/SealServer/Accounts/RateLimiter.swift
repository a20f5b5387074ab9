import SealCoding
import SealPrimitives
import SealWire
import Synchronization

/// Counts what a client does, in windows of fixed length, in memory: a restart forgives.
final class RateLimiter: Sendable {
    enum Kind: Hashable, Sendable {
        case accountCreation
        case recovery
        case lookup
        case verificationTry
        case epochOpening
        case serverKeyCreation
    }

    struct Rule: Sendable {
        let count: Int
        /// Microseconds.
        let window: Int64
    }

    private struct Key: Hashable {
        let kind: Kind
        let subject: [UInt8]
    }

    private struct Counter {
        var count: Int
        let ends: Int64
    }

    private let counters = Mutex<[Key: Counter]>([:])
    private let capacity: Int

    /// - Parameter capacity: how many subjects are remembered at once.
    init(capacity: Int = 100_000) { self.capacity = capacity }

    /// Counts `amount` against the rule.
    ///
    /// Throws `requestRateLimited` with the time until the window ends; what is refused is not counted.
    func count(_ kind: Kind, _ subject: [UInt8], amount: Int = 1, rule: Rule, now: Int64) throws(ServerError) {
        let key = Key(kind: kind, subject: subject)
        let ends: Int64? = counters.withLock { counters in
            var counter = counters[key] ?? Counter(count: 0, ends: now + rule.window)
            if counter.ends <= now { counter = Counter(count: 0, ends: now + rule.window) }
            guard counter.count + amount <= rule.count else { return counter.ends }
            counter.count += amount
            if counters.count >= capacity, counters[key] == nil { makeRoom(in: &counters, now: now) }
            counters[key] = counter
            return nil
        }
        guard let ends else { return }
        throw .rateLimited(until: ends, now: now)
    }

    /// One author in one zone.
    static func subject(of zone: ZoneRow, and caller: Caller) -> [UInt8] {
        var subject: [UInt8] = []
        for number in [zone.owner, zone.zone, caller.id] { subject.appendLittleEndian(number) }
        return subject
    }

    private func makeRoom(in counters: inout [Key: Counter], now: Int64) {
        counters = counters.filter { $0.value.ends > now }
        // Somebody comes from very many addresses; forgetting all is better than growing without end.
        if counters.count >= capacity { counters.removeAll(keepingCapacity: true) }
    }
}

extension ServerError {
    static func rateLimited(until: Int64, now: Int64) -> ServerError {
        let seconds = max(1, Double(until - now) / 1_000_000)
        return ServerError(
            .requestRateLimited, "Too many requests of this kind.",
            remedy: "Try again in \(Int(seconds.rounded(.up))) seconds.", retryAfter: seconds)
    }
}
