import Foundation
import SealLab
import SealStatements
import Testing

@testable import SealKit

/// What those are told who have read a zone before, and find it shared in another way, or records elsewhere.
extension HierarchicalShareTests {
    /// Whoever has read a share of the zone has not come past what is beside it.
    @Test func aTokenOfAShareIsNoneOfTheZoneAsAWhole() async throws {
        let it = try await shared()
        let token = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined).changeToken
        try await it.ann.own.deleteRecord(withID: it.share.recordID)
        try await sharedWhole(it)
        let stale = await failure { _ = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined, since: token) }
        #expect(stale == .changeTokenExpired)
        let all = names(try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined))
        #expect(all.isSuperset(of: ["list", "item", "note"]))
    }

    /// What was deleted in a share, while the zone was not shared as a whole, nobody is told who is back in all of it.
    @Test func aTokenOfTheZoneAsAWholeIsNoneAfterItsShares() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, note, _) = try await ann.share(with: [(bob, .readWrite)])
        let joined = try await bob.join(try await ann.share(of: zone).url)
        let token = try await bob.shared.recordZoneChanges(inZoneWith: joined).changeToken
        let whole = Record.ID(recordName: Share.recordName, zoneID: zone)
        try await ann.own.deleteRecord(withID: whole)
        let root = try await ann.own.save(ann.note(in: zone, "list", name: "list"))
        let share = try await ann.own.save(Share(rootRecord: root), rootRecord: root)
        var moved = try await ann.own.record(for: note.recordID)
        moved.setParent(share.rootRecord)
        try await ann.own.save(moved)
        try await ann.own.deleteRecord(withID: note.recordID)
        try await ann.own.deleteRecord(withID: share.share.recordID)
        var again = Share(recordZoneID: zone)
        again.addParticipant(try await ann.participant(bob, .readWrite))
        try await bob.join(try await ann.own.save(again).url)
        let stale = await failure { _ = try await bob.shared.recordZoneChanges(inZoneWith: joined, since: token) }
        #expect(stale == .changeTokenExpired)
        let all = names(try await bob.shared.recordZoneChanges(inZoneWith: joined))
        #expect(all.contains("list"))
        #expect(!all.contains(note.recordID.recordName))
        let lost = Record.ID(recordName: note.recordID.recordName, zoneID: joined)
        let gone = await failure { _ = try await bob.shared.record(for: lost) }
        #expect(gone == .unknownItem)
        #expect(try await bob.container.violations().isEmpty)
    }

    /// Deleted in a share and made again beside it: who has the record has to hear that it went.
    @Test func aRecordMadeAgainElsewhereLeavesItsShare() async throws {
        let it = try await shared()
        let token = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined).changeToken
        try await it.ann.own.deleteRecord(withID: it.item.recordID)
        try await it.ann.own.save(it.ann.note(in: it.zone, "made again", name: "item"))
        let since = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined, since: token)
        #expect(since.deletions.map(\.recordID) == [it.id(it.item)])
        #expect(!names(since).contains("item"))
        let all = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined)
        #expect(!names(all).contains("item"))
        let gone = await failure { _ = try await it.bob.shared.record(for: it.id(it.item)) }
        #expect(gone == .unknownItem)
        #expect(try await it.bob.container.violations().isEmpty)
        // And back in the share.
        var item = try await it.ann.own.record(for: it.item.recordID)
        item.setParent(it.list)
        try await it.ann.own.save(item)
        let back = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined, since: since.changeToken)
        #expect(names(back) == ["item"])
    }
}
