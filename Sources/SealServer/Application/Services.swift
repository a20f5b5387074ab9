import Logging
import SealPrimitives
import SealService
import SealStorage
import SealSystem

/// What controllers work with; everything in it may be replaced in tests. One object: it goes with every request
/// through many hands, and as a value each of them would count every reference in it.
final class Services: Sendable {
    let database: any SQLDatabase
    let damage: DatabaseDamage
    /// The servers beside this one.
    let peers: Peers
    let transactions: Transactions
    let blobs: any BlobStore
    let configuration: ServerConfiguration
    let logger: Logger
    /// Microseconds since 1970.
    let clock: @Sendable () -> Int64
    /// That many bytes that nobody can guess.
    let randomBytes: @Sendable (Int) -> [UInt8]

    // Accounts and verification
    let origin: ServerOrigin
    let rates: RequestRates
    let gate: LoadGate
    let transfers: Transfers
    let quotas: Quotas
    let registration: Registration
    let registrationCodes: RegistrationCodes
    let loginTerms: LoginTerms
    let sessions: Sessions
    let addresses: AddressHasher
    let tokenIssuer: TokenIssuer
    let tokenVerifier: TokenVerifier
    let seats: any PlaceholderSeats
    let outbox: Outbox
    let sendingRefusals = SendingRefusals()

    // Zones and sharing
    let rosters: RosterCache
    let schemas: SchemaStore
    let modification: ModifyRecords
    let query: QueryRecords
    let feedNames: FeedNames

    // Push
    let webhookKeys: TokenKeys
    let webhooks: WebhookSender
    let streams: EventStreams
    var webhookTargets: WebhookTargets { WebhookTargets(origins: configuration.webhookOrigins) }

    // The operator's listener
    let operatedAccounts: OperatedAccounts
    let testMail: TestMail
    let telemetry: Telemetry
    let operatorGate: OperatorGate
    let alertWatch: AlertWatch
    let alertMessages: AlertMessages
    let condition: ServerCondition
    let keyWatch: KeyWatch

    /// Nil where the program was built without the web client.
    let webBundle: WebBundle?

    /// What the routes of the table let requests in by.
    let door: ServedDoor
    /// How long requests held the writer.
    let writeTimes: WriteTimes
    let metrics: ServerMetrics
    /// What is done beside requests.
    let jobs: Jobs

