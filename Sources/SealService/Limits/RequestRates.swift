package import SealStorage

/// Counts what is asked against the server's limits, now.
package final class RequestRates: Sendable {
    package let limits: AbuseLimits
    package let limiter: RateLimiter
    package let shared: SharedLimits
    private let database: any SQLDatabase
    private let clock: @Sendable () -> Int64

    /// - Parameter clock: microseconds since 1970.
    package init(
        _ limits: AbuseLimits, _ limiter: RateLimiter, shared: SharedLimits, database: any SQLDatabase,
        clock: @escaping @Sendable () -> Int64
    ) {
        (self.limits, self.limiter, self.shared, self.database) = (limits, limiter, shared, database)
        self.clock = clock
    }

    /// By this server alone.
    /// - Throws: `requestRateLimited`.
    /// - Returns: how the subject stands; nil where there is no limit.
    @discardableResult
    package func count(
        _ kind: RateLimiter.Kind, _ subject: RateLimiter.Subject, amount: Int = 1
    ) throws(ServerError) -> RateLimiter.Standing? {
        guard let rule = rule(of: kind) else { return nil }
        return try limiter.count(kind, subject, amount: amount, rule: rule, now: clock())
    }

    /// By all servers of the database together.
    /// - Throws: `requestRateLimited`.
    package func countForAll(
        _ kind: RateLimiter.Kind, _ subject: RateLimiter.Subject, amount: Int = 1
    ) async throws {
        // What this server alone refuses costs the database nothing.
        try count(kind, subject, amount: amount)
        guard shared.areNeeded, let rule = limits.rule(of: kind) else { return }
        let (shared, now) = (shared, clock())
        try await database.write(at: shared.home(kind, subject)) { connection in
            try shared.count(kind, subject, amount: amount, rule: rule, now: now, in: connection)
        }
    }

    /// Counts, by this server alone, what has been done already: where it was too much, it is owed.
    package func charge(_ kind: RateLimiter.Kind, _ subject: RateLimiter.Subject, amount: Int) {
        guard let rule = rule(of: kind) else { return }
        limiter.charge(kind, subject, amount: amount, rule: rule, now: clock())
    }

    /// Whether more has been done than may be, so that the next has to wait.
    package func isOwing(_ kind: RateLimiter.Kind, _ subject: RateLimiter.Subject) -> Bool {
        guard let rule = rule(of: kind) else { return false }
        return limiter.isOwing(kind, subject, rule: rule, now: clock())
    }

    /// Takes one count back.
    package func giveBack(_ kind: RateLimiter.Kind, _ subject: RateLimiter.Subject) {
        guard let rule = rule(of: kind) else { return }
        limiter.giveBack(kind, subject, rule: rule)
    }

    private func rule(of kind: RateLimiter.Kind) -> RateLimiter.Rule? {
        guard let rule = limits.rule(of: kind) else { return nil }
        return kind.isDivided ? shared.part(of: rule) : rule
    }
}
