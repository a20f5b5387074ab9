import SealLab
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

/// What others do between a device's attempts: each attempt starts from what the app gave, and what was stored stays
/// told.
extension ConflictTests {
    /// A fresh device, and what happens once, right after the server's first answer to such a call of it.
    private func device(
        of person: Person, interruptedAfter call: String, by body: @escaping @Sendable () async throws -> Void
    ) throws -> Person {
        let network = try HostileNetwork(person.server)
        let isDone = LockedValue(false)
        network.lie { path, _, _ in
            guard path.hasSuffix(call), !isDone.value else { return }
            isDone.change { $0 = true }
            try await body()
        }
        return try person.onFreshDevice(transport: network)
    }

    /// A note with a color that is red.
    private func redNote(_ person: Person) async throws -> Record {
        var note = person.note(in: try await person.makeZone(), "theirs", name: "note")
        note["color"] = "red"
        return try await person.own.save(note)
    }

    /// The app gave a body alone. What the record was merged into first is somebody else's, and so is what came after
    /// that.
    @Test func allKeysAreThoseOfTheApp() async throws {
        let ann = try await Person()
        let note = try await redNote(ann)
        let device = try device(of: ann, interruptedAfter: "records/modify") {
            var blue = note
            blue["color"] = "blue"
            try await ann.own.save(blue)
        }
        let mine = device.note(in: note.recordID.zoneID, "mine", name: "note")
        let results = try await device.own.modifyRecords(saving: [mine], savePolicy: .allKeys)
        let saved = try #require(try results.saveResults[note.recordID]?.get())
        #expect(saved.encryptedValues["body"] == "mine")
        #expect(saved["color"] == "blue")
        let read = try await ann.own.record(for: note.recordID)
        #expect(read.encryptedValues["body"] == "mine")
        #expect(read["color"] == "blue")
    }

