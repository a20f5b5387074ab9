import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

extension RunningServer {
    /// A server on a new database of PostgreSQL's, whose writes run once: beside each other, where they are at home in
    /// different places. None is begun anew for having waited long, which on a loaded machine says nothing.
    static func onPostgres(
        registry: MetricsRegistry? = nil, webhookOrigins: [String] = [],
        _ body: @escaping @Sendable (RunningServer, PostgresAddress) async throws -> Void
    ) async throws {
        let folder = TemporaryFolder()
        let postgres = try #require(TestPostgres.shared)
        let name = try postgres.database(of: folder.path, hasTables: true)
        let address = try postgres.address(of: name)
        var limits = ServerLimits()
        limits.writeBudget = 60
        try await with(
            folder: folder, serverLimits: limits, webhookOrigins: webhookOrigins, runsTwice: false, registry: registry,
            database: DatabaseConfiguration(url: postgres.url(of: name))
        ) { server in
            // What they write as they begin is no part of any test.
            try await waitUntil("its jobs have looked") { server.services.jobs.areIdle }
            try await body(server, address)
        }
        postgres.drop(of: folder.path)
    }

    func count(_ sql: String, _ values: [SQLValue] = []) async throws -> Int64 {
        try await services.database.read { try $0.first(sql, values) { try $0.int64("n") } ?? -1 }
    }
}

/// A write that does not end before it is told to, by a connection of its own.
struct OpenWrite {
    /// Of nobody.
    static let elsewhere = Home.zone(owner: 1 << 40, zone: 1)

    private let session: PostgresSession
    private let connection: PostgresConnection

    init(
        _ address: PostgresAddress, at home: Home = elsewhere, beside others: Set<Home> = [],
        _ body: (any SQLConnection) throws -> Void = { _ in }
    ) throws {
        session = PostgresSession(.writer, address) { _ in }
        try session.connectAgain()
        session.begin(PostgresHomes.begin(Homes(home, beside: others)))
        connection = PostgresConnection(session)
        try connection.mayStandStill()
        try body(connection)
    }

    func end() throws {
        try session.commit()
        session.close()
    }

    /// Whether somebody waits for what it holds.
    func isInTheWay() throws -> Bool {
        try connection.exists(
            "SELECT 1 FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))")
    }

    /// - Parameter goesOn: whether `body` is done before this write ends, or waits for it.
    func expect(
        goesOn: Bool, _ body: @escaping @Sendable () async throws -> Void,
        _ place: SourceLocation = #_sourceLocation
    ) async throws {
        let isDone = Atomic(false)
        let other = Task {
            try await body()
            isDone.store(true, ordering: .releasing)
        }
        var isHeldUp = false
        for _ in 0..<2_000 where !isHeldUp && !isDone.load(ordering: .acquiring) {
            try await Task.sleep(for: .milliseconds(10))
            // A job that has everything may wait for it as well.
            if !goesOn { isHeldUp = try isInTheWay() }
        }
        let hasGoneOn = isDone.load(ordering: .acquiring)
        try end()
        try await other.value
        #expect(hasGoneOn == goesOn, sourceLocation: place)
    }
}
