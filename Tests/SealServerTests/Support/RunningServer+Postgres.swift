import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

extension RunningServer {
    /// A server on a new database of PostgreSQL's, whose writes run once: beside each other, where they are at home in
    /// different places.
    static func onPostgres(
        registry: MetricsRegistry? = nil, webhookOrigins: [String] = [],
        _ body: @escaping @Sendable (RunningServer, PostgresAddress) async throws -> Void
    ) async throws {
        let folder = TemporaryFolder()
        let postgres = try #require(TestPostgres.shared)
        let name = try postgres.database(of: folder.path, hasTables: true)
        let address = try postgres.address(of: name)
        try await with(
            folder: folder, webhookOrigins: webhookOrigins, runsTwice: false, registry: registry,
            database: DatabaseConfiguration(url: postgres.url(of: name))
        ) { try await body($0, address) }
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

    init(
        _ address: PostgresAddress, at home: Home = elsewhere, beside others: Set<Home> = [],
        _ body: (any SQLConnection) throws -> Void = { _ in }
    ) throws {
        session = PostgresSession(.writer, address) { _ in }
        try session.connectAgain()
        session.begin(PostgresHomes.begin(Homes(home, beside: others)))
        let connection = PostgresConnection(session)
        try connection.mayStandStill()
        try body(connection)
    }

    func end() throws {
        try session.commit()
        session.close()
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
        // Whoever is not let through is not waited for long.
        for _ in 0..<(goesOn ? 2_000 : 40) where !isDone.load(ordering: .acquiring) {
            try await Task.sleep(for: .milliseconds(10))
        }
        let hasGoneOn = isDone.load(ordering: .acquiring)
        try end()
        try await other.value
        #expect(hasGoneOn == goesOn, sourceLocation: place)
    }
}
