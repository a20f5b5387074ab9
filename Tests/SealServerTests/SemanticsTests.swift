import Foundation
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import Testing

@testable import SealServer
@testable import SealService

/// Sentences that clients of CloudKit rely on, where `RecordTests` and `ZoneTests` do not have them.
/// `Tests/Semantics.md` has all.
@Suite(.timeLimit(.minutes(60))) struct SemanticsTests {
    @Test func s9_onlyASaveChangesWhatIsStored() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            let saved = try await anna.save([Write("a")], in: zone)[0]
            var record = try await anna.lookup(["a"], in: zone).results[0].record
            record.fields = []
            record.changeTag = "changed"
            let found = try await anna.lookup(["a"], in: zone).results[0].record
            #expect(found.fields.count == 2)
            #expect(found.changeTag == saved.tag)
            #expect(found != record)
        }
    }

    @Test func s19_aChildsSaveGivesItsParentANewTagAndLeavesItsPlace() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            let parent = try await anna.save([Write("parent")], in: zone)[0]
            let before = try await anna.lookup(["parent"], in: zone).results[0].record
            let child = try await anna.save([Write("child", parent: "parent")], in: zone)[0]
            let after = try await anna.lookup(["parent"], in: zone).results[0].record
            #expect(after.changeTag != before.changeTag)
            #expect(after.changeTag != child.tag)
            #expect(after.position == before.position)
            #expect(after.statement == before.statement)
            #expect(after.modificationDate == before.modificationDate)
            #expect(try await anna.changes(in: zone).records.map(\.recordName) == ["parent", "child"])
            // The old tag is one that differs (#13); a parent in the batch gets the tag of its own save.
            #expect(try await anna.codes([Write(after: parent)], in: zone) == [.serverRecordChanged])
            var both = [Write(after: try SavedRecord(after)), Write(after: child)]
            both[1].parent = "parent"
            let saved = try await anna.save(both, in: zone)
            #expect(saved.allSatisfy { $0.result.code == nil })
            #expect(try await anna.lookup(["parent"], in: zone).results[0].record.changeTag == saved[0].tag)
        }
    }

    private static func large(_ name: String) -> Write {
        var write = Write(name)
        write.fields = [("a", .plain(.data([UInt8](repeating: 1, count: 1_000_000))))]
        return write
    }

    @Test func s20_tooManyItemsOrBytesAndNothingIsStored() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            let refused = try await refusal {
                try await anna.save([Self.large("a"), Self.large("b"), Self.large("c")], in: zone)
            }
            #expect(refused == .limitExceeded)
            #expect(try await anna.changes(in: zone).records.isEmpty)
            #expect(try await anna.codes([Self.large("a"), Self.large("b")], in: zone) == [nil, nil])
        }
    }

    @Test func s20_savesAndDeletionsCountTogether() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            let saved = try await anna.save((0..<201).map { Write("old\($0)") }, in: zone)
            let before = try await anna.changes(in: zone)
            var request = try anna.request(saved.map { Write(after: $0, kind: .delete) }, in: zone).request
            request.records += try anna.request((0..<200).map { Write("new\($0)") }, in: zone).request.records
            let many = request
            let refused = try await refusal { try await anna.send(many, to: zone) }
            #expect(refused == .limitExceeded)
            #expect(try await anna.changes(in: zone) == before)
        }
    }

    @Test func s26_parentAndChildGoInEitherOrder() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            for (parentName, childName, isParentFirst) in [("p1", "c1", true), ("p2", "c2", false)] {
                let made = try await anna.save([Write(parentName), Write(childName, parent: parentName)], in: zone)
                let parent = try SavedRecord(try await anna.lookup([parentName], in: zone).results[0].record)
                var both = [Write(after: parent, kind: .delete), Write(after: made[1], kind: .delete)]
                if !isParentFirst { both.reverse() }
                #expect(try await anna.codes(both, in: zone) == [nil, nil])
                #expect(
                    try await anna.lookup([parentName, childName], in: zone).results.map(\.code) == [
                        .unknownItem, .unknownItem,
                    ])
            }
        }
    }

    @Test func s36_theReasonOfAZonesDeletionIsTold() async throws {
        try await RunningServer.withZone { anna, first, server in
            let bert = try await Person.ready(server)
            var shared = try await anna.makeSharedZone("shared")
            try await anna.share(&shared, with: bert)
            let (token, bertsToken) = (
                try await anna.zoneChanges().token, try await bert.zoneChanges(shared: true).token
            )
            let reset = try await anna.makeZone("reset")
            #expect(try await anna.deleteZone(shared, reason: 2).deleted)
            #expect(try await anna.deleteZone(reset, reason: 3).deleted)
            for reason in [4, 5, 0xFFFF_FFFF] as [UInt32] {
                #expect(try await anna.deleteZone(first, reason: reason).failure.errorCode == .invalidArguments)
            }
            let told = try await anna.zoneChanges(token).deletions
            #expect(told.map(\.zoneID.zoneName) == ["shared", "reset"])
            #expect(told.map(\.reason) == [2, 3])
            // To a participant it is not shared any more; why the owner did it is not its business.
            #expect(try await bert.zoneChanges(bertsToken, shared: true).deletions.map(\.reason) == [4])
            #expect(try await refusal { try await anna.save([Write("a")], in: shared) } == .userDeletedZone)
            #expect(try await refusal { try await anna.save([Write("a")], in: reset) } == .zoneNotFound)
            #expect(try await refusal { try await anna.lookup(["a"], in: shared) } == .zoneNotFound)
            #expect(try await refusal { try await bert.save([Write("a")], in: shared) } == .zoneNotFound)
        }
    }

    @Test func s39_aChildMayComeBeforeItsParent() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            let saved = try await anna.save([Write("child", parent: "parent"), Write("parent")], in: zone)
            #expect(try await anna.changes(in: zone).records.map(\.recordName) == ["child", "parent"])
            // In an earlier page, and after the parent has changed, in an earlier fetch.
            let page = try await anna.changes(in: zone, limit: 1)
            #expect(page.records.map(\.recordName) == ["child"])
            #expect(page.moreComing)
            #expect(try await anna.changes(in: zone, since: page.token).records.map(\.recordName) == ["parent"])
            let parent = try SavedRecord(try await anna.lookup(["parent"], in: zone).results[0].record)
            #expect(parent.hash == saved[1].hash)
            #expect(try await anna.codes([Write(after: parent)], in: zone) == [nil])
            #expect(try await anna.changes(in: zone, since: page.token).records.map(\.recordName) == ["parent"])
        }
    }

    @Test func s41_noChangeIsNoEvent() async throws {
        try await RunningServer.withZone { anna, zone, _ in
            _ = try await anna.save([Write("a")], in: zone)
            let (records, zones) = (try await anna.changes(in: zone), try await anna.zoneChanges())
            _ = try await anna.lookup(["a"], in: zone)
            #expect(try await anna.codes([Write("a")], in: zone) == [.serverRecordChanged])
            let (laterRecords, laterZones) = (
                try await anna.changes(in: zone, since: records.token), try await anna.zoneChanges(zones.token)
            )
            #expect(laterRecords.records.isEmpty)
            #expect(!laterRecords.moreComing)
            #expect(laterRecords.token == records.token)
            #expect(laterZones.modifications.isEmpty)
            #expect(laterZones.deletions.isEmpty)
            #expect(laterZones.token == zones.token)
        }
    }

    /// Nor is anything told to who listens: the next event is that of the next change.
    @Test func s41_whatWasRefusedOrOnlyReadIsNotTold() async throws {
        try await RunningServer.with { server in
            let phone = try await Person.ready(server)
            let desk = try await phone.onAnotherDevice()
            let zone = try await phone.makeZone()
            try await phone.subscribe(.database())
            let events = try await desk.listen()
            _ = try await phone.save([Write("a")], in: zone)
            #expect(try await events.next().number == 1)
            #expect(
                try await phone.codes([Write("a"), Write("b")], in: zone) == [
                    .serverRecordChanged, .batchRequestFailed,
                ])
            _ = try await phone.lookup(["a"], in: zone)
            _ = try await phone.modifyZones(saving: [("notes", try phone.opening("notes"))])
            _ = try await phone.save([Write("b")], in: zone)
            #expect(try await events.next().number == 2)
        }
    }

    /// The default zone promises nothing, so each of its records is saved by itself.
    @Test func theDefaultZoneIsNotAtomic() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let zone = try await anna.makeZone(Names.defaultZone)
            _ = try await anna.save([Write("a")], in: zone)
            #expect(
                try await anna.codes([Write("a"), Write("b")], in: zone, atomic: true) == [.serverRecordChanged, nil])
        }
    }
}
