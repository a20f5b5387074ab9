import Synchronization

/// What one call counts inside its transaction, which may be run again: each of its counts is made once.
///
/// It is made outside of the transaction; each run of that begins a `Run`, which counts.
package final class CountedCall: Sendable {
    private let limiter: RateLimiter
    private let made = Mutex(0)

    package init(_ limiter: RateLimiter) { self.limiter = limiter }

    package func run() -> Run { Run(call: self) }

    /// The counts of one run of the transaction, in their order.
    package final class Run {
        private let call: CountedCall
        private var place = 0

        fileprivate init(call: CountedCall) { self.call = call }

        /// As the limiter's, unless a run before has done it.
        /// - Throws: `requestRateLimited`.
        package func count(
            _ kind: RateLimiter.Kind, _ subject: RateLimiter.Subject, amount: Int = 1, rule: RateLimiter.Rule,
            now: Int64
        ) throws(ServerError) {
            place += 1
            guard call.made.withLock({ $0 }) < place else { return }
            try call.limiter.count(kind, subject, amount: amount, rule: rule, now: now)
            call.made.withLock { $0 = place }
        }
    }
}
