import NIOCore
import NIOEmbedded
import SealQuery
import SealStatements
import SealWire
import SwiftProtobuf

@testable import SealServer
@testable import SealService
@testable import SealStorage

extension LimitProbe {
    static let push = [
        LimitProbe(name: "subscriptions") { server, amount in
            try await subscribe((0..<amount).map { .database("s\($0)") }, server)
        },
        LimitProbe(name: "querySubscriptions") { server, amount in
            try await subscribe((0..<amount).map { .query("s\($0)") }, server)
        },
        LimitProbe(name: "subscriptionBytes") { server, amount in
            func subscription(_ last: Int) -> Sealkit_V1_Subscription {
                let long = (0..<amount / 1_020).map { String(repeating: "x", count: 1_000) + "\($0)" }
                return .query(
                    where: Query.Predicate([Query.Field<String>("f").isIn(long + [String(repeating: "y", count: last)])]
                    ))
            }
            // Twice, since the lengths inside take more or fewer bytes themselves.
            var last = 500
            for _ in 0..<2 { last += amount - (try subscription(last).serializedData().count) }
            return try await subscribe([subscription(last)], server)
        },
        LimitProbe(name: "notificationInfoBytes") { server, amount in
            var subscription = Sealkit_V1_Subscription.database()
            subscription.notificationInfo.alertBody = String(repeating: "x", count: amount)
            let beside = try subscription.notificationInfo.serializedData().count - amount
            subscription.notificationInfo.alertBody = String(repeating: "x", count: amount - beside)
            return try await subscribe([subscription], server)
        },
        LimitProbe(name: "desiredKeys") { server, amount in
            try await subscribe([.query(desiredKeys: (0..<amount).map { "f\($0)" })], server)
        },
        LimitProbe(name: "webhookURLBytes") { server, amount in
            var subscription = Sealkit_V1_Subscription.database()
            let origin = "https://hooks.example.org/"
            subscription.webhook = origin + String(repeating: "x", count: amount - origin.utf8.count)
            // Its length comes before its origin, which this server does not allow.
            let code = try await subscribe([subscription], server)
            return code == .invalidArguments ? nil : code
        },
        LimitProbe(name: "streamsPerAccount", limit: 3, rules: { $0.streamsPerAccount = 3 }) { server, amount in
            let anna = try await Person.ready(server)
            var open: [TestEvents] = []
            do {
                for _ in 0..<amount { open.append(try await anna.listen()) }
                withExtendedLifetime(open) {}
                return nil
            } catch let refusal as Refusal {
                return refusal.code
            }
        },
        LimitProbe(name: "streams") { _, amount in
            let (streams, channel) = (EventStreams(), NIOAsyncTestingChannel())
            return try await code {
                for index in 0..<amount {
                    _ = try streams.open(
                        viewer: Int64(index), account: Int64(index),
                        in: TelemetryPlace(container: "", environment: ""), channel: channel,
                        client: Array("\(index)".utf8), limit: 1)
                }
            }
        },
        LimitProbe(name: "notificationsAtOnce") { server, amount in
            try await toldToFetch(server) { connection, feed in _ = try fill(amount, feed, connection) }
        },
        LimitProbe(name: "subscriptionsPerChange") { server, amount in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone()
            let results = try await anna.modifySubscriptions(saving: (0..<amount).map { .database("s\($0)") })
            guard results.allSatisfy({ $0.failure.code.isEmpty }) else { return .internalError }
            _ = try await anna.save([Write("a")], in: zone)
            let first = try await anna.onAnotherDevice().listen(after: "0").first
            return first.name == "reset" ? try first.failure.errorCode : nil
        },
        LimitProbe(name: "notificationsKept") { server, amount in
            try await toldToFetch(server) { connection, feed in
                var rest = amount
                while rest > 0 {
                    try fill(min(rest, 1_000), feed, connection, from: rest)
                    rest -= 1_000
                }
                try NotificationFeed.trim(feed.caller.id, in: connection)
            }
        },
        LimitProbe(name: "notificationDays") { server, amount in
            try await toldToFetch(server) { connection, feed in
                try fill(1, feed, connection)
                try NotificationFeed.sweep(now: 1 + Int64(amount) * 86_400_000_000, in: connection)
            }
        },
        LimitProbe(name: "publicChangesWaiting") { server, amount in
            let anna = try await Person.ready(server)
            try await anna.subscribe(.query(), in: "public")
            return try await code {
                try await server.services.database.write(at: .everything) { connection in
                    let path = DatabasePath(
                        container: TestClient.container, environment: .development, database: .public)
                    let (zone, caller) = (try PublicZone.find(path, in: connection), try anna.caller(connection))
                    let changes = try (0..<amount).map { try PublicNotificationTests.change("r\($0)", by: anna.user) }
                    for start in stride(from: 0, to: amount, by: 1_000) {
                        try PublicChanges.note(
                            Array(changes[start..<min(start + 1_000, amount)]), in: zone, by: caller, now: 1,
                            connection: connection)
                    }
                    let isTooMuch = try connection.exists("SELECT 1 FROM public_change WHERE reason = 0")
                    // Nobody is to be told of what did not happen.
                    try connection.execute("DELETE FROM public_change")
                    if isTooMuch { throw ServerError(.changeTokenExpired, "Told to fetch.") }
                }
            }
        },
    ]

