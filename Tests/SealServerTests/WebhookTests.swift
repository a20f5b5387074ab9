import Foundation
import HTTPTypes
import SealCoding
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealKit
@testable import SealServer
@testable import SealService
@testable import SealStorage

@Suite(.timeLimit(.minutes(60))) struct WebhookTests {
    /// A subscription whose notifications go to a receiver.
    private static func subscription(_ receiver: WebhookReceiver) -> Sealkit_V1_Subscription {
        var subscription = Sealkit_V1_Subscription.query("hook", desiredKeys: ["pinned", "body"])
        subscription.webhook = receiver.origin + "/notes?key=1"
        return subscription
    }

    private static func verifier(_ receiver: WebhookReceiver, _ server: RunningServer) throws -> WebhookVerifier {
        let key = server.services.webhookKeys.newest
        return try WebhookVerifier(
            url: receiver.origin + "/notes?key=1", keys: [key.id: Data(key.signingKey.verificationKey.bytes)])
    }

    /// A receiver passes over what it has had, and a database that was put back gives its numbers out again.
    @Test func deliveriesOfTwoHistoriesAreTwo() async throws {
        try await WebhookReceiver.with { receiver in
            try await RunningServer.with(webhookOrigins: [receiver.origin]) { server in
                let anna = try await Person.ready(server)
                try await anna.subscribe(Self.subscription(receiver))
                let found = try await server.services.database.read { connection in
                    try connection.first("SELECT \(WebhookRow.columns) FROM webhook", []) { try WebhookRow($0) }
                }
                let webhook = try #require(found)
                let ids = [Int64(0), 1, 2].map { webhook.deliveryID(upTo: NotificationFeed.ID(number: 5, run: $0)) }
                #expect(Set(ids).count == 3)
                #expect(ids[1] == webhook.deliveryID(upTo: NotificationFeed.ID(number: 5, run: 1)))
            }
        }
    }

    @Test func changesAreDeliveredSigned() async throws {
        try await WebhookReceiver.with { receiver in
            try await RunningServer.with(webhookOrigins: [receiver.origin]) { server in
                let anna = try await Person.ready(server)
                let zone = try await anna.makeZone()
                try await anna.subscribe(Self.subscription(receiver))
                // A webhook is no device: its subscriber's own changes are told.
                _ = try await anna.save([Write("a", "canary-of-the-webhook")], in: zone)
                let delivery = try await receiver.delivery(1)
                let told = try delivery.message.notifications
                #expect(told.map(\.recordName) == ["a"] && told[0].subscriptionID == "hook" && told[0].reason == 1)
                #expect(told[0].fields.map(\.name) == ["pinned"] && told[0].pruned)
                #expect(!String(decoding: delivery.body, as: UTF8.self).contains("canary"))

                let now = Date(timeIntervalSince1970: Double(server.clock.now / 1_000_000))
                func verified(
                    _ body: Data? = nil, _ signature: String? = nil, at time: Date = now,
                    by verifier: WebhookVerifier? = nil
                ) throws -> WebhookVerifier.Delivery {
                    try (verifier ?? Self.verifier(receiver, server)).verify(
                        body: body ?? delivery.body, signature: signature ?? delivery.signature, now: time)
                }
                let verifier = try Self.verifier(receiver, server)
                let opened = try verified(by: verifier)
                #expect(opened.notifications.map(\.recordID?.recordName) == ["a"])
                // Again, late, early, altered, unsigned, by another key, to another place: refused.
                #expect(throws: SealKitError.self) { try verified(by: verifier) }
                // Also later, for as long as its signature is good.
                for seconds in [1, 299, 300] {
                    #expect(throws: SealKitError.self) { try verified(at: now + Double(seconds), by: verifier) }
                }
                #expect(try verified(at: now + 300).id == opened.id)
                #expect(throws: SealKitError.self) { try verified(at: now + 301) }
                #expect(throws: SealKitError.self) { try verified(at: now - 302) }
                #expect(throws: SealKitError.self) { try verified(delivery.body + Data(" ".utf8)) }
                for header in [
                    "", "keyid=x,time=1,signature=AA", (delivery.signature ?? "").replacing("time=", with: "time=1"),
                ] {
                    #expect(throws: SealKitError.self) { try verified(nil, header) }
                }
                let other = try TestClient.newKey()
                let otherID = KeyIdentifier.paserk(of: other.verificationKey)
                let wrongKey = try WebhookVerifier(
                    url: receiver.origin + "/notes?key=1", keys: [otherID: Data(other.verificationKey.bytes)])
                #expect(throws: SealKitError.self) { try verified(by: wrongKey) }
                let key = server.services.webhookKeys.newest
                let keys = [key.id: Data(key.signingKey.verificationKey.bytes)]
                #expect(throws: SealKitError.self) {
                    try verified(by: WebhookVerifier(url: receiver.origin + "/other", keys: keys))
                }
                #expect(throws: SealKitError.self) {
                    _ = try WebhookVerifier(url: "x", keys: [otherID: Data(key.signingKey.verificationKey.bytes)])
                }
                // The keys are published.
                let published = try await WebhookVerifier(
                    url: receiver.origin + "/notes?key=1", server: HTTPTransport(server: server.origin))
                #expect(try verified(by: published).id == opened.id)
            }
        }
    }

    /// Devices of whoever has more subscriptions than one change tells fetch; webhooks do not.
    @Test func ofVeryManyWebhooksTheFirstAreTold() async throws {
        try await WebhookReceiver.with { receiver in
            try await RunningServer.with(webhookOrigins: [receiver.origin]) { server in
                let anna = try await Person.ready(server)
                let zone = try await anna.makeZone()
                let most = PushLimits.subscriptionsPerChange
                let subscriptions = (0...most).map { index in
                    var subscription = Sealkit_V1_Subscription.database("s\(100 + index)")
                    subscription.webhook = receiver.origin + "/notes"
                    return subscription
                }
                let results = try await anna.modifySubscriptions(saving: subscriptions)
                let areTaken = results.allSatisfy { $0.failure.code.isEmpty }
                #expect(areTaken)
                let pad = try await anna.onAnotherDevice().listen(after: "0")
                _ = try await anna.save([Write("a")], in: zone)
                #expect(try await pad.next().name == "reset")
                var told: Set<String> = []
                for index in 1...most {
                    told.formUnion(try await receiver.delivery(index).message.notifications.map(\.subscriptionID))
                }
                #expect(told == Set(subscriptions.prefix(most).map(\.subscriptionID)))
            }
        }
    }

    @Test func whatFailsIsSentAgainWithTheSameContent() async throws {
        try await WebhookReceiver.with { receiver in
            try await RunningServer.with(webhookOrigins: [receiver.origin]) { server in
                let anna = try await Person.ready(server)
                let zone = try await anna.makeZone()
                try await anna.subscribe(Self.subscription(receiver))
                receiver.answer([.internalServerError, .temporaryRedirect, .ok])
                _ = try await anna.save([Write("a")], in: zone)
                let first = try await receiver.delivery(1)
                try await Self.failures(1, server)
                server.clock.advance(seconds: 2)
                server.services.jobs.wake(.webhooks)
                let second = try await receiver.delivery(2)
                // A redirect is a failure, and not followed.
                try await Self.failures(2, server)
                #expect(receiver.count == 2)
                server.clock.advance(seconds: 3)
                server.services.jobs.wake(.webhooks)
                let third = try await receiver.delivery(3)
                #expect(Set([first, second, third].map(\.path)) == ["/notes"])
                let contents = try [first, second, third].map { try $0.message }
                #expect(contents[0] == contents[1])
                #expect(contents[1] == contents[2])
                // Each attempt has a signature of its own time.
                #expect(Set([first, second, third].map(\.signature)).count == 3)
                try await Self.failures(0, server)
                _ = try await anna.save([Write("b")], in: zone)
                let next = try await receiver.delivery(4).message
                #expect(next.notifications.map(\.recordName) == ["b"])
                #expect(next.deliveryID != contents[0].deliveryID)
            }
        }
    }

    /// Waits until the webhook has failed so often since the last success.
    private static func failures(_ count: Int64, _ server: RunningServer) async throws {
        try await waitUntil("the webhook has failed \(count) times") {
            let found = try await server.services.database.read { connection in
                try connection.first("SELECT attempts, due FROM webhook") {
                    (try $0.int64("attempts"), try $0.int64("due"))
                }
            }
            guard let found else { return false }
            return found.0 == count && (count > 0 || found.1 == 0)
        }
    }

    /// The receiver is slow: what changes while it thinks is delivered by itself, without another change after it.
    @Test func whatComesDuringADeliveryIsDeliveredNext() async throws {
        try await WebhookReceiver.with { receiver in
            try await RunningServer.with(webhookOrigins: [receiver.origin]) { server in
                let anna = try await Person.ready(server)
                let zone = try await anna.makeZone()
                try await anna.subscribe(Self.subscription(receiver))
                receiver.hold(true)
                _ = try await anna.save([Write("a")], in: zone)
                let first = try await receiver.delivery(1).message
                _ = try await anna.save([Write("b")], in: zone)
                _ = try await anna.save([Write("c")], in: zone)
                receiver.hold(false)
                let next = try await receiver.delivery(2).message
                #expect(first.notifications.map(\.recordName) == ["a"])
                #expect(next.notifications.map(\.recordName) == ["b", "c"])
                try await Self.failures(0, server)
                #expect(receiver.count == 2)
            }
        }
    }

    /// A subscription is put in the place of one whose receiver fails at that moment: the new receiver waits for
    /// nothing of that.
    @Test func aFailureOfTheReceiverBeforeIsNotTheNextOnes() async throws {
        try await WebhookReceiver.with { receiver in
            try await RunningServer.with(webhookOrigins: [receiver.origin]) { server in
                let anna = try await Person.ready(server)
                let zone = try await anna.makeZone()
                try await anna.subscribe(Self.subscription(receiver))
                receiver.hold(true)
                receiver.answer([.internalServerError])
                _ = try await anna.save([Write("a")], in: zone)
                _ = try await receiver.delivery(1)
                var next = Self.subscription(receiver)
                next.webhook = receiver.origin + "/next"
                try await anna.subscribe(next)
                _ = try await anna.save([Write("b")], in: zone)
                receiver.hold(false)
                let told = try await receiver.delivery(2)
                #expect(told.path == "/next")
                #expect(try told.message.notifications.map(\.recordName) == ["b"])
                try await Self.failures(0, server)
                #expect(receiver.count == 2)
            }
        }
    }

    /// The operator has taken the origin back, and allows another.
    @Test func anOriginThatIsNoLongerAllowedGetsNothing() async throws {
        let folder = TemporaryFolder()
        try await WebhookReceiver.with { receiver in
            try await RunningServer.with(folder: folder, webhookOrigins: [receiver.origin]) { server in
                let anna = try await Person.ready(server)
                let zone = try await anna.makeZone()
                try await anna.subscribe(Self.subscription(receiver))
                receiver.answer([.serviceUnavailable])
                _ = try await anna.save([Write("a")], in: zone)
                _ = try await receiver.delivery(1)
                try await Self.failures(1, server)
            }
            try await RunningServer.with(folder: folder, webhookOrigins: ["https://hooks.example.org"]) { server in
                server.clock.advance(seconds: 60)
                server.services.jobs.wake(.webhooks)
                try await Self.failures(2, server)
                #expect(receiver.count == 1)
                // Allowed again within the day it gets what waited.
            }
            try await RunningServer.with(folder: folder, webhookOrigins: [receiver.origin]) { server in
                server.clock.advance(seconds: 600)
                server.services.jobs.wake(.webhooks)
                let told = try await receiver.delivery(2).message.notifications
                #expect(told.map(\.recordName) == ["a"])
            }
        }
    }

    @Test func whatWaitsOutlivesARestart() async throws {
        let folder = TemporaryFolder()
        try await WebhookReceiver.with { receiver in
            try await RunningServer.with(folder: folder, webhookOrigins: [receiver.origin]) { server in
                let anna = try await Person.ready(server)
                let zone = try await anna.makeZone()
                try await anna.subscribe(Self.subscription(receiver))
                receiver.answer([.serviceUnavailable])
                _ = try await anna.save([Write("a")], in: zone)
                _ = try await receiver.delivery(1)
                try await Self.failures(1, server)
            }
            try await RunningServer.with(folder: folder, webhookOrigins: [receiver.origin]) { server in
                server.clock.advance(seconds: 60)
                server.services.jobs.wake(.webhooks)
                let told = try await receiver.delivery(2).message.notifications
                #expect(told.map(\.recordName) == ["a"])
            }
        }
    }

    /// However many wait for an origin that does not answer.
    @Test func aSlowOriginKeepsNoOtherWaiting() async throws {
        try await WebhookReceiver.with { slow in
            try await WebhookReceiver.with { quick in
                try await RunningServer.with(webhookOrigins: [slow.origin, quick.origin]) { server in
                    let anna = try await Person.ready(server)
                    let zone = try await anna.makeZone()
                    slow.hold(true)
                    try await anna.subscribe(Self.subscription(slow))
                    _ = try await anna.save([Write("a")], in: zone)
                    _ = try await slow.delivery(1)
                    // The same a thousand times and more, all due for longer than anything else.
                    try await server.services.database.write(at: .everything) { connection in
                        let numbers = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 1200)"
                        try connection.execute(
                            """
                            \(numbers) INSERT INTO notification (owner, environment, database, subscription, zone_owner, zone, record,
                                kind, number, other_number, origin, payload, changed)
                            SELECT s.owner, s.environment, s.database, 'slow-' || c.n, s.zone_owner, s.zone, s.record, s.kind,
                                s.number, s.other_number, s.origin, s.payload, s.changed FROM notification s, c WHERE s.subscription = 'hook'
                            """)
                        try connection.execute(
                            """
                            \(numbers) INSERT INTO webhook (owner, environment, database, subscription, url, origin, delivered, due, since,
                                attempts)
                            SELECT w.owner, w.environment, w.database, 'slow-' || c.n, w.url, w.origin, 0, 1, 1, 0
                            FROM webhook w, c WHERE w.subscription = 'hook'
                            """)
                    }
                    var other = Sealkit_V1_Subscription.query("quick")
                    other.webhook = quick.origin + "/here"
                    try await anna.subscribe(other)
                    _ = try await anna.save([Write("b")], in: zone)
                    #expect(try await quick.delivery(1).message.notifications.map(\.recordName) == ["b"])
                    slow.hold(false)
                }
            }
        }
    }

    @Test func afterADayWhatWaitsIsGivenUp() async throws {
        try await WebhookReceiver.with { receiver in
            try await RunningServer.with(webhookOrigins: [receiver.origin]) { server in
                let anna = try await Person.ready(server)
                let zone = try await anna.makeZone()
                try await anna.subscribe(Self.subscription(receiver))
                receiver.answer([.internalServerError, .internalServerError])
                _ = try await anna.save([Write("a")], in: zone)
                _ = try await receiver.delivery(1)
                try await Self.failures(1, server)
                server.clock.advance(seconds: 86_401)
                server.services.jobs.wake(.webhooks)
                _ = try await receiver.delivery(2)
                try await Self.failures(0, server)
                _ = try await anna.save([Write("b")], in: zone)
                let told = try await receiver.delivery(3).message.notifications
                #expect(told.map(\.recordName) == ["b"])
            }
        }
    }

    @Test func onlyAllowedOriginsAreTaken() async throws {
        let origins = ["https://hooks.example.org", "http://127.0.0.1:9", "https://other.example.org:8443"]
        try await RunningServer.with(webhookOrigins: origins) { server in
            let anna = try await Person.ready(server)
            func code(_ url: String) async throws -> ErrorCode? {
                var subscription = Sealkit_V1_Subscription.database()
                subscription.webhook = url
                return try await anna.modifySubscriptions(saving: [subscription])[0].failure.errorCode
            }
            for url in [
                "https://hooks.example.org", "https://HOOKS.example.org:443/a?b=c", "http://127.0.0.1:9/",
                "https://other.example.org:8443/x",
            ] {
                #expect(try await code(url) == nil, "\(url)")
            }
            for url in [
                "http://hooks.example.org/", "https://hooks.example.org:8443/", "https://hooks.example.org.evil.org/",
                "https://evil.org/https://hooks.example.org", "https://user@hooks.example.org/",
                "https://hooks.example.org@evil.org/",
                "https://hooks.example.org\\@evil.org/", "https://hooks.example.org/#x", "http://127.0.0.1:10/",
                "http://localhost:9/", "ftp://hooks.example.org/", "hooks.example.org", "https://",
                "https://hooks.example.org/ü",
                "https://hooks.example.org/a b",
            ] {
                #expect(try await code(url) == .invalidArguments, "\(url)")
            }
            #expect(
                try await code("https://hooks.example.org/" + String(repeating: "x", count: 1_024)) == .limitExceeded)
        }
    }

    @Test func theOperatorAllowsOriginsOnly() throws {
        for origin in [
            "https://hooks.example.org", "https://h.example.org:8443", "http://localhost:1", "http://[::1]:9000",
        ] {
            #expect(WebhookTargets.isAllowable(origin), "\(origin)")
        }
        for origin in [
            "http://hooks.example.org", "https://h.example.org/", "https://u@h.example.org", "*", "", "h.example.org",
        ] {
            #expect(!WebhookTargets.isAllowable(origin), "\(origin)")
            #expect(throws: ConfigurationError.self) {
                try ServerConfiguration(dataFolder: "/data", webhookOrigins: [origin]).validate()
            }
        }
    }
}
