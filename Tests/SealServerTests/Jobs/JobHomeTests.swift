import SealSchema
import SealStatements
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Where the steps of jobs are at home: one that has everything to itself holds up every save of every zone.
@Suite(.timeLimit(.minutes(60))) struct JobHomeTests {
    @Test func anIndexIsMadeAtHomeInItsZones() async throws {
        let hook = WriteHook()
        try await RunningServer.with(hook: hook) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone("notes")
            _ = try await anna.save([.thing("one", ["age": .int64(1)]), .thing("two", ["age": .int64(2)])], in: zone)
            try await waitUntil("its jobs have looked") { server.services.jobs.areIdle }
            _ = hook.takeHomes(of: .indexes)
            try await server.setIndexes(of: "age", from: [.queryable, .sortable], to: [])
            try await server.services.jobs.run(.indexes)
            try await server.setIndexes(of: "age", from: [], to: .queryable)
            try await server.services.jobs.run(.indexes)
            #expect(try await server.nextIndexPart() == nil)
            #expect(try await server.indexEntries() == 2)
            let homes = hook.takeHomes(of: .indexes)
            let isInZones = homes.contains { if case .zone = $0 { true } else { false } }
            #expect(isInZones)
            #expect(!homes.contains(.everything))
        }
    }

    @Test func whatAZoneHeldIsRemovedAtHomeThere() async throws {
        let hook = WriteHook()
        try await RunningServer.with(hook: hook) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone("notes")
            _ = try await anna.save([Write("one")], in: zone)
            try await server.services.database.write(at: .everything) { connection in
                try connection.execute("INSERT INTO zone_remains (owner, zone) SELECT owner, zone FROM zone")
            }
            try await server.services.jobs.run(.garbage)
            let isLeft = try await server.services.database.read { try ZoneRemains.areThere(in: $0) }
            #expect(!isLeft)
            let homes = hook.takeHomes(of: .garbage)
            let isInZones = homes.contains { if case .zone = $0 { true } else { false } }
            #expect(isInZones)
            #expect(!homes.contains(.everything))
        }
    }

    /// Of two servers each step has its lease to itself, whatever else it has.
    @Test func stepsOfAJobHaveItsLeaseToThemselves() async throws {
        #expect(!Home.job("feeds").isShared)
        #expect(PostgresHomes.number(of: .job("feeds")) != PostgresHomes.number(of: .job("garbage")))
        #expect(
            PostgresHomes.begin(Homes(.zone(owner: 1, zone: 2), beside: [.job("feeds")]))
                .contains("pg_advisory_xact_lock(\(PostgresHomes.number(of: .job("feeds")) ?? 0))"))
    }
}
