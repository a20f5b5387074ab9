public import CoreMetrics
import Foundation
import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import SealService
import SealStorage
import SealSystem
import ServiceLifecycle
import UnixSignals

/// The SealKit service: open the data folder, listen, and serve until told to stop.
///
/// ```swift
/// let server = try await Server(configuration: configuration) { address in print("listening on \(address)") }
/// try await server.run()
/// ```
public struct Server: Sendable {
    private let opened: OpenedServer
    private let signals: SignalService
    private let group: ServiceGroup

    /// Opens everything; nothing is served before `run()`.
    ///
    /// Throws `ConfigurationError`, `ListenFailure` and `RelayFailure`, before anything is made on the disk;
    /// `DataFolderInUse`, `FileError`, `BlobStoreError`, or the database's error.
    /// - Parameters:
    ///   - configuration: where its folders are, what it listens on, and its limits.
    ///   - metrics: gets every measurement of this server, beside what `ServerConfiguration.metrics` shows; nil for
    ///     none.
    ///   - onRunning: called once with the actual address, when the server accepts connections.
    public init(
        configuration: ServerConfiguration,
        metrics: (any MetricsFactory)? = nil,
        onRunning: @escaping @Sendable (ListenAddress) async -> Void = { _ in }
    ) async throws {
        try await self.init(
            configuration: configuration, replacing: ServiceReplacements(metrics: metrics), onRunning: onRunning)
    }

