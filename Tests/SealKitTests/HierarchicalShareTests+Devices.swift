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
            #expect(all.isSuperset(of: ["list", "item"]) && !all.contains("note"))
            try await device.shared.save(child(of: try await device.shared.record(for: it.id(it.list)), it.bob, "new"))
            #expect(try await device.container.violations().isEmpty)
        }
    }

    @Test func aDeviceWritesToWhatIsSharedNow() async throws {
        let it = try await shared()
        let other = try it.bob.onFreshDevice()
        _ = try await other.shared.recordZoneChanges(inZoneWith: it.joined)
        // A share of before: nothing without a parent is written to that.
        try await it.ann.own.deleteRecord(withID: it.share.recordID)
        try await sharedWhole(it)
        try await other.shared.save(other.note(in: it.joined, "beside", name: "beside"))
        _ = try await it.ann.own.record(for: Record.ID(recordName: "beside", zoneID: it.zone))
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
