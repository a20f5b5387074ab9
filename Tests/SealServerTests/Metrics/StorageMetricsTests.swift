import Logging
import SealLab
import Testing

@testable import SealServer
@testable import SealStorage

/// What the metrics tell of the database, by engine.
@Suite(.timeLimit(.minutes(60))) struct StorageMetricsTests {
    /// The number of a counter or a gauge; nil where there is none.
    private static func value(_ metric: ServerMetric, _ values: [String], _ registry: MetricsRegistry) -> Double? {
        registry.all().first { $0.metric == metric && $0.values == values }?.series.number
    }

    private static func look(_ server: RunningServer) async {
        server.services.metrics.collect()
        await ReplicationWatch(
            database: server.services.database, metrics: server.services.metrics, logger: server.services.logger
        ).look()
    }

    @Test func aFileHasNoStandbys() async throws {
        let registry = MetricsRegistry()
        try await RunningServer.with(registry: registry, hasFile: true) { server in
            let anna = try await Person.ready(server)
            _ = try await anna.makeZone()
            await Self.look(server)
            #expect(try #require(Self.value(.commits, ["sqlite", "done"], registry)) > 1)
            #expect(try #require(Self.value(.readConnections, [], registry)) >= 1)
            #expect(Self.value(.readsWaiting, [], registry) == 0)
            for metric in [ServerMetric.standbys, .replicationBytes, .connects, .triesAgain] {
                #expect(!registry.all().contains { $0.metric == metric }, "\(metric)")
            }
        }
    }

    private struct TakenBack: Error {}

    @Test func aCommitOfNothingIsNone() async throws {
        let (registry, folder) = (MetricsRegistry(), TemporaryFolder())
        let database = try SQLiteDatabase(
            path: folder.file("db.sqlite"), migrations: StorageTests.table,
            budget: WriteBudget(metrics: ServerMetrics(factory: registry)))
        await #expect(throws: TakenBack.self) { try await database.write(at: .everything) { _ in throw TakenBack() } }
        #expect(Self.value(.commits, ["sqlite", "done"], registry) == nil)
        try await database.write(at: .everything) { try $0.execute("INSERT INTO t (id) VALUES (1)") }
        #expect(Self.value(.commits, ["sqlite", "done"], registry) == 1)
        try await database.close()
    }

    /// Once nobody follows, and once the database is away, no gauge has the number of a former look.
    @Test(.withPostgres) func whatCannotBeToldIsNoNumber() async throws {
        let postgres = try await PostgresProcess(hasStandby: true, isDurable: false)
        let shared = TestPostgres(postgres.url, dataFolder: postgres.dataFolder)
        try shared.run("CREATE DATABASE notes TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'")
        let registry = MetricsRegistry()
        let metrics = ServerMetrics(factory: registry)
        let database = try PostgresDatabase(
            try shared.address(of: "notes"), migrations: [SQLDatabaseTests.table],
            budget: WriteBudget(metrics: metrics))
        let watch = ReplicationWatch(database: database, metrics: metrics, logger: Logger(label: "test"))
        func isNumber(_ metric: ServerMetric) -> Bool? { Self.value(metric, [], registry).map { !$0.isNaN } }
        try await waitUntil("the standby follows") {
            await watch.look()
            return isNumber(.replicationBytes) == true
        }
        try await postgres.promoteStandby()
        try await waitUntil("nobody follows") {
            await watch.look()
            return Self.value(.standbys, [], registry) == 0
        }
        #expect(isNumber(.replicationBytes) == false && isNumber(.replicationSeconds) == false)
        try postgres.kill()
        try await waitUntil("the database is away") {
            await watch.look()
            return isNumber(.standbys) == false
        }
        // A commit that could not even begin is one that failed.
        await #expect(throws: StorageError.self) {
            try await database.write(at: .everything) { try $0.execute("INSERT INTO t (id) VALUES (1)") }
        }
        #expect(Self.value(.commits, ["postgresql", "failed"], registry) == 1)
        try await database.close()
        await postgres.stop()
    }

    @Test(.withPostgres) func whatPostgresDoesIsCounted() async throws {
        let postgres = try await PostgresProcess(hasStandby: true, isDurable: false)
        let shared = TestPostgres(postgres.url, dataFolder: postgres.dataFolder)
        try shared.run("CREATE DATABASE notes TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'")
        let registry = MetricsRegistry()
        try await RunningServer.with(registry: registry, database: DatabaseConfiguration(url: shared.url(of: "notes")))
        {
            server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            await Self.look(server)
            let commits = try #require(Self.value(.commits, ["postgresql", "done"], registry))
            #expect(commits > 1)
            // One, and more where a job has written at another home beside.
            let connects = try #require(Self.value(.connects, ["writer"], registry))
            #expect(connects >= 1)
            #expect(try #require(Self.value(.connects, ["reader"], registry)) >= 1)
            #expect(try #require(Self.value(.readConnections, [], registry)) >= 1)
            #expect(Self.value(.standbys, [], registry) == 1)
            #expect(try #require(Self.value(.replicationBytes, [], registry)) >= 0)
            #expect(try #require(Self.value(.replicationSeconds, [], registry)) >= 0)
            // A connection that is lost is opened again, and what was in it begun anew.
            try shared.run(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'sealkit' AND datname = 'notes'"
            )
            let saved = try await anna.save([Write("a")], in: zone)
            #expect(saved.allSatisfy { $0.result.code == nil })
            #expect(try #require(Self.value(.connects, ["writer"], registry)) > connects)
            #expect(try #require(Self.value(.commits, ["postgresql", "done"], registry)) > commits)
        }
        await postgres.stop()
    }

    /// A role that may not see other sessions is told how many standbys there are, and not how far they are behind.
    @Test(.withPostgres) func aRoleWithoutTheRightSeesNoDelay() async throws {
        let postgres = try await PostgresProcess(hasStandby: true, isDurable: false)
        let shared = TestPostgres(postgres.url, dataFolder: postgres.dataFolder)
        try shared.run("CREATE ROLE plain LOGIN")
        try shared.run("CREATE DATABASE notes TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C' OWNER plain")
        let url = shared.url(of: "notes").replacing("postgres@", with: "plain@")
        let database = try PostgresDatabase(try PostgresAddress(url, password: nil), migrations: [])
        let unseen = try await database.read { try PostgresStandbys(seenBy: $0) }
        #expect(unseen?.count == 1 && unseen?.delay == nil)
        try shared.run("GRANT pg_monitor TO plain")
        let seen = try await database.read { try PostgresStandbys(seenBy: $0) }
        #expect(seen?.count == 1 && seen?.delay != nil)
        try await database.close()
        await postgres.stop()
    }
}
