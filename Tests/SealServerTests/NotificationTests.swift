import Foundation
import SealPrimitives
import SealQuery
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealEnvelope
@testable import SealServer
@testable import SealService
@testable import SealStorage

@Suite(.timeLimit(.minutes(60))) struct NotificationTests {
    @Test func everyDeviceButTheOriginatingOneIsTold() async throws {
        try await RunningServer.with { server in
            let phone = try await Person.ready(server)
            let desk = try await phone.onAnotherDevice()
            let zone = try await phone.makeZone()
            try await phone.subscribe(.database())
            let (onPhone, onDesk) = (try await phone.listen(), try await desk.listen())
            #expect(onPhone.first.name == "ready")
            #expect(onPhone.first.id == onDesk.first.id)
            #expect(onPhone.headers["content-type"] == "text/event-stream")
            #expect(onPhone.headers["cache-control"] == "no-store")
            _ = try await phone.save([Write("a")], in: zone)
            let told = try await onDesk.notification()
            #expect(told.subscriptionID == "db")
            #expect(told.kind == 3)
            #expect(told.database == "private")
            #expect(told.container == TestClient.container)
            #expect(told.environment == "development")
            #expect(told.zone == .with { ($0.zoneName, $0.ownerName) = ("notes", phone.name) })
            #expect(told.recordName.isEmpty)
            #expect(told.fields.isEmpty)
            #expect(told.date == server.clock.now)
            // The phone hears nothing of its own change: the desk's is the first that reaches it.
            _ = try await desk.save([Write("b")], in: zone)
            let event = try await onPhone.next()
            #expect(try event.notification.zone.zoneName == "notes")
            #expect(event.number == 2)
        }
    }

    /// A stream is of one environment, whatever the user's devices do in the other.
    @Test func theOtherEnvironmentIsNotTold() async throws {
        try await RunningServer.with { server in
            let phone = try await Person.ready(server)
            let inProduction = Sealkit_V1_ModifySubscriptionsRequest.with {
                $0.operationID = Data(randomBytes(16))
                $0.saves = [.database("production")]
            }
            let answer = try await phone.client.call(
                phone.inProduction.path("subscriptions/modify"), inProduction,
                as: Sealkit_V1_ModifySubscriptionsResponse.self)
            #expect(answer.results.map(\.subscription.subscriptionID) == ["production"])
            try await phone.subscribe(.database("development"))
            let desk = try await phone.onAnotherDevice().listen(after: "0")
            _ = try await phone.inProduction.makeZone("theirs")
            _ = try await phone.makeZone("ours")
            let told = try await desk.notification()
            #expect(told.environment == "development")
            #expect(told.subscriptionID == "development")
            #expect(told.zone.zoneName == "ours")
        }
    }

    /// The phone's change must not hide the desk's, nor the desk's the phone's.
    @Test func changesOfSeveralDevicesAreToldTogether() async throws {
        try await RunningServer.with { server in
            let phone = try await Person.ready(server)
            let (desk, pad) = (try await phone.onAnotherDevice(), try await phone.onAnotherDevice())
            let zone = try await phone.makeZone()
            try await phone.subscribe(.database())
            _ = try await phone.save([Write("a")], in: zone)
            _ = try await desk.save([Write("b")], in: zone)
            // One notification for all that happened, with the newest number.
            for device in [phone, desk, pad] {
                let events = try await device.listen(after: "0")
                #expect(try await events.next().number == 2)
            }
            // Somebody who has received the desk's change has nothing to hear of its own later one.
            _ = try await phone.save([Write("c")], in: zone)
            let onPhone = try await phone.listen(after: phone.notificationID(2))
            let onDesk = try await desk.listen(after: desk.notificationID(2))
            #expect(try await onDesk.next().number == 3)
            _ = try await pad.save([Write("d")], in: zone)
            #expect(try await onPhone.next().number == 4)
            // And a device that went away before the desk's change hears of it, though its own came later.
            #expect(try await phone.listen(after: phone.notificationID(1)).next().number == 4)
        }
    }

    @Test func changesOfAZoneAreOneNotification() async throws {
        try await RunningServer.with { server in
            let phone = try await Person.ready(server)
            let desk = try await phone.onAnotherDevice()
            let (zone, other) = (try await phone.makeZone(), try await phone.makeZone("other"))
            try await phone.subscribe(.database())
            for name in ["a", "b", "c"] { _ = try await phone.save([Write(name)], in: zone) }
            _ = try await phone.save([Write("d")], in: other)
            _ = try await phone.save([Write("e"), Write("f")], in: zone)
            let events = try await desk.listen(after: "0")
            let (first, second) = (try await events.next(), try await events.next())
            #expect(try first.notification.zone.zoneName == "other" && first.number == 4)
            #expect(try second.notification.zone.zoneName == "notes" && second.number == 5)
        }
    }

    @Test func zoneAndTypeNarrowWhatIsTold() async throws {
        try await RunningServer.with { server in
            let phone = try await Person.ready(server)
            let desk = try await phone.onAnotherDevice()
            let (zone, other) = (try await phone.makeZone(), try await phone.makeZone("other"))
            _ = try await phone.modifySubscriptions(saving: [
                .zone(zone, "zone"), .database("lists", type: "List"), .zone(zone, "lists here", type: "List"),
            ])
            let events = try await desk.listen()
            func list(_ name: String) -> Write {
                var write = Write(name)
                write.type = "List"
                return write
            }
            _ = try await phone.save([Write("a")], in: other)
            _ = try await phone.save([Write("a")], in: zone)
            #expect(try await events.notification().subscriptionID == "zone")
            _ = try await phone.save([list("b")], in: other)
            #expect(try await events.notification().subscriptionID == "lists")
            _ = try await phone.save([list("c"), Write("d")], in: zone)
            var told: [TestEvents.Event] = []
            for _ in 0..<3 { told.append(try await events.next()) }
            #expect(Set(try told.map { try $0.notification.subscriptionID }) == ["zone", "lists", "lists here"])
            // All three are of one commit: only the last moves the place to go on from.
            #expect(told.map { $0.id != nil } == [false, false, true])
        }
    }

    @Test func querySubscriptionsTellOfRecords() async throws {
        try await RunningServer.with { server in
            let phone = try await Person.ready(server)
            let desk = try await phone.onAnotherDevice()
            let zone = try await phone.makeZone()
            _ = try await phone.modifySubscriptions(saving: [
                .query("all", desiredKeys: ["title", "body", "pinned"]), .query("new", firesOn: 1),
                .query("gone", firesOn: 4),
                .query("others", type: "Other"),
            ])
            let events = try await desk.listen()
            func told(_ count: Int) async throws -> [String: Sealkit_V1_Notification] {
                var all: [String: Sealkit_V1_Notification] = [:]
                for _ in 0..<count {
                    let one = try await events.notification()
                    all[one.subscriptionID] = one
                }
                return all
            }
            var write = Write("a")
            write.fields = [
                ("body", .encrypted(.string("canary-of-the-field"))), ("pinned", .plain(.int64(1))),
                ("title", .plain(.string(String(repeating: "é", count: 150)))),
            ]
            let saved = try await phone.save([write], in: zone)[0]
            let created = try await told(2)
            #expect(Set(created.keys) == ["all", "new"])
            let all = try #require(created["all"])
            #expect(all.kind == 1)
            #expect(all.recordName == "a")
            #expect(all.recordType == "Note")
            #expect(all.reason == 1)
            // Never an encrypted value; strings are cut.
            #expect(all.fields.map(\.name) == ["title", "pinned"])
            #expect(all.pruned)
            #expect(all.fields[0].value.string == String(repeating: "é", count: 100) && all.fields[1].value.int64 == 1)
            #expect(all.notificationInfo.desiredKeys.count == 3)

            let updated = try await phone.save([Write(after: saved)], in: zone)[0]
            #expect(try await told(1)["all"]?.reason == 2)
            _ = try await phone.save([Write(after: updated, kind: .delete)], in: zone)
            let deleted = try await told(2)
            #expect(Set(deleted.keys) == ["all", "gone"])
            #expect(deleted["all"]?.reason == 3)
            #expect(try server.storedBytes().contains(bytes: Array("canary-of-the-field".utf8)) == false)
        }
    }

    /// As it is now counts: what begins to match is told, what ceases to match is not.
    @Test func predicatesChooseRecords() async throws {
        try await RunningServer.with { server in
            let phone = try await Person.ready(server)
            let desk = try await phone.onAnotherDevice()
            let zone = try await phone.makeZone()
            try await phone.subscribe(.query("much", where: Query.Predicate([Query.Field<Int>("count") > 3])))
            let events = try await desk.listen()
            func save(_ name: String, _ count: Int64, after saved: SavedRecord? = nil) async throws -> SavedRecord {
                var write = saved.map { Write(after: $0) } ?? Write(name)
                write.fields = [("count", .plain(.int64(count)))]
                return try await phone.save([write], in: zone)[0]
            }
            var record = try await save("a", 1)
            _ = try await save("b", 4)
            let first = try await events.notification()
            #expect(first.recordName == "b")
            #expect(first.reason == 1)
            record = try await save("a", 5, after: record)
            let second = try await events.notification()
            #expect(second.recordName == "a")
            #expect(second.reason == 2)
            record = try await save("a", 2, after: record)
            // Deleted when it did not match any more.
            _ = try await phone.save([Write(after: record, kind: .delete)], in: zone)
            _ = try await save("c", 9)
            #expect(try await events.notification().recordName == "c")
        }
    }

    @Test func whatFiresOnceGoes() async throws {
        try await RunningServer.with { server in
            let phone = try await Person.ready(server)
            let desk = try await phone.onAnotherDevice()
            let zone = try await phone.makeZone()
            var once = Sealkit_V1_Subscription.query("once", firesOn: 1 | 8)
            once.notificationInfo.alertBody = "It is here"
            _ = try await phone.modifySubscriptions(saving: [once, .query("every", firesOn: 1)])
            _ = try await phone.save([Write("a"), Write("b")], in: zone)
            _ = try await phone.save([Write("c")], in: zone)
            #expect(try await phone.subscriptions().map(\.subscriptionID) == ["every"])
            let events = try await desk.listen(after: "0")
            var told: [Sealkit_V1_Notification] = []
            for _ in 0..<4 { told.append(try await events.notification()) }
            let fired = told.filter { $0.subscriptionID == "once" }
            #expect(fired.map(\.recordName) == ["a"] && fired[0].notificationInfo.alertBody == "It is here")
            let every = told.filter { $0.subscriptionID == "every" }
            #expect(Set(every.map(\.recordName)) == ["a", "b", "c"])
        }
    }

    @Test func zonesThatComeAndGoAreTold() async throws {
        try await RunningServer.with { server in
            let phone = try await Person.ready(server)
            let desk = try await phone.onAnotherDevice()
            _ = try await phone.modifySubscriptions(saving: [.database(), .database("typed", type: "List")])
            let events = try await desk.listen()
            let zone = try await phone.makeZone()
            func told() async throws -> [String] {
                [try await events.notification(), try await events.notification()].map(\.subscriptionID).sorted()
            }
            #expect(try await told() == ["db", "typed"])
            _ = try await phone.deleteZone(zone)
            #expect(try await told() == ["db", "typed"])
        }
    }

    @Test func participantsOfASharedZoneAreTold() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let (bert, cleo) = (try await Person.ready(server), try await Person.ready(server))
            var zone = try await anna.makeSharedZone()
            try await anna.subscribe(.database())
            try await bert.subscribe(.database("shares"), in: "shared")
            let (onAnna, onBert) = (try await anna.listen(), try await bert.listen())
            let annasPad = try await anna.onAnotherDevice().listen()
            try await anna.share(&zone, with: bert)
            // Bert's acceptance is somebody else's doing to Anna, and his own to Bert.
            #expect(try await onAnna.notification().subscriptionID == "db")
            #expect(try await annasPad.notification().subscriptionID == "db")
            _ = try await anna.save([Write("a")], in: zone)
            let told = try await onBert.notification()
            #expect(told.subscriptionID == "shares")
            #expect(told.database == "shared")
            #expect(told.zone.ownerName == anna.name)
            _ = try await bert.save([Write("b")], in: zone)
            #expect(try await onAnna.notification().database == "private")
            // The removed one learns of its removal, and of nothing after it.
            let changes = try await bert.zoneChanges(shared: true).token
            try await anna.remove(bert, from: &zone)
            #expect(try await onBert.notification().zone.zoneName == "notes")
            #expect(try await bert.zoneChanges(changes, shared: true).deletions.count == 1)
            _ = try await anna.save([Write("c")], in: zone)
            var other = try await cleo.makeSharedZone("cleos")
            _ = try await cleo.share(&other, with: bert)
            _ = try await cleo.save([Write("d")], in: other)
            #expect(try await onBert.notification().zone.ownerName == cleo.name)
        }
    }

    @Test func whatWasTakenBackIsNotTold() async throws {
        try await RunningServer.with { server in
            let phone = try await Person.ready(server)
            let desk = try await phone.onAnotherDevice()
            let zone = try await phone.makeZone()
            try await phone.subscribe(.database())
            var wrong = Write("b")
            wrong.parent = "nobody"
            let codes = try await phone.codes([Write("a"), wrong], in: zone)
            #expect(codes == [.batchRequestFailed, .referenceViolation])
            _ = try await phone.save([Write("c")], in: zone)
            #expect(try await desk.listen(after: "0").next().number == 1)
        }
    }

    @Test func aDeletedSubscriptionTakesWhatWaitsAlong() async throws {
        try await RunningServer.with { server in
            let phone = try await Person.ready(server)
            let desk = try await phone.onAnotherDevice()
            let zone = try await phone.makeZone()
            _ = try await phone.modifySubscriptions(saving: [.database("a"), .database("b")])
            _ = try await phone.save([Write("x")], in: zone)
            _ = try await phone.modifySubscriptions(deleting: ["a"])
            let events = try await desk.listen(after: "0")
            #expect(try await events.notification().subscriptionID == "b")
            _ = try await phone.save([Write("y")], in: zone)
            #expect(try await events.notification().subscriptionID == "b")
        }
    }
}
