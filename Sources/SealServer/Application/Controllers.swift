import Hummingbird

/// Every controller of the server, one a concern.
enum Controllers {
    static func addRoutes(to router: Router<SealRequestContext>, _ services: Services) {
        HealthController(services: services).addRoutes(to: router)
        LimitsController(services: services).addRoutes(to: router)
        AccountsController(services: services).addRoutes(to: router)
        RecoveryController(services: services).addRoutes(to: router)
        AccountDeletionController(services: services).addRoutes(to: router)
        KeyRotationController(services: services).addRoutes(to: router)
        IdentityController(services: services).addRoutes(to: router)
        DevicesController(services: services).addRoutes(to: router)
        EnrolmentController(services: services).addRoutes(to: router)
        DirectoryController(services: services).addRoutes(to: router)
        VerificationController(services: services).addRoutes(to: router)
        AddressesController(services: services).addRoutes(to: router)
        ZonesController(services: services).addRoutes(to: router)
        RecordsController(services: services).addRoutes(to: router)
        QueriesController(services: services).addRoutes(to: router)
        RostersController(services: services).addRoutes(to: router)
        SharesController(services: services).addRoutes(to: router)
        ShareController(services: services).addRoutes(to: router)
        ShareAccessController(services: services).addRoutes(to: router)
        SharePageController(fallbackURLs: services.configuration.fallbackURLs).addRoutes(to: router)
        AssetsController(services: services).addRoutes(to: router)
        UploadsController(services: services).addRoutes(to: router)
        ServerKeysController(services: services).addRoutes(to: router)
        SubscriptionsController(services: services).addRoutes(to: router)
        NotificationsController(services: services).addRoutes(to: router)
        SchemaController(services: services).addRoutes(to: router)
        RolesController(services: services).addRoutes(to: router)
        ManagementTokensController(services: services).addRoutes(to: router)
    }
}