    /// - Parameters:
    ///   - replacing: what tests put in the place of the real thing.
    ///   - addRoutes: further routes, for tests.
    init(
        configuration: ServerConfiguration,
        replacing: ServiceReplacements = ServiceReplacements(),
        onRunning: @escaping @Sendable (ListenAddress) async -> Void,
        addRoutes: (inout RouteTable, Services) -> Void = { _, _ in }
    ) async throws {
        try configuration.validate()
        // Before anything is opened: what cannot start should not leave traces.
        try configuration.checkFiles()
        let certificate = try configuration.tls.map { files throws(ConfigurationError) in
            let origin = configuration.isBehindProxy ? nil : configuration.publicOrigin
            return try ServerCertificate(
                files, host: origin.flatMap { URL(string: $0)?.host() }, clock: replacing.clock ?? systemClock)
        }
        let webBundle = try replacing.servedBundle()
        let http = Self.httpServer(certificate)
        let logger = replacing.logger ?? Self.logger(configuration)
        logger.notice(
            "SealKit starts",
            metadata: StartReport(
                configuration, certificateValidUntil: certificate?.validUntil, webBundle: webBundle
            ).metadata)
        certificate?.warn(logger)
        try await configuration.listen.tryOut()
        try await configuration.metrics?.tryOut(setting: "metrics")
        try await configuration.operator?.tryOut(setting: "operator")
        try await configuration.console?.tryOut(setting: "console")
        if let mail = configuration.mail, mail.check == .required { try await RelayFailure.tryOut(mail) }

        let registry = configuration.metrics.map { _ in MetricsRegistry() }
        opened = try await OpenedServer(
            configuration, webBundle: webBundle, logger: logger,
            metrics: [registry, replacing.metrics].compactMap { $0 },
            replacing: replacing)
        let services = opened.services
        if let certificate {
            services.metrics.observe(.certificateExpires) { certificate.expires }
            services.condition.watch { certificate.expires }
        }
        let responder: RouteResponder
        let operatorService: (any Service)?
        let consoleService: (any Service)?
        do {
            responder = try Self.responder(services, addRoutes: addRoutes)
            operatorService = try configuration.operator.map { address in
                try Self.operatorService(at: address, services, certificate, replacing: replacing)
            }
            consoleService = configuration.console.map { address in
                Self.consoleService(at: address, services, certificate, replacing: replacing)
            }
        } catch {
            await opened.close()
            throw error
        }
        let application = Application(
            responder: responder,
            server: http,
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.listen.host, port: configuration.listen.port)),
            onServerRunning: { [origin = services.origin, jobs = services.jobs] channel in
                let port = channel.localAddress?.port ?? configuration.listen.port
                // Before the first request: port 0 has become a real one.
                origin.set(configuration.origin(port: port))
                jobs.begin()
                let address = ListenAddress(host: configuration.listen.host, port: port)
                logger.notice("the server listens", metadata: ["listen": "\(address)", "origin": "\(origin.value)"])
                await onRunning(address)
            },
            logger: logger)
        signals = SignalService(certificate: certificate, logger: logger)
        // The last one is told to stop first: jobs end once no request can ask anything of them.
        var running: [any Service] = [
            services.jobs,
            ListeningService(listener: application, address: configuration.listen, setting: "listen"),
            RelayService(outbox: services.outbox),
        ]
        if let certificate {
            running.append(
                RepeatingService(interval: replacing.certificateInterval ?? ServerCertificate.interval) {
                    certificate.renew(logger: logger)
                })
        }
        if let address = configuration.metrics, let registry {
            let listener = MetricsListener(
                address: address, registry: registry, metrics: services.metrics, logger: logger)
            let service = listener.service { replacing.onMetrics?($0) }
            running.append(ListeningService(listener: service, address: address, setting: "metrics"))
        }
        if configuration.database != nil, services.metrics.isOn {
            let watch = ReplicationWatch(database: services.database, metrics: services.metrics, logger: logger)
            running.append(RepeatingService(interval: ReplicationWatch.interval) { await watch.look() })
        }
        if services.telemetry.recorder != nil {
            let sample: @Sendable () -> Void = { [telemetry = services.telemetry, streams = services.streams] in
                telemetry.recorder?.note(open: streams)
            }
            running.append(
                TelemetryService(telemetry: services.telemetry, sample: sample, clock: services.clock))
        }
        if services.telemetry.recorder != nil || services.metrics.isOn {
            running.append(
                RepeatingService(interval: KeyWatch.interval) { [watch = services.keyWatch] in await watch.look() })
        }
        if let operatorService { running.append(operatorService) }
        if let consoleService { running.append(consoleService) }
        running += Self.beside(services) + [PushService(streams: services.streams)]
        var group = ServiceGroupConfiguration(
            services: [.init(service: signals, successTerminationBehavior: .gracefullyShutdownGroup)]
                + running.map { .init(service: $0) },
            logger: logger)
        group.maximumGracefulShutdownDuration = .seconds(configuration.shutdownGrace)
        self.group = ServiceGroup(configuration: group)
    }

    /// Serves until SIGINT, SIGTERM, `shutDown()` or cancellation: then stops accepting, lets requests finish, and
    /// closes the database. SIGHUP has it read its certificate again; where it has none, that ends it as well.
    ///
    /// Throws `ListenFailure` where it may not listen; the system's errors.
    public func run() async throws {
        let outcome: Result<Void, any Error>
        await signals.trap()
        do {
            try await group.run()
            outcome = .success(())
        } catch {
            services.logger.error("the server stops", metadata: ["reason": "\(error)"])
            outcome = .failure(error)
        }
        await close()
        services.logger.notice("the server has stopped")
        try outcome.get()
    }

    /// Asks `run()` to end gracefully.
    public func shutDown() async {
        services.logger.notice("the server stops", metadata: ["reason": "its program asked it to"])
        await group.triggerGracefulShutdown()
    }

    /// Closes what `init` opened. `run()` does it; a server that never ran is closed with this.
    public func close() async { await opened.close() }

    var services: Services { opened.services }

    private static func operatorService(
        at address: ListenAddress, _ services: Services, _ certificate: ServerCertificate?,
        replacing: ServiceReplacements
    ) throws -> any Service {
        let isLocal = address.isLoopback
        let listener = OperatorListener(
            address: address, services: services, http: httpServer(isLocal ? nil : certificate))
        let place = HeldPlace(dataFolder: services.configuration.dataFolder)
        let (configuration, logger) = (services.configuration, services.logger)
        let service = try listener.service { actual in
            // The certificate is for the name that clients use.
            let host = isLocal ? nil : configuration.publicOrigin.flatMap { URL(string: $0)?.host() }
            let named = host.map { ListenAddress(host: $0, port: actual.port) } ?? actual
            do { try place.take("\(isLocal ? "http" : "https")://\(named)") } catch {
                logger.error(
                    "commands on this machine do not find the operator's listener: give them --at",
                    metadata: ["error": "\(error)"])
            }
            replacing.onOperator?(actual)
        }
        return OperatorService(
            listener: ListeningService(listener: service, address: address, setting: "operator"), place: place)
    }

    private static func consoleService(
        at address: ListenAddress, _ services: Services, _ certificate: ServerCertificate?,
        replacing: ServiceReplacements
    ) -> any Service {
        let isLocal = address.isLoopback
        let origin = services.configuration.publicOrigin.flatMap { URL(string: $0)?.host() }
        let listener = ConsoleListener(
            address: address, services: services, http: httpServer(isLocal ? nil : certificate),
            certifiedHost: isLocal ? nil : origin)
        let service = listener.service { replacing.onConsole?($0) }
        return ListeningService(listener: service, address: address, setting: "console")
    }

    /// What keeps connections alive, and cuts those that have stopped.
    static func beside(_ services: Services) -> [any Service] {
        [
            RepeatingService(interval: Transfers.interval) { [transfers = services.transfers] in transfers.cutSlow() },
            RepeatingService(interval: EventStreams.heartbeat) { [streams = services.streams] in streams.heartbeat() },
        ]
    }

    static func responder(
        _ services: Services, addRoutes: (inout RouteTable, Services) -> Void = { _, _ in }
    ) throws -> RouteResponder {
        let endpoints = EndpointRouter(services.door)
        Controllers.addRoutes(to: endpoints, services)
        try endpoints.requireWhole()
        var routes = endpoints.routes
        addRoutes(&routes, services)
        let configuration = services.configuration
        let named = configuration.webOrigins + [configuration.webAt].compactMap { $0 }
        let origins = named.isEmpty ? nil : WebOrigins(named)
        let notes = RequestNotes(metrics: services.metrics, recorder: services.telemetry.recorder)
        return RouteResponder(routes, whenAnswered: notes.take) {
            if let origins {
                WebOriginMiddleware(
                    origins: origins, routes: routes, rates: services.rates, isBehindProxy: configuration.isBehindProxy)
            }
            FailureMiddleware(routes: routes, metrics: services.metrics)
            LoadMiddleware(
                gate: services.gate, transfers: services.transfers, isBehindProxy: services.configuration.isBehindProxy,
                maximumMessageSize: services.configuration.maximumMessageSize)
            WireVersionMiddleware()
            ServerKeyMiddleware(
                transactions: services.transactions, sessions: services.sessions, rates: services.rates,
                origin: services.origin, clock: services.clock)
            SessionMiddleware(
                transactions: services.transactions, sessions: services.sessions, rates: services.rates,
                clock: services.clock)
            RateMiddleware(rates: services.rates)
        }
    }

    static func logger(_ configuration: ServerConfiguration) -> Logger {
        let level = Logger.Level(rawValue: configuration.logLevel.rawValue) ?? .info
        let format: StandardErrorLogHandler.Format = configuration.logFormat == .json ? .json : .text
        return Logger(label: "sealkit") { label in
            StandardErrorLogHandler(logLevel: level, label: label, format: format)
        }
    }

    private static func httpServer(_ certificate: ServerCertificate?) -> HTTPServerBuilder {
        let http1 = HTTP1Channel.Configuration(
            additionalChannelHandlers: [ReadBufferHandler(), ContinueHandler(), LingerHandler()],
            idleTimeout: .seconds(120))
        guard let certificate else { return .http1(configuration: http1) }
        return HTTPServerBuilder { responder in
            try TLSListenerChannel(
                certificate.configuration, .init(idleTimeout: .seconds(120), streamConfiguration: http1),
                responder: responder)
        }
    }
}
