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
            #expect(Self.value(.connects, ["writer"], registry) == 1)
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
            #expect(try #require(Self.value(.connects, ["writer"], registry)) == 2)
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
