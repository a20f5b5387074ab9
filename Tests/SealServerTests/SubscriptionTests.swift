import Foundation
import SealPrimitives
import SealQuery
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

@Suite(.timeLimit(.minutes(60))) struct SubscriptionTests {
    @Test func subscriptionsAreMadeFoundListedAndDeleted() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let results = try await anna.modifySubscriptions(saving: [.database(), .zone(zone), .query()])
            #expect(results.map(\.subscriptionID) == ["db", "zone", "query"])
            #expect(results[1].subscription.zone.ownerName == anna.name)
            #expect(try await anna.subscriptions() == [results[0], results[2], results[1]].map(\.subscription))
            let found = try await anna.lookupSubscriptions(["query", "other"])
            #expect(found[0].subscription == results[2].subscription)
            #expect(found[1].failure.errorCode == .unknownItem)
            // Each user, database and environment has its own.
            let bert = try await Person.ready(server)
            #expect(try await bert.subscriptions().isEmpty)
            #expect(try await anna.subscriptions(in: "shared").isEmpty)

            let deleted = try await anna.modifySubscriptions(deleting: ["zone", "zone"])
            #expect(deleted[0].deleted)
            #expect(deleted[1].failure.errorCode == .unknownItem)
            #expect(try await anna.subscriptions().map(\.subscriptionID) == ["db", "query"])
        }
    }

    @Test func anItemsFailureLeavesTheOthers() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            var bad = Sealkit_V1_Subscription.database("bad")
            bad.kind = 9
            let results = try await anna.modifySubscriptions(saving: [bad, .database()])
            #expect(results[0].failure.errorCode == .invalidArguments)
            #expect(try await anna.subscriptions().map(\.subscriptionID) == ["db"])
        }
    }

    @Test func theSameOperationIsDoneOnce() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let operation = randomBytes(16)
            let first = try await anna.modifySubscriptions(saving: [.database()], operation: operation)
            _ = try await anna.modifySubscriptions(deleting: ["db"])
            let again = try await anna.modifySubscriptions(saving: [.database()], operation: operation)
            #expect(again == first)
            #expect(try await anna.subscriptions().isEmpty)
            #expect(try await refusal { try await anna.modifySubscriptions(operation: [1]) } == .invalidArguments)
        }
    }

    /// CloudKit's table of kinds and databases; the public database's row is tested with the public database.
    @Test func eachDatabaseTakesItsKinds() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let kinds: [Sealkit_V1_Subscription] = [.query(), .zone(zone), .database()]
            let own = try await anna.modifySubscriptions(saving: kinds)
            #expect(own.map(\.subscription.kind) == kinds.map(\.kind))
            let shared = try await anna.modifySubscriptions(saving: kinds, in: "shared")
            #expect(shared[0].failure.errorCode == .badDatabase)
            #expect(shared[1].failure.errorCode == .badDatabase)
            #expect(shared[2].subscription.kind == 3)
            let targets = WebhookTargets(origins: [])
            for (subscription, isAllowed) in zip(kinds, [true, false, false]) {
                let draft = Result { () throws(ServerError) in
                    try SubscriptionDraft(subscription, in: .public, webhooks: targets)
                }
                switch draft {
                case .success: #expect(isAllowed)
                case .failure(let error): #expect(!isAllowed && error.code == .badDatabase)
                }
            }
        }
    }

    @Test func whatIsNotWellFormedIsRefused() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            func code(_ subscription: Sealkit_V1_Subscription, _ change: (inout Sealkit_V1_Subscription) -> Void)
                async throws
                -> ErrorCode?
            {
                var subscription = subscription
                change(&subscription)
                let result = try await anna.modifySubscriptions(saving: [subscription])[0]
                #expect(result.hasFailureReason)
                return result.failure.errorCode
            }
            for id in ["", String(repeating: "x", count: 256), "ü", "a\nb"] {
                #expect(try await code(.database()) { $0.subscriptionID = id } == .invalidArguments)
                #expect(try await anna.lookupSubscriptions([id])[0].failure.errorCode == .invalidArguments)
                #expect(try await anna.modifySubscriptions(deleting: [id])[0].failure.errorCode == .invalidArguments)
            }
            #expect(try await code(.database()) { $0.kind = 0 } == .invalidArguments)
            #expect(try await code(.database()) { $0.zone.zoneName = "notes" } == .invalidArguments)
            #expect(try await code(.database()) { $0.firesOn = 1 } == .invalidArguments)
            #expect(try await code(.database()) { $0.recordType = "no type" } == .invalidArguments)
            #expect(try await code(.database()) { $0.notificationInfo.desiredKeys = ["a"] } == .invalidArguments)
            #expect(
                try await code(.database()) { $0.notificationInfo.alertBody = String(repeating: "x", count: 2_048) }
                    == .limitExceeded)
            #expect(try await code(.database()) { $0.webhook = "https://hooks.example.org/" } == .invalidArguments)
            #expect(try await code(.zone(zone)) { $0.clearZone() } == .invalidArguments)
            #expect(try await code(.zone(zone)) { $0.zone.zoneName = "other" } == .zoneNotFound)
            #expect(try await code(.query()) { $0.recordType = "" } == .invalidArguments)
            for firesOn: UInt32 in [0, 8, 16, 17, .max] {
                #expect(try await code(.query()) { $0.firesOn = firesOn } == .invalidArguments)
            }
            #expect(
                try await code(.query()) { $0.filterBy = [.with { $0.fieldName = "no field" }] } == .invalidArguments)
            #expect(
                try await code(.query()) {
                    $0.filterBy = [
                        .with {
                            $0.fieldName = "a"
                            $0.comparator = .between
                            $0.values = [.with { $0.int64 = 1 }]
                        }
                    ]
                } == .invalidArguments)
            #expect(
                try await code(.database()) { $0.filterBy = [.with { $0.comparator = .never }] } == .invalidArguments)
            for keys in [["a", "b", "c", "d"], ["a", "a"], ["no key"]] {
                #expect(try await code(.query()) { $0.notificationInfo.desiredKeys = keys } == .invalidArguments)
            }
            #expect(try await anna.subscriptions().isEmpty)
        }
    }

    @Test func numbersAreLimited() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let many = (0...400).map { Sealkit_V1_Subscription.database("\($0)") }
            try await expectRefusal(.limitExceeded) { try await anna.modifySubscriptions(saving: many) }
            try await expectRefusal(.limitExceeded) { try await anna.lookupSubscriptions(many.map(\.subscriptionID)) }
            let queries = try await anna.modifySubscriptions(saving: (0...100).map { .query("q\($0)") })
            #expect(queries.prefix(100).map(\.failure.code) == Array(repeating: "", count: 100))
            #expect(queries[100].failure.errorCode == .limitExceeded)
            for start in [0, 400, 800] {
                let results = try await anna.modifySubscriptions(
                    saving: (start..<(start == 800 ? 901 : start + 400)).map { .database("d\($0)") })
                let refused = results.count { $0.failure.errorCode == .limitExceeded }
                #expect(refused == (start == 800 ? 1 : 0))
            }
            // One in the place of another is not one more.
            #expect(try await anna.modifySubscriptions(saving: [.query("q0", firesOn: 1)])[0].subscription.firesOn == 1)
        }
    }

    /// What is to take another's place and is refused leaves that one as it is, with what waits for it.
    @Test func aReplacementThatIsRefusedReplacesNothing() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            _ = try await anna.modifySubscriptions(saving: (0..<100).map { .query("q\($0)", type: "Other") })
            try await anna.subscribe(.zone(zone, "mine"))
            let other = try await anna.onAnotherDevice()
            _ = try await other.save([Write("a")], in: zone)
            let tables = ["subscription", "notification"]
            let before = try await anna.subscriptions()
            let rows = try await server.rows(in: tables)
            #expect(before.count == 101)
            #expect(rows == ["subscription": 101, "notification": 1])
            var unknown = Sealkit_V1_Subscription.zone(zone, "mine")
            unknown.zone.zoneName = "unknown"
            var unreadable = Sealkit_V1_Subscription.query("mine")
            unreadable.kind = 9
            // One query too many; another zone, which there is not; nothing at all. One that is taken keeps the
            // request.
            let results = try await anna.modifySubscriptions(saving: [
                .query("mine"), unknown, unreadable, .database("new"),
            ])
            #expect(results.map(\.failure.errorCode) == [.limitExceeded, .zoneNotFound, .invalidArguments, nil])
            let after = try await anna.subscriptions().filter { $0.subscriptionID != "new" }
            #expect(after == before)
            #expect(try await server.rows(in: tables) == ["subscription": 102, "notification": 1])
            let watched = try await server.services.database.read { connection in
                try connection.first("SELECT watched FROM zone WHERE name = $1", [.text(zone.name)]) {
                    try $0.int64("watched")
                }
            }
            #expect(
                !Watch(rawValue: try #require(watched)).contains(.stale), "nothing was lost that has to be found out")
            // Of its own kind it is replaced where there is room for no more.
            #expect(try await anna.modifySubscriptions(saving: [.query("q7", type: "Note")])[0].failure.code == "")
        }
    }

    /// A zone that nobody subscribed to says so in its own row.
    @Test func zonesKnowWhetherAnybodyWatchesThem() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let bert = try await Person.ready(server)
            var zone = try await anna.makeSharedZone()
            let other = try await anna.makeZone("other")
            func watch(_ zone: TestZone) async throws -> Watch {
                try await server.services.database.read { connection in
                    let value = try connection.first("SELECT watched FROM zone WHERE name = $1", [.text(zone.name)]) {
                        try $0.int64("watched")
                    }
                    return Watch(rawValue: value ?? -1)
                }
            }
            #expect(try await watch(zone) == [])
            try await anna.subscribe(.zone(zone))
            #expect(try await watch(zone) == .changes)
            #expect(try await watch(other) == [])
            try await anna.subscribe(.query())
            #expect(try await watch(other) == .queries)
            _ = try await anna.modifySubscriptions(deleting: ["zone", "query"])
            // Who watches still, the next save finds out.
            #expect(try await watch(zone) == [.changes, .queries, .stale])
            #expect(try await anna.codes([Write("first")], in: zone) == [nil])
            #expect(try await watch(zone) == [])
            // A participant who comes brings its subscriptions along, and takes them away.
            try await bert.subscribe(.database(), in: "shared")
            #expect(try await watch(zone) == [])
            try await anna.share(&zone, with: bert)
            #expect(try await watch(zone) == .changes)
            try await anna.remove(bert, from: &zone)
            #expect(try await watch(zone) == [.changes, .stale])
            #expect(try await anna.codes([Write("second")], in: zone) == [nil])
            #expect(try await watch(zone) == [])
            // A new zone of somebody who subscribed is watched from its beginning.
            try await anna.subscribe(.database())
            #expect(try await watch(try await anna.makeZone("new")) == .changes)
        }
    }
}

