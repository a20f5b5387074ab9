import Foundation
import SealPrimitives
import SealQuery
import SealSchema
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// Query subscriptions in the public database: who is told of what.
@Suite(.timeLimit(.minutes(60))) struct PublicNotificationTests {
    func withPeople(_ body: @Sendable (_ anna: Person, _ bert: Person, RunningServer) async throws -> Void) async throws
    {
        try await RunningServer.with { server in
            try await body(try await Person.ready(server), try await Person.ready(server), server)
        }
    }

    // MARK: Being told

    @Test func everybodyWhoSubscribedIsToldButTheOriginatingDevice() async throws {
        try await withPeople { anna, bert, server in
            let desk = try await anna.onAnotherDevice()
            // Nobody has written yet: the database can be subscribed to all the same.
            try await anna.subscribe(.query("mine"), in: "public")
            try await bert.subscribe(.query("notes", desiredKeys: ["body"]), in: "public")
            let (onPhone, onDesk, onBert) = (try await anna.listen(), try await desk.listen(), try await bert.listen())
            let first = try await anna.savePublic([PublicWrite("a", "hello")])[0]
            let told = try await onBert.notification()
            #expect(told.subscriptionID == "notes")
            #expect(told.kind == 1)
            #expect(told.database == "public")
            #expect(told.reason == 1)
            #expect(told.container == TestClient.container)
            #expect(told.environment == "development")
            #expect(told.recordName == "a")
            #expect(told.recordType == "Note")
            #expect(told.date == server.clock.now)
            #expect(told.zone == .with { ($0.zoneName, $0.ownerName) = (Names.defaultZone, UserID(.zero).recordName) })
            #expect(told.fields.map(\.name) == ["body"] && told.fields[0].value.string == "hello" && !told.pruned)
            #expect(try await onDesk.notification().subscriptionID == "mine")
            let second = try await anna.savePublic([PublicWrite(after: first)])[0]
            #expect(try await onBert.notification().reason == 2)
            _ = try await anna.savePublic([PublicWrite(after: second, kind: .delete)])
            let gone = try await onBert.notification()
            #expect(gone.reason == 3)
            #expect(gone.fields.map(\.value.string) == ["more"])
            // The phone hears nothing of its own changes: Bert's is the first that reaches it.
            _ = try await bert.savePublic([PublicWrite("b")])
            #expect(try await onPhone.notification().recordName == "b")
        }
    }

    @Test func aSubscriptionFiresOnWhatItAsksFor() async throws {
        try await withPeople { anna, bert, _ in
            let predicate = Query.Predicate([Query.Field<String>("body") == "right"])
            _ = try await bert.modifySubscriptions(
                saving: [
                    .query("right", where: predicate), .query("gone", firesOn: 4), .query("once", firesOn: 1 | 8),
                    .query("others", type: "Other"),
                ], in: "public")
            let events = try await bert.listen()
            _ = try await anna.savePublic([PublicWrite("a", "wrong"), PublicWrite("b", "right")])
            // Once is once, though two records were made.
            #expect(try await events.notification().subscriptionID == "once")
            let second = try await events.notification()
            #expect(second.subscriptionID == "right")
            #expect(second.recordName == "b")
            #expect(try await bert.subscriptions(in: "public").map(\.subscriptionID) == ["gone", "others", "right"])
            let last = try await anna.savePublic([PublicWrite("c", "wrong")])[0]
            _ = try await anna.savePublic([PublicWrite(after: last, kind: .delete)])
            #expect(try await events.notification().subscriptionID == "gone")
            _ = try await anna.savePublic([PublicWrite("d", type: "Other", "wrong")])
            #expect(try await events.notification().subscriptionID == "others")
            // Under the id of one that has fired there is room for another.
            try await bert.subscribe(.query("once", firesOn: 1 | 8), in: "public")
        }
    }

    @Test func containersEnvironmentsAndDatabasesAreApart() async throws {
        try await withPeople { anna, bert, _ in
            let zone = try await anna.makeZone()
            try await anna.subscribe(.query("own"))
            try await bert.subscribe(.query("public"), in: "public")
            let elsewhere = Sealkit_V1_ModifySubscriptionsRequest.with {
                $0.operationID = Data(randomBytes(16))
                $0.saves = [.query("production")]
            }
            let answer = try await bert.client.call(
                Person.publicPath("subscriptions/modify", environment: "production"), elsewhere,
                as: Sealkit_V1_ModifySubscriptionsResponse.self)
            #expect(answer.results.map(\.subscription.subscriptionID) == ["production"])
            let (onDesk, onBert) = (try await anna.onAnotherDevice().listen(), try await bert.listen())
            _ = try await anna.save([Write("private")], in: zone)
            // Without fields: the zone's notes have sealed ones.
            let codes = try await anna.publicCodes([PublicWrite("public", nil)])
            #expect(codes == [nil])
            let told = try await onBert.notification()
            #expect(told.subscriptionID == "public")
            #expect(told.recordName == "public")
            #expect(told.environment == "development")
            #expect(try await onDesk.notification().recordName == "private")
            _ = try await anna.save([Write("another")], in: zone)
            #expect(try await onDesk.notification().recordName == "another")
        }
    }

    // MARK: Who may read

    /// What somebody may not read, it is not told of: neither that it is there nor what is in it.
    @Test func onlyThoseWhoMayReadAreTold() async throws {
        try await withPeople { anna, bert, server in
            let desk = try await anna.onAnotherDevice()
            for name in ["Secret", "Note"] { _ = try await anna.savePublic([PublicWrite("first-\(name)", type: name)]) }
            for person in [anna, bert] {
                _ = try await person.modifySubscriptions(
                    saving: [.query("secrets", type: "Secret", desiredKeys: ["body"]), .query("notes")], in: "public")
            }
            var schema = try await server.schema().schema
            schema.roles = ["editor"]
            schema.types["Secret"]?.grants = [.init([.create], to: "_icloud"), .init([.read, .write], to: "_creator")]
            try await server.deploy(schema, to: .development)
            let (onDesk, onBert) = (try await desk.listen(), try await bert.listen())
            let secret = try await anna.savePublic([PublicWrite("s", type: "Secret", "canary")])[0]
            let hidden = try await anna.savePublic([PublicWrite(after: secret, type: "Secret")])[0]
            _ = try await anna.savePublic([PublicWrite("n")])
            // Its creator is told, and Bert of the note alone.
            #expect(try await onDesk.notification().recordName == "s")
            let told = try await onBert.notification()
            #expect(told.recordName == "n")
            #expect(told.subscriptionID == "notes")
            // A role counts from when it is given, and until it is taken.
            schema.types["Secret"]?.grants.append(.init([.read], to: "editor"))
            try await server.deploy(schema, to: .development)
            let unheard = try await anna.savePublic([PublicWrite(after: hidden, type: "Secret")])[0]
            _ = try await anna.savePublic([PublicWrite("n2")])
            #expect(try await onBert.notification().recordName == "n2")
            try await server.services.database.write(at: .everything) { connection in
                try RoleAssignments.assign("editor", to: bert.user, TestClient.container, .development, in: connection)
            }
            let heard = try await anna.savePublic([PublicWrite(after: unheard, type: "Secret")])[0]
            let secretTold = try await onBert.notification()
            #expect(secretTold.recordName == "s")
            #expect(secretTold.subscriptionID == "secrets")
            #expect(secretTold.reason == 2)
            _ = try await server.services.database.write(at: .everything) { connection in
                try RoleAssignments.revoke(
                    "editor", from: bert.user, TestClient.container, .development, in: connection)
            }
            // Nor of its end.
            _ = try await anna.savePublic([PublicWrite(after: heard, type: "Secret", kind: .delete)])
            _ = try await anna.savePublic([PublicWrite("n3")])
            #expect(try await onBert.notification().recordName == "n3")
        }
    }

    static let path = DatabasePath(container: TestClient.container, environment: .development, database: .public)

    /// A record that was made, for those who are told of it.
    static func change(
        _ name: String, type: String = "Note", by user: UserID, _ fields: Sealkit_V1_Record = Sealkit_V1_Record()
    ) throws -> RecordChange {
        RecordChange(
            kind: .created, name: name, type: type, position: 1, creator: user, author: user, created: 1, modified: 1,
            fields: try fields.serializedBytes(), words: [:], formerFields: [], formerBytes: 0, isNewRow: true,
            shares: [], former: nil)
    }

    // MARK: Webhooks

    @Test func webhooksAreSentPublicChanges() async throws {
        try await WebhookReceiver.with { receiver in
            try await RunningServer.with(webhookOrigins: [receiver.origin]) { server in
                let (anna, bert) = (try await Person.ready(server), try await Person.ready(server))
                var subscription = Sealkit_V1_Subscription.query("hook", desiredKeys: ["body"])
                subscription.webhook = receiver.origin + "/bert"
                try await bert.subscribe(subscription, in: "public")
                _ = try await anna.savePublic([PublicWrite("a", "hello")])
                let told = try await receiver.delivery(1).message.notifications
                #expect(
                    told.map(\.recordName) == ["a"] && told[0].database == "public" && told[0].subscriptionID == "hook")
                #expect(told[0].fields.map(\.value.string) == ["hello"])
            }
        }
    }

    /// A server-to-server key has no devices and no stream, but its server has an address.
    @Test func aServerKeySubscribesWithWebhooksUntilItIsRevoked() async throws {
        try await WebhookReceiver.with { receiver in
            try await RunningServer.with(webhookOrigins: [receiver.origin]) { server in
                let anna = try await Person.ready(server)
                let key = try await ServerKeyClient.ready(by: anna)
                var subscription = Sealkit_V1_Subscription.query("hook")
                subscription.webhook = receiver.origin + "/key"
                let request = Sealkit_V1_ModifySubscriptionsRequest.with {
                    $0.operationID = Data(randomBytes(16))
                    $0.saves = [subscription]
                }
                let answer = try await key.send(try key.call(Person.publicPath("subscriptions/modify"), request))
                #expect(answer.code == nil)
                let results = try Sealkit_V1_ModifySubscriptionsResponse(serializedBytes: answer.body).results
                #expect(results.map(\.subscription.subscriptionID) == ["hook"])
                _ = try await anna.savePublic([PublicWrite("a")])
                #expect(try await receiver.delivery(1).message.notifications.map(\.recordName) == ["a"])
                // Its account has none of its subscriptions, and takes them all with the key.
                #expect(try await anna.subscriptions(in: "public").isEmpty)
                var own = Sealkit_V1_Subscription.query("own")
                own.webhook = receiver.origin + "/anna"
                try await anna.subscribe(own, in: "public")
                _ = try await anna.revokeServerKey(key.user)
                _ = try await anna.savePublic([PublicWrite("b")])
                let next = try await receiver.delivery(2)
                #expect(next.path == "/anna")
                let left = try await server.services.database.read { connection in
                    try connection.rows("SELECT subscription FROM webhook") { try $0.text("subscription") }
                }
                #expect(left == ["own"])
            }
        }
    }

    // MARK: Refusals

    @Test func whatThePublicDatabaseDoesNotTakeIsRefused() async throws {
        try await withPeople { anna, _, server in
            _ = try await anna.savePublic([PublicWrite("a")])
            func failure(_ subscription: Sealkit_V1_Subscription) async throws -> Sealkit_V1_Failure {
                try await anna.modifySubscriptions(saving: [subscription], in: "public")[0].failure
            }
            var zone = Sealkit_V1_Subscription.database("zone")
            zone.kind = 2
            zone.zone.zoneName = Names.defaultZone
            for subscription in [.database(), zone] {
                let refused = try await failure(subscription)
                #expect(refused.errorCode == .badDatabase)
                #expect(refused.remedy.contains("takes query subscriptions"))
            }
            // Its one zone, by any of its names, and no other.
            for (name, owner, code) in [
                ("", "", nil), (Names.defaultZone, "", nil), (Names.defaultZone, UserID(.zero).recordName, nil),
                ("notes", "", ErrorCode.zoneNotFound), (Names.defaultZone, anna.name, .zoneNotFound),
            ] {
                var query = Sealkit_V1_Subscription.query()
                query.zone = .with { ($0.zoneName, $0.ownerName) = (name, owner) }
                let answer = try await failure(query)
                #expect(answer.errorCode == code, "\(name) \(owner)")
            }
            let found = try await anna.lookupSubscriptions(["query", "none"], in: "public")
            #expect(found[0].subscription.zone.zoneName == Names.defaultZone)
            #expect(found[1].failure.errorCode == .unknownItem)
            // What only the device could compare.
            var schema = try await server.schema().schema
            schema.types["Note"]?.fields["sealed"] = .init(ValueType(.string), isEncrypted: true)
            schema.types["Note"]?.fields["photo"] = .init(ValueType(.asset))
            try await server.deploy(schema, to: .development)
            for name in ["sealed", "photo"] {
                let asking = Sealkit_V1_Subscription.query(
                    "asking", where: Query.Predicate([Query.Field<String>(name) == "x"]))
                let answer = try await failure(asking)
                #expect(answer.errorCode == .invalidArguments)
                #expect(answer.reason.contains(name))
                let inZones = try await anna.modifySubscriptions(saving: [asking])
                #expect(inZones[0].failure.errorCode == .invalidArguments)
            }
            #expect(try await anna.subscriptions(in: "public").map(\.subscriptionID) == ["query"])
        }
    }

    @Test func subscribingNeedsAnAccount() async throws {
        try await withPeople { anna, _, server in
            try await anna.subscribe(.query(), in: "public")
            let world = try TestClient(server)
            let request = Sealkit_V1_ModifySubscriptionsRequest.with {
                $0.operationID = Data(randomBytes(16))
                $0.saves = [.query()]
            }
            let modified = try await refusal {
                try await world.call(
                    Person.publicPath("subscriptions/modify"), request, as: Sealkit_V1_ModifySubscriptionsResponse.self)
            }
            #expect(modified == .notAuthenticated)
            let listed = try await refusal {
                try await world.call(
                    Person.publicPath("subscriptions/list"), Sealkit_V1_ListSubscriptionsRequest(),
                    as: Sealkit_V1_ListSubscriptionsResponse.self)
            }
            #expect(listed == .notAuthenticated)
        }
    }

    /// A database that nobody subscribes to any more says so in its zone's row.
    @Test func thePublicZoneKnowsWhetherAnybodyWatchesIt() async throws {
        try await withPeople { anna, bert, server in
            func watch() async throws -> Watch {
                try await server.services.database.read { try PublicZone.find(Self.path, in: $0).watch }
            }
            try await anna.subscribe(.query("a"), in: "public")
            try await bert.subscribe(.query("b", firesOn: 1 | 8), in: "public")
            #expect(try await watch() == .queries)
            _ = try await anna.modifySubscriptions(deleting: ["a"], in: "public")
            #expect(try await watch() == .queries)
            let events = try await bert.listen()
            _ = try await anna.savePublic([PublicWrite("x")])
            _ = try await events.next()
            #expect(try await watch() == [])
        }
    }
}
