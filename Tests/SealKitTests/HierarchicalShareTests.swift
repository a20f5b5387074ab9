import Foundation
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import Testing

@testable import SealKit

/// Shares of records with what is below them, through the SDK against a real server.
@Suite(.timeLimit(.minutes(60))) struct HierarchicalShareTests {
    struct Shared {
        let ann: Person
        let bob: Person
        let zone: RecordZone.ID
        /// As Bob names it.
        let joined: RecordZone.ID
        let share: Share
        let list: Record
        let item: Record
        let note: Record

        func id(_ record: Record) -> Record.ID { Record.ID(recordName: record.recordID.recordName, zoneID: joined) }
    }

    func child(of parent: Record, _ ann: Person, _ body: String, name: String = UUID().uuidString) -> Record {
        var record = ann.note(in: parent.recordID.zoneID, body, name: name)
        record.setParent(parent)
        return record
    }

    /// Ann has a list with an item and a note beside it, and shares the list with Bob.
    func shared(_ permission: Share.Participant.Permission = .readWrite) async throws -> Shared {
        let (ann, bob) = (try await Person(), try await Person())
        let zone = try await ann.makeZone()
        let list = ann.note(in: zone, "list", name: "list")
        let item = child(of: list, ann, "item", name: "item")
        let results = try await ann.own.modifyRecords(saving: [list, item, ann.note(in: zone, "private", name: "note")])
        let root = try await ann.own.record(for: list.recordID)
        var share = Share(rootRecord: root)
        share.title = "Groceries"
        share.addParticipant(
            try await ann.container.shareParticipant(
                forUserRecordID: bob.container.userRecordID(), permission: permission))
        let saved = try await ann.own.save(share, rootRecord: root)
        let joined = try await bob.container.accept(
            try await bob.container.shareMetadata(for: try #require(saved.share.url)))
        return Shared(
            ann: ann, bob: bob, zone: zone, joined: joined, share: saved.share, list: saved.rootRecord,
            item: try #require(try results.saveResults[item.recordID]?.get()),
            note: try await ann.own.record(for: Record.ID(recordName: "note", zoneID: zone)))
    }

    /// The note is shared with Bob as well, by a share of its own.
    func sharedNote(_ it: Shared, _ permission: Share.Participant.Permission) async throws -> (
        share: Share, rootRecord: Record
    ) {
        let note = try await it.ann.own.record(for: it.note.recordID)
        var share = Share(rootRecord: note)
        share.addParticipant(try await it.ann.participant(it.bob, permission))
        let saved = try await it.ann.own.save(share, rootRecord: note)
        try await it.bob.join(saved.share.url)
        return (saved.share, saved.rootRecord)
    }

    func names(_ changes: Database.RecordZoneChanges) -> Set<String> {
        Set(changes.modifications.map(\.recordID.recordName))
    }

    // MARK: Making and accepting

    @Test func aSharedRecordComesWithAllThatIsBelowItAndNothingElse() async throws {
        let it = try await shared()
        #expect(it.share.participants.map(\.acceptanceStatus) == [.accepted, .pending])
        #expect(it.list.share?.recordName == it.share.recordID.recordName)
        let changes = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined)
        #expect(names(changes) == ["list", "item", it.share.recordID.recordName])
        let list = try await it.bob.shared.record(for: it.id(it.list))
        #expect(list.encryptedValues["body"] == "list")
        #expect(list.share?.recordName == it.share.recordID.recordName)
        let item = try await it.bob.shared.record(for: it.id(it.item))
        #expect(item.encryptedValues["body"] == "item")
        #expect(item.parent?.recordName == "list")
        let hidden = await failure { _ = try await it.bob.shared.record(for: it.id(it.note)) }
        #expect(hidden == .unknownItem)
        #expect(try await it.bob.shared.allRecordZones().map(\.zoneID) == [it.joined])
        // The owner goes on reading everything, on a device too that has seen nothing yet.
        let fresh = try it.ann.onFreshDevice()
        let all = try await fresh.own.recordZoneChanges(inZoneWith: it.zone)
        #expect(names(all) == ["list", "item", "note", it.share.recordID.recordName])
        let found: String? = try await fresh.own.record(for: it.item.recordID).encryptedValues["body"]
        #expect(found == "item")
        let known = try await fresh.own.share(withID: it.share.recordID)
        #expect(known.title == "Groceries")
        #expect(known.url == it.share.url)
        #expect(known.rootRecordID == it.list.recordID)
        #expect(known.participants.map(\.acceptanceStatus) == [.accepted, .accepted])
    }

    @Test func aNewShareIsSavedWithItsRoot() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let list = ann.note(in: zone, "list", name: "list")
        var share = Share(rootRecord: list, shareID: Record.ID(recordName: "my-share", zoneID: zone))
        let first = share
        let alone = await failure { try await ann.own.save(first) }
        #expect(alone == .invalidArguments)
        let noRoot = try await ann.own.modifyRecords(saving: [ann.note(in: zone, "other")], shares: [first])
        #expect(noRoot.shareResults[share.recordID]?.failureCode == .invalidArguments)
        // Root, share and a child are new, all at once.
        let both = try await ann.own.modifyRecords(
            saving: [list, child(of: list, ann, "item", name: "item")], shares: [share])
        share = try #require(try both.shareResults[share.recordID]?.get())
        #expect(share.url != nil)
        let root = try #require(try both.saveResults[list.recordID]?.get())
        #expect(root.share?.recordName == "my-share")
        // Saved alone from now on.
        share.title = "Renamed"
        #expect(try await ann.own.save(share).title == "Renamed")
        #expect(try await ann.own.share(withID: share.recordID).title == "Renamed")
        // Its name is not another one's, and whoever tries is told which.
        let other = try await ann.own.save(ann.note(in: zone, "another", name: "another"))
        let taken = Share(rootRecord: other, shareID: share.recordID)
        let refused = await #expect(throws: SealKitError.self) { try await ann.own.save(taken, rootRecord: other) }
        #expect(refused?.code == .alreadyShared)
        #expect(refused?.reason.contains("my-share") == true, "\(String(describing: refused))")
    }

    @Test func sharingASharedRootGivesItsShare() async throws {
        let it = try await shared()
        let root = try await it.ann.own.record(for: it.list.recordID)
        let again = try await it.ann.own.save(Share(rootRecord: root), rootRecord: root)
        #expect(again.share.recordID == it.share.recordID)
        #expect(again.share.title == "Groceries")
        // Above or below it nothing is shared by itself.
        let item = try await it.ann.own.record(for: it.item.recordID)
        let below = await failure { _ = try await it.ann.own.save(Share(rootRecord: item), rootRecord: item) }
        #expect(below == .alreadyShared)
        var whole = Share(recordZoneID: it.zone)
        whole.title = "all"
        let zoneWide = whole
        let both = await failure { _ = try await it.ann.own.save(zoneWide) }
        #expect(both == .alreadyShared)
        // Beside it another hierarchy is.
        let note = try await it.ann.own.record(for: it.note.recordID)
        let other = try await it.ann.own.save(Share(rootRecord: note), rootRecord: note)
        #expect(other.share.recordID != it.share.recordID)
    }

    // MARK: Writing

    @Test func participantsWriteBelowTheRootAndNowhereElse() async throws {
        let it = try await shared()
        let list = try await it.bob.shared.record(for: it.id(it.list))
        var item = try await it.bob.shared.record(for: it.id(it.item))
        item.encryptedValues["body"] = "changed by Bob"
        try await it.bob.shared.save(item)
        let new = try await it.bob.shared.save(child(of: list, it.bob, "from Bob", name: "new"))
        try await it.bob.shared.save(child(of: new, it.bob, "below", name: "below"))
        let loose = it.bob.note(in: it.joined, "loose")
        let alone = await failure { try await it.bob.shared.save(loose) }
        #expect(alone == .permissionFailure)

        let owners = try await it.ann.own.recordZoneChanges(inZoneWith: it.zone)
        #expect(names(owners).isSuperset(of: ["new", "below"]))
        let changed: String? = try await it.ann.own.record(for: it.item.recordID).encryptedValues["body"]
        #expect(changed == "changed by Bob")
        // Ann writes below it too, without saying anything about scopes, and Bob reads that.
        try await it.ann.own.save(child(of: it.list, it.ann, "from Ann", name: "ann"))
        let read: String? = try await it.bob.shared.record(for: Record.ID(recordName: "ann", zoneID: it.joined))
            .encryptedValues["body"]
        #expect(read == "from Ann")
        try await it.bob.shared.deleteRecord(withID: Record.ID(recordName: "below", zoneID: it.joined))
        let gone = await failure {
            _ = try await it.ann.own.record(for: Record.ID(recordName: "below", zoneID: it.zone))
        }
        #expect(gone == .unknownItem)
    }

    @Test func readersDoNotWrite() async throws {
        let it = try await shared(.readOnly)
        let list = try await it.bob.shared.record(for: it.id(it.list))
        let refused = await failure { try await it.bob.shared.save(child(of: list, it.bob, "x")) }
        #expect(refused == .permissionFailure)
    }

    @Test func aFreshDeviceOfTheOwnerSignsForTheParentsScope() async throws {
        let it = try await shared()
        let fresh = try it.ann.onFreshDevice()
        let new = child(of: it.list, it.ann, "from a fresh device", name: "new")
        try await fresh.own.save(new)
        let read: String? = try await it.bob.shared.record(for: it.id(new)).encryptedValues["body"]
        #expect(read == "from a fresh device")
    }

    // MARK: Moving

    /// The device that shared the list was cut off before the item followed it: whichever writes there next moves it,
    /// once it has read that there is something to move.
    @Test(arguments: [true, false]) func writingMovesWhatAnotherDeviceHasLeft(byMaintenance: Bool) async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let zone = try await ann.makeZone()
        let list = ann.note(in: zone, "list", name: "list")
        let item = child(of: list, ann, "item", name: "item")
        _ = try await ann.own.modifyRecords(saving: [list, item])
        let refusal = LossyTransport.Loss.refusal(SealKitError(.permissionFailure, "the test's server says so"))
        let network = LossyTransport(
            try HTTPTransport(server: ann.server.origin), losing: "shares/unsettled",
            Array(repeating: refusal, count: 100))
        let cut = try ann.through(network)
        let root = try await cut.own.record(for: list.recordID)
        var share = Share(rootRecord: root)
        share.addParticipant(try await ann.participant(bob, .readWrite))
        let saved = try await cut.own.save(share, rootRecord: root)
        let joined = try await bob.join(saved.share.url)
        let itemID = Record.ID(recordName: "item", zoneID: joined)
        let hidden = await failure { _ = try await bob.shared.record(for: itemID) }
        #expect(hidden == .unknownItem)
        // Every save tries it again, as long as nothing comes that does not verify.
        let asked = network.bodies.count
        #expect(asked > 0)
        try await cut.own.save(ann.note(in: zone, "beside it"))
        #expect(network.bodies.count > asked)
        #expect(names(try await cut.own.recordZoneChanges(inZoneWith: zone)).isSuperset(of: ["list", "item"]))
        #expect(await failure { _ = try await bob.shared.record(for: itemID) } == .unknownItem)
        let fresh = try ann.onFreshDevice()
        #expect(names(try await fresh.own.recordZoneChanges(inZoneWith: zone)).isSuperset(of: ["list", "item"]))
        #expect(await failure { _ = try await bob.shared.record(for: itemID) } == .unknownItem, "reading moves nothing")
        if byMaintenance {
            let maintenance = try await fresh.own.maintain(zone)
            #expect(maintenance.outcomes.map(\.work) == [.movingRecords])
            #expect(maintenance.outcomes.map(\.count) == [1])
        } else {
            try await fresh.own.save(ann.note(in: zone, "beside it"))
        }
        let read: String? = try await bob.shared.record(for: itemID).encryptedValues["body"]
        #expect(read == "item")
    }

    /// The server names as few at once as it likes: all of them are moved all the same.
    @Test func whatIsToFollowComesInParts() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let zone = try await ann.makeZone()
        let list = ann.note(in: zone, "list", name: "list")
        let items = ["a", "b", "c"].map { child(of: list, ann, "item", name: $0) }
        _ = try await ann.own.modifyRecords(saving: [list] + items)
        let (device, network) = try ann.behindAttacker()
        network.rewrite("shares/unsettled", Sealkit_V1_UnsettledRecordsResponse.self) { answer in
            guard answer.records.count > 1 else { return }
            (answer.records, answer.moreComing) = ([answer.records[0]], true)
        }
        let root = try await device.own.record(for: list.recordID)
        var share = Share(rootRecord: root)
        share.addParticipant(try await ann.participant(bob, .readOnly))
        let joined = try await bob.join(try await device.own.save(share, rootRecord: root).share.url)
        #expect(names(try await bob.shared.recordZoneChanges(inZoneWith: joined)).isSuperset(of: ["a", "b", "c"]))
    }

    @Test func reparentingMovesRecordsInAndOut() async throws {
        let it = try await shared()
        let token = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined).changeToken
        // Out, with what is below.
        let deep = try await it.ann.own.save(child(of: it.item, it.ann, "deep", name: "deep"))
        var item = try await it.ann.own.record(for: it.item.recordID)
        item.setParent(it.note)
        item = try await it.ann.own.save(item)
        let out = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined, since: token)
        #expect(Set(out.deletions.map(\.recordID.recordName)).isSuperset(of: ["item"]))
        #expect(names(out).isDisjoint(with: ["item", "deep"]))
        let hidden = await failure { _ = try await it.bob.shared.record(for: it.id(it.item)) }
        #expect(hidden == .unknownItem)
        let body: String? = try await it.ann.own.record(for: deep.recordID).encryptedValues["body"]
        #expect(body == "deep")
        // And in again.
        item = try await it.ann.own.record(for: item.recordID)
        item.setParent(it.list)
        item.encryptedValues["body"] = "back"
        try await it.ann.own.save(item)
        let back = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined, since: out.changeToken)
        #expect(names(back).isSuperset(of: ["item", "deep"]))
        let read: String? = try await it.bob.shared.record(for: it.id(it.item)).encryptedValues["body"]
        #expect(read == "back")
        // A participant does not move what it may write.
        var stolen = try await it.bob.shared.record(for: it.id(it.item))
        stolen.setParent(Record.ID(recordName: "note", zoneID: it.joined))
        let moved = stolen
        let refused = await failure { try await it.bob.shared.save(moved) }
        #expect(refused != nil)
    }

    /// The parent would have left the share, and the child with it: as it stays, so does the child.
    @Test func aChildIsWhereItsParentStays() async throws {
        let it = try await shared()
        var item = try await it.ann.own.record(for: it.item.recordID)
        item.parent = Record.Reference(recordName: "nowhere")
        let below = child(of: item, it.ann, "below", name: "below")
        let results = try await it.ann.own.modifyRecords(saving: [item, below], atomically: false).saveResults
        #expect(results[item.recordID]?.failureCode == .referenceViolation)
        #expect(try results[below.recordID]?.get().parent?.recordName == "item")
        #expect(try await it.bob.shared.record(for: it.id(below)).encryptedValues["body"] == "below")
    }

    @Test func movingKeepsChangeTagsAndDates() async throws {
        let it = try await shared()
        // The item followed the list when that was shared: to apps nothing has changed.
        let now = try await it.ann.own.record(for: it.item.recordID)
        #expect(now.modificationDate == it.item.modificationDate)
        #expect(now.base?.statement.revision == 2)
        #expect(now.base?.statement.isKeyCarried == true)
        // What is sealed next is sealed under a key that nobody has from before.
        var edit = now
        edit.encryptedValues["body"] = "new"
        let saved = try await it.ann.own.save(edit)
        #expect(saved.base?.statement.isKeyCarried == false)
    }

    @Test func anotherDeviceOfTheOwnerFollowsWhatOthersHaveMadeOfAMovedRecord() async throws {
        let it = try await shared()
        let other = try it.ann.onFreshDevice()
        _ = try await other.own.recordZoneChanges(inZoneWith: it.zone)
        var note = try await it.ann.own.record(for: it.note.recordID)
        note.setParent(it.list)
        try await it.ann.own.save(note)
        // Two revisions by Bob after the move; the other device has seen none of the three.
        var bobs = try await it.bob.shared.record(for: it.id(it.note))
        for text in ["one", "two"] {
            bobs.encryptedValues["body"] = text
            bobs = try await it.bob.shared.save(bobs)
        }
        let read: String? = try await other.own.record(for: it.note.recordID).encryptedValues["body"]
        #expect(read == "two")
    }
}
