import Foundation
import SealClient
import SealLab
import SealPrimitives
import SealStatements
import Testing

@testable import SealKit

/// Copies of records whose share has ended since: they are judged by where the records are now.
extension HierarchicalShareTests {
    @Test func anOwnersCopyIsOfAShareThatHasEnded() async throws {
        let it = try await shared()
        let other = try it.ann.onFreshDevice()
        // A device that ends the share, and one that has not heard of it.
        let copies = [
            (it.ann, try await copies(of: it, it.ann.own, in: it.zone)),
            (other, try await copies(of: it, other.own, in: it.zone)),
        ]
        try await it.ann.own.deleteRecord(withID: it.share.recordID)
        let own = try await it.ann.own.keeper(it.zone).current().roster.scopeID
        for (number, (device, records)) in copies.enumerated() {
            for record in records {
                var copy = record
                copy.encryptedValues["body"] = "new \(number)"
                let changed = copy
                let refused = await failure { _ = try await device.own.save(changed) }
                // That it is not a root any more its user sees, that its key was wrapped anew nobody.
                #expect(refused == (record.share == nil && number == 0 ? nil : .serverRecordChanged))
                let results = try await device.own.modifyRecords(saving: [changed], savePolicy: .changedKeys)
                let saved = try #require(try results.saveResults[copy.recordID]?.get())
                #expect(saved.encryptedValues["body"] == "new \(number)")
                #expect(saved.share == nil)
                #expect(saved.base?.statement.scopeID == own)
            }
            #expect(try await device.container.violations().isEmpty)
        }
    }

    @Test func aParticipantsCopyIsOfAnotherShareThanItsRecord() async throws {
        let it = try await shared()
        let second = try await sharedNote(it, .readWrite)
        let copies = try await copies(of: it, it.bob.shared, in: it.joined)
        // The list comes below the note, and what is below the list with it.
        try await it.ann.own.deleteRecord(withID: it.share.recordID)
        var list = try await it.ann.own.record(for: it.list.recordID)
        list.setParent(second.rootRecord)
        try await it.ann.own.save(list)
        _ = try await it.ann.own.settleShares(in: it.zone)
        let scope = try #require(second.rootRecord.base?.statement.scopeID)
        for record in copies {
            var copy = record
            copy.encryptedValues["body"] = "mine"
            if copy.share != nil { copy.parent = Record.Reference(recordName: "note") }
            let changed = copy
            let refused = await failure { _ = try await it.bob.shared.save(changed) }
            #expect(refused == (record.share == nil ? nil : .serverRecordChanged))
            let results = try await it.bob.shared.modifyRecords(saving: [changed], savePolicy: .changedKeys)
            let saved = try #require(try results.saveResults[copy.recordID]?.get())
            #expect(saved.encryptedValues["body"] == "mine")
            #expect(saved.base?.statement.scopeID == scope)
        }
        #expect(try await it.bob.container.violations().isEmpty)
        // Where there is nothing newer to go by, it stays refused.
        var beside = try await it.bob.shared.record(for: it.id(it.item))
        beside.parent = nil
        let moved = beside
        #expect(await failure { _ = try await it.bob.shared.save(moved) } == .permissionFailure)
    }

    /// Nothing signed says that they are false, and nothing that there is now can be held against them.
    @Test func systemFieldsAreOfAnEarlierLifeOfTheShare() async throws {
        let it = try await shared()
        let data = try await it.ann.own.record(for: it.item.recordID).encodeSystemFields()
        try await it.ann.own.deleteRecord(withID: it.share.recordID)
        let list = try await it.ann.own.record(for: it.list.recordID)
        _ = try await it.ann.own.save(Share(rootRecord: list, shareID: it.share.recordID), rootRecord: list)
        var old = try Record(systemFields: data)
        old.encryptedValues["body"] = "new"
        let copy = old
        #expect(await failure { _ = try await it.ann.own.save(copy) } == .unknownItem)
        #expect(try await it.ann.container.violations().isEmpty)
    }

