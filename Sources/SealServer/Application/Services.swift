import Logging

/// What controllers work with. Each controller keeps the whole value; everything in it may be replaced in tests.
struct Services: Sendable {
    let database: any SQLDatabase
    let blobs: any BlobStore
    let messenger: (any Messenger)?
    let configuration: ServerConfiguration
    let logger: Logger
    /// Microseconds since 1970.
    let clock: @Sendable () -> Int64
    /// That many bytes that nobody can guess.
    let randomBytes: @Sendable (Int) -> [UInt8]

    // Accounts and verification
    let origin: ServerOrigin
    let limits: AbuseLimits
    let limiter: RateLimiter
    let gate: LoadGate
    var quotas: Quotas { Quotas(configuration.limits) }
    let challenges: LoginChallenges
    let sessions: Sessions
    let addresses: AddressHasher
    let tokenIssuer: TokenIssuer
    let tokenVerifier: TokenVerifier
    let seats: any PlaceholderSeats
    /// Nil when the server is not set up to send mail.
    let outbox: Outbox?

    // Zones and sharing
    let rosters = RosterCache()
    let schemas: SchemaStore
    let saveGrounds = SaveGrounds()

    // Push
    let webhookKeys: TokenKeys
    let webhooks: WebhookSender
    let publicNotifier: PublicNotifier
    let streams = EventStreams()
    var webhookTargets: WebhookTargets { WebhookTargets(origins: configuration.webhookOrigins) }

    let management: ManagementTokens
    let housekeepingState = Housekeeping.State()
    let indexBuildsState = IndexBuilder.State()
    var indexBuilder: IndexBuilder { IndexBuilder(services: self) }
    var housekeeping: Housekeeping { Housekeeping(services: self) }
}
