import Foundation
import SealPrimitives
import SealStatements
import Testing

@testable import SealKit

/// Two devices of one account on one record, whatever the order of their steps.
@Suite(.timeLimit(.minutes(60))) struct ConflictTests {
    @Test func aConflictHasTheClientsTheServersAndTheCommonAncestor() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var first = ann.note(in: zone, "one")
        first["color"] = "red"
        first = try await ann.own.save(first)
        let other = try ann.onFreshDevice()
        var theirs = try await other.own.record(for: first.recordID)
        theirs.encryptedValues["body"] = "two"
        try await other.own.save(theirs)
        var mine = first
        mine.encryptedValues["body"] = "three"
        mine["color"] = nil as String?
        do {
            try await ann.own.save(mine)
            Issue.record("a stale save went through")
        } catch {
            #expect(error.code == .serverRecordChanged)
            #expect(error.serverRecord?.encryptedValues["body"] == "two")
            #expect(error.clientRecord?.encryptedValues["body"] == "three")
            let ancestor = try #require(error.ancestorRecord)
            #expect(ancestor.encryptedValues["body"] == "one")
            #expect(ancestor["color"] == "red")
            #expect(ancestor.changedKeys().isEmpty)
            #expect(ancestor.recordChangeTag == first.recordChangeTag)
        }
        // A record made afresh under a name that exists has no ancestor.
        do {
            try await ann.own.save(ann.note(in: zone, "x", name: first.recordID.recordName))
        } catch {
            #expect(error.code == .serverRecordChanged)
            #expect(error.ancestorRecord == nil)
            #expect(error.serverRecord != nil)
        }
    }

    /// #19: the parent's tag is new, and its next save is no conflict for an app, since nothing of it has changed.
    @Test func aChildsSaveDoesNotMakeItsParentAConflict() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var parent = try await ann.own.save(ann.note(in: zone, "parent", name: "parent"))
        var child = ann.note(in: zone, "child", name: "child")
        child.parent = Record.Reference(recordName: "parent")
        try await ann.own.save(child)
        let found = try await ann.own.record(for: parent.recordID)
        #expect(found.recordChangeTag != parent.recordChangeTag)
        #expect(found.base?.hash == parent.base?.hash)
        parent.encryptedValues["body"] = "edited"
        let saved = try await ann.own.save(parent)
        #expect(saved.base?.statement.revision == 2)
        #expect(try await ann.own.record(for: parent.recordID).encryptedValues["body"] == "edited")
    }

    /// A parent is merged as a key is: who changed it wins, and who did not leaves it as it is.
    @Test func aChangedParentIsMergedAsAKeyIs() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        for name in ["one", "two"] { try await ann.own.save(ann.note(in: zone, name, name: name)) }
        let other = try ann.onFreshDevice()
        func child(_ name: String) async throws -> Record {
            var child = ann.note(in: zone, "mine", name: name)
            child.parent = Record.Reference(recordName: "one")
            return try await ann.own.save(child)
        }
        /// Saves what was fetched before the other device changed it.
        func merged(_ mine: Record) async throws -> Record {
            let results = try await ann.own.modifyRecords(saving: [mine], savePolicy: .changedKeys)
            _ = try #require(try results.saveResults[mine.recordID]?.get())
            return try await other.own.record(for: mine.recordID)
        }
        // Taken out of its parent, and nothing else; or put below another one.
        for (name, parent) in [("out", nil), ("over", "two")] as [(String, String?)] {
            var mine = try await child(name)
            var theirs = try await other.own.record(for: mine.recordID)
            theirs.encryptedValues["body"] = "theirs"
            try await other.own.save(theirs)
            mine.parent = parent.map { Record.Reference(recordName: $0) }
            let now = try await merged(mine)
            #expect(now.parent?.recordName == parent)
            #expect(now.encryptedValues["body"] == "theirs")
        }
        // They moved it; this device changes a key alone.
        var mine = try await child("moved")
        var theirs = try await other.own.record(for: mine.recordID)
        theirs.parent = Record.Reference(recordName: "two")
        try await other.own.save(theirs)
        mine.encryptedValues["body"] = "changed"
        let now = try await merged(mine)
        #expect(now.parent?.recordName == "two")
        #expect(now.encryptedValues["body"] == "changed")
    }

    /// A new record is merged into one that is there already, which goes before the merged one comes: it is new again.
    @Test func whatANewRecordWasMergedIntoGoesMeanwhile() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var there = ann.note(in: zone, "theirs", name: "note")
        there["color"] = "red"
        let saved = try await ann.own.save(there)
        let network = try HostileNetwork(ann.server)
        let device = try ann.onFreshDevice().through(network)
        let isDeleted = LockedValue(false)
        network.lie { path, _, _ in
            guard path.hasSuffix("records/modify"), !isDeleted.value else { return }
            isDeleted.change { $0 = true }
            try await ann.own.deleteRecord(withID: saved.recordID)
        }
        let results = try await device.own.modifyRecords(
            saving: [device.note(in: zone, "mine", name: "note")], savePolicy: .changedKeys)
        let mine = try #require(try results.saveResults[saved.recordID]?.get())
        #expect(mine.encryptedValues["body"] == "mine")
        #expect(mine["color"] as String? == nil)
        #expect(isDeleted.value)
        let read = try await ann.own.record(for: saved.recordID)
        #expect(read.encryptedValues["body"] == "mine")
        #expect(read["color"] as String? == nil)
    }

    private enum Step: CaseIterable { case fetchA, fetchB, editA, editB, saveA, saveB }

    /// Two devices edit different fields with `changedKeys`, interleaved at every step: no edit is ever lost.
    @Test func changedKeysNeverLoseAnothersField() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let devices = [ann, try ann.onFreshDevice()]
        let keys = ["left", "right"]
        var random = SystemRandom()
        for trial in 0..<12 {
            let id = Record.ID(recordName: "shared-\(trial)", zoneID: zone)
            var record = Record(recordType: "Note", recordID: id)
            record.encryptedValues["left"] = 0
            record["right"] = 0
            record = try await ann.own.save(record)
            var copies = [record, record]
            var expected = [0, 0]
            for step in 1...14 {
                let choice = random.bytes(2)
                let device = Int(choice[0] % 2)
                switch choice[1] % 3 {
                case 0: copies[device] = try await devices[device].own.record(for: id)
                case 1:
                    if device == 0 { copies[0].encryptedValues["left"] = step } else { copies[1]["right"] = step }
                default:
                    let isChanged = copies[device].changedKeys().contains(keys[device])
                    let value: Int? = device == 0 ? copies[0].encryptedValues["left"] : copies[1]["right"]
                    let saved = try await devices[device].own.modifyRecords(
                        saving: [copies[device]], savePolicy: .changedKeys)
                    copies[device] = try #require(try saved.saveResults[id]?.get())
                    if isChanged { expected[device] = try #require(value) }
                }
                let now = try await devices[1 - device].own.record(for: id)
                #expect(now.encryptedValues["left"] == expected[0] && now["right"] == expected[1])
            }
        }
    }

    /// Both save at once, again and again: each field counts every save of its own device.
    /// Tasks of one device know of each other's saves before the server's answers to their own: that is no fault of the
    /// server's.
    @Test(arguments: [true, false]) func savesAtTheSameTimeKeepEveryField(onDevicesOfTheirOwn: Bool) async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let id = Record.ID(recordName: "busy", zoneID: zone)
        var record = Record(recordType: "Note", recordID: id)
        record.encryptedValues["d0"] = 0
        record = try await ann.own.save(record)
        let start = record
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<3 {
                let device = try onDevicesOfTheirOwn ? ann.onFreshDevice() : ann
                group.addTask {
                    var copy = start
                    for count in 1...6 {
                        copy.encryptedValues["d\(index)"] = count
                        let saved = try await device.own.modifyRecords(saving: [copy], savePolicy: .changedKeys)
                        if let done = try? saved.saveResults[id]?.get() {
                            copy = done
                        } else {
                            copy = try await again(copy, device)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let end = try await ann.own.record(for: id)
        for index in 0..<3 { #expect(end.encryptedValues["d\(index)"] == 6) }
        #expect(try await ann.container.violations().isEmpty)
    }

    /// After more rounds than one call makes, the app tries again.
    private func again(_ record: Record, _ device: Person) async throws -> Record {
        for _ in 0..<20 {
            let saved = try await device.own.modifyRecords(saving: [record], savePolicy: .changedKeys)
            if let done = try? saved.saveResults[record.recordID]?.get() { return done }
        }
        return try await device.own.save(record)
    }

    @Test func allKeysKeepWhatOnlyTheServerHas() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let first = try await ann.own.save(ann.note(in: zone, "one"))
        var theirs = first
        theirs["added"] = "by them"
        theirs.encryptedValues["body"] = "two"
        try await ann.own.save(theirs)
        let saved = try await ann.own.modifyRecords(saving: [first], savePolicy: .allKeys).saveResults[first.recordID]?
            .get()
        #expect(saved?.encryptedValues["body"] == "one")
        #expect(saved?["added"] == "by them")
    }

    /// #21: a field that this version of an app does not know survives its save.
    @Test func s21_unknownFieldsSurviveAndUnchangedRecordsAreNoConflict() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var newer = ann.note(in: zone, "body")
        newer.encryptedValues["future"] = "kept"
        newer["plainFuture"] = 7
        newer = try await ann.own.save(newer)
        var older = try #require(
            try await ann.onFreshDevice().own.records(for: [newer.recordID], desiredKeys: ["body"])[newer.recordID]?
                .get())
        older.encryptedValues["body"] = "edited"
        try await ann.own.save(older)
        let found = try await ann.own.record(for: newer.recordID)
        #expect(found.encryptedValues["future"] == "kept")
        #expect(found["plainFuture"] == 7)
        #expect(found.encryptedValues["body"] == "edited")
        // As it came, it goes back.
        let same = try await ann.own.save(found)
        #expect(same.recordChangeTag != nil)
        #expect(same.encryptedValues["body"] == "edited")
    }
}