    /// The device has looked the record up for its place, and then is refused as it knows an older key: it goes on from
    /// there.
    @Test func aCopyGoesOnFromWhereItWasFoundWhenTheKeyHasChanged() async throws {
        let it = try await shared()
        var copy = try await it.bob.shared.record(for: it.id(it.item))
        try await it.ann.own.deleteRecord(withID: it.share.recordID)
        let whole = try await shareWhole(it, .readWrite)
        try await it.bob.join(whole.url)
        try await it.ann.own.rotateKeys(of: it.zone)
        copy.parent = nil
        copy.encryptedValues["body"] = "mine"
        let results = try await it.bob.shared.modifyRecords(saving: [copy], savePolicy: .changedKeys, atomically: false)
        let saved = try #require(try results.saveResults[copy.recordID]?.get())
        #expect(saved.encryptedValues["body"] == "mine")
        #expect(saved.parent == nil)
        #expect(try await it.bob.container.violations().isEmpty)
    }

    /// What else is refused makes the device look for shares that it does not know: what it has found by then is not
    /// lost.
    @Test func aCopyGoesOnFromWhereItWasFoundWhenSharesAreLookedFor() async throws {
        let it = try await shared()
        try await it.ann.own.deleteRecord(withID: it.share.recordID)
        let whole = try await shareWhole(it, .readWrite)
        try await it.bob.join(whole.url)
        var copy = try await it.bob.shared.record(for: it.id(it.list))
        try await it.ann.own.deleteRecord(withID: whole.recordID)
        let second = try await sharedNote(it, .readOnly)
        _ = try await it.bob.shared.record(for: it.id(it.note))
        try await it.ann.own.deleteRecord(withID: second.share.recordID)
        // Of the note's share the device knows, not that it is over; another device of Bob's comes to the list.
        let list = try await it.ann.own.record(for: it.list.recordID)
        var share = Share(rootRecord: list)
        share.addParticipant(try await it.ann.participant(it.bob, .readWrite))
        let again = try await it.ann.own.save(share, rootRecord: list).share
        try await it.bob.onFreshDevice().join(again.url)
        copy.encryptedValues["body"] = "mine"
        let beside = it.bob.note(in: it.joined, "beside", name: "beside")
        let results = try await it.bob.shared.modifyRecords(
            saving: [copy, beside], savePolicy: .changedKeys, atomically: false)
        #expect(try results.saveResults[copy.recordID]?.get().encryptedValues["body"] == "mine")
        #expect(results.saveResults[beside.recordID]?.failureCode == .permissionFailure)
    }

    /// A device that knows an ended share alone saves over a record of the zone, which it may read as a whole by now.
    @Test func whoMayOnlyReadIsToldSoWhateverThereIs() async throws {
        let it = try await shared()
        try await it.ann.own.deleteRecord(withID: it.share.recordID)
        let whole = try await shareWhole(it, .readOnly)
        try await it.bob.onFreshDevice().join(whole.url)
        let mine = it.bob.note(in: it.joined, "mine", name: "note")
        #expect(await failure { _ = try await it.bob.shared.save(mine) } == .permissionFailure)
    }

    /// The zone as a whole, with Bob.
    private func shareWhole(_ it: Shared, _ permission: Share.Participant.Permission) async throws -> Share {
        _ = try await it.ann.own.settleShares(in: it.zone)
        var whole = Share(recordZoneID: it.zone)
        whole.addParticipant(try await it.ann.participant(it.bob, permission))
        return try await it.ann.own.save(whole)
    }

    /// Root and item, as they are in the share.
    private func copies(of it: Shared, _ database: Database, in zone: RecordZone.ID) async throws -> [Record] {
        var copies: [Record] = []
        for name in ["list", "item"] {
            copies.append(try await database.record(for: Record.ID(recordName: name, zoneID: zone)))
        }
        return copies
    }
}
