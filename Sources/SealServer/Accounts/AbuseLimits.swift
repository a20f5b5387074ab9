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
    /// Epochs that one participant opens in one zone of somebody else: each makes all others fetch and keep a grant.
    var epochOpening = RateLimiter.Rule(count: 60, window: hour)
    /// Server-to-server keys that one account makes: each leaves a user behind.
    var serverKeyCreation = RateLimiter.Rule(count: 60, window: hour)
    /// What one account has uploaded and no record refers to yet: bytes, announced ones included, and uploads. Whoever
    /// has nothing staged may upload one asset of any size that the server takes.
    var stagedBytesPerAccount: Int64 = 64 << 30
    var stagedBlobsPerAccount = 10_000
    /// Event streams that one account has open.
    var streamsPerAccount = 100
    var sending = SendingLimits()
}
