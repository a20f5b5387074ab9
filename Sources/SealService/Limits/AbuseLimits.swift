/// How often anything may be done: every rule of the server in one place. The defaults are for production; tests and
/// load tests replace them. Nil is no limit.
///
/// Sending mail is counted in the database instead (`SendingLimits`), because a restart must not forgive that.
package struct AbuseLimits: Sendable {
    private static let minute: Int64 = 60_000_000
    private static let hour: Int64 = 60 * minute

    /// Every request with a session.
    package var request: RateLimiter.Rule?
    package var write: RateLimiter.Rule?
    package var read: RateLimiter.Rule?
    package var sharing: RateLimiter.Rule?
    /// What the event streams of an account tell. Beside `read`: others cause it, who may not use that up.
    package var notification: RateLimiter.Rule?
    /// Every request without one, by client address.
    package var anonymousRequest: RateLimiter.Rule?

    /// Accounts made from one client address.
    package var accountCreation = RateLimiter.Rule(count: 10_000, window: hour)
    /// Recovery bundles asked for from one client address, and passphrases' bundles saved from it or for one account:
    /// each may be a guess at a passphrase.
    package var recovery = RateLimiter.Rule(count: 30, window: 10 * minute)
    /// Enrolments of devices that one client address opens, and that one account's devices answer.
    package var enrolment = RateLimiter.Rule(count: 60, window: hour)
    /// Handles that one account looks up.
    package var lookup = RateLimiter.Rule(count: 2_000, window: hour)
    /// Codes that one account sends back, over all its verifications.
    package var verificationTry = RateLimiter.Rule(count: 60, window: hour)
    /// Epochs that one participant opens in one zone of somebody else: each makes all others fetch and keep a grant.
    package var epochOpening = RateLimiter.Rule(count: 60, window: hour)
    /// Requests for access to shares of others that one account makes: each may wake their owners' devices.
    package var accessRequest = RateLimiter.Rule(count: 60, window: hour)
    /// Server-to-server keys that one account makes: each leaves a user behind.
    package var serverKeyCreation = RateLimiter.Rule(count: 60, window: hour)
    /// Requests on the operator's listener without its token, from one client address: what comes after them is refused
    /// without a line in the log. The token itself is never refused for them.
    package var operatorTry = RateLimiter.Rule(count: 10, window: minute)
    /// Mails that the operator has sent as a test.
    package var operatorMail = RateLimiter.Rule(count: 30, window: hour)
    /// Entries of one roster. Whoever reads it for the first time checks the signatures of all.
    package var rosterEntries = 10_000
    /// Entries of one roster beyond those, which take something away.
    package var rosterEntriesBeyond = RateLimiter.Rule(count: 1_000, window: hour)
    /// What one account has uploaded and no record refers to yet: bytes, announced ones included, and uploads. Whoever
    /// has nothing staged may upload one asset of any size that the server takes.
    package var stagedBytesPerAccount: Int64 = 64 << 30
    package var stagedBlobsPerAccount = 10_000
    /// Uploads in parts that one account has open.
    package var openUploadsPerAccount = 100
    /// Containers in which one account has an identity: what it stores is told by container, and closing it ends all.
    package var containersPerAccount = 1_000
    /// Event streams that one account has open.
    package var streamsPerAccount = 100
    package var sending: SendingLimits

    package init(_ limits: ServerLimits = ServerLimits()) {
        request = Self.rule(limits.requestRate)
        write = Self.rule(limits.writeRate)
        read = Self.rule(limits.readRate)
        notification = Self.rule(limits.readRate)
        sharing = Self.rule(limits.sharingRate)
        anonymousRequest = Self.rule(limits.anonymousRate)
        sending = SendingLimits(limits)
    }

    private static func rule(_ perSecond: Int) -> RateLimiter.Rule? {
        perSecond > 0 ? .steady(perSecond: perSecond) : nil
    }

    /// The rule of a kind that any request may be counted by.
    package func rule(of kind: RateLimiter.Kind) -> RateLimiter.Rule? {
        switch kind {
        case .request: request
        case .write: write
        case .read: read
        case .sharing: sharing
        case .notification: notification
        case .anonymousRequest: anonymousRequest
        case .accountCreation: accountCreation
        case .recovery: recovery
        case .enrolment: enrolment
        case .lookup: lookup
        case .verificationTry: verificationTry
        case .epochOpening: epochOpening
        case .accessRequest: accessRequest
        case .serverKeyCreation: serverKeyCreation
        case .rosterEntry: rosterEntriesBeyond
        case .operatorTry: operatorTry
        case .operatorMail: operatorMail
        }
    }
}
