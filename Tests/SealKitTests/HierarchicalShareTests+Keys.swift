import Foundation
import SealLab
import SealPrimitives
import SealStatements
import Testing

@testable import SealKit

/// A hierarchy that is shared by itself has keys of its own, which are renewed, used up and audited like a zone's.
extension HierarchicalShareTests {
    @Test func aSharedHierarchysKeysAreRenewedAndSealedUnderByThemselves() async throws {
        let it = try await shared()
        let name = it.share.recordID.recordName
        #expect(
            await failure { try await it.bob.shared.rotateKeys(of: it.joined, shareRecordName: name) }
                == .permissionFailure)
        #expect(await failure { try await it.ann.own.rotateKeys(of: it.zone, shareRecordName: "none") } == .unknownItem)
        try await it.ann.own.rotateKeys(of: it.zone, shareRecordName: name)
        var status = try await it.ann.own.keyStatus(of: it.zone, shareRecordName: name)
        #expect(status.newestEpoch == 1)
        #expect(status.oldestEpochInUse == 0)
        // The list, the item, and the share's own record.
        #expect(status.staleRecordCount == 3)
        // The zone's own key is another one.
        let own = try await it.ann.own.keyStatus(of: it.zone)
        #expect(own.newestEpoch == 0)
        #expect(own.staleRecordCount == 0)
        // Bob, who may write in it, seals again what is his to write.
        let bobs = try await it.bob.shared.rekey(it.joined)
        #expect(bobs.rekeyed == 2)
        #expect(bobs.failures.values.map(\.code) == [.permissionFailure])
        #expect(try await it.ann.own.rekey(it.zone).rekeyed == 1)
        status = try await it.ann.own.keyStatus(of: it.zone, shareRecordName: name)
        #expect(status.oldestEpochInUse == 1)
        #expect(status.staleRecordCount == 0)
        let found = try await it.bob.onFreshDevice().shared.record(for: it.id(it.item))
        #expect(found.encryptedValues["body"] == "item")
        #expect(found.base?.statement.epoch == 1)

