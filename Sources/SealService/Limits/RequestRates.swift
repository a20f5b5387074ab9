/// Counts what is asked against the server's limits, now.
package final class RequestRates: Sendable {
    package let limits: AbuseLimits
    package let limiter: RateLimiter
    private let clock: @Sendable () -> Int64

    /// - Parameter clock: microseconds since 1970.
    package init(_ limits: AbuseLimits, _ limiter: RateLimiter, clock: @escaping @Sendable () -> Int64) {
        (self.limits, self.limiter, self.clock) = (limits, limiter, clock)
    }

    /// - Throws: `requestRateLimited`.
    /// - Returns: how the subject stands; nil where there is no limit.
    @discardableResult
    package func count(
        _ kind: RateLimiter.Kind, _ subject: RateLimiter.Subject, amount: Int = 1
    ) throws(ServerError) -> RateLimiter.Standing? {
        guard let rule = limits.rule(of: kind) else { return nil }
        return try limiter.count(kind, subject, amount: amount, rule: rule, now: clock())
    }

    /// Takes one count back.
    package func giveBack(_ kind: RateLimiter.Kind, _ subject: RateLimiter.Subject) {
        guard let rule = limits.rule(of: kind) else { return }
        limiter.giveBack(kind, subject, rule: rule)
    }
}
