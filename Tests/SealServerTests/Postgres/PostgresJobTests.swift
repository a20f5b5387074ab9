import Foundation
import SealWire
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Jobs whose steps run beside saves: nothing is lost between the two, and neither waits for who waits for it.
@Suite(.withPostgres, .timeLimit(.minutes(60))) struct PostgresJobTests {
    // MARK: Webhooks

    /// Its transaction finds the webhook due, and wakes nobody: whoever settles that waits for it.
    @Test func whatASaveAddsMeanwhileIsNotSettledAway() async throws {
        try await WebhookReceiver.with { receiver in
            try await RunningServer.onPostgres(webhookOrigins: [receiver.origin]) { server, address in
                let anna = try await Person.ready(server)
                let zone = try await anna.makeZone("notes")
                _ = try await anna.save([Write("first")], in: zone)
                var subscription = Sealkit_V1_Subscription.database("all")
                subscription.webhook = receiver.origin + "/anna"
                try await anna.subscribe(subscription)
                receiver.hold(true)
                _ = try await anna.save([Write("second")], in: zone)
                _ = try await receiver.delivery(1)
                let save = try OpenWrite(address) { connection in
                    try connection.execute("UPDATE notification_feed SET last = last + 1")
                    try connection.execute(
                        "UPDATE notification SET number = (SELECT f.last FROM notification_feed f WHERE f.owner = notification.owner)"
                    )
                    try WebhookRow.wake(where: "1 = 1", [], now: server.clock.now, in: connection)
                }
                receiver.hold(false)
                try await waitUntil("settling waits") { try save.isInTheWay() }
                #expect(try await server.count("SELECT COUNT(*) AS n FROM webhook WHERE due > 0") == 1)
                try save.end()
                _ = try await receiver.delivery(2)
                try await waitUntil("all is settled") {
                    try await server.count("SELECT COUNT(*) AS n FROM webhook WHERE due > 0") == 0
                }
                #expect(receiver.count == 2)
            }
        }
    }

    // MARK: The sweep

    /// It passes over what somebody counts by just then, and does not wait for that.
    @Test func aLimitThatIsCountedByIsNotSweptAway() async throws {
        try await RunningServer.onPostgres { server, address in
            try await server.services.database.write(at: .everything) { connection in
                for subject in [[UInt8]([1]), [2]] {
                    try connection.execute(
                        "INSERT INTO shared_limit (kind, subject, level, time, full_at) VALUES ('k', $1, 0, 0, 1)",
                        [.blob(subject)])
                }
            }
            let save = try OpenWrite(address) { connection in
                try connection.execute(
                    "UPDATE shared_limit SET level = 7, full_at = $2 WHERE subject = $1",
                    [.blob([1]), .integer(.max)])
            }
            try await save.expect(goesOn: true) { try await server.services.jobs.run(.sweep) }
            #expect(try await server.count("SELECT COUNT(*) AS n FROM shared_limit") == 1)
            #expect(try await server.count("SELECT level AS n FROM shared_limit") == 7)
        }
    }

    // MARK: Public notifications

    /// The job tells of changes whose subscribers come in other orders than those of a zone that is saved to, some of
    /// them for the only time.
    @Test func publicNotificationsAndSavesDoNotWaitCrosswise() async throws {
        let registry = MetricsRegistry()
        try await RunningServer.onPostgres(registry: registry) { server, _ in
            var people: [Person] = []
            for _ in 0..<4 { people.append(try await Person.ready(server)) }
            var zone = try await people[0].makeSharedZone("notes")
            for person in people.dropFirst() { _ = try await people[0].share(&zone, with: person) }
            for (index, person) in people.enumerated() {
                try await person.subscribe(.database("all"), in: index == 0 ? "private" : "shared")
                try await person.subscribe(.query("told", type: "T\(index)"), in: "public")
            }
            _ = try await people[0].savePublic(people.indices.map { PublicWrite("first \($0)", type: "T\($0)") })
            let shared = zone
            for round in 0..<10 {
                for person in people {
                    let once = (0..<4).map {
                        Sealkit_V1_Subscription.query("once \($0)", type: "T\($0)", firesOn: 1 | 8)
                    }
                    _ = try await person.modifySubscriptions(saving: once, in: "public")
                }
                let writes = (0..<40).map { PublicWrite("\(round) \($0)", type: "T\(3 - $0 % 4)") }
                _ = try await people[0].savePublic(writes)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await server.services.jobs.run(.publicNotifications) }
                    for (index, person) in people.enumerated() {
                        group.addTask {
                            for save in 0..<5 {
                                _ = try await person.save([Write("\(round) \(index) \(save)")], in: shared)
                            }
                        }
                    }
                    try await group.waitForAll()
                }
            }
            try await waitUntil("all are told") {
                try await server.count("SELECT COUNT(*) AS n FROM public_change") == 0
            }
            // Each once, of the first that it asked for; and everybody of what is its own.
            #expect(try await server.count("SELECT COUNT(*) AS n FROM subscription WHERE id LIKE 'once%'") == 0)
            #expect(
                try await server.count("SELECT COUNT(*) AS n FROM notification WHERE subscription = 'told'")
                    == 404)
            let again = registry.all().first { $0.metric == .triesAgain && $0.values == ["postgresql"] }
            #expect(again?.series.number ?? 0 == 0)
        }
    }
}
