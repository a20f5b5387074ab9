package import SealStorage
import Synchronization

/// What one call counts inside its transaction, which may be run again: each of its counts is made once.
///
/// It is made outside of the transaction; each run of that begins a `Run`, which counts.
package final class CountedCall: Sendable {
    private let rates: RequestRates
    private let made = Mutex(0)

    package init(_ rates: RequestRates) { self.rates = rates }

    package func run(in connection: any SQLConnection) -> Run { Run(call: self, connection) }

    /// The counts of one run of the transaction, in their order.
    package final class Run {
        private let call: CountedCall
        private let connection: any SQLConnection
        private var place = 0

        fileprivate init(call: CountedCall, _ connection: any SQLConnection) {
            self.call = call
            self.connection = connection
        }

        /// By this server, unless a run before has done it; and by all of the database, with the transaction.
        /// - Throws: `requestRateLimited`.
        package func count(
            _ kind: RateLimiter.Kind, _ subject: RateLimiter.Subject, amount: Int = 1, rule: RateLimiter.Rule,
            now: Int64
        ) throws {
            place += 1
            let rates = call.rates
            if call.made.withLock({ $0 }) < place {
                try rates.limiter.count(kind, subject, amount: amount, rule: rule, now: now)
                call.made.withLock { $0 = place }
            }
            guard rates.shared.areNeeded else { return }
            try rates.shared.count(kind, subject, amount: amount, rule: rule, now: now, in: connection)
        }
    }
}