        let audit = try await it.ann.container.audit()
        #expect(audit.outcome == .clean)
        #expect(audit.scopes.map(\.shareRecordName) == [nil, name])
        // The fresh device above is one that this one had not seen.
        try await it.bob.account.acknowledge(try await it.bob.account.devices())
        let bobsAudit = try await it.bob.container.audit()
        #expect(bobsAudit.outcome == .clean, "\(bobsAudit.failures)")
        #expect(bobsAudit.scopes.map(\.shareRecordName) == [name], "\(bobsAudit.failures)")
    }

    /// What left the share before its owner took new keys has left it for whoever reads that later, too.
    @Test func whatLeftBeforeTheOwnersNewKeysIsGoneForWhoeverReadsLater() async throws {
        let it = try await shared()
        let token = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined).changeToken
        var item = try await it.ann.own.record(for: it.item.recordID)
        item.setParent(it.note)
        try await it.ann.own.save(item)
        try await it.ann.rotateKeys(KeptKeys(it.ann))
        let late = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined, since: token)
        #expect(late.deletions.map(\.recordID.recordName) == ["item"])
        let fresh = try it.bob.onFreshDevice()
        let all = try await fresh.shared.recordZoneChanges(inZoneWith: it.joined)
        #expect(names(all).contains("list"))
        #expect(!names(all).contains("item"))
        #expect(await failure { _ = try await fresh.shared.record(for: it.id(it.item)) } == .unknownItem)
    }

    /// New keys that only the zone was told of are told to the share as well before anything leaves it.
    @Test func aShareIsToldOfNewKeysBeforeARecordLeavesIt() async throws {
        let it = try await shared()
        let token = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined).changeToken
        let network = LossyTransport(try HTTPTransport(server: it.ann.server.origin), losing: "rosters/", [])
        let device = try it.ann.through(network, pacing: FakePacing().pacing)
        _ = try await device.own.recordZoneChanges(inZoneWith: it.zone)
        network.lose(Array(repeating: .request, count: 1_000))
        let kept = KeptKeys(it.ann)
        _ = await failure { try await device.rotateKeys(kept) }
        network.lose([])
        let phone = try it.ann.starting(from: kept.seeds, trust: nil)
        var item = try await phone.own.record(for: it.item.recordID)
        item.setParent(it.note)
        try await phone.own.save(item)
        let late = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined, since: token)
        #expect(late.deletions.map(\.recordID.recordName) == ["item"])
    }

    /// A new key is due in what Bob may only read, and somebody else's to open: that is no reason against what he may
    /// write.
    @Test(arguments: [true, false]) func aKeyThatIsDueWhereOneOnlyReadsHoldsNothingElseUp(isPublic: Bool) async throws {
        let it = try await shared(.readOnly)
        var other = try await sharedNote(it, .readWrite).share
        let name = it.share.recordID.recordName
        let (carl, passerBy) = (try await Person(), try await Person())
        var share = try await it.ann.own.share(withID: it.share.recordID)
        share.addParticipant(try await it.ann.participant(carl, .readWrite))
        share = try await it.ann.own.save(share)
        let joined = try await carl.join(share.url)
        if isPublic {
            // Who writes by the public permission alone may open no key.
            (share.publicPermission, other.publicPermission) = (.readWrite, .readWrite)
            (share, other) = (try await it.ann.own.save(share), try await it.ann.own.save(other))
            for url in [share.url, other.url] { try await passerBy.join(url) }
        }
        let writer = isPublic ? passerBy : it.bob
        var (item, note) = (
            try await writer.shared.record(for: it.id(it.item)), try await writer.shared.record(for: it.id(it.note))
        )
        try await carl.shared.leaveShare(of: joined)
        item.encryptedValues["body"] = "mine"
        note.encryptedValues["body"] = "mine"
        let results = try await writer.shared.modifyRecords(saving: [item, note], atomically: false)
        #expect(throws: SealKitError(isPublic ? .rotationDue : .permissionFailure, "")) {
            try results.saveResults[item.recordID]?.get()
        }
        #expect(try results.saveResults[note.recordID]?.get().encryptedValues["body"] == "mine")
        #expect(try await it.ann.own.keyStatus(of: it.zone, shareRecordName: name).newestEpoch == 0)
    }

    /// Bob knew the item's key. Where it goes without him it is stale until it is sealed under another one.
    @Test func whatComesOutOfAShareIsSealedAgain() async throws {
        let it = try await shared()
        _ = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined)
        let known = try #require(try await it.bob.shared.record(for: it.id(it.item)).base?.recordKey)
        try await it.ann.own.deleteRecord(withID: it.share.recordID)
        _ = try await it.ann.own.settleShares(in: it.zone)
        let carried = try #require(try await it.ann.own.record(for: it.item.recordID).base)
        let key = try #require(carried.recordKey)
        #expect(carried.statement.isKeyCarried)
        #expect(SecretBytes.areEqual(key, known))
        // The list came back by a save, with a key of its own.
        #expect(try await it.ann.own.keyStatus(of: it.zone).staleRecordCount == 1)
        let result = try await it.ann.own.rekey(it.zone)
        #expect(result.rekeyed == 1)
        #expect(result.failures.isEmpty)
        let status = try await it.ann.own.keyStatus(of: it.zone)
        #expect(status.staleRecordCount == 0)
        #expect(status.newestEpoch == 0)
        let sealed = try await it.ann.own.record(for: it.item.recordID)
        let fresh = try #require(sealed.base?.recordKey)
        #expect(!SecretBytes.areEqual(fresh, known))
        #expect(sealed.encryptedValues["body"] == "item")
        #expect(sealed.base?.statement.isKeyCarried == false)
        #expect(try await it.ann.own.rekey(it.zone).rekeyed == 0)
    }

    /// The first save after a move seals everything again, also what was not fetched for it.
    @Test func whatWasNotFetchedSurvivesTheFirstSaveAfterAMove() async throws {
        let it = try await shared()
        var two = try await it.ann.own.record(for: it.item.recordID)
        two.encryptedValues["second"] = "kept"
        _ = try await it.ann.own.save(two)
        try await it.ann.own.deleteRecord(withID: it.share.recordID)
        _ = try await it.ann.own.settleShares(in: it.zone)
        var partial = try #require(
            try await it.ann.own.records(for: [it.item.recordID], desiredKeys: ["body"])[it.item.recordID]?.get())
        #expect(partial.base?.statement.isKeyCarried == true)
        partial.encryptedValues["body"] = "changed"
        _ = try await it.ann.own.save(partial)
        let found = try await it.ann.onFreshDevice().own.record(for: it.item.recordID)
        #expect(found.encryptedValues["body"] == "changed")
        #expect(found.encryptedValues["second"] == "kept")
    }
}
