import Hummingbird

/// Every controller of the server, one a concern.
enum Controllers {
    static func addRoutes(to router: Router<SealRequestContext>, _ services: Services) {
        HealthController(services: services).addRoutes(to: router)
    }
}
