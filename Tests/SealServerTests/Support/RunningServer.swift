import Foundation
import Hummingbird
import Logging
import SealLab
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// A running server and what its tests reach into.
struct RunningServer: Sendable {
    let origin: String
    let services: Services
    let clock: TestClock
    let mail: CapturingMessenger
    let phones: CapturingMessenger
    let folder: TemporaryFolder
    /// Method and path of everything that the server answers.
    let routes: [(method: String, path: String)]
    /// Where metrics can be read, if they can.
    var metrics = ""
    /// Where the operator's listener is, if there is one.
    var operatorListener = ""
    /// Where the console is, if there is one.
    var console = ""

    /// Tests start by the hundred; as many servers would be a thousand threads and more open files than Foundation can
    /// start programs beside.
    private static let turnstile = Turnstile(atOnce: 16)

    /// - Parameters:
    ///   - steadyClock: stands still, so that no test's requests are cut short on a machine that is busy.
    ///   - runsTwice: every write (`TwiceRunDatabase`), but where a counter or hook is around the database. False for a
    ///     test that reaches the engine itself, or measures.
    ///   - hasTelemetry: false for most: each would make a file of its own.
    ///   - hasLog: whether it has single requests as well.
    ///   - database: nil for the one that servers of tests have.
    ///   - garbageGrace: in days; none, so that the same test sees files go.
    ///   - hasFile: where `database` is nil, its database is SQLite's file whatever others have.
    ///   - jobLook: an hour, so that jobs do what they are woken for, and nothing between a test's own steps.
    static func with(
        limits: AbuseLimits? = nil, seats: (any PlaceholderSeats)? = nil, behindProxy: Bool = false,
        sendsMail: Bool = true,
        sendsTexts: Bool = false,
        mailConfiguration: MailConfiguration? = nil, smsConfiguration: SMSConfiguration? = nil,
        publicOrigin: String? = nil, folder: TemporaryFolder = TemporaryFolder(),
        clock: TestClock = TestClock(), instants: TestInstants? = nil,
        outboxWaits: [Duration] = [.milliseconds(5), .milliseconds(5)],
        logger: Logger? = nil, mostWaitingWrites: Int? = nil, serverLimits: ServerLimits = ServerLimits(),
        maximumAssetSize: Int64 = 16 << 30, counter: StatementCounter? = nil, hook: WriteHook? = nil,
        steadyClock: @escaping @Sendable () -> Int64 = { 0 },
        webhookOrigins: [String] = [], fallbackURLs: [String: String] = [:],
        webOrigins: [String] = [], webAt: String? = nil,
        registration: ServerConfiguration.Registration = .open, webBundle: WebBundle? = nil,
        runsTwice: Bool = true, jobLook: Duration = .seconds(3_600), sweepInterval: Duration? = nil,
        registry: MetricsRegistry? = nil,
        showsMetrics: Bool = false, hasOperator: Bool = false, hasTelemetry: Bool = false,
        hasLog: Bool = true, hasConsole: Bool = false,
        database: DatabaseConfiguration? = nil, hasFile: Bool = false, blobs: BlobsConfiguration? = nil,
        garbageGrace: Int = 0,
        _ body: @Sendable (RunningServer) async throws -> Void
    ) async throws {
        await turnstile.enter()
        defer { turnstile.leave() }
        let (mail, phones) = (CapturingMessenger(), CapturingMessenger())
        let (addresses, continuation) = AsyncStream<ListenAddress>.makeStream()
        let services = Mutex<Services?>(nil)
        let metrics = Mutex("")
        let operatorListener = Mutex("")
        let console = Mutex("")
        let routes = Mutex<[(method: String, path: String)]>([])
        let twice: @Sendable (any SQLDatabase) -> any SQLDatabase = { TwiceRunDatabase(base: $0) }
        let around = counter?.counting ?? hook?.hooking ?? (runsTwice ? twice : nil)
        var configuration = ServerConfiguration(
            dataFolder: folder.file("data"), listen: ListenAddress(host: "127.0.0.1", port: 0),
            // Behind a proxy there has to be one; the real one is not known yet.
            publicOrigin: publicOrigin ?? (behindProxy ? "http://127.0.0.1" : nil), isBehindProxy: behindProxy,
            mail: mailConfiguration, sms: smsConfiguration,
            logLevel: .critical,
            maximumAssetSize: maximumAssetSize, webhookOrigins: webhookOrigins, fallbackURLs: fallbackURLs,
            webOrigins: webOrigins, webAt: webAt,
            registration: registration, limits: serverLimits,
            metrics: showsMetrics ? ListenAddress(host: "127.0.0.1", port: 0) : nil,
            operator: hasOperator ? ListenAddress(host: "127.0.0.1", port: 0) : nil,
            console: hasConsole ? ListenAddress(host: "127.0.0.1", port: 0) : nil,
            telemetry: hasTelemetry ? (hasLog ? .on : .counts) : .off)
        configuration.database = try database ?? (hasFile ? nil : TestPostgres.forAll(folder))
        configuration.blobs = blobs
        configuration.garbageGrace = garbageGrace
        let server = try await SealServer.Server(
            configuration: configuration,
            replacing: ServiceReplacements(
                clock: { clock.now }, instant: instants?.clock,
                messengers: sendsMail ? (sendsTexts ? [.email: mail, .phone: phones] : [.email: mail]) : nil,
                limits: limits, seats: seats,
                outboxWaits: outboxWaits, logger: logger, jobLook: jobLook, sweepInterval: sweepInterval,
                metrics: registry,
                onMetrics: { address in metrics.withLock { $0 = "http://\(address)" } },
                onOperator: { address in operatorListener.withLock { $0 = "http://\(address)" } },
                onConsole: { address in console.withLock { $0 = "http://\(address)" } },
                mostWaitingWrites: mostWaitingWrites,
                steadyClock: steadyClock, webBundle: { webBundle },
                database: around),
            onRunning: { continuation.yield($0) }
        ) { table, made in
            services.withLock { $0 = made }
            let all = table.routes.map { (method: $0.method.rawValue, path: $0.template) }
            routes.withLock { $0 = all }
        }
        let found = services.withLock { $0 }
        let made = try #require(found)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            for await address in addresses {
                if publicOrigin == nil { made.origin.set("http://\(address)") }
                do {
                    // What they do at the start is not to be taken for what a request does.
                    if counter != nil || registry != nil || hook != nil {
                        try await waitUntil("its jobs have looked") { made.jobs.areIdle }
                    }
                    if showsMetrics { try await waitUntil("metrics can be read") { metrics.withLock { !$0.isEmpty } } }
                    if hasOperator {
                        try await waitUntil("the operator is served") { operatorListener.withLock { !$0.isEmpty } }
                    }
                    if hasConsole { try await waitUntil("the console is served") { console.withLock { !$0.isEmpty } } }
                    try await body(
                        RunningServer(
                            origin: "http://\(address)", services: made, clock: clock, mail: mail, phones: phones,
                            folder: folder,
                            routes: routes.withLock { $0 }, metrics: metrics.withLock { $0 },
                            operatorListener: operatorListener.withLock { $0 }, console: console.withLock { $0 }))
                } catch {
                    await server.shutDown()
                    throw error
                }
                break
            }
            await server.shutDown()
            try await group.waitForAll()
        }
    }

    /// Has everything cleared away that is due at a time, and waits for it.
    func sweep(now: Int64) async throws {
        for job in [Job.Name.erasure, .sweep, .garbage] { try await services.jobs.run(job, now: now) }
    }

    /// How many rows these tables have; tables without any are left out.
    func rows(in tables: [String]) async throws -> [String: Int64] {
        try await services.database.read { connection in
            var counts: [String: Int64] = [:]
            for table in tables {
                let count =
                    try connection.first("SELECT COUNT(*) AS count FROM \(table)") { try $0.int64("count") } ?? 0
                if count > 0 { counts[table] = count }
            }
            return counts
        }
    }

    /// Everything in the data folder, as bytes.
    func storedBytes() throws -> [UInt8] {
        var all: [UInt8] = []
        let data = folder.file("data")
        for name in try FileManager.default.subpathsOfDirectory(atPath: data) {
            all += FileManager.default.contents(atPath: data + "/" + name) ?? Data()
        }
        return all
    }
}
