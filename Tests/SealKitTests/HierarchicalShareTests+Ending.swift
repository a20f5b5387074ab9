import Foundation
import SealClient
import SealLab
import SealPrimitives
import SealStatements
import Testing

@testable import SealKit

/// Leaving, stopping, and several shares in one zone.
extension HierarchicalShareTests {
    // MARK: Ending

    @Test func aParticipantLeavesByDeletingTheShareOrTheRoot() async throws {
        for leavesByRoot in [false, true] {
            let it = try await shared()
            _ = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined)
            let id =
                leavesByRoot ? it.id(it.list) : Record.ID(recordName: it.share.recordID.recordName, zoneID: it.joined)
            try await it.bob.shared.deleteRecord(withID: id)
            let gone = await failure { _ = try await it.bob.shared.record(for: it.id(it.list)) }
            #expect(gone == .zoneNotFound)
            let ended = try await it.bob.shared.databaseChanges()
            #expect(ended.deletions.map(\.zoneID) == [it.joined])
            let body: String? = try await it.ann.own.record(for: it.list.recordID).encryptedValues["body"]
            #expect(body == "list")
            #expect(try await it.ann.own.share(withID: it.share.recordID).participants.count == 1)
            // The key is renewed by the next save.
            try await it.ann.own.save(child(of: it.list, it.ann, "after", name: "after"))
            let epoch = try await it.ann.own.record(for: Record.ID(recordName: "after", zoneID: it.zone)).base?
                .statement.epoch
            #expect(epoch == 1)
        }
    }

    /// A request ends a hundred rosters, the zone's counted.
    @Test func aZoneIsDeletedWithMoreSharesThanOneRequestEnds() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var shares: [Share] = []
        for part in (0..<102).map({ "list\($0)" }).inParts(of: 34) {
            let roots = part.map { ann.note(in: zone, $0, name: $0) }
            let saved = try await ann.own.modifyRecords(saving: roots, shares: roots.map { Share(rootRecord: $0) })
            shares += try saved.shareResults.values.map { try $0.get() }
        }
        try await ann.own.deleteRecordZone(withID: zone)
        #expect(await failure { _ = try await ann.own.recordZone(for: zone) } == .zoneNotFound)
        for share in [shares.first, shares.last].compactMap(\.self) {
            let roster = try await ann.own.keeper(ofShare: share.recordID).known()
            #expect(roster?.isClosed == true)
        }
    }

    @Test func theOwnerStopsSharingAndSharesAgain() async throws {
        let it = try await shared()
        _ = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined)
        try await it.ann.own.deleteRecord(withID: it.share.recordID)
        let list = try await it.ann.own.record(for: it.list.recordID)
        #expect(list.share == nil)
        #expect(list.encryptedValues["body"] == "list")
        let item = try await it.ann.own.record(for: it.item.recordID)
        #expect(item.encryptedValues["body"] == "item")
        let own = try await it.ann.own.keeper(it.zone).current().roster.scopeID
        #expect(item.base?.statement.scopeID == own)
        #expect(try await it.ann.own.settleShares(in: it.zone) == 0)
        let noShare = await failure { _ = try await it.ann.own.share(withID: it.share.recordID) }
        #expect(noShare == .unknownItem)
        let gone = await failure { _ = try await it.bob.shared.record(for: it.id(it.list)) }
        #expect(gone == .zoneNotFound)

        var again = Share(rootRecord: list, shareID: it.share.recordID)
        again.addParticipant(
            try await it.ann.container.shareParticipant(forUserRecordID: it.bob.container.userRecordID()))
        let saved = try await it.ann.own.save(again, rootRecord: list)
        let joined = try await it.bob.container.accept(
            try await it.bob.container.shareMetadata(for: try #require(saved.share.url)))
        let read: String? = try await it.bob.shared.record(for: Record.ID(recordName: "item", zoneID: joined))
            .encryptedValues["body"]
        #expect(read == "item")
    }

    /// A share that begins again begins without what its last life has left: what was deleted in it, and what had left
    /// it.
    @Test func aShareThatBeginsAgainShowsNothingOfItsEarlierLife() async throws {
        let it = try await shared()
        let carol = try await Person()
        var other = try await it.ann.own.save(child(of: it.list, it.ann, "other", name: "other"))
        _ = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined)
        try await it.ann.own.deleteRecord(withID: it.item.recordID)
        other.parent = nil
        try await it.ann.own.save(other)
        try await it.ann.own.deleteRecord(withID: it.share.recordID)
        let list = try await it.ann.own.record(for: it.list.recordID)
        var share = Share(rootRecord: list, shareID: it.share.recordID)
        for person in [carol, it.bob] {
            share.addParticipant(
                try await it.ann.container.shareParticipant(
                    forUserRecordID: person.container.userRecordID(), permission: .readWrite))
        }
        let url = try #require(try await it.ann.own.save(share, rootRecord: list).share.url)
        for person in [carol, it.bob] {
            let zone = try await person.container.accept(try await person.container.shareMetadata(for: url))
            let all = try await person.shared.recordZoneChanges(inZoneWith: zone)
            #expect(names(all) == ["list", it.share.recordID.recordName])
            #expect(all.deletions.isEmpty)
            for name in ["item", "other"] {
                let gone = await failure {
                    _ = try await person.shared.record(for: Record.ID(recordName: name, zoneID: zone))
                }
                #expect(gone == .unknownItem)
            }
            let root = try await person.shared.record(for: Record.ID(recordName: "list", zoneID: zone))
            let draft = child(of: root, person, "mine", name: "item")
            let taken = await failure { _ = try await person.shared.save(draft) }
            #expect(taken == .permissionFailure)
            #expect(try await person.container.violations().isEmpty)
        }
    }

    /// What was deleted in a share's last life goes on counting in its next one, for its owner, who alone knows of it.
    @Test func aShareThatBeginsAgainGoesOnCounting() async throws {
        let it = try await shared()
        let (carol, other) = (try await Person(), try it.bob.onFreshDevice())
        _ = try await other.shared.recordZoneChanges(inZoneWith: it.joined)
        let last = try #require(try await it.ann.own.record(for: it.item.recordID).base?.statement)
        var left = try await it.ann.own.save(child(of: it.list, it.ann, "other", name: "other"))
        _ = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined)
        try await it.ann.own.deleteRecord(withID: it.item.recordID)
        left.parent = nil
        try await it.ann.own.save(left)
        try await it.ann.own.deleteRecord(withID: it.share.recordID)
        let list = try await it.ann.own.record(for: it.list.recordID)
        var share = Share(rootRecord: list, shareID: it.share.recordID)
        for person in [carol, it.bob] { share.addParticipant(try await it.ann.participant(person, .readWrite)) }
        let again = try await it.ann.own.save(share, rootRecord: list)
        let url = try #require(again.share.url)
        for person in [carol, it.bob] {
            let zone = try await person.container.accept(try await person.container.shareMetadata(for: url))
            let all = try await person.shared.recordZoneChanges(inZoneWith: zone)
            #expect(names(all) == ["list", it.share.recordID.recordName])
            #expect(all.deletions.isEmpty)
            for name in ["item", "other"] {
                let gone = await failure {
                    _ = try await person.shared.record(for: Record.ID(recordName: name, zoneID: zone))
                }
                #expect(gone == .unknownItem)
            }
            let root = try await person.shared.record(for: Record.ID(recordName: "list", zoneID: zone))
            let draft = child(of: root, person, "mine", name: "item")
            let taken = await failure { _ = try await person.shared.save(draft) }
            #expect(taken == .permissionFailure)
            #expect(try await person.container.violations().isEmpty)
        }
        // Its owner makes the record again, and goes on counting.
        try await it.ann.own.save(child(of: again.rootRecord, it.ann, "again", name: "item"))
        for device in [it.ann, try it.ann.onFreshDevice()] {
            let made = try await device.own.record(for: it.item.recordID)
            #expect(made.encryptedValues["body"] == "again")
            #expect(made.base?.statement.revision == last.revision + 2)
            #expect(made.base?.statement.formerScope == last.place)
            #expect(try await device.container.violations().isEmpty)
        }
        var made = try await it.bob.shared.record(for: it.id(it.item))
        #expect(made.encryptedValues["body"] == "again")
        // What others make of it then follows, to a device too that knows it from the life before.
        made.encryptedValues["body"] = "changed"
        try await it.bob.shared.save(made)
        for device in [other, carol] {
            let all = try await device.shared.recordZoneChanges(inZoneWith: it.joined)
            #expect(names(all) == ["list", "item", it.share.recordID.recordName])
            let changed = try await device.shared.record(for: it.id(it.item))
            #expect(changed.encryptedValues["body"] == "changed")
            #expect(try await device.container.violations().isEmpty)
        }
        #expect(try await it.ann.own.record(for: it.item.recordID).encryptedValues["body"] == "changed")
        #expect(try await it.ann.container.violations().isEmpty)
    }

    /// The same of a record that went with another one.
    @Test func whatWentAlongInAnEarlierLifeIsMadeAgain() async throws {
        let it = try await shared()
        var along = child(of: it.list, it.ann, "along", name: "along")
        along["item"] = Record.Reference(recordName: "item", action: .deleteSelf)
        let saved = try await it.ann.own.save(along)
        _ = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined)
        try await it.ann.own.deleteRecord(withID: it.item.recordID)
        try await it.ann.own.deleteRecord(withID: it.share.recordID)
        let list = try await it.ann.own.record(for: it.list.recordID)
        var share = Share(rootRecord: list, shareID: it.share.recordID)
        share.addParticipant(try await it.ann.participant(it.bob, .readWrite))
        let again = try await it.ann.own.save(share, rootRecord: list)
        try await it.bob.join(again.share.url)
        let fresh = try it.ann.onFreshDevice()
        try await fresh.own.save(child(of: again.rootRecord, fresh, "again", name: "along"))
        var made = try await it.bob.shared.record(for: it.id(saved))
        #expect(made.encryptedValues["body"] == "again")
        made.encryptedValues["body"] = "changed"
        try await it.bob.shared.save(made)
        for device in [it.ann, fresh, try it.ann.onFreshDevice()] {
            #expect(try await device.own.record(for: saved.recordID).encryptedValues["body"] == "changed")
            #expect(try await device.container.violations().isEmpty)
        }
        #expect(try await it.bob.container.violations().isEmpty)
    }

    /// A device leaves what its person is in now: what has ended meanwhile is left already, what another device has
    /// joined as well.
    @Test func aDeviceLeavesWhatItsPersonIsInNow() async throws {
        let it = try await shared()
        let other = try it.bob.onFreshDevice()
        _ = try await other.shared.recordZoneChanges(inZoneWith: it.joined)
        let second = try await sharedNote(it, .readOnly).share
        try await it.ann.own.deleteRecord(withID: it.share.recordID)
        try await other.shared.leaveShare(of: it.joined)
        #expect(try await it.ann.own.share(withID: second.recordID).participants.count == 1)
        for device in [other, it.bob] {
            #expect(await failure { try await device.shared.leaveShare(of: it.joined) } == .zoneNotFound)
        }
    }

    /// That a record left one share is the newest that there is to tell of it when the other one has ended that it went
    /// into.
    @Test func aRecordLeftForAShareThatHasEnded() async throws {
        let it = try await shared()
        let second = try await sharedNote(it, .readOnly)
        var item = try await it.ann.own.record(for: it.item.recordID)
        item.setParent(second.rootRecord)
        item = try await it.ann.own.save(item)
        item.encryptedValues["body"] = "changed there"
        try await it.ann.own.save(item)
        let seen: String? = try await it.bob.shared.record(for: it.id(it.item)).encryptedValues["body"]
        #expect(seen == "changed there")
        _ = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined)
        try await it.ann.own.deleteRecord(withID: second.share.recordID)
        let all = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined)
        #expect(names(all) == ["list", it.share.recordID.recordName])
        let gone = await failure { _ = try await it.bob.shared.record(for: it.id(it.item)) }
        #expect(gone == .unknownItem)
        #expect(try await it.bob.container.violations().isEmpty)
    }

    /// Of two shares that a record left, one after the other, the last is what there is to tell.
    @Test func aRecordLeftTwoShares() async throws {
        let it = try await shared()
        let second = try await sharedNote(it, .readOnly)
        var item = try await it.ann.own.record(for: it.item.recordID)
        for parent in [second.rootRecord.recordID.recordName, nil] {
            item.parent = parent.map { Record.Reference(recordName: $0) }
            item = try await it.ann.own.save(item)
            if parent != nil { _ = try await it.bob.shared.record(for: it.id(it.item)) }
        }
        let all = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined)
        #expect(names(all).isSuperset(of: ["list", "note"]))
        #expect(!names(all).contains("item"))
        #expect(all.deletions.map(\.recordID) == [it.id(it.item)])
        #expect(try await it.bob.container.violations().isEmpty)
    }

    @Test func theRootGoesWithItsShare() async throws {
        let it = try await shared()
        _ = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined)
        try await it.ann.own.modifyRecords(deleting: [it.list.recordID, it.item.recordID]).deleteResults[
            it.list.recordID]?.get()
        let gone = await failure { _ = try await it.ann.own.record(for: it.list.recordID) }
        #expect(gone == .unknownItem)
        let noShare = await failure { _ = try await it.ann.own.share(withID: it.share.recordID) }
        #expect(noShare == .unknownItem)
        let ended = try await it.bob.shared.databaseChanges()
        #expect(ended.deletions.map(\.zoneID) == [it.joined])
    }

    /// What was deleted in a share is its owner's to know when the zone is shared as a whole: the share's roster is
    /// nobody else's to read.
    @Test func aZoneIsSharedAsAWholeThatHadShares() async throws {
        let it = try await shared()
        try await it.ann.own.deleteRecord(withID: it.item.recordID)
        try await it.ann.own.deleteRecord(withID: it.share.recordID)
        var share = Share(recordZoneID: it.zone)
        let carol = try await Person()
        for person in [carol, it.bob] {
            share.addParticipant(
                try await it.ann.container.shareParticipant(
                    forUserRecordID: person.container.userRecordID(), permission: .readWrite))
        }
        let url = try #require(try await it.ann.own.save(share).url)
        for person in [carol, it.bob] {
            let zone = try await person.container.accept(try await person.container.shareMetadata(for: url))
            let all = try await person.shared.recordZoneChanges(inZoneWith: zone)
            #expect(names(all).isSuperset(of: ["list", "note"]))
            #expect(!names(all).contains("item"))
            #expect(all.deletions.isEmpty)
            let gone = await failure {
                _ = try await person.shared.record(for: Record.ID(recordName: "item", zoneID: zone))
            }
            #expect(gone == .unknownItem)
            try await person.shared.save(person.note(in: zone, "new"))
            #expect(try await person.container.violations().isEmpty)
        }
    }

    /// The other way round: the whole zone was shared first, a hierarchy of it is now.
    @Test(arguments: [false, true])
    func aHierarchyIsSharedOfAZoneThatWas(writesFirst: Bool) async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, note, whole) = try await ann.share(with: [(bob, .readWrite)])
        let joined = try await bob.join(whole.url)
        _ = try await bob.shared.recordZoneChanges(inZoneWith: joined)
        try await ann.own.deleteRecord(withID: whole.recordID)
        let list = try await ann.own.save(ann.note(in: zone, "list", name: "list"))
        var share = Share(rootRecord: list)
        share.addParticipant(try await ann.participant(bob, .readWrite))
        let saved = try await ann.own.save(share, rootRecord: list)
        try await bob.join(saved.share.url)
        let root = Record.ID(recordName: "list", zoneID: joined)
        if writesFirst {
            var mine = bob.note(in: joined, "mine")
            mine.parent = Record.Reference(recordName: "list")
            try await bob.shared.save(mine)
        }
        let all = try await bob.shared.recordZoneChanges(inZoneWith: joined)
        #expect(names(all).isSuperset(of: ["list", saved.share.recordID.recordName]))
        #expect(!names(all).contains(note.recordID.recordName))
        #expect(try await bob.shared.record(for: root).encryptedValues["body"] == "list")
        let gone = Record.ID(recordName: note.recordID.recordName, zoneID: joined)
        #expect(await failure { _ = try await bob.shared.record(for: gone) } != nil)
        var mine = bob.note(in: joined, "mine")
        mine.parent = Record.Reference(recordName: "list")
        try await bob.shared.save(mine)
    }

    @Test func aZoneGoesWithItsShares() async throws {
        let it = try await shared()
        _ = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined)
        try await it.ann.own.deleteRecordZone(withID: it.zone)
        let ended = try await it.bob.shared.databaseChanges()
        #expect(ended.deletions.map(\.reason) == [.unshared])
        // Made again, nothing of it is shared.
        _ = try await it.ann.own.save(RecordZone(zoneID: it.zone))
        let list = try await it.ann.own.save(it.ann.note(in: it.zone, "new", name: "list"))
        let saved = try await it.ann.own.save(Share(rootRecord: list), rootRecord: list)
        #expect(saved.share.participants.count == 1)
    }

    @Test func sharesOfOneZoneAreApart() async throws {
        let it = try await shared()
        let carol = try await Person()
        let note = try await it.ann.own.record(for: it.note.recordID)
        var share = Share(rootRecord: note)
        for person in [carol, it.bob] {
            share.addParticipant(
                try await it.ann.container.shareParticipant(
                    forUserRecordID: person.container.userRecordID(), permission: .readWrite))
        }
        let second = try await it.ann.own.save(share, rootRecord: note).share
        let url = try #require(second.url)
        let metadata = try await carol.container.shareMetadata(for: url)
        #expect(metadata.hierarchicalRootRecordID == Record.ID(recordName: "note", zoneID: it.joined))
        let carols = try await carol.container.accept(metadata)
        #expect(carols == it.joined)
        let feed = try await carol.shared.recordZoneChanges(inZoneWith: carols)
        #expect(names(feed) == ["note", second.recordID.recordName])
        let token = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined).changeToken
        _ = try await it.bob.container.accept(try await it.bob.container.shareMetadata(for: url))
        let stale = await failure { _ = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined, since: token) }
        #expect(stale == .changeTokenExpired)
        let all = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined)
        #expect(names(all).isSuperset(of: ["list", "item", "note"]))
        // Bob writes into both with one call.
        let list = try await it.bob.shared.record(for: it.id(it.list))
        let other = try await it.bob.shared.record(for: it.id(it.note))
        let both = try await it.bob.shared.modifyRecords(
            saving: [child(of: list, it.bob, "a", name: "a"), child(of: other, it.bob, "b", name: "b")])
        #expect(both.saveResults.values.compactMap(\.failureCode).isEmpty)
        let seen = try await carol.shared.recordZoneChanges(inZoneWith: carols, since: feed.changeToken)
        #expect(names(seen) == ["b"])
        // And leaves one of them.
        try await it.bob.shared.deleteRecord(withID: it.id(it.note))
        let left = await failure { _ = try await it.bob.shared.record(for: it.id(it.note)) }
        #expect(left == .unknownItem)
        let kept: String? = try await it.bob.shared.record(for: it.id(it.list)).encryptedValues["body"]
        #expect(kept == "list")
    }
}
