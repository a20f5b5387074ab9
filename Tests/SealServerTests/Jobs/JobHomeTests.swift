import HTTPTypes
import SealSchema
import SealStatements
import SealWire
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

    /// What has expired, and what is looked after where it is.
    @Test func theSweepHasNothingButWhatItSweeps() async throws {
        let hook = WriteHook()
        try await RunningServer.with(hook: hook) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone("notes")
            let saved = try await anna.save([Write("one")], in: zone)
            _ = try await anna.save([Write(after: saved[0], kind: .delete)], in: zone)
            try await anna.subscribe(.database("all"))
            _ = try await anna.save([Write("two")], in: zone)
            try await server.services.database.write(at: .everything) { connection in
                try connection.execute(
                    """
                    INSERT INTO blob (owner, zone, id, uploader, stored, created, announced)
                    SELECT owner, zone, 'staged', owner, 'file', 1, 1 FROM zone WHERE name = 'notes'
                    """)
            }
            try await waitUntil("its jobs have looked") { server.services.jobs.areIdle }
            _ = hook.takeHomes(of: .sweep)
            func left() async throws -> [Int64] {
                try await server.services.database.read { connection in
                    try [
                        "record WHERE deleted = 1 AND position > 0", "blob", "operation", "notification",
                    ].map { try connection.first("SELECT COUNT(*) AS n FROM \($0)") { try $0.int64("n") } ?? -1 }
                }
            }
            let before = try await left().filter { $0 > 0 }
            #expect(before.count == 4)
            try await server.services.jobs.run(.sweep, now: server.clock.now + 4_000 * 86_400_000_000)
            #expect(try await left() == [0, 0, 0, 0])
            let hasDrifted = try await server.services.database.read { try StorageUsage.hasDrifted(in: $0) }
            #expect(hasDrifted == false)
            let homes = hook.takeHomes(of: .sweep)
            // Of a blob, and of a deletion.
            let inZones = homes.count { if case .zone = $0 { true } else { false } }
            #expect(inZones == 2)
            #expect(!homes.contains(.everything))
        }
    }

    /// Each subscription ends beside its account's bill, and those of several accounts by one step.
    @Test func whatFiresOnceEndsForManyAtOnce() async throws {
        let hook = WriteHook()
        try await RunningServer.with(hook: hook) { server in
            var people: [Person] = []
            for _ in 0..<4 { people.append(try await Person.ready(server)) }
            _ = try await people[0].savePublic([PublicWrite("first", type: "T")])
            for person in people {
                try await person.subscribe(.query("once", type: "T", firesOn: 1 | 8), in: "public")
            }
            try await waitUntil("its jobs have looked") { server.services.jobs.areIdle }
            _ = hook.takeHomes(of: .publicNotifications)
            _ = try await people[0].savePublic([PublicWrite("second", type: "T")])
            try await waitUntil("all are told") {
                try await server.services.database.read { try !$0.exists("SELECT 1 FROM public_change") }
            }
            // One finds whose bills it needs, the next one has them, and a last one that nobody is left.
            let steps = hook.takeHomes(of: .publicNotifications)
            #expect((2...3).contains(steps.count))
            let (isLeft, hasDrifted) = try await server.services.database.read {
                (try $0.exists("SELECT 1 FROM subscription"), try StorageUsage.hasDrifted(in: $0))
            }
            #expect(!isLeft)
            #expect(hasDrifted == false)
        }
    }

    @Test func webhooksAndMessagesHaveNothingButTheirLease() async throws {
        let hook = WriteHook()
        try await WebhookReceiver.with { receiver in
            receiver.answer([.internalServerError])
            try await RunningServer.with(hook: hook, webhookOrigins: [receiver.origin]) { server in
                let anna = try await Person.ready(server)
                let zone = try await anna.makeZone("notes")
                var subscription = Sealkit_V1_Subscription.database("all")
                subscription.webhook = receiver.origin + "/anna"
                try await anna.subscribe(subscription)
                _ = try await anna.save([Write("one")], in: zone)
                _ = try await receiver.delivery(1)
                try await waitUntil("it is postponed") {
                    try await server.services.database.read {
                        try $0.exists("SELECT 1 FROM webhook WHERE attempts = 1")
                    }
                }
                server.clock.advance(seconds: 2)
                server.services.jobs.wake(.webhooks)
                _ = try await receiver.delivery(2)
                try await waitUntil("it is settled") {
                    try await server.services.database.read { try !$0.exists("SELECT 1 FROM webhook WHERE due > 0") }
                }
                try await server.services.jobs.run(.outbox)
                // Postponed at home in the job, settled for its owner alone.
                let owner = try await server.services.database.read {
                    try $0.first("SELECT owner FROM webhook") { try $0.int64("owner") }
                }
                let own = Home.entry(Array("webhook of \(owner ?? 0)".utf8))
                #expect(Set(hook.takeHomes(of: .webhooks)) == [.job(Job.Name.webhooks.rawValue), own])
                #expect(Set(hook.takeHomes(of: .outbox)) == [.job(Job.Name.outbox.rawValue)])
            }
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

/// The same where others write meanwhile.
@Suite(.withPostgres, .timeLimit(.minutes(60))) struct PostgresErasureTests {
    /// Everybody's kept answers are gone through for one account's.
    @Test func answersAreErasedBesideOthersWrites() async throws {
        try await RunningServer.onPostgres { server, address in
            let anna = try await Person.ready(server)
            _ = try await anna.save([Write("one")], in: try await anna.makeZone("notes"))
            let answers = "SELECT COUNT(*) AS n FROM operation"
            #expect(try await server.count(answers) == 2)
            let other = try OpenWrite(address)
            // As if the account had just been closed.
            _ = try await server.services.database.write(at: .job(Job.Name.erasure.rawValue)) { connection in
                try connection.execute(
                    "INSERT INTO account_deletion (account, swept) SELECT account, 0 FROM identity")
            }
            let erasure = Task { try await server.services.jobs.run(.erasure) }
            try await waitUntil("the answers are gone") { try await server.count(answers) == 0 }
            #expect(try await server.count("SELECT COUNT(*) AS n FROM account_deletion") == 1)
            try other.end()
            try await erasure.value
            #expect(try await server.count("SELECT COUNT(*) AS n FROM account_deletion") == 0)
        }
    }
}