    /// Nor are those that were fetched only to be sealed again under a new key.
    @Test func whatWasOmittedIsNoneOfTheAppsKeys() async throws {
        let ann = try await Person()
        let note = try await redNote(ann)
        var copy = try #require(
            try await ann.own.records(for: [note.recordID], desiredKeys: ["body"])[note.recordID]?.get())
        copy.encryptedValues["body"] = "mine"
        try await ann.own.rotateKeys(of: note.recordID.zoneID)
        let device = try device(of: ann, interruptedAfter: "records/lookup") {
            var blue = note
            blue["color"] = "blue"
            try await ann.own.save(blue)
        }
        let results = try await device.own.modifyRecords(saving: [copy], savePolicy: .allKeys)
        #expect(try results.saveResults[note.recordID]?.get().encryptedValues["body"] == "mine")
        let read = try await ann.own.record(for: note.recordID)
        #expect(read.encryptedValues["body"] == "mine")
        #expect(read["color"] == "blue")
    }

    /// The app wants a parent. Somebody else sets the same one, and then another one.
    @Test func theParentIsThatOfTheApp() async throws {
        let ann = try await Person()
        let note = try await redNote(ann)
        let zone = note.recordID.zoneID
        _ = try await ann.own.modifyRecords(saving: ["first", "second"].map { ann.note(in: zone, "parent", name: $0) })
        var same = note
        same.parent = Record.Reference(recordName: "first")
        let theirs = try await ann.own.save(same)
        let device = try device(of: ann, interruptedAfter: "records/modify") {
            var other = theirs
            other.parent = Record.Reference(recordName: "second")
            try await ann.own.save(other)
        }
        var mine = note
        mine.parent = Record.Reference(recordName: "first")
        mine["size"] = 1
        let results = try await device.own.modifyRecords(saving: [mine], savePolicy: .changedKeys)
        #expect(try results.saveResults[note.recordID]?.get().parent?.recordName == "first")
        #expect(try await ann.own.record(for: note.recordID).parent?.recordName == "first")
    }

    /// A conflict shows the app its own record, not what it was merged into on the way.
    @Test func theClientsRecordIsThatOfTheApp() async throws {
        let ann = try await Person()
        let note = try await redNote(ann)
        // Sealed again without a change, which is no conflict; then changed, which is one.
        let zone = note.recordID.zoneID
        try await ann.own.rotateKeys(of: zone)
        try await ann.own.rekey(zone)
        let device = try device(of: ann, interruptedAfter: "records/modify") {
            var blue = try await ann.own.record(for: note.recordID)
            blue["color"] = "blue"
            try await ann.own.save(blue)
        }
        var mine = note
        mine["size"] = 1
        let results = try await device.own.modifyRecords(saving: [mine])
        guard case .failure(let error)? = results.saveResults[note.recordID] else {
            Issue.record("a stale save went through")
            return
        }
        #expect(error.code == .serverRecordChanged)
        #expect(error.serverRecord?["color"] == "blue")
        #expect(error.clientRecord?.base?.hash == note.base?.hash)
        #expect(error.ancestorRecord?.recordChangeTag == note.recordChangeTag)
    }

    /// A device that knows an older roster merges into what was signed under a newer one, and deletes that: whoever has
    /// read it takes what comes after.
    @Test(arguments: [Database.SavePolicy.changedKeys, .ifServerRecordUnchanged]) func nothingGoesBackInTheRoster(
        policy: Database.SavePolicy
    ) async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let other = try ann.onFreshDevice()
        let known = try await other.own.save(other.note(in: zone, "known", name: "known"))
        try await ann.own.save(Share(recordZoneID: zone))
        // A child's save changes no field of its parent: the policy does not matter.
        var child = ann.note(in: zone, "child", name: "child")
        child.parent = Record.Reference(recordName: "known")
        let gone = try await ann.own.save(ann.note(in: zone, "gone", name: "gone"))
        for record in [known, child] {
            _ = try await ann.own.modifyRecords(saving: [record], savePolicy: .allKeys).saveResults[record.recordID]?
                .get()
        }
        var mine = known
        mine["color"] = "red"
        _ = try await other.own.modifyRecords(saving: [mine], savePolicy: policy).saveResults[known.recordID]?.get()
        try await other.own.deleteRecord(withID: gone.recordID)
        #expect(try await ann.own.record(for: known.recordID)["color"] == "red")
        #expect(await failure { _ = try await ann.own.record(for: gone.recordID) } == .unknownItem)
        #expect(try await ann.container.violations().isEmpty)
    }

    /// An answer has room for so much of what the server has. A deletion that did not fit in is looked up, and nobody
    /// is accused.
    @Test func aDeletionThatTheAnswerHadNoRoomForIsLookedUp() async throws {
        let ann = try await Person()
        let note = try await redNote(ann)
        let (device, network) = try ann.freshBehindAttacker()
        _ = try await device.own.record(for: note.recordID)
        try await ann.own.deleteRecord(withID: note.recordID)
        network.rewrite("records/modify", Sealkit_V1_ModifyRecordsResponse.self) { answer in
            for index in answer.results.indices { answer.results[index].clearServerRecord() }
        }
        var edited = note
        edited["color"] = "blue"
        let stale = edited
        #expect(await failure { try await device.own.save(stale) } == .unknownItem)
        #expect(try await device.container.violations().isEmpty)
    }

    /// Some of a request is stored, some refused since it cites an older roster than a record that goes along: only
    /// that goes again.
    @Test func whatWasStoredIsNotSentAgain() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let list = try await ann.own.save(ann.note(in: zone, "list", name: "list"))
        let other = try ann.onFreshDevice()
        _ = try await other.own.record(for: list.recordID)
        try await ann.own.save(Share(recordZoneID: zone))
        var item = ann.note(in: zone, "item", name: "item")
        item["list"] = Record.Reference(recordName: "list", action: .deleteSelf)
        try await ann.own.save(item)
        let new = other.note(in: zone, "new", name: "new")
        let results = try await other.own.modifyRecords(saving: [new], deleting: [list.recordID], atomically: false)
        #expect(try results.saveResults[new.recordID]?.get().base?.statement.revision == 1)
        #expect(results.deleteResults.values.map(\.failureCode) == [nil])
        for id in [list.recordID, item.recordID] {
            #expect(await failure { _ = try await ann.own.record(for: id) } == .unknownItem)
        }
    }

    /// What was stored in the first round has its result, whatever becomes of the zone before the second.
    @Test func whatWasStoredIsToldThoughTheZoneGoes() async throws {
        let ann = try await Person()
        let note = try await redNote(ann)
        let zone = note.recordID.zoneID
        let device = try device(of: ann, interruptedAfter: "records/modify") {
            try await ann.own.deleteRecordZone(withID: zone)
        }
        let new = device.note(in: zone, "new", name: "new")
        let results = try await device.own.modifyRecords(
            saving: [new, device.note(in: zone, "mine", name: "note")], savePolicy: .changedKeys, atomically: false)
        #expect(try results.saveResults[new.recordID]?.get().recordChangeTag != nil)
        #expect(results.saveResults[note.recordID]?.failureCode == .zoneNotFound)
    }

    /// Two tasks go on from one place; the server gives both the same part, and goes in no circle.
    @Test func twoTasksReadOneListOfZones() async throws {
        let ann = try await Person()
        for _ in 0..<3 { _ = try await ann.makeZone() }
        let (device, network) = try ann.behindAttacker()
        let token = try await device.own.databaseChanges(resultsLimit: 1).changeToken
        let isDone = LockedValue(false)
        network.lie { path, _, _ in
            guard path.hasSuffix("zones/changes"), !isDone.value else { return }
            isDone.change { $0 = true }
            _ = try await device.own.databaseChanges(since: token, resultsLimit: 1)
        }
        let next = try await device.own.databaseChanges(since: token, resultsLimit: 1)
        #expect(isDone.value)
        #expect(next.modifications.count == 1)
    }

    /// A zone that is made and deleted again while the list is read comes again as it came.
    @Test func aZoneThatGoesTwiceIsNoCircle() async throws {
        let ann = try await Person()
        let (zone, other) = (try await ann.makeZone(), try await ann.makeZone())
        func deleteAndSave() async throws {
            try await ann.own.deleteRecordZone(withID: zone)
            try await ann.own.save(ann.note(in: other, "note"))
        }
        var token = try await ann.own.databaseChanges().changeToken
        try await deleteAndSave()
        for _ in 0..<3 {
            let part = try await ann.own.databaseChanges(since: token, resultsLimit: 1)
            #expect(part.deletions.map(\.zoneID) == [zone])
            #expect(part.moreComing)
            token = part.changeToken
            _ = try await ann.own.save(RecordZone(zoneID: zone))
            try await deleteAndSave()
        }
        let rest = try await ann.own.databaseChanges(since: token)
        #expect(rest.modifications.map(\.zoneID) == [other])
        #expect(!rest.moreComing)
    }

    /// This device writes a record while it is told that it goes along with what it deletes: the deletion is told anew.
    @Test func aDeletionCoversWhatThisDeviceHasWrittenMeanwhile() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let list = try await ann.own.save(ann.note(in: zone, "list", name: "list"))
        var item = ann.note(in: zone, "item", name: "item")
        item["list"] = Record.Reference(recordName: "list", action: .deleteSelf)
        try await ann.own.save(item)
        let (device, network) = try ann.behindAttacker()
        let known = try await device.own.record(for: item.recordID)
        let isDone = LockedValue(false)
        network.lie { path, _, _ in
            guard path.hasSuffix("records/modify"), !isDone.value else { return }
            isDone.change { $0 = true }
            var newer = known
            newer.encryptedValues["body"] = "newer"
            try await device.own.save(newer)
        }
        try await device.own.deleteRecord(withID: list.recordID)
        #expect(isDone.value)
        #expect(await failure { _ = try await device.own.record(for: item.recordID) } == .unknownItem)
    }

    /// Of a record that went with another the answer shows too little, so it is looked up, and both have changed again
    /// by then: what an atomic batch is told of its conflicts is of one time.
    @Test func conflictsOfAnAtomicBatchAreOfOneTime() async throws {
        let ann = try await Person()
        let note = try await redNote(ann)
        let zone = note.recordID.zoneID
        let list = try await ann.own.save(ann.note(in: zone, "list", name: "list"))
        var item = ann.note(in: zone, "item", name: "item")
        item["list"] = Record.Reference(recordName: "list", action: .deleteSelf)
        try await ann.own.save(item)
        try await ann.own.deleteRecord(withID: list.recordID)
        var blue = note
        blue["color"] = "blue"
        let theirs = try await ann.own.save(blue)
        let device = try device(of: ann, interruptedAfter: "records/modify") {
            var green = theirs
            green["color"] = "green"
            let again = ann.note(in: zone, "made again", name: "item")
            _ = try await ann.own.modifyRecords(saving: [green, again], savePolicy: .allKeys)
        }
        var mine = note
        mine["size"] = 1
        let results = try await device.own.modifyRecords(saving: [mine, device.note(in: zone, "mine", name: "item")])
            .saveResults
        guard case .failure(let changed)? = results[note.recordID], case .failure(let made)? = results[item.recordID]
        else {
            Issue.record("a stale save went through")
            return
        }
        #expect(changed.code == .serverRecordChanged)
        #expect(made.code == .serverRecordChanged)
        #expect(changed.serverRecord?["color"] == "green")
        #expect(made.serverRecord?.encryptedValues["body"] == "made again")
    }

    /// Something stops the batch after the server has answered: what it said of a conflict is told all the same.
    @Test func aConflictIsToldThoughTheBatchStops() async throws {
        let ann = try await Person()
        let note = try await redNote(ann)
        var theirs = note
        theirs["color"] = "blue"
        try await ann.own.save(theirs)
        let (device, network) = try ann.freshBehindAttacker()
        network.rewrite("records/modify", Sealkit_V1_ModifyRecordsResponse.self) { answer in
            guard answer.results.count == 2 else { return }
            answer.results[1] = .with { $0.failure = Sealkit_V1_Failure(.serverRecordChanged, "changed") }
        }
        network.lie { path, _, _ in
            if path.hasSuffix("records/lookup") { throw SealKitError(.internalError, "the test stops it") }
        }
        var mine = note
        mine.encryptedValues["body"] = "mine"
        let other = device.note(in: note.recordID.zoneID, "other", name: "other")
        let results = try await device.own.modifyRecords(saving: [mine, other], atomically: false).saveResults
        guard case .failure(let error)? = results[note.recordID] else {
            Issue.record("it was stored")
            return
        }
        #expect(error.code == .serverRecordChanged)
        #expect(error.serverRecord?["color"] == "blue")
        #expect(results[other.recordID]?.failureCode == .internalError)
    }

    /// Answers in another order, and one that comes twice: each counts for the record that it names, and what nobody
    /// was told of may be saved again.
    @Test(arguments: [[1, 0], [0, 0]])
    func anAnswerCountsForTheRecordThatItNames(order: [Int]) async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let (device, network) = try ann.freshBehindAttacker()
        let isHonest = LockedValue(false)
        network.rewrite("records/modify", Sealkit_V1_ModifyRecordsResponse.self) { answer in
            if !isHonest.value { answer.results = order.map { answer.results[$0] } }
        }
        let notes = ["one", "two"].map { device.note(in: zone, $0, name: $0) }
        let results = try await device.own.modifyRecords(saving: notes, atomically: false).saveResults
        for (index, note) in notes.enumerated() {
            let isNamed = order[index] == index
            #expect(results[note.recordID]?.failureCode == (isNamed ? nil : .serverRejectedRequest))
        }
        isHonest.change { $0 = true }
        let again = try await device.own.modifyRecords(saving: notes, savePolicy: .allKeys, atomically: false)
        let refused = again.saveResults.values.compactMap(\.failureCode)
        #expect(refused.isEmpty)
        #expect(again.saveResults.count == 2)
    }
}
