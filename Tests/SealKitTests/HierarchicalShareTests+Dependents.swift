import Foundation
import SealLab
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

/// `deleteSelf` between a zone's scopes, through the SDK: the app deletes the target, and all that goes with it goes.
extension HierarchicalShareTests {
    private func dependent(
        _ ann: Person, on name: String, in zone: RecordZone.ID, name own: String, parent: Record? = nil
    ) -> Record {
        var record = ann.note(in: zone, own, name: own)
        record["target"] = Record.Reference(recordName: name, action: .deleteSelf)
        if let parent { record.setParent(parent) }
        return record
    }

    /// Beside the shared list: one that goes with an item of it, and one in the list that goes with that.
    private func family(_ it: Shared) async throws -> (outside: Record.ID, inside: Record.ID) {
        let list = try await it.ann.own.record(for: it.list.recordID)
        let outside = dependent(it.ann, on: "item", in: it.zone, name: "outside")
        let inside = dependent(it.ann, on: "outside", in: it.zone, name: "inside", parent: list)
        let saved = try await it.ann.own.modifyRecords(saving: [outside, inside]).saveResults
        #expect(saved.values.compactMap(\.failureCode).isEmpty)
        return (outside.recordID, inside.recordID)
    }

    @Test func whatGoesWithATargetGoesFromEveryScope() async throws {
        let it = try await shared()
        let (outside, inside) = try await family(it)
        let before = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined)
        #expect(names(before).isSuperset(of: ["list", "item", "inside"]))
        let results = try await it.ann.own.modifyRecords(deleting: [it.item.recordID]).deleteResults
        // The app is told of what it named.
        #expect(Array(results.keys) == [it.item.recordID])
        try results[it.item.recordID]?.get()
        for id in [it.item.recordID, outside, inside] {
            let gone = await failure { _ = try await it.ann.own.record(for: id) }
            #expect(gone == .unknownItem)
        }
        // Who reads the share alone can check what it is told, and so can a new device of the owner's.
        let after = try await it.bob.shared.recordZoneChanges(inZoneWith: it.joined, since: before.changeToken)
        #expect(Set(after.deletions.map(\.recordID.recordName)) == ["item", "inside"])
        let fresh = try await it.ann.onFreshDevice().own.recordZoneChanges(inZoneWith: it.zone)
        #expect(names(fresh) == ["list", "note", it.share.recordID.recordName])
    }

    /// It is saved on top of a version that the device had not fetched, and so is sent twice.
    @Test func whatIsSavedBesideTheDeletionOfItsTargetStays() async throws {
        let it = try await shared()
        let (outside, inside) = try await family(it)
        let again = it.ann.note(in: it.zone, "again", name: "outside")
        let results = try await it.ann.own.modifyRecords(
            saving: [again], deleting: [it.item.recordID], savePolicy: .changedKeys)
        #expect(try results.saveResults[outside]?.get().encryptedValues["body"] == "again")
        try results.deleteResults[it.item.recordID]?.get()
        _ = try await it.ann.own.record(for: inside)
        let gone = await failure { _ = try await it.ann.own.record(for: it.item.recordID) }
        #expect(gone == .unknownItem)
    }

    /// One by one the deletion waits for what else goes with it, in other scopes, and is sent by itself.
    @Test func whatIsSavedBesideADeletionThatWaitsStays() async throws {
        let it = try await shared()
        let (outside, inside) = try await family(it)
        let new = dependent(it.ann, on: "item", in: it.zone, name: "new")
        let below = child(of: new, it.ann, "below", name: "below")
        let results = try await it.ann.own.modifyRecords(
            saving: [new, below], deleting: [it.item.recordID], atomically: false)
        try results.deleteResults[it.item.recordID]?.get()
        let saved = try #require(try results.saveResults[new.recordID]?.get())
        #expect(try await it.ann.own.record(for: new.recordID).recordChangeTag == saved.recordChangeTag)
        #expect(try await it.ann.own.record(for: below.recordID).parent?.recordName == "new")
        for id in [it.item.recordID, outside, inside] {
            let gone = await failure { _ = try await it.ann.own.record(for: id) }
            #expect(gone == .unknownItem)
        }
    }

    /// Its target has a child, and stays for that: so does what would have gone with it.
    @Test func whatGoesWithATargetThatStaysIsNotDeleted() async throws {
        let it = try await shared()
        let (outside, inside) = try await family(it)
        try await it.ann.own.save(
            child(of: try await it.ann.own.record(for: it.item.recordID), it.ann, "below", name: "below"))
        let spare = try await it.ann.own.save(it.ann.note(in: it.zone, "spare", name: "spare"))
        let results = try await it.ann.own.modifyRecords(
            deleting: [it.item.recordID, spare.recordID], atomically: false
        ).deleteResults
        #expect(results[it.item.recordID]?.failureCode == .referenceViolation)
        try results[spare.recordID]?.get()
        for id in [it.item.recordID, outside, inside] { _ = try await it.ann.own.record(for: id) }
    }

    @Test func aParticipantTakesAlongWhatItMayWrite() async throws {
        let it = try await shared()
        let (outside, inside) = try await family(it)
        // Bob does not see what is beside the list, and what goes with that stays too.
        try await it.bob.shared.deleteRecord(withID: it.id(it.item))
        let kept: String? = try await it.ann.own.record(for: outside).encryptedValues["body"]
        #expect(kept == "outside")
        let left: String? = try await it.ann.own.record(for: inside).encryptedValues["body"]
        #expect(left == "inside")
        // Of another share that it writes to, it takes the records along.
        let second = try await sharedNote(it, .readWrite)
        let across = dependent(it.ann, on: "inside", in: it.zone, name: "across", parent: second.rootRecord)
        _ = try await it.ann.own.save(across)
        try await it.bob.shared.deleteRecord(withID: Record.ID(recordName: "inside", zoneID: it.joined))
        let gone = await failure { _ = try await it.ann.own.record(for: across.recordID) }
        #expect(gone == .unknownItem)
    }

    /// One that goes with the list's item was seen outside alone by a device of Ann's, when she shared the list and Bob
    /// changed it there.
    private func seenOutside(_ ann: Person) async throws -> (other: Person, item: Record.ID, going: Record.ID) {
        let bob = try await Person()
        let zone = try await ann.makeZone()
        let list = ann.note(in: zone, "list", name: "list")
        let item = child(of: list, ann, "item", name: "item")
        var going = dependent(ann, on: "item", in: zone, name: "going", parent: list)
        _ = try await ann.own.modifyRecords(saving: [list, item, going])
        let other = try ann.onFreshDevice()
        #expect(names(try await other.own.recordZoneChanges(inZoneWith: zone)) == ["list", "item", "going"])
        let root = try await ann.own.record(for: list.recordID)
        var share = Share(rootRecord: root)
        share.addParticipant(try await ann.participant(bob, .readWrite))
        let joined = try await bob.join(try await ann.own.save(share, rootRecord: root).share.url)
        going = try await bob.shared.record(for: Record.ID(recordName: "going", zoneID: joined))
        going.encryptedValues["body"] = "changed"
        try await bob.shared.save(going)
        return (other, item.recordID, Record.ID(recordName: "going", zoneID: zone))
    }

    /// It is shown what brought the record into the share.
    @Test func whatWasChangedWhereItHasComeToGoesToo() async throws {
        let it = try await seenOutside(try await Person())
        try await it.other.own.deleteRecord(withID: it.item)
        for id in [it.item, it.going] {
            let gone = await failure { _ = try await it.other.own.record(for: id) }
            #expect(gone == .unknownItem)
        }
    }

    /// A server that does not show what brought it there, or something else: nothing is signed for it.
    @Test(arguments: [true, false]) func nothingGoesThatNobodyIsShownToHaveMoved(isForged: Bool) async throws {
        let ann = try await Person()
        let it = try await seenOutside(ann)
        let asked = LockedValue(0)
        let transport = RewritingTransport(try HTTPTransport(server: ann.server.origin)) { path, body in
            guard path.hasSuffix("records/modify") else { return body }
            var answer = try Sealkit_V1_ModifyRecordsResponse(serializedBytes: body)
            for index in answer.results.indices {
                for at in answer.results[index].taken.records.indices {
                    asked.change { $0 += 1 }
                    var record = answer.results[index].taken.records[at].record
                    record.clearMoved()
                    // What somebody who may write made of it did not bring it there.
                    if isForged { record.moved = .with { ($0.statement, $0.proof) = (record.statement, record.proof) } }
                    answer.results[index].taken.records[at].record = record
                }
            }
            return try answer.serializedData()
        }
        let lied = try it.other.through(transport)
        let code = await failure { try await lied.own.deleteRecord(withID: it.item) }
        #expect(code == .integrityFailure)
        #expect(asked.value == 1)
        for id in [it.item, it.going] { _ = try await ann.own.record(for: id) }
    }

    /// A server that names what does not refer to the target: nothing of that is deleted.
    @Test func nothingIsDeletedBecauseAServerNamesIt() async throws {
        let it = try await shared()
        let (outside, _) = try await family(it)
        let asked = LockedValue(0)
        let transport = RewritingTransport(try HTTPTransport(server: it.ann.server.origin)) { path, body in
            guard path.hasSuffix("records/modify") else { return body }
            asked.change { $0 += 1 }
            var answer = try Sealkit_V1_ModifyRecordsResponse(serializedBytes: body)
            for index in answer.results.indices where !answer.results[index].dependents.isEmpty {
                answer.results[index].dependents = ["note", "list"]
            }
            return try answer.serializedData()
        }
        let lied = try it.ann.through(transport)
        let code = await failure { try await lied.own.deleteRecord(withID: it.item.recordID) }
        #expect(code == .referenceViolation)
        #expect(asked.value == 1)
        for id in [it.note.recordID, it.list.recordID, it.item.recordID, outside] {
            _ = try await it.ann.own.record(for: id)
        }
    }

    /// Nothing goes with a save: a server that says so gets no deletion signed, least of all of the record itself.
    @Test(arguments: [true, false]) func aSaveIsNeverMadeADeletion(atomically: Bool) async throws {
        let it = try await shared()
        let transport = RewritingTransport(try HTTPTransport(server: it.ann.server.origin)) { path, body in
            guard path.hasSuffix("records/modify") else { return body }
            var answer = try Sealkit_V1_ModifyRecordsResponse(serializedBytes: body)
            for index in answer.results.indices {
                answer.results[index] = .with {
                    $0.failure = Sealkit_V1_Failure(.referenceViolation, "something refers to it")
                    $0.dependents = ["outside"]
                }
            }
            return try answer.serializedData()
        }
        let lied = try it.ann.through(transport)
        var item = try await lied.own.record(for: it.item.recordID)
        item.encryptedValues["body"] = "changed"
        let results = try await lied.own.modifyRecords(saving: [item], atomically: atomically).saveResults
        #expect(results[item.recordID]?.failureCode == .referenceViolation)
        _ = try await it.ann.own.record(for: it.item.recordID)
    }

    @Test func whatCannotGoKeepsItsTarget() async throws {
        let it = try await shared()
        let (outside, _) = try await family(it)
        let parent = try await it.ann.own.record(for: outside)
        try await it.ann.own.save(child(of: parent, it.ann, "child", name: "child"))
        let code = await failure { try await it.ann.own.deleteRecord(withID: it.item.recordID) }
        #expect(code == .referenceViolation || code == .batchRequestFailed)
        for id in [it.item.recordID, outside] { _ = try await it.ann.own.record(for: id) }
    }
}
