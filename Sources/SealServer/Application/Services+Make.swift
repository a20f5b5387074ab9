import Foundation
import Logging
import SealPrimitives

/// What tests put in the place of the real thing. Nil: the real thing.
struct ServiceReplacements: Sendable {
    var clock: (@Sendable () -> Int64)?
    var messenger: (any Messenger)?
    var limits: AbuseLimits?
    var seats: (any PlaceholderSeats)?
    var outboxWaits: [Duration]?
    var logger: Logger?
    var mostWaitingWrites: Int?
    /// Put around the real one.
    var database: (@Sendable (any SQLDatabase) -> any SQLDatabase)?
}

extension Services {
    /// Puts everything together; what can fail has been opened before.
    init(
        database: any SQLDatabase, blobs: any BlobStore, messenger: (any Messenger)?, secrets: ServerSecrets,
        configuration: ServerConfiguration, logger: Logger, replacing: ServiceReplacements
    ) {
        let origin = ServerOrigin(configuration.origin(port: configuration.listen.port))
        var random = SystemRandom()
        let schemas = SchemaStore()
        self.init(
            database: database, blobs: blobs, messenger: messenger, configuration: configuration, logger: logger,
            clock: replacing.clock ?? systemClock, randomBytes: systemRandomBytes,
            origin: origin,
            limits: replacing.limits ?? AbuseLimits(configuration.limits),
            limiter: RateLimiter(),
            gate: LoadGate(requests: configuration.limits.requestsInFlight, bytes: configuration.limits.bytesInFlight),
            challenges: LoginChallenges(key: SecretBytes(random: &random)),
            sessions: Sessions(),
            addresses: secrets.addresses,
            tokenIssuer: TokenIssuer(keys: secrets.tokenKeys, origin: origin),
            tokenVerifier: TokenVerifier(keys: secrets.tokenKeys, origin: origin),
            seats: replacing.seats ?? SharingPlaceholderSeats(),
            outbox: messenger.map {
                Outbox(messenger: $0, logger: logger, waits: replacing.outboxWaits ?? Outbox.defaultWaits)
            },
            schemas: schemas,
            webhookKeys: secrets.webhookKeys,
            webhooks: WebhookSender(
                database: database, keys: secrets.webhookKeys, targets: WebhookTargets(origins: configuration.webhookOrigins),
                clock: replacing.clock ?? systemClock, logger: logger),
            publicNotifier: PublicNotifier(
                database: database, schemas: schemas, clock: replacing.clock ?? systemClock, logger: logger),
            management: secrets.management)
    }
}

/// What lies in the secrets folder, made at the first start.
struct ServerSecrets: Sendable {
    let addresses: AddressHasher
    let tokenKeys: TokenKeys
    let management: ManagementTokens
    let webhookKeys: TokenKeys

    init(folder: String) throws {
        Sodium.start()
        addresses = try AddressHasher(secretsFolder: folder, randomBytes: systemRandomBytes)
        tokenKeys = try TokenKeys(secretsFolder: folder, randomBytes: systemRandomBytes)
        management = try ManagementTokens(secretsFolder: folder, randomBytes: systemRandomBytes)
        webhookKeys = try TokenKeys(secretsFolder: folder, name: "webhook-keys", randomBytes: systemRandomBytes)
    }
}

private let systemClock: @Sendable () -> Int64 = {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000
}

private let systemRandomBytes: @Sendable (Int) -> [UInt8] = { count in
    var random = SystemRandom()
    return random.bytes(count)
}