    /// What the last of these is refused with.
    private static func subscribe(_ subscriptions: [Sealkit_V1_Subscription], _ server: RunningServer) async throws
        -> ErrorCode?
    {
        let anna = try await Person.ready(server)
        var last: Sealkit_V1_SubscriptionResult?
        for start in stride(from: 0, to: subscriptions.count, by: 400) {
            let part = Array(subscriptions[start..<min(start + 400, subscriptions.count)])
            last = try await anna.modifySubscriptions(saving: part).last
        }
        guard case .failure(let failure)? = last?.outcome else { return nil }
        return failure.errorCode
    }

    private struct Feed {
        let caller: Caller
        let zone: [SQLValue]
    }

    /// Somebody subscribes, the feed is filled, and a device that has seen nothing of it listens: the code of the
    /// `reset` that it gets.
    private static func toldToFetch(
        _ server: RunningServer, _ body: @escaping @Sendable (any SQLConnection, Feed) throws -> Void
    ) async throws -> ErrorCode? {
        let anna = try await Person.ready(server)
        let zone = try await anna.makeZone()
        try await anna.subscribe(.query())
        try await server.services.database.write(at: .everything) { connection in
            let path = DatabasePath(container: TestClient.container, environment: .development, database: .private)
            let caller = try anna.caller(connection)
            let row = try Zones.writable(zone.id(for: anna), by: caller, path, in: connection)
            try body(connection, Feed(caller: caller, zone: row.key))
        }
        let first = try await anna.onAnotherDevice().listen(after: "0").first
        return first.name == "reset" ? try first.failure.errorCode : nil
    }

    /// So many notifications of one save.
    private static func fill(_ count: Int, _ feed: Feed, _ connection: any SQLConnection, from first: Int = 0) throws {
        let payload = try Sealkit_V1_Notification.with { $0.reason = 1 }.serializedBytes() as [UInt8]
        let rows = (0..<count).map { index in
            FiredSubscriptions.Row(
                owner: feed.caller.id, environment: Int64(Environment.development.rawValue),
                database: SubscribedDatabase.private.rawValue, subscription: "query", record: "r\(first + index)",
                payload: payload)
        }
        _ = try FiredSubscriptions(zone: feed.zone, origin: [1], changed: 1, connection: connection).write(rows)
    }
}

extension Person {
    /// This person, on some device.
    func session(_ connection: any SQLConnection) throws -> Session {
        guard let row = try Identities.find(user: user, container: TestClient.container, in: connection) else {
            throw TestFailure("no identity")
        }
        return Session(accountID: row.accountID, tokenHash: [1])
    }

    func caller(_ connection: any SQLConnection) throws -> Caller {
        try Caller(session(connection), container: TestClient.container, in: connection)
    }
}
