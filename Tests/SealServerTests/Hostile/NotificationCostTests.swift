import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// What subscriptions cost those who save, and how much room what they are told takes.
@Suite(.timeLimit(.minutes(60))) struct NotificationCostTests {
    private static func notifications(_ server: RunningServer) async throws -> Int64 {
        try await server.rows(in: ["notification"])["notification"] ?? 0
    }

    /// Everybody's saves pay for what one participant has subscribed to.
    @Test func databaseSubscriptionsOfAParticipantCostNoSaveARowEach() async throws {
        let counter = StatementCounter()
        try await RunningServer.with(counter: counter) { server in
            let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
            var zone = try await anna.makeSharedZone()
            try await anna.share(&zone, with: bert)
            let most = PushLimits.subscriptionsPerChange
            func subscribe(_ range: Range<Int>, type: String = "") async throws {
                for start in stride(from: range.lowerBound, to: range.upperBound, by: 400) {
                    let some = (start..<min(start + 400, range.upperBound)).map {
                        Sealkit_V1_Subscription.database("s\($0)", type: type)
                    }
                    let results = try await bert.modifySubscriptions(saving: some, in: "shared")
                    #expect(results.allSatisfy { if case .subscription = $0.outcome { true } else { false } })
                }
            }
            try await subscribe(0..<most)
            // Of another type than what is saved: they count nothing.
            try await subscribe(most..<most + 400, type: "Other")
            let pad = try await bert.onAnotherDevice().listen()
            _ = try await anna.save([Write("a")], in: zone)
            for index in 0..<most {
                #expect(try await pad.next().name == "notification", "\(index)")
            }
            let before = try await Self.notifications(server)
            #expect(before == Int64(most))

            try await subscribe(most + 400..<1_000)
            let changed = counter.changed
            _ = try await anna.save([Write("b")], in: zone)
            #expect(counter.changed - changed < 100)
            #expect(try await Self.notifications(server) == before)
            #expect(try await pad.next().name == "reset")
        }
    }

    /// Zone and database subscriptions fill a feed as query subscriptions do.
    @Test func aFeedKeepsWhatItMay() async throws {
        try await RunningServer.withZone { anna, zone, server in
            let most = PushLimits.subscriptionsPerChange
            _ = try await anna.modifySubscriptions(saving: (0..<most).map { .database("s\($0)") })
            for start in [0, 65] {
                let zones = try (start..<start + 65).map { ("z\($0)", try anna.opening("z\($0)")) }
                _ = try await anna.modifyZones(saving: zones)
            }
            let kept = try await Self.notifications(server)
            #expect(kept <= Int64(PushLimits.notifications + 16 * most))
            #expect(kept > Int64(PushLimits.notifications - most))
        }
    }

    /// Two that take turns with a feed's numbers leave none of them to the other.
    @Test func feedsOfSeveralKindsAreKeptSmall() async throws {
        try await RunningServer.withZone { anna, zone, server in
            _ = try await anna.modifySubscriptions(saving: [.zone(zone), .query()])
            try await server.services.database.write(at: .everything) { connection in
                let path = DatabasePath(container: TestClient.container, environment: .development, database: .private)
                let caller = try anna.caller(connection)
                let row = try Zones.writable(zone.id(for: anna), by: caller, path, in: connection)
                let notifier = Notifier(zone: row, caller: caller, now: 1, connection: connection)
                let fired = FiredSubscriptions(zone: row.key, origin: [1], changed: 1, connection: connection)
                // The query's are odd from here on.
                for index in 0..<5_200 {
                    _ = try fired.write([
                        FiredSubscriptions.Row(
                            owner: caller.id, environment: Int64(Environment.development.rawValue),
                            database: SubscribedDatabase.private.rawValue, subscription: "query", record: "r\(index)",
                            payload: [])
                    ])
                    try notifier.zoneChanged(shares: [], comesOrGoes: false)
                }
            }
            let kept = try await Self.notifications(server)
            #expect(kept <= Int64(PushLimits.notifications + 16))
            #expect(kept > Int64(PushLimits.notifications - 16))
        }
    }

    /// What is too old goes in steps, and a device that has not seen it is told.
    @Test func oldNotificationsGoInSteps() async throws {
        try await RunningServer.withZone { anna, zone, server in
            try await anna.subscribe(.query())
            let owner = try await server.services.database.write(at: .everything) { connection -> Int64 in
                let path = DatabasePath(container: TestClient.container, environment: .development, database: .private)
                let caller = try anna.caller(connection)
                let row = try Zones.writable(zone.id(for: anna), by: caller, path, in: connection)
                let fired = FiredSubscriptions(zone: row.key, origin: [1], changed: 1, connection: connection)
                for start in [0, 1_000] {
                    _ = try fired.write(
                        (start..<start + 1_000).map {
                            FiredSubscriptions.Row(
                                owner: caller.id, environment: Int64(Environment.development.rawValue),
                                database: SubscribedDatabase.private.rawValue, subscription: "query", record: "r\($0)",
                                payload: [])
                        })
                }
                return caller.id
            }
            let now = 1 + PushLimits.kept + 1
            func sweep() async throws -> Bool {
                try await server.services.database.write(at: .everything) {
                    try NotificationFeed.sweep(now: now, in: $0)
                }
            }
            #expect(try await sweep())
            #expect(try await Self.notifications(server) >= 1_400)
            let half = try await server.services.database.read { try NotificationFeed.place(of: owner, in: $0) }
            #expect(half.floor > 0 && half.floor < half.last)
            var steps = 1
            while try await sweep() { steps += 1 }
            #expect(steps >= 4)
            #expect(try await Self.notifications(server) == 0)
            let end = try await server.services.database.read { try NotificationFeed.place(of: owner, in: $0) }
            #expect(end.floor == end.last)
        }
    }
}