extension SubscriptionTests {
    /// Only what changes is worked out again: one of many subscriptions, among many zones.
    @Test func oneOfManySubscriptionsCostsNoLookAtEveryZone() async throws {
        let counter = StatementCounter()
        try await RunningServer.with(counter: counter) { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            // As many zones as somebody may have, as the database has them.
            let zones = 4_000
            try await server.services.database.write(at: .everything) { connection in
                try connection.execute(
                    """
                    INSERT INTO zone (owner, zone, container, environment, owner_name, name, position, incarnation, sequence, head,
                        participants, closed, watched, shares)
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
                    SELECT z.owner, z.zone + n.i, z.container, z.environment, z.owner_name, 'zone' || n.i, 0, 1, 0, z.head, 0, 0, 0, 0
                    FROM zone z, n WHERE z.name = $2
                    """, [.integer(Int64(zones)), .text(zone.name)])
                try connection.execute(
                    """
                    INSERT INTO zone_view (viewer, environment, shared, owner, zone, position, gone, until_sequence, partial, since)
                    SELECT z.owner, z.environment, 0, z.owner, z.zone, z.zone, 0, 0, 0, 0 FROM zone z WHERE z.name LIKE 'zone%'
                    ON CONFLICT DO NOTHING
                    """)
                try connection.execute(
                    """
                    UPDATE database_feed SET position = (SELECT MAX(v.position) FROM zone_view v WHERE v.viewer = database_feed.viewer
                        AND v.environment = database_feed.environment AND v.shared = database_feed.shared)
                    """)
            }
            for index in 0..<20 { try await anna.subscribe(.zone(zone, "zone\(index)")) }
            try await anna.subscribe(.database("database"))
            try await anna.subscribe(.database("again"))
            /// The rows of zones that are written.
            func written(_ body: () async throws -> Void) async throws -> Int {
                let before = counter.changed
                try await body()
                return counter.changed - before
            }
            func delete(_ id: String) async throws -> Int {
                try await written { _ = try await anna.modifySubscriptions(deleting: [id]) }
            }
            #expect(try await delete("zone3") < 20)
            // Another says the same of every zone.
            #expect(try await delete("again") < 20)
            // The last one: each zone learns that, and nothing is worked out; where somebody saves next, it is.
            #expect(try await delete("database") > zones)
            #expect(try await delete("zone4") < 20)
            #expect(try await anna.codes([Write("note")], in: zone) == [nil])
            let watched = try await server.services.database.read { connection in
                try connection.first("SELECT watched FROM zone WHERE name = $1", [.text(zone.name)]) {
                    try $0.int64("watched")
                }
            }
            #expect(watched == Watch.changes.rawValue)
        }
    }
}

extension Sealkit_V1_SubscriptionResult {
    fileprivate var hasFailureReason: Bool { !failure.reason.isEmpty && !failure.remedy.isEmpty }
}