    /// Puts everything together; what can fail has been opened before.
    init(
        database: any SQLDatabase, damage: DatabaseDamage, peers: Peers, blobs: any BlobStore,
        messengers: [Address.Kind: any Messenger], secrets: ServerSecrets,
        configuration: ServerConfiguration, webBundle: WebBundle?, writeTimes: WriteTimes, metrics: ServerMetrics,
        logger: Logger,
        replacing: ServiceReplacements
    ) {
        let origin = ServerOrigin(configuration.origin(port: configuration.listen.port))
        let schemas = SchemaStore()
        let clock = replacing.clock ?? systemClock
        let (sessions, rosters) = (Sessions(among: peers), RosterCache())
        let limits = replacing.limits ?? AbuseLimits(configuration.limits)
        self.database = database
        self.damage = damage
        self.peers = peers
        self.sessions = sessions
        self.rosters = rosters
        transactions = Transactions(database, sessions: sessions, clock: clock)
        self.blobs = blobs
        self.configuration = configuration
        self.webBundle = webBundle
        self.writeTimes = writeTimes
        self.metrics = metrics
        rates = RequestRates(
            limits, RateLimiter(metrics: metrics),
            shared: SharedLimits(key: secrets.addresses.limitKey(), among: peers), database: database, clock: clock)
        quotas = Quotas(configuration.limits, limits)
        streams = EventStreams(metrics: metrics)
        self.logger = logger
        self.clock = clock
        randomBytes = systemRandomBytes
        self.origin = origin
        gate = LoadGate(
            requests: configuration.limits.requestsInFlight, bytes: configuration.limits.bytesInFlight, metrics: metrics
        )
        transfers = Transfers(now: replacing.instant ?? { .now })
        registration = Registration(Registration.Mode(configuration.registration), key: secrets.registrationKey)
        registrationCodes = RegistrationCodes(registration: registration, clock: clock, randomBytes: systemRandomBytes)
        loginTerms = LoginTerms(
            origin: origin,
            challenges: LoginChallenges(key: secrets.addresses.challengeKey(), start: systemRandomBytes(8)),
            database: database, clock: clock)
        addresses = secrets.addresses
        feedNames = FeedNames(key: secrets.addresses.feedKey())
        tokenIssuer = TokenIssuer(keys: secrets.tokenKeys, origin: origin, peers: peers)
        tokenVerifier = TokenVerifier(keys: secrets.tokenKeys, origin: origin)
        seats = replacing.seats ?? SharingPlaceholderSeats()
        telemetry = Telemetry(
            dataFolder: configuration.dataFolder, isOn: configuration.telemetry != .off,
            hasLog: configuration.telemetry == .on,
            hashes: ActiveAccountHashes(key: secrets.addresses.activityKey()), clock: clock, logger: logger)
        outbox = Outbox(
            messengers: messengers, key: secrets.addresses.outboxKey(), sender: peers.own, database: database,
            origin: origin, clock: clock,
            logger: logger, waits: replacing.outboxWaits ?? Outbox.defaultWaits, metrics: metrics
        ) { [recorder = telemetry.recorder] container, isSent in
            let place = TelemetryPlace(container: container, environment: "")
            recorder?.note(.event(.sharing, "code", in: place, code: isSent ? "" : "given-up"), count: 1)
        }
        operatedAccounts = OperatedAccounts(addresses: secrets.addresses, quotas: quotas)
        testMail = TestMail(
            messenger: messengers[.email], rates: rates, origin: origin, randomBytes: systemRandomBytes)
        keyWatch = KeyWatch(transactions: transactions, clock: clock, logger: logger)
        secrets.tokenKeys.report(to: logger)
        secrets.webhookKeys.report(to: logger)
        self.schemas = schemas
        webhookKeys = secrets.webhookKeys
        webhooks = WebhookSender(
            keys: secrets.webhookKeys, targets: WebhookTargets(origins: configuration.webhookOrigins), clock: clock,
            logger: logger,
            metrics: metrics, telemetry: telemetry.recorder)
        alertMessages = AlertMessages(
            messenger: messengers[.email], keys: secrets.webhookKeys,
            targets: WebhookTargets(origins: configuration.webhookOrigins), rates: rates, clock: clock,
            metrics: metrics, logger: logger)
        condition = ServerCondition(dataFolder: configuration.dataFolder, transactions: transactions, clock: clock)
        alertWatch = AlertWatch(
            alerts: Alerts(key: secrets.addresses.alertKey()), telemetry: telemetry, messages: alertMessages,
            condition: condition, origin: origin, clock: clock, logger: logger)
        jobs = Jobs(
            ServerJobs.all(
                blobs: blobs, schemas: schemas, publicNotifier: PublicNotifier(schemas: schemas, clock: clock),
                webhooks: webhooks,
                outbox: outbox, alerts: alertWatch, tombstoneAge: configuration.tombstoneAge,
                garbageGraceDays: configuration.garbageGraceDays,
                sweepInterval: replacing.sweepInterval ?? ServerJobs.sweepInterval, clock: clock, logger: logger),
            JobRunner.Surroundings(
                database: database, holder: peers.holder, look: replacing.jobLook ?? JobRunner.look,
                patience: JobRunner.patience,
                clock: clock, metrics: metrics, logger: logger))
        condition.watch(jobs)
        modification = ModifyRecords(
            transactions: transactions, sessions: sessions, addresses: addresses, clock: clock, quotas: quotas,
            rosters: rosters, schemas: schemas, jobs: jobs)
        query = QueryRecords(
            transactions: transactions, schemas: schemas, cursorKey: secrets.addresses.cursorKey(), jobs: jobs)
        operatorGate = OperatorGate(token: secrets.operatorToken, rates: rates, metrics: metrics, logger: logger)
        door = ServedDoor(
            transactions: transactions, management: secrets.management,
            gate: operatorGate, maximumMessageSize: configuration.maximumMessageSize, clock: clock)
        observe()
    }

    /// What is asked when somebody reads the metrics. Each of them notes things there itself, so that nothing is held.
    private func observe() {
        metrics.observe(.requestsUnderWay) { [weak gate] in gate?.requestsUnderWay ?? 0 }
        metrics.observe(.requestBytes) { [weak gate] in gate?.bytesUnderWay ?? 0 }
        metrics.observe(.answerBytes) { [weak gate] in gate?.answersUnderWay ?? 0 }
        metrics.observe(.messagesWaiting) { [weak outbox] in outbox?.count ?? 0 }
        metrics.observe(.streams) { [weak streams] in streams?.count ?? 0 }
        metrics.observe(.alertsFiring) { [weak alertWatch] in alertWatch?.firingCount ?? 0 }
        keyWatch.observe(metrics)
    }
}
