import SealStatements
import SealWire
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Saves that run at the same time, each at its zone's home: they leave what they would have left one after the other.
@Suite(.withPostgres, .timeLimit(.minutes(60))) struct PostgresSaveTests {
    private static let (people, saves) = (8, 24)

    /// What is there in the end, whoever was first.
    private struct End: Equatable {
        /// By person: of records, how many the account is billed for; places in the private and in the shared feed;
        /// numbers in the notifications' feed, and what lies in it.
        var accounts: [[Int64]] = []
        /// By zone: its place, and the records' names with their revisions.
        var zones: [String] = []
    }

    private struct Group: Sendable {
        var people: [Person] = []
        /// Of each person's own; those of the first four are shared, each with the next two people.
        var zones: [TestZone] = []

        func mayWrite(_ person: Int, _ zone: Int) -> Bool {
            person == zone || (zone < 4 && [(zone + 1) % people.count, (zone + 2) % people.count].contains(person))
        }
    }

    /// Everybody is told of the changes of all zones by subscriptions.
    private static func make(_ server: RunningServer) async throws -> Group {
        var group = Group()
        for _ in 0..<people { group.people.append(try await Person.ready(server)) }
        for (index, person) in group.people.enumerated() {
            var zone = try await index < 4 ? person.makeSharedZone("zone\(index)") : person.makeZone("zone\(index)")
            if index < 4 {
                for other in [index + 1, index + 2] {
                    try await person.share(&zone, with: group.people[other % people])
                }
            }
            group.zones.append(zone)
        }
        for person in group.people {
            try await person.subscribe(.database("all"), in: "private")
            try await person.subscribe(.database("others"), in: "shared")
        }
        // From here on all of them save by what is remembered of these.
        for person in group.people.indices {
            for zone in group.zones.indices where group.mayWrite(person, zone) {
                _ = try await group.people[person].save([Write("first \(person)")], in: group.zones[zone])
            }
        }
        return group
    }

    /// Each saves in the zones that it may write to, in turns; every third time two records at once.
    private static func save(_ person: Int, _ group: Group) async throws {
        let zones = group.zones.indices.filter { group.mayWrite(person, $0) }
        for index in 0..<saves {
            let names = index % 3 == 0 ? ["\(person) \(index) a", "\(person) \(index) b"] : ["\(person) \(index)"]
            let zone = group.zones[zones[index % zones.count]]
            _ = try await group.people[person].save(names.map { Write($0) }, in: zone)
        }
    }

    private static func end(_ server: RunningServer, _ group: Group) async throws -> End {
        try await server.services.database.read { connection in
            #expect(try StorageUsage.hasDrifted(in: connection) == false)
            var end = End()
            for person in group.people {
                let identity = "SELECT id FROM identity WHERE user_name = $1"
                let account = "SELECT account FROM identity WHERE user_name = $1"
                let queries: [String] = [
                    "SELECT records AS n FROM storage_usage WHERE owner = 0 AND account = (\(account))",
                    "SELECT position AS n FROM database_feed WHERE shared = 0 AND viewer = (\(identity))",
                    "SELECT position AS n FROM database_feed WHERE shared = 1 AND viewer = (\(identity))",
                    "SELECT last AS n FROM notification_feed WHERE owner = (\(identity))",
                    "SELECT COUNT(*) AS n FROM notification WHERE owner = (\(identity))",
                ]
                end.accounts.append(
                    try queries.map { try connection.first($0, [.text(person.name)]) { try $0.int64("n") } ?? -1 })
            }
            for zone in group.zones {
                let key: [SQLValue] = [.text(zone.name)]
                let position = try connection.first("SELECT position FROM zone WHERE name = $1", key) {
                    try $0.int64("position")
                }
                let places = try connection.rows(
                    """
                    SELECT r.name, r.position, r.revision FROM record r JOIN zone z ON z.owner = r.owner AND z.zone = r.zone
                    WHERE z.name = $1 ORDER BY r.name
                    """, key
                ) { (try $0.text("name"), try $0.int64("position"), try $0.int64("revision")) }
                // Each place was given out once.
                #expect(Set(places.map(\.1)).count == places.count)
                end.zones.append("\(position ?? -1): \(places.map { "\($0.0) \($0.2)" })")
            }
            // No two views of a feed have one place, and none is beyond its feed's.
            let twice = try connection.exists(
                """
                SELECT 1 FROM zone_view v JOIN database_feed f ON f.viewer = v.viewer AND f.environment = v.environment
                    AND f.shared = v.shared
                GROUP BY v.viewer, v.environment, v.shared, v.position
                HAVING COUNT(*) > 1 OR MAX(v.position) > MAX(f.position)
                """)
            #expect(!twice)
            return end
        }
    }

    private static func run(
        registry: MetricsRegistry? = nil, runsTwice: Bool, _ saving: @Sendable (Group) async throws -> Void
    ) async throws -> End {
        let folder = TemporaryFolder()
        let postgres = try #require(TestPostgres.shared)
        let url = postgres.url(of: try postgres.database(of: folder.path, hasTables: true))
        let end = Mutex(End())
        try await RunningServer.with(
            folder: folder, runsTwice: runsTwice, registry: registry, database: DatabaseConfiguration(url: url)
        ) { server in
            let group = try await make(server)
            try await saving(group)
            let found = try await Self.end(server, group)
            end.withLock { $0 = found }
        }
        postgres.drop(of: folder.path)
        return end.withLock { $0 }
    }

    @Test func whatRunsAtTheSameTimeEndsAsWhatRunsInTurns() async throws {
        let registry = MetricsRegistry()
        let serial = try await Self.run(runsTwice: true) { group in
            for person in group.people.indices { try await Self.save(person, group) }
        }
        let parallel = try await Self.run(registry: registry, runsTwice: false) { group in
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for person in group.people.indices { tasks.addTask { try await Self.save(person, group) } }
                try await tasks.waitForAll()
            }
        }
        #expect(serial.accounts == parallel.accounts)
        #expect(serial.zones == parallel.zones)
        func number(_ metric: ServerMetric, of label: String) -> Double {
            registry.all().first { $0.metric == metric && $0.values == [label] }?.series.number ?? 0
        }
        #expect(number(.connects, of: "writer") > 1, "nothing ran at the same time")
        // Everybody changes what is not their zone's in one order, group by group: no two wait for each other.
        #expect(number(.triesAgain, of: "postgresql") == 0)
    }
}
