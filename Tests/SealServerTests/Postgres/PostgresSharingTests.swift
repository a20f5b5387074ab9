import SealStatements
import SealWire
import Synchronization
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Rosters that change at the same time, each at its zone's home.
@Suite(.withPostgres, .timeLimit(.minutes(60))) struct PostgresSharingTests {
    private static let people = 6

    /// What is there in the end, whoever was first.
    private struct End: Equatable {
        /// By person: records; places in the private and in the shared feed; numbers in the notifications' feed, and
        /// what lies in it; zones that are seen, and that are not any more; kept answers.
        var accounts: [[Int64]] = []
        /// By zone: its place, who takes part, and its roster's entries.
        var zones: [[Int64]] = []
    }

    private struct Group: Sendable {
        var people: [Person] = []
        var zones: [TestZone] = []
    }

    private static func make(_ server: RunningServer) async throws -> Group {
        var group = Group()
        for _ in 0..<people { group.people.append(try await Person.ready(server)) }
        for (index, person) in group.people.enumerated() {
            group.zones.append(try await person.makeSharedZone("zone\(index)"))
            try await person.subscribe(.database("all"), in: "private")
            try await person.subscribe(.database("others"), in: "shared")
            _ = try await person.save([Write("first")], in: group.zones[index])
        }
        return group
    }

    /// Lets all others in, one after the other, saves in between, and puts two of them out again. Who is first differs,
    /// so that feeds are come to in all orders.
    private static func share(_ owner: Int, _ group: Group) async throws {
        var zone = group.zones[owner]
        for step in 1..<people {
            let other = group.people[(owner * 5 + step * (owner % 2 == 0 ? 1 : people - 1)) % people]
            guard other.user != zone.owner else { continue }
            try await group.people[owner].share(&zone, with: other)
            _ = try await group.people[owner].save([Write("\(step)")], in: zone)
        }
        for step in 1...2 {
            let other = group.people[(owner + step) % people]
            guard zone.roster.members[other.user] != nil else { continue }
            try await group.people[owner].remove(other, from: &zone)
        }
    }

    private static func end(_ server: RunningServer, _ group: Group) async throws -> End {
        try await server.services.database.read { connection in
            #expect(try StorageUsage.hasDrifted(in: connection) == false)
            var end = End()
            let identity = "(SELECT id FROM identity WHERE user_name = $1)"
            let account = "(SELECT account FROM identity WHERE user_name = $1)"
            let queries: [String] = [
                "SELECT records AS n FROM storage_usage WHERE owner = 0 AND account = \(account)",
                "SELECT position AS n FROM database_feed WHERE shared = 0 AND viewer = \(identity)",
                "SELECT position AS n FROM database_feed WHERE shared = 1 AND viewer = \(identity)",
                "SELECT last AS n FROM notification_feed WHERE owner = \(identity)",
                "SELECT COUNT(*) AS n FROM notification WHERE owner = \(identity)",
                "SELECT COUNT(*) AS n FROM zone_view WHERE gone = 0 AND viewer = \(identity)",
                "SELECT COUNT(*) AS n FROM zone_view WHERE gone <> 0 AND viewer = \(identity)",
                "SELECT COUNT(*) AS n FROM operation WHERE account = \(account)",
            ]
            for person in group.people {
                end.accounts.append(
                    try queries.map { try connection.first($0, [.text(person.name)]) { try $0.int64("n") } ?? -1 })
            }
            for zone in group.zones {
                let queries: [String] = [
                    "SELECT position AS n FROM zone WHERE name = $1",
                    "SELECT participants AS n FROM zone WHERE name = $1",
                    """
                    SELECT COUNT(*) AS n FROM roster_entry r JOIN zone z ON z.owner = r.owner AND z.zone = r.zone
                    WHERE z.name = $1
                    """,
                ]
                end.zones.append(
                    try queries.map { try connection.first($0, [.text(zone.name)]) { try $0.int64("n") } ?? -1 })
            }
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
        registry: MetricsRegistry? = nil, _ sharing: @escaping @Sendable (Group) async throws -> Void
    ) async throws -> End {
        let end = Mutex(End())
        try await RunningServer.onPostgres(registry: registry) { server, _ in
            let group = try await make(server)
            try await sharing(group)
            let found = try await Self.end(server, group)
            end.withLock { $0 = found }
        }
        return end.withLock { $0 }
    }

    @Test func whatRunsAtTheSameTimeEndsAsWhatRunsInTurns() async throws {
        let registry = MetricsRegistry()
        let serial = try await Self.run { group in
            for owner in group.people.indices { try await Self.share(owner, group) }
        }
        let parallel = try await Self.run(registry: registry) { group in
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for owner in group.people.indices { tasks.addTask { try await Self.share(owner, group) } }
                try await tasks.waitForAll()
            }
        }
        #expect(serial.accounts == parallel.accounts)
        #expect(serial.zones == parallel.zones)
        func number(_ metric: ServerMetric, of label: String) -> Double {
            registry.all().first { $0.metric == metric && $0.values == [label] }?.series.number ?? 0
        }
        #expect(number(.connects, of: "writer") > 1, "nothing ran at the same time")
        #expect(number(.triesAgain, of: "postgresql") == 0)
    }

    /// Of the owner's, by name.
    private static func home(of zone: TestZone, _ server: RunningServer) async throws -> Home {
        let key: [SQLValue] = [.text(zone.name), .text(zone.owner.recordName)]
        return .zone(
            owner: try await server.count("SELECT owner AS n FROM zone WHERE name = $1 AND owner_name = $2", key),
            zone: try await server.count("SELECT zone AS n FROM zone WHERE name = $1 AND owner_name = $2", key))
    }

    @Test func whoSharesWaitsForItsZoneAlone() async throws {
        try await RunningServer.onPostgres { server, address in
            let (anna, bert, carl) = (
                try await Person.ready(server), try await Person.ready(server), try await Person.ready(server)
            )
            let shared = try await anna.makeSharedZone("notes")
            let zone = Mutex(shared)
            try await OpenWrite(address).expect(goesOn: true) {
                var own = zone.withLock { $0 }
                try await anna.share(&own, with: bert)
                try await anna.updateLinks(own)
                try await anna.updateAccess(own, allows: true)
                let routing = [UInt8](try await anna.links(own).links[0].routingID)
                try await carl.ask(routing)
                try await anna.remove(bert, from: &own)
                zone.withLock { [own] in $0 = own }
            }
            let home = try await Self.home(of: shared, server)
            let own = zone.withLock { $0 }
            try await OpenWrite(address, at: home).expect(goesOn: false) { try await anna.updateLinks(own) }
            try await OpenWrite(address, at: home).expect(goesOn: false) {
                var own = own
                try await anna.share(&own, with: bert)
            }
        }
    }

    /// Whoever asks in several zones at once is counted as if they asked one after the other.
    @Test func nobodyAsksForMoreAtOnceThanInTurns() async throws {
        try await RunningServer.onPostgres { server, address in
            let (anna, bert, carl) = (
                try await Person.ready(server), try await Person.ready(server), try await Person.ready(server)
            )
            var zone = try await anna.makeSharedZone("notes")
            try await anna.share(&zone, with: bert)
            try await anna.updateAccess(zone, allows: true)
            let routing = [UInt8](try await anna.links(zone).links[0].routingID)
            let account = try await server.count(
                "SELECT account AS n FROM identity WHERE user_name = $1", [.text(carl.name)])
            try await OpenWrite(address, beside: [.bill(account)]).expect(goesOn: false) {
                try await carl.ask(routing)
            }
        }
    }
}
