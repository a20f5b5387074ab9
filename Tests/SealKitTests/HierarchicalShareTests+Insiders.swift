import Foundation
import SealClient
import SealLab
import SealStatements
import Testing

@testable import SealKit

/// A participant who signs what does not open, in a hierarchy that is shared by itself.
extension HierarchicalShareTests {
    private func insider(_ it: Shared) -> Insider {
        Insider(person: it.bob, zone: it.joined, shareRecordName: it.share.recordID.recordName)
    }

    @Test func aRootThatDoesNotOpenKeepsNobodyFromItsShare() async throws {
        let it = try await shared()
        let carol = try await Person()
        var share = try await it.ann.own.share(withID: it.share.recordID)
        share.addParticipant(try await it.ann.participant(carol))
        share = try await it.ann.own.save(share)
        _ = try await carol.join(share.url)
        try await insider(it).signWithRandomKey("list", following: try await it.bob.shared.record(for: it.id(it.list)))
        // What is below it is where it was, to those who see nothing but the share.
        #expect(try await carol.body(of: it.id(it.item)) == "item")
        let changes = try await carol.shared.recordZoneChanges(inZoneWith: it.joined)
        #expect(changes.modifications.filter { $0.result.failureCode != nil }.map(\.recordID.recordName) == ["list"])
        // Its owner finds the share by it, and puts Bob out.
        share = try await it.ann.own.share(forRoot: it.list.recordID)
        #expect(share.recordID == it.share.recordID)
        #expect(share.title == "Groceries")
        share.removeParticipant(try #require(share.participant(it.bob)))
        share = try await it.ann.own.save(share)
        #expect(share.participants.count == 2)
        // The root stays when sharing stops, so that it has to be something: that is its owner's to say.
        let refused = try await it.ann.own.modifyRecords(deleting: [share.recordID]).deleteResults[share.recordID]
        #expect(refused?.failureCode == .integrityFailure)
        let draft = it.ann.note(in: it.zone, "mended", name: "list")
        let mended = try await it.ann.own.modifyRecords(saving: [draft], savePolicy: .allKeys).saveResults[
            draft.recordID]?.get()
        #expect(mended?.share?.recordName == share.recordID.recordName)
        #expect(mended?.base?.statement.formerScope == nil)
        #expect(try await carol.body(of: it.id(it.list)) == "mended")
        try await it.ann.own.deleteRecord(withID: share.recordID)
        #expect(try await it.ann.body(of: it.list.recordID) == "mended")
        #expect(try await it.ann.body(of: it.item.recordID) == "item")
    }

    @Test func whatDoesNotOpenKeepsNothingElseFromMoving() async throws {
        let it = try await shared()
        try await insider(it).signWithRandomKey("junk", parent: "list")
        try await it.ann.own.deleteRecord(withID: it.share.recordID)
        // All but that has come into the zone's own scope.
        #expect(try await it.ann.own.settleShares(in: it.zone) == 0)
        let own = try await it.ann.own.keeper(it.zone).current().roster.scopeID
        #expect(try await it.ann.own.record(for: it.item.recordID).base?.statement.scopeID == own)
        let junk = Record.ID(recordName: "junk", zoneID: it.zone)
        let error = await #expect(throws: SealKitError.self) { _ = try await it.ann.own.record(for: junk) }
        #expect(error?.code == .integrityFailure)
        #expect(error?.reason.contains(it.bob.name) == true)
        // A deletion moves nothing: what takes its place is in the zone's own scope, and goes like any other.
        #expect(await failure { try await it.ann.own.deleteRecord(withID: junk) } == .constraintViolation)
        let draft = it.ann.note(in: it.zone, "mended", name: "junk")
        _ = try await it.ann.own.modifyRecords(saving: [draft], savePolicy: .allKeys).saveResults[junk]?.get()
        try await it.ann.own.deleteRecord(withID: junk)
        #expect(await failure { _ = try await it.ann.own.record(for: junk) } == .unknownItem)
        #expect(await failure { _ = try await it.ann.onFreshDevice().own.record(for: junk) } == .unknownItem)
        let all = try await it.ann.onFreshDevice().own.recordZoneChanges(inZoneWith: it.zone)
        #expect(names(all) == ["list", "item", "note"])
    }

    @Test func whatDoesNotOpenGoesWithItsTarget() async throws {
        let it = try await shared()
        try await insider(it).signWithRandomField(
            "rubbish", parent: "list", with: ["target": Record.Reference(recordName: "note", action: .deleteSelf)])
        try await it.ann.own.deleteRecord(withID: it.note.recordID)
        #expect(
            await failure { _ = try await it.ann.own.record(for: Record.ID(recordName: "rubbish", zoneID: it.zone)) }
                == .unknownItem)
    }
}
