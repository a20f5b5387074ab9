/// What restrains those who lengthen rosters.
package struct RosterCounts: Sendable {
    package let limits: AbuseLimits
    package let limiter: RateLimiter
    package let quotas: Quotas

    package init(limits: AbuseLimits, limiter: RateLimiter, quotas: Quotas) {
        self.limits = limits
        self.limiter = limiter
        self.quotas = quotas
    }
}
