import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import SealService

/// The console's listener: an address, and so an origin, of its own, for a browser of the operator's. It serves HTML
/// without script, to whoever has signed in with the operator's token.
///
/// On this machine's own addresses it speaks plain HTTP; on others TLS, with the server's certificate.
struct ConsoleListener {
    let address: ListenAddress
    let services: Services
    let http: HTTPServerBuilder
    /// The host that the server's certificate is for; nil without one.
    let certifiedHost: String?

    /// - Parameter onRunning: called once with the actual address.
    func service(onRunning: @escaping @Sendable (ListenAddress) -> Void) -> some ApplicationProtocol {
        let logger = services.logger
        let isSecure = !address.isLoopback
        return Application(
            responder: Self.responder(services, host: certifiedHost, isSecure: isSecure), server: http,
            configuration: ApplicationConfiguration(address: .hostname(address.host, port: address.port)),
            onServerRunning: { [address] channel in
                let actual = ListenAddress(host: address.host, port: channel.localAddress?.port ?? address.port)
                logger.notice("the console listens", metadata: ["console": "\(actual)"])
                onRunning(actual)
            },
            logger: logger)
    }

    /// - Parameters:
    ///   - host: that browsers may name beside this machine's own.
    ///   - isSecure: it is spoken to by TLS.
    static func responder(_ services: Services, host: String?, isSecure: Bool) -> RouteResponder {
        let console = Console(
            ConsoleServices(services),
            sessions: ConsoleSessions(randomBytes: services.randomBytes, clock: services.clock))
        var routes = RouteTable()
        console.addRoutes(to: &routes)
        let notes = RequestNotes(metrics: services.metrics, recorder: nil)
        return RouteResponder(routes, whenAnswered: notes.take) {
            ConsoleFailureMiddleware()
            OperatorMiddleware(transfers: services.transfers)
            ConsoleGuardMiddleware(host: host, isSecure: isSecure)
        }
    }
}

extension ConsoleServices {
    fileprivate init(_ services: Services) {
        self.init(
            configuration: services.configuration, origin: services.origin, clock: services.clock,
            logger: services.logger, metrics: services.metrics, transactions: services.transactions,
            sessions: services.sessions, jobs: services.jobs, rates: services.rates, randomBytes: services.randomBytes,
            door: services.door, schemas: services.schemas, query: services.query, modification: services.modification,
            consoleKeys: ConsoleKeys(secretsFolder: services.configuration.secretsFolder), webhooks: services.webhooks,
            webhookTargets: services.webhookTargets, outbox: services.outbox, streams: services.streams,
            tokenKeys: services.tokenIssuer.keys,
            webhookKeys: services.webhookKeys, operatorGate: services.operatorGate,
            operatedAccounts: services.operatedAccounts, telemetry: services.telemetry,
            alertWatch: services.alertWatch, alertMessages: services.alertMessages,
            condition: services.condition, keyWatch: services.keyWatch, webBundle: services.webBundle)
    }
}
