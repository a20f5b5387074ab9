import SealService

/// Every controller of the server, one a concern.
enum Controllers {
    static func addRoutes(to router: EndpointRouter, _ services: Services) {
        HealthController(
            transactions: services.transactions, outbox: services.outbox,
            dataFolder: services.configuration.dataFolder, damage: services.damage
        ).addRoutes(to: router)
        LimitsController(
            transactions: services.transactions, rates: services.rates, quotas: services.quotas,
            origin: services.origin, outbox: services.outbox, configuration: services.configuration,
            webBundle: services.webBundle
        ).addRoutes(to: router)
        AccountsController(
            transactions: services.transactions, sessions: services.sessions,
            creation: CreateAccount(
                transactions: services.transactions, rates: services.rates, terms: services.loginTerms,
                registration: services.registration, randomBytes: services.randomBytes),
            login: LogIn(
                transactions: services.transactions, sessions: services.sessions, terms: services.loginTerms,
                randomBytes: services.randomBytes),
            wakeStreams: { [streams = services.streams] in streams.wake(account: $0) }, clock: services.clock
        ).addRoutes(to: router)
        RecoveryController(transactions: services.transactions, rates: services.rates, clock: services.clock).addRoutes(
            to: router)
        AccountDeletionController(
            transactions: services.transactions, sessions: services.sessions, jobs: services.jobs,
            loginTerms: services.loginTerms
        ).addRoutes(to: router)
        KeyRotationController(
            transactions: services.transactions, sessions: services.sessions, rates: services.rates,
            clock: services.clock, randomBytes: services.randomBytes, origin: services.origin,
            loginTerms: services.loginTerms
        ).addRoutes(to: router)
        IdentityController(transactions: services.transactions, quotas: services.quotas).addRoutes(to: router)
        DevicesController(transactions: services.transactions, sessions: services.sessions, clock: services.clock)
            .addRoutes(to: router)
        EnrolmentController(
            enrolment: DeviceEnrolment(
                transactions: services.transactions, rates: services.rates, clock: services.clock,
                randomBytes: services.randomBytes)
        ).addRoutes(to: router)
        DirectoryController(
            lookup: LookUpIdentities(
                transactions: services.transactions, rates: services.rates, addresses: services.addresses)
        ).addRoutes(to: router)
        VerificationController(
            beginning: BeginVerification(
                transactions: services.transactions, limits: services.rates.limits.sending,
                refusals: services.sendingRefusals, addresses: services.addresses, outbox: services.outbox,
                clock: services.clock, randomBytes: services.randomBytes),
            completion: CompleteVerification(
                transactions: services.transactions, rates: services.rates, codes: services.addresses.codeHasher(),
                seats: services.seats, tokenIssuer: services.tokenIssuer, clock: services.clock,
                randomBytes: services.randomBytes),
            tokenKeys: services.tokenIssuer.keys
        ).addRoutes(to: router)
        AddressesController(transactions: services.transactions, addresses: services.addresses).addRoutes(to: router)
        ZonesController(
            transactions: services.transactions, clock: services.clock, feedNames: services.feedNames,
            jobs: services.jobs, quotas: services.quotas, rosters: services.rosters
        ).addRoutes(to: router)
        RecordsController(
            transactions: services.transactions, modification: services.modification, feedNames: services.feedNames,
            rosters: services.rosters, schemas: services.schemas
        ).addRoutes(to: router)
        QueriesController(query: services.query).addRoutes(to: router)
        RostersController(
            transactions: services.transactions, rates: services.rates, addresses: services.addresses,
            clock: services.clock, jobs: services.jobs, quotas: services.quotas, rosters: services.rosters
        ).addRoutes(to: router)
        SharesController(transactions: services.transactions).addRoutes(to: router)
        ShareController(
            transactions: services.transactions, clock: services.clock, quotas: services.quotas,
            rosters: services.rosters, tokenVerifier: services.tokenVerifier
        ).addRoutes(to: router)
        ShareAccessController(
            transactions: services.transactions, rates: services.rates, clock: services.clock, quotas: services.quotas,
            rosters: services.rosters
        ).addRoutes(to: router)
        SharePageController(
            fallbackURLs: services.configuration.fallbackURLs, bundle: services.webBundle,
            webAt: services.configuration.webAt
        ).addRoutes(to: router)
        WebFilesController(bundle: services.webBundle).addRoutes(to: router)
        AssetsController(
            transactions: services.transactions,
            uploading: WholeUpload(
                transactions: services.transactions, rosters: services.rosters, blobs: services.blobs,
                quotas: services.quotas, limits: services.rates.limits, logger: services.logger,
                maximumAssetSize: services.configuration.maximumAssetSize),
            clock: services.clock, schemas: services.schemas, blobs: services.blobs, transfers: services.transfers
        ).addRoutes(to: router)
        UploadsController(
            transactions: services.transactions,
            uploading: PartedUpload(
                transactions: services.transactions, rosters: services.rosters, blobs: services.blobs,
                quotas: services.quotas, limits: services.rates.limits, jobs: services.jobs, clock: services.clock,
                logger: services.logger, maximumAssetSize: services.configuration.maximumAssetSize),
            blobs: services.blobs, transfers: services.transfers
        ).addRoutes(to: router)
        ServerKeysController(
            transactions: services.transactions, rates: services.rates, clock: services.clock,
            randomBytes: services.randomBytes
        ).addRoutes(to: router)
        SubscriptionsController(
            transactions: services.transactions, clock: services.clock, quotas: services.quotas,
            schemas: services.schemas, webhookKeys: services.webhookKeys, webhookTargets: services.webhookTargets
        ).addRoutes(to: router)
        NotificationsController(
            transactions: services.transactions, rates: services.rates, streams: services.streams,
            clock: services.clock, telemetry: services.telemetry.recorder
        ).addRoutes(to: router)
        SchemaController(
            management: SchemaManagement(
                transactions: services.transactions, schemas: services.schemas, jobs: services.jobs,
                clock: services.clock)
        ).addRoutes(to: router)
        RolesController(
            management: RoleManagement(
                transactions: services.transactions, schemas: services.schemas, clock: services.clock)
        ).addRoutes(to: router)
        ManagementTokensController(
            tokens: ContainerTokens(
                transactions: services.transactions, clock: services.clock, randomBytes: services.randomBytes)
        ).addRoutes(to: router)
    }

    /// Those of the operator's listener.
    static func addOperatorRoutes(to router: EndpointRouter, _ services: Services) {
        let journal = OperatorJournal(metrics: services.metrics, logger: services.logger)
        OperatorController(
            transactions: services.transactions, accounts: services.operatedAccounts,
            usage: ServerUsage(accounts: services.operatedAccounts),
            orders: AccountOrders(
                transactions: services.transactions, sessions: services.sessions, accounts: services.operatedAccounts,
                clock: services.clock),
            codes: services.registrationCodes, mail: services.testMail,
            registration: services.configuration.registration.rawValue,
            journal: journal
        ).addRoutes(to: router)
        TelemetryController(
            telemetry: services.telemetry, keyWatch: services.keyWatch, clock: services.clock, journal: journal
        ).addRoutes(to: router)
        LogController(
            telemetry: services.telemetry, transactions: services.transactions, clock: services.clock, journal: journal
        ).addRoutes(to: router)
        EventsController(
            transactions: services.transactions, accounts: services.operatedAccounts, journal: journal
        ).addRoutes(to: router)
        AlertsController(
            watch: services.alertWatch, messages: services.alertMessages, transactions: services.transactions,
            jobs: services.jobs, clock: services.clock, journal: journal
        ).addRoutes(to: router)
    }
}
