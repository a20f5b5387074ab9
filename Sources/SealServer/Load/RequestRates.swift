import SealService

/// Counts what is asked against the server's limits, now.
final class RequestRates: Sendable {
    let limits: AbuseLimits
    let limiter: RateLimiter
    private let clock: @Sendable () -> Int64

    /// - Parameter clock: microseconds since 1970.
    init(_ limits: AbuseLimits, _ limiter: RateLimiter, clock: @escaping @Sendable () -> Int64) {
        (self.limits, self.limiter, self.clock) = (limits, limiter, clock)
    }

    /// - Throws: `requestRateLimited`.
    /// - Returns: how the subject stands; nil where there is no limit.
    @discardableResult
    func count(
        _ kind: RateLimiter.Kind, _ subject: RateLimiter.Subject, amount: Int = 1
    ) throws(ServerError) -> RateLimiter.Standing? {
        guard let rule = limits.rule(of: kind) else { return nil }
        return try limiter.count(kind, subject, amount: amount, rule: rule, now: clock())
    }

    /// Takes one count back.
    func giveBack(_ kind: RateLimiter.Kind, _ subject: RateLimiter.Subject) {
        guard let rule = limits.rule(of: kind) else { return }
        limiter.giveBack(kind, subject, rule: rule)
    }
}
