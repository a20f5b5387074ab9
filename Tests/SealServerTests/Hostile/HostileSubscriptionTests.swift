import Foundation
import HTTPTypes
import SealPrimitives
import SealQuery
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Subscriptions that are meant to harm, or only used oddly.
@Suite(.timeLimit(.minutes(60))) struct HostileSubscriptionTests {
    /// One that fired and went may be made again under its id, and leaves nothing behind.
    @Test func oneThatFiredOnceIsMadeAgain() async throws {
        try await WebhookReceiver.with { receiver in
            try await RunningServer.with(webhookOrigins: [receiver.origin]) { server in
                let anna = try await Person.ready(server)
                let zone = try await anna.makeZone()
                var once = Sealkit_V1_Subscription.query("once", firesOn: 9)
                once.webhook = receiver.origin + "/once"
                for round in 1...3 {
                    try await anna.subscribe(once)
                    // The receiver is away at first: what the former one gave rise to is not the new one's.
                    if round == 2 { receiver.answer([.internalServerError]) }
                    _ = try await anna.save([Write("a\(round)"), Write("b\(round)")], in: zone)
                    let told = try await receiver.delivery(round).message.notifications
                    #expect(told.map(\.recordName) == ["a\(round)"])
                    #expect(told.map(\.subscriptionID) == ["once"])
                    #expect(try await anna.subscriptions().isEmpty)
                }
                try await Self.waitUntil("no webhook is left") {
                    try await server.services.database.read { try !$0.exists("SELECT 1 FROM webhook") }
                }
            }
        }
    }

    private static func waitUntil(_ what: String, _ isSo: () async throws -> Bool) async throws {
        for _ in 0..<3_000 {
            if try await isSo() { return }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw TestFailure("not so: \(what)")
    }

    /// What a later version might know, and this one would keep without looking at it, is bounded.
    @Test func unknownFieldsTakeNoRoom() async throws {
        try await RunningServer.withZone { anna, zone, server in
            // Field 1000, of 200,000 bytes.
            let stuffing = Data([0xC2, 0x3E, 0xC0, 0x9A, 0x0C]) + Data(repeating: 7, count: 200_000)
            var plain = Sealkit_V1_Subscription.query("plain")
            plain.notificationInfo.alertBody = "hello"
            let subscriptions = [
                try Sealkit_V1_Subscription(serializedBytes: plain.serializedData() + stuffing),
                try { () throws -> Sealkit_V1_Subscription in
                    var one = Sealkit_V1_Subscription.database("nested")
                    one.notificationInfo = try Sealkit_V1_NotificationInfo(serializedBytes: stuffing)
                    return one
                }(),
                try { () throws -> Sealkit_V1_Subscription in
                    var one = Sealkit_V1_Subscription.query("filter", where: try .init("pinned = 1"))
                    one.filterBy[0] = try .init(serializedBytes: one.filterBy[0].serializedData() + stuffing)
                    return one
                }(),
            ]
            let results = try await anna.modifySubscriptions(saving: subscriptions)
            for result in results {
                let stored = try result.subscription.serializedData().count
                #expect(
                    result.failure.errorCode == .limitExceeded || stored < 4_096, "\(result.subscriptionID): \(stored)")
            }
            let kept = try await server.services.database.read { connection in
                try connection.first("SELECT COALESCE(MAX(LENGTH(body)), 0) AS longest FROM subscription") {
                    try $0.int64("longest")
                }
            }
            #expect(try #require(kept) < 4_096)
        }
    }

    /// A predicate may hold much; one that is evaluated at every save may not.
    @Test func aPredicateThatWouldHoldUpEverySaveIsRefused() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            let values = (0..<20).map { "\($0)" + String(repeating: "x", count: 900) }
            let long = Sealkit_V1_Subscription.query("long", where: try .init("body IN %@", values))
            #expect(try await anna.modifySubscriptions(saving: [long])[0].failure.errorCode == .limitExceeded)
            let short = Sealkit_V1_Subscription.query("short", where: try .init("body IN %@", Array(values.prefix(15))))
            #expect(try await anna.modifySubscriptions(saving: [short])[0].failure.errorCode == nil)
        }
    }
}
