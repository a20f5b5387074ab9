/// How much of what could be abused the server allows. The defaults are for production; tests and load tests replace them.
struct AbuseLimits: Sendable {
    private static let minute: Int64 = 60_000_000
    private static let hour: Int64 = 60 * minute

    /// Accounts made from one client address.
    var accountCreation = RateLimiter.Rule(count: 10_000, window: hour)
    /// Recovery bundles asked for from one client address. An id has 128 bits: this only keeps the noise down.
    var recovery = RateLimiter.Rule(count: 30, window: 10 * minute)
    /// Handles that one account looks up.
    var lookup = RateLimiter.Rule(count: 2_000, window: hour)
    /// Codes that one account sends back, over all its verifications.
    var verificationTry = RateLimiter.Rule(count: 60, window: hour)
    var sending = SendingLimits()
}
