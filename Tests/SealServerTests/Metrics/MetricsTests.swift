import Dispatch
import Foundation
import Hummingbird
import Logging
import NIOCore
import SealStatements
import SealSystem
import SealWire
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// What the server measures, and to whom it shows it.
@Suite(.timeLimit(.minutes(60))) struct MetricsTests {
    private static func get(_ url: String, _ method: String = "GET") async throws -> (
        status: UInt, type: String?, text: String
    ) {
        let answer = try await ServerTests().send(method, url)
        return (answer.status, answer.headers["content-type"], String(decoding: answer.body, as: UTF8.self))
    }

    private static func lines(_ text: String, _ start: String) -> [String] {
        text.split(separator: "\n").map(String.init).filter { $0.hasPrefix(start) }
    }

    @Test func metricsAreReadOnTheirOwnListenerAndNowhereElse() async throws {
        try await RunningServer.with(showsMetrics: true) { server in
            _ = try await Person.ready(server)
            let (status, type, text) = try await Self.get(server.metrics + "/metrics")
            #expect(status == 200)
            #expect(type == "text/plain; version=0.0.4; charset=utf-8")
            #expect(text.contains("sealkit_requests_total{endpoint=\"accounts/create\",status=\"200\"} 1\n"))
            #expect(text.contains("sealkit_request_seconds_count{endpoint=\"accounts/create\"} 1\n"))
            for name in [
                "storage_group_writes_count", "storage_commit_seconds_count", "storage_wait_seconds_count",
                "requests_under_way", "streams_open", "messages_waiting", "storage_writes_waiting",
            ] {
                #expect(!Self.lines(text, "sealkit_" + name + " ").isEmpty, "\(name)")
            }
            // Clients do not find them, and whoever reads them finds nothing else.
            #expect(try await Self.get(server.origin + "/metrics").status == 404)
            for path in ["/", "/health", "/1/limits", "/metrics/all"] {
                #expect(try await Self.get(server.metrics + path).status == 404)
            }
            #expect(try await Self.get(server.metrics + "/metrics", "POST").status != 200)
        }
    }

    @Test func withoutTheSettingNothingIsMeasuredOrShown() async throws {
        try await RunningServer.with { server in
            #expect(!server.services.metrics.isOn)
            #expect(server.metrics.isEmpty)
            let found = try await Self.get(server.origin + "/metrics")
            #expect(found.status == 404)
        }
    }

    @Test("A stranger asks for paths and methods that are none: the metrics do not grow by them.")
    func whatNoRouteTookIsOneEndpoint() async throws {
        let registry = MetricsRegistry()
        try await RunningServer.with(registry: registry) { server in
            // The label of a failure is there from the first one on.
            _ = try await Self.get(server.origin + "/first")
            _ = try await Self.get(server.origin + "/1/accounts/me", "DELETE")
            // The database's come when they are looked for.
            func count() -> Int { registry.all().count { !$0.metric.rawValue.hasPrefix("sealkit_storage_") } }
            let before = count()
            for (number, method) in ["PUT", "PATCH", "PROPFIND", "TRACE", "REPORT", "LOCK"].enumerated() {
                #expect(try await Self.get(server.origin + "/made-up-\(number)").status == 404)
                #expect(try await Self.get(server.origin + "/1/accounts/me", method).status == 405)
                #expect(
                    try await Self.get(
                        server.origin + "/database/1/org.made.up\(number)/development/private/records/modify"
                    ).status == 405)
            }
            #expect(count() == before)
        }
        let text = PrometheusText.write(registry)
        #expect(!text.lowercased().contains("made"))
        #expect(text.contains("sealkit_requests_total{endpoint=\"unknown\",status=\"404\"} 7\n"))
    }

    /// Whoever reads the metrics learns what the server does, and not for whom.
    @Test func nothingOfAnybodyIsInThem() async throws {
        let registry = MetricsRegistry()
        try await RunningServer.with(registry: registry) { server in
            let secrets = try await LogTests.drive(server)
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone("canary-zone")
            _ = try await anna.save([Write("canary-record")], in: zone)
            server.services.metrics.collect()
            let text = PrometheusText.write(registry)
            #expect(text.contains("records/modify\",status=\"200\"}"), "requests are in them")
            let telling = [
                anna.user.recordName, anna.client.token, TestClient.container, "canary", "127.0.0.1", "@", "+49",
                zone.owner.recordName,
            ]
            for word in secrets + telling { #expect(!text.contains(word), "\(word)") }
            // Every label's value is one of a list that the server knows when it starts.
            let names = Set(Endpoints.all.map(\.name) + ["unknown"])
            for (metric, values, _) in registry.all() where metric.labels.first == "endpoint" {
                #expect(names.contains(values[0]), "\(values[0])")
            }
        }
    }

    @Test func whatComesOfOneLookIsLookedAtOnce() {
        let registry = MetricsRegistry()
        let metrics = ServerMetrics(factory: registry)
        let looks = Mutex(0)
        metrics.observe([.heapUsed, .heapKept]) {
            looks.withLock { $0 += 1 }
            return [5, 7]
        }
        metrics.collect()
        #expect(looks.withLock { $0 } == 1)
        let text = PrometheusText.write(registry)
        #expect(Self.lines(text, "sealkit_memory_heap_used_bytes") == ["sealkit_memory_heap_used_bytes 5"])
        #expect(Self.lines(text, "sealkit_memory_heap_kept_bytes") == ["sealkit_memory_heap_kept_bytes 7"])
    }

    /// What was had and given back is no part of it any more.
    @Test func residentMemoryIsWhatThereIsNow() throws {
        let bytes = 256 << 20
        let before = try #require(residentBytes())
        let taken = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 4_096)
        memset(taken, 1, bytes)
        let most = try #require(residentBytes())
        taken.deallocate()
        let after = try #require(residentBytes())
        #expect(most >= before + UInt64(bytes) / 2)
        #expect(after <= most - UInt64(bytes) / 2)
    }

    @Test func serversInOneProcessDoNotCountTogether() async throws {
        let (first, second) = (MetricsRegistry(), MetricsRegistry())
        try await RunningServer.with(registry: first) { server in
            _ = try await Self.get(server.origin + "/health")
            try await RunningServer.with(registry: second) { _ in }
        }
        let name = "sealkit_requests_total"
        #expect(Self.lines(PrometheusText.write(first), name) == [name + "{endpoint=\"health\",status=\"200\"} 1"])
        #expect(Self.lines(PrometheusText.write(second), name) == [])
    }

    /// A program of its own has its metrics go where its other ones go, and no listener shows them.
    @Test func aProgramsOwnFactoryGetsThem() async throws {
        let (folder, registry) = (TemporaryFolder(), MetricsRegistry())
        let (addresses, continuation) = AsyncStream<ListenAddress>.makeStream()
        let server = try await SealServer.Server(
            configuration: ServerConfiguration(
                dataFolder: folder.file("data"), listen: ListenAddress(host: "127.0.0.1", port: 0), logLevel: .critical),
            metrics: registry
        ) { continuation.yield($0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            for await address in addresses {
                do {
                    #expect(try await Self.get("http://\(address)/health").status == 200)
                } catch {
                    await server.shutDown()
                    throw error
                }
                break
            }
            await server.shutDown()
            try await group.waitForAll()
        }
        let name = "sealkit_requests_total"
        #expect(Self.lines(PrometheusText.write(registry), name) == [name + "{endpoint=\"health\",status=\"200\"} 1"])
    }

    @Test func whatIsRefusedForALimitIsCountedByIt() async throws {
        let registry = MetricsRegistry()
        let metrics = ServerMetrics(factory: registry)
        let limiter = RateLimiter(metrics: metrics)
        let rule = TokenBucket.Rule(count: 1, window: 60_000_000)
        try limiter.count(.recovery, .account(7), rule: rule, now: 0)
        #expect(throws: ServerError.self) { try limiter.count(.recovery, .account(7), rule: rule, now: 0) }
        let gate = LoadGate(requests: 1, bytes: 0, metrics: metrics)
        let pass = try gate.enter([1])
        #expect(throws: ServerError.self) { try gate.enter([1]) }
        pass.end()
        #expect(
            Self.lines(PrometheusText.write(registry), "sealkit_refusals_total") == [
                "sealkit_refusals_total{limit=\"load\"} 1", "sealkit_refusals_total{limit=\"recovery\"} 1",
            ])
    }

    /// Three writes wait for a first one: the second commit has them all.
    @Test func commitsAreMeasuredWithWhatIsInThem() async throws {
        let (folder, clock, registry) = (TemporaryFolder(), SteppingClock(), MetricsRegistry())
        let database = try SQLiteDatabase(
            path: folder.file("db.sqlite"), migrations: StorageTests.table,
            budget: WriteBudget(clock: clock.read, metrics: ServerMetrics(factory: registry)))
        let hold = DispatchSemaphore(value: 0)
        let (entered, entry) = AsyncStream<Void>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await database.write(at: .everything) { _ in
                    entry.yield()
                    hold.wait()
                }
            }
            for await _ in entered { break }
            // Each in another's name: of one's own they would go into the commit that is under way.
            for account in 1...3 {
                group.addTask {
                    let turn = WriteTurn(payer: .account(Int64(account)), route: .init(method: "POST", path: "/"))
                    try await WriteTurn.$current.withValue(turn) {
                        try await database.write(at: .everything) {
                            try $0.execute("INSERT INTO t (id) VALUES ($1)", [.integer(Int64(account))])
                        }
                    }
                }
            }
            try await waitUntil("three wait") { database.waitingWrites == 3 }
            // Longer than a group takes further ones in.
            clock.advance(2_000_000)
            hold.signal()
            try await group.waitForAll()
        }
        let text = PrometheusText.write(registry)
        #expect(text.contains("sealkit_storage_group_writes_sum 4\n"))
        #expect(text.contains("sealkit_storage_group_writes_count 2\n"))
        #expect(text.contains("sealkit_storage_group_writes_bucket{le=\"1\"} 1\n"))
        #expect(text.contains("sealkit_storage_wait_seconds_sum 6\n"))
        #expect(text.contains("sealkit_storage_write_seconds_sum 2\n"))
        try await database.close()
    }

    @Test func messagesAreCountedByWhatBecameOfThem() async throws {
        let registry = MetricsRegistry()
        try await RunningServer.with(registry: registry) { server in
            let anna = try await TestClient.ready(server)
            server.mail.fail(with: [.unavailable])
            _ = try await anna.begin("anna@example.org")
            try await waitUntil("it is sent and noted") {
                server.mail.sent.count == 1 && server.services.outbox.count == 0
            }
        }
        let name = "sealkit_messages_total"
        #expect(
            Self.lines(PrometheusText.write(registry), name) == [
                name + "{kind=\"email\",outcome=\"failed\"} 1", name + "{kind=\"email\",outcome=\"sent\"} 1",
            ])
    }

    // MARK: The setting

    @Test func theSettingIsAnAddressOfItsOwn() async throws {
        let folder = TemporaryFolder().path
        let loaded = try await ServerConfiguration.load(
            flags: ["data": folder], environment: ["SEALKIT_METRICS": "127.0.0.1:9090"])
        #expect(loaded.metrics == ListenAddress(host: "127.0.0.1", port: 9090))
        #expect(try await ServerConfiguration.load(flags: ["data": folder], environment: [:]).metrics == nil)
        for (metrics, word) in [("9090", "host:port"), ("127.0.0.1:8080", "another address")] {
            do {
                _ = try await ServerConfiguration.load(flags: ["data": folder, "metrics": metrics], environment: [:])
                Issue.record("\(metrics) is taken")
            } catch let error as ConfigurationError {
                #expect("\(error)".contains(word), "\(error)")
                #expect("\(error)".contains("metrics"), "\(error)")
            }
        }
    }

    @Test func anAddressThatIsTakenIsNamedWithItsSetting() async throws {
        try await RunningServer.with { running in
            let port = try #require(URL(string: running.origin)?.port)
            let folder = running.folder.file("other")
            do {
                _ = try await SealServer.Server(
                    configuration: ServerConfiguration(
                        dataFolder: folder, listen: ListenAddress(host: "127.0.0.1", port: 0), logLevel: .critical,
                        metrics: ListenAddress(host: "127.0.0.1", port: port)))
                Issue.record("it starts")
            } catch let error as ListenFailure {
                #expect(error.setting == "metrics")
                #expect("\(error)".contains("--metrics"))
            }
            #expect(!FileManager.default.fileExists(atPath: folder))
        }
    }

    /// Somebody takes one of the two addresses after the start has tried them.
    @Test(arguments: ["listen", "metrics"]) func anAddressThatIsTakenMeanwhileIsNamedWithItsSetting(setting: String)
        async throws
    {
        try await RunningServer.with { running in
            let taken = ListenAddress(host: "127.0.0.1", port: try #require(URL(string: running.origin)?.port))
            let application = Application(
                router: Router(),
                configuration: ApplicationConfiguration(address: .hostname(taken.host, port: taken.port)),
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let expected = ListenFailure(IOError(errnoCode: EADDRINUSE, reason: "bind"), at: taken, setting: setting)
            let service = ListeningService(listener: application, address: taken, setting: setting)
            var found: ListenFailure?
            do { try await service.run() } catch { found = error as? ListenFailure }
            #expect(found != nil)
            #expect(found == expected)
        }
    }
}
