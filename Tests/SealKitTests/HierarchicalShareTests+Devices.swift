import Foundation
import SealLab
import SealStatements
import Testing

@testable import SealKit

/// Devices that go by a share, or by the zone as a whole, while another device of the same person knows better.
extension HierarchicalShareTests {
    func sharedWhole(_ it: Shared) async throws {
        var share = Share(recordZoneID: it.zone)
        share.addParticipant(try await it.ann.participant(it.bob, .readWrite))
        try await it.bob.join(try await it.ann.own.save(share).url)
    }

    /// The list was shared with Bob, on two devices, and the whole zone is now: the other one has not heard.
    private func sharedWholeMeanwhile() async throws -> (it: Shared, other: Person) {
        let it = try await shared()
        let other = try it.bob.onFreshDevice()
        _ = try await other.shared.recordZoneChanges(inZoneWith: it.joined)
        try await it.ann.own.deleteRecord(withID: it.share.recordID)
        try await sharedWhole(it)
        return (it, other)
    }

    /// The zone was shared with Bob as a whole, on two devices, and the list alone is now: the other one has not heard.
    private func sharedAnew() async throws -> (it: Shared, other: Person) {
        let it = try await shared()
        try await it.ann.own.deleteRecord(withID: it.share.recordID)
        try await sharedWhole(it)
        let other = try it.bob.onFreshDevice()
        _ = try await other.shared.recordZoneChanges(inZoneWith: it.joined)
        try await it.ann.own.deleteRecord(withID: Record.ID(recordName: Share.recordName, zoneID: it.zone))
        let list = try await it.ann.own.record(for: it.list.recordID)
        var share = Share(rootRecord: list)
        share.addParticipant(try await it.ann.participant(it.bob, .readWrite))
        try await it.bob.join(try await it.ann.own.save(share, rootRecord: list).share.url)
        return (it, other)
    }

    @Test func aDeviceFindsTheZoneSharedInAnotherWay() async throws {
        let it = try await shared()
        let other = try it.bob.onFreshDevice()
        for device in [it.bob, other] { _ = try await device.shared.recordZoneChanges(inZoneWith: it.joined) }
        try await it.ann.own.deleteRecord(withID: it.share.recordID)
        try await sharedWhole(it)
        for device in [other, it.bob] {
            let all = names(try await device.shared.recordZoneChanges(inZoneWith: it.joined))
            #expect(all.isSuperset(of: ["list", "item", "note"]))
        }
        // And back.
        try await it.bob.shared.leaveShare(of: it.joined)
        try await it.ann.own.deleteRecord(withID: Record.ID(recordName: Share.recordName, zoneID: it.zone))
        let list = try await it.ann.own.record(for: it.list.recordID)
        var share = Share(rootRecord: list)
        share.addParticipant(try await it.ann.participant(it.bob, .readWrite))
        let saved = try await it.ann.own.save(share, rootRecord: list).share
        try await it.bob.join(saved.url)
        for device in [other, it.bob] {
            let all = names(try await device.shared.recordZoneChanges(inZoneWith: it.joined))
            #expect(all.isSuperset(of: ["list", "item"]))
            #expect(!all.contains("note"))
            try await device.shared.save(child(of: try await device.shared.record(for: it.id(it.list)), it.bob, "new"))
            #expect(try await device.container.violations().isEmpty)
        }
    }

    @Test func aDeviceWritesToWhatIsSharedNow() async throws {
        // A share of before: nothing without a parent is written to that.
        let (it, other) = try await sharedWholeMeanwhile()
        try await other.shared.save(other.note(in: it.joined, "beside", name: "beside"))
        _ = try await it.ann.own.record(for: Record.ID(recordName: "beside", zoneID: it.zone))
    }

    /// The parent is not there, so that nothing but what is shared now says where the record would be.
    @Test func aDeviceIsToldOfAMissingParentWhereTheZoneIsSharedAsAWholeSince() async throws {
        let (it, other) = try await sharedWholeMeanwhile()
        var orphan = other.note(in: it.joined, "orphan", name: "orphan")
        orphan.parent = Record.Reference(recordName: "nowhere")
        let lost = orphan
        let refused = await failure { try await other.shared.save(lost) }
        #expect(refused == .referenceViolation)
    }

    @Test func aDeviceLeavesWhatIsSharedNow() async throws {
        let it = try await shared()
        let other = try it.bob.onFreshDevice()
        _ = try await other.shared.recordZoneChanges(inZoneWith: it.joined)
        try await it.ann.own.deleteRecordZone(withID: it.zone)
        try await it.ann.own.save(RecordZone(zoneName: it.zone.zoneName))
        try await sharedWhole(it)
        try await other.shared.leaveShare(of: it.joined)
        let gone = await failure { _ = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined) }
        #expect(gone == .zoneNotFound)
    }

    /// It has joined one of the shares, and goes by the zone as a whole as well, of which it has not heard the end.
    @Test func aDeviceLeavesAlsoWhatAnotherOneHasJoinedSinceTheZoneWasSharedAsAWhole() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, note, _) = try await ann.share(with: [(bob, .readWrite)])
        let joined = try await bob.join(try await ann.share(of: zone).url)
        let other = try bob.onFreshDevice()
        _ = try await other.shared.recordZoneChanges(inZoneWith: joined)
        try await ann.own.deleteRecord(withID: Record.ID(recordName: Share.recordName, zoneID: zone))
        for (device, root) in [
            (bob, try await ann.own.record(for: note.recordID)),
            (other, try await ann.own.save(ann.note(in: zone, "list", name: "list"))),
        ] {
            var share = Share(rootRecord: root)
            share.addParticipant(try await ann.participant(bob, .readOnly))
            try await device.join(try await ann.own.save(share, rootRecord: root).share.url)
        }
        try await other.shared.leaveShare(of: joined)
        let gone = await failure { _ = try await bob.shared.recordZoneChanges(inZoneWith: joined) }
        #expect(gone == .zoneNotFound)
    }

    /// The device knows that somebody has left, so it opens a new key first, and finds the share at its end.
    @Test func anOwnersDeviceSavesTheRootOfAShareThatHasEnded() async throws {
        let it = try await shared()
        let other = try it.ann.onFreshDevice()
        var root = try await other.own.record(for: it.list.recordID)
        try await it.bob.shared.leaveShare(of: it.joined)
        _ = try await other.own.recordZoneChanges(inZoneWith: it.zone)
        try await it.ann.own.deleteRecord(withID: it.share.recordID)
        root.encryptedValues["body"] = "after"
        let (changed, id) = (root, root.recordID)
        let results = try await other.own.modifyRecords(saving: [changed], savePolicy: .changedKeys).saveResults
        #expect(try results[id]?.get().encryptedValues["body"] == "after")
        #expect(try await it.ann.own.record(for: id).share == nil)
    }

    /// It has heard nothing of the share's second life, which has another root.
    @Test func aDeviceLeavesAShareThatBeganAgainByDeletingItsRoot() async throws {
        let it = try await shared(.readOnly)
        let other = try it.bob.onFreshDevice()
        _ = try await other.shared.recordZoneChanges(inZoneWith: it.joined)
        try await it.ann.own.deleteRecord(withID: it.share.recordID)
        let note = try await it.ann.own.record(for: it.note.recordID)
        var share = Share(rootRecord: note, shareID: it.share.recordID)
        share.addParticipant(try await it.ann.participant(it.bob, .readWrite))
        try await it.bob.join(try await it.ann.own.save(share, rootRecord: note).share.url)
        try await other.shared.deleteRecord(withID: it.id(it.note))
        let gone = await failure { _ = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined) }
        #expect(gone == .zoneNotFound)
        _ = try await it.ann.own.record(for: it.note.recordID)
    }

    @Test func whoHasLeftIsToldThatThereIsNoZone() async throws {
        let it = try await shared()
        let item = try await it.bob.shared.record(for: it.id(it.item))
        try await it.ann.own.deleteRecord(withID: it.share.recordID)
        try await sharedWhole(it)
        _ = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined)
        try await it.bob.shared.leaveShare(of: it.joined)
        var changed = item
        changed.encryptedValues["body"] = "after"
        let late = changed
        let refused = await failure { try await it.bob.shared.save(late) }
        #expect(refused == .zoneNotFound)
    }

    /// The zone was made again, and a share that may be read only is all there is of it for this person.
    @Test func aCopyOfAnEarlierLifeIsUnknownAlsoWhereNothingMayBeWritten() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, note, _) = try await ann.share(with: [(bob, .readWrite)])
        let joined = try await bob.join(try await ann.share(of: zone).url)
        let other = try bob.onFreshDevice()
        let id = Record.ID(recordName: note.recordID.recordName, zoneID: joined)
        var copy = try await other.shared.record(for: id)
        try await ann.own.deleteRecordZone(withID: zone)
        try await ann.own.save(RecordZone(zoneName: zone.zoneName))
        let list = try await ann.own.save(ann.note(in: zone, "list", name: "list"))
        var share = Share(rootRecord: list)
        share.addParticipant(try await ann.participant(bob, .readOnly))
        try await bob.join(try await ann.own.save(share, rootRecord: list).share.url)
        copy.encryptedValues["body"] = "of before"
        var orphan = other.note(in: joined, "orphan", name: "orphan")
        orphan.parent = Record.Reference(recordName: "nowhere")
        let results = try await other.shared.modifyRecords(
            saving: [copy, other.note(in: joined, "new", name: "new"), orphan], atomically: false
        ).saveResults
        #expect(results[id]?.failureCode == .unknownItem)
        let denied = results.values.filter { $0.failureCode == .permissionFailure }
        #expect(denied.count == 2)
    }

    /// What is a copy of, the zone as a whole, they have left; the record is the root of a share that they are in.
    @Test func aCopyOfTheWholeZoneIsSavedInAShare() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, note, _) = try await ann.share(with: [(bob, .readOnly)])
        let joined = try await bob.join(try await ann.share(of: zone).url)
        let changes = try await bob.shared.recordZoneChanges(inZoneWith: joined)
        let id = Record.ID(recordName: note.recordID.recordName, zoneID: joined)
        var copy = try #require(try changes.modifications.first { $0.recordID == id }?.result.get())
        try await bob.shared.leaveShare(of: joined)
        try await ann.own.deleteRecord(withID: Record.ID(recordName: Share.recordName, zoneID: zone))
        let root = try await ann.own.record(for: note.recordID)
        var share = Share(rootRecord: root)
        share.addParticipant(try await ann.participant(bob, .readWrite))
        try await bob.join(try await ann.own.save(share, rootRecord: root).share.url)
        copy.encryptedValues["body"] = "old copy"
        let old = copy
        let results = try await bob.shared.modifyRecords(saving: [old], savePolicy: .changedKeys).saveResults
        #expect(try results[id]?.get().encryptedValues["body"] == "old copy")
    }

    /// One share of several is known to be over. So are the others, and the server names none any more.
    @Test func aCopyOfOneShareOfSeveralIsSavedInTheWholeZone() async throws {
        let it = try await shared()
        var others: [Share] = []
        for name in ["first", "second", "third"] {
            let root = try await it.ann.own.save(it.ann.note(in: it.zone, name, name: name))
            var share = Share(rootRecord: root)
            share.addParticipant(try await it.ann.participant(it.bob, .readWrite))
            let saved = try await it.ann.own.save(share, rootRecord: root).share
            try await it.bob.join(saved.url)
            others.append(saved)
        }
        let other = try it.bob.onFreshDevice()
        _ = try await other.shared.recordZoneChanges(inZoneWith: it.joined)
        var copy = try await other.shared.record(for: it.id(it.list))
        copy.encryptedValues["body"] = "old copy"
        let old = copy
        try await it.ann.own.deleteRecord(withID: it.share.recordID)
        let gone = await failure { _ = try await other.shared.record(for: it.id(it.list)) }
        #expect(gone == .unknownItem)
        for share in others { try await it.ann.own.deleteRecord(withID: share.recordID) }
        try await sharedWhole(it)
        let results = try await other.shared.modifyRecords(saving: [old], savePolicy: .changedKeys).saveResults
        #expect(try results[old.recordID]?.get().encryptedValues["body"] == "old copy")
        #expect(try await other.container.violations().isEmpty)
    }

    @Test func aDeviceTakesAShareForTheWholeZone() async throws {
        let (it, other) = try await sharedAnew()
        // What there is of that name decides, as to whoever knows the share.
        let new = other.note(in: it.joined, "new", name: "list")
        let refused = await failure { try await other.shared.save(new) }
        #expect(refused == .serverRecordChanged)
        let results = try await other.shared.modifyRecords(saving: [new], savePolicy: .changedKeys).saveResults
        let saved = try results[new.recordID]?.get()
        #expect(saved?.encryptedValues["body"] == "new")
        #expect(try await other.container.violations().isEmpty)
    }

    /// That the zone is not shared as a whole any more is shown, not said, to those who were in a share of it since.
    @Test func aDeviceThatHasSeenNothingSinceFindsNothing() async throws {
        let (it, other) = try await sharedAnew()
        let root = try await it.ann.own.record(for: it.list.recordID)
        let name = try #require(root.share).recordName
        try await it.ann.own.deleteRecord(withID: Record.ID(recordName: name, zoneID: it.zone))
        for device in [other, it.bob] {
            let gone = await failure { _ = try await device.shared.recordZoneChanges(inZoneWith: it.joined) }
            #expect(gone == .zoneNotFound)
            #expect(try await device.container.violations().isEmpty)
        }
    }

    @Test func aShareThatAnotherDeviceLeftIsNotTheWholeZone() async throws {
        let it = try await shared(.readOnly)
        _ = try await sharedNote(it, .readWrite)
        let other = try it.bob.onFreshDevice()
        _ = try await other.shared.recordZoneChanges(inZoneWith: it.joined)
        var item = try await other.shared.record(for: it.id(it.item))
        item.encryptedValues["body"] = "changed"
        let changed = item
        try await it.bob.shared.deleteRecord(withID: it.id(it.list))
        let refused = await failure { try await other.shared.save(changed) }
        #expect(refused == .permissionFailure)
        var note = try await other.shared.record(for: it.id(it.note))
        note.encryptedValues["body"] = "changed"
        try await other.shared.save(note)
    }
}
