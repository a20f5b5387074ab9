import Foundation
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

/// Records that go with the target of a `deleteSelf` reference, as the SDK sees them: verified, never inferred.
@Suite struct DerivedDeletionTests {
    /// A target `list` with a record that goes with it, and one that goes with that.
    private func family(_ person: Person) async throws -> (zone: RecordZone.ID, list: Record, item: Record, detail: Record) {
        let zone = try await person.makeZone()
        let list = person.note(in: zone, "list", name: "list")
        var item = person.note(in: zone, "item", name: "item")
        item["list"] = Record.Reference(recordName: "list", action: .deleteSelf)
        var detail = person.note(in: zone, "detail", name: "detail")
        detail.setPlainValue("items", .list(.reference, [.reference(ReferenceValue(recordName: "item", action: .deleteSelf))]))
        let saved = try await person.own.modifyRecords(saving: [list, item, detail]).saveResults
        return (
            zone, try #require(try saved[list.recordID]?.get()), try #require(try saved[item.recordID]?.get()),
            try #require(try saved[detail.recordID]?.get())
        )
    }

    @Test func theyComeInTheFeedOfEveryDevice() async throws {
        let ann = try await Person()
        let (zone, list, item, detail) = try await family(ann)
        let other = try ann.onFreshDevice()
        let before = try await other.own.recordZoneChanges(inZoneWith: zone)
        #expect(before.modifications.count == 3)
        try await ann.own.deleteRecord(withID: list.recordID)
        let after = try await other.own.recordZoneChanges(inZoneWith: zone, since: before.changeToken)
        #expect(after.deletions.map(\.recordID.recordName) == ["list", "item", "detail"] && after.modifications.isEmpty)
        #expect(after.deletions.map(\.recordType) == ["Note", "Note", "Note"])
        for device in [ann, other, try ann.onFreshDevice()] {
            #expect(await failure { _ = try await device.own.record(for: item.recordID) } == .unknownItem)
            try await device.own.deleteRecord(withID: detail.recordID)
        }
    }

    @Test func oneIsMadeAgainAndAnOldCopyIsNotSaved() async throws {
        let ann = try await Person()
        let (zone, list, item, _) = try await family(ann)
        try await ann.own.deleteRecord(withID: list.recordID)
        var stale = item
        stale.encryptedValues["body"] = "old"
        #expect(await failure { try await ann.own.save(stale) } == .unknownItem)
        let again = try await ann.own.save(ann.note(in: zone, "again", name: "item"))
        #expect(again.base?.statement.revision == 2 && again.base?.statement.previous == item.base?.hash)
        #expect(again.base?.statement.wrappedKey != item.base?.statement.wrappedKey)
        for device in [ann, try ann.onFreshDevice()] {
            let found = try await device.own.record(for: item.recordID)
            #expect(found.encryptedValues["body"] == "again" && found.allKeys() == ["body"])
            let changes = try await device.own.recordZoneChanges(inZoneWith: zone)
            #expect(Set(changes.deletions.map(\.recordID.recordName)) == ["list", "detail"])
            #expect(changes.modifications.map(\.recordID.recordName) == ["item"])
        }
    }

    @Test func aNoticeThatDoesNotHoldDeletesNothing() async throws {
        let ann = try await Person()
        let (zone, list, item, _) = try await family(ann)
        let spare = try await ann.own.save(ann.note(in: zone, "unrelated", name: "spare"))
        let token = try await ann.own.recordZoneChanges(inZoneWith: zone).changeToken
        // A second device deletes; the first has not heard of it yet.
        let other = try ann.onFreshDevice()
        try await other.own.deleteRecord(withID: list.recordID)

        typealias Lie = @Sendable (inout Sealkit_V1_Record) -> Void
        let lies: [(String, Lie)] = [
            ("no proof", { $0.clearDerived() }),
            ("no steps", { $0.derived.steps = [] }),
            ("no tombstone", { $0.derived.clearTombstone() }),
            ("another record", { $0.recordName = "spare" }),
            ("another type", { $0.recordType = "Other" }),
            ("not deleted", { $0.deleted = false }),
            ("the target's place is taken by the record", { $0.derived.tombstone = $0.derived.steps[0].record }),
            ("another field", { $0.derived.steps[0].field = "body" }),
            ("the reference withheld", { $0.derived.steps[0].record.fields.removeAll { $0.name == "list" } }),
            ("the reference redirected", { notice in
                for index in notice.derived.steps[0].record.fields.indices where notice.derived.steps[0].record.fields[index].name == "list" {
                    notice.derived.steps[0].record.fields[index].plain.reference.recordName = "spare"
                }
            }),
            ("a broken signature", { $0.derived.tombstone.proof.signature = Data(repeating: 0, count: 64) }),
            ("the step twice", { $0.derived.steps.append($0.derived.steps[0]) }),
        ]
        for (what, lie) in lies {
            let deceived = try ann.through(
                RewritingTransport(HTTPTransport(server: ann.server.origin)) { path, body in
                    guard path.hasSuffix("records/changes") else { return body }
                    var answer = try Sealkit_V1_RecordChangesResponse(serializedBytes: body)
                    answer.records = answer.records.filter { $0.recordName == "item" }
                    for index in answer.records.indices { lie(&answer.records[index]) }
                    return try answer.serializedData()
                })
            var changes: Database.RecordZoneChanges?
            let code = await failure { changes = try await deceived.own.recordZoneChanges(inZoneWith: zone, since: token) }
            // A deletion that does not verify fails the whole answer; what does not even claim one is that record's failure.
            if what == "not deleted" {
                #expect(changes?.modifications.map(\.result.failureCode) == [.integrityFailure])
            } else {
                #expect(code == .integrityFailure, "\(what)")
            }
        }
        let honest = try await ann.own.recordZoneChanges(inZoneWith: zone, since: token)
        #expect(honest.deletions.map(\.recordID.recordName) == ["list", "item", "detail"])
        #expect(try await ann.own.record(for: spare.recordID).encryptedValues["body"] == "unrelated")
        #expect(item.recordID.recordName == "item")
    }

    @Test func whatIsKnownBetterIsNotTakenBack() async throws {
        let ann = try await Person()
        let (zone, list, item, _) = try await family(ann)
        let recording = RecordingTransport(try HTTPTransport(server: ann.server.origin))
        _ = try await ann.through(recording).own.record(for: item.recordID)
        let live = try #require(recording.records().first)
        try await ann.own.deleteRecord(withID: list.recordID)
        _ = await failure { _ = try await ann.through(recording).own.record(for: item.recordID) }

        // Shown again as if it had not gone.
        func showing(_ record: @escaping @Sendable () -> Sealkit_V1_Record, to person: Person, fresh: Bool) throws -> Person {
            let transport = RewritingTransport(try HTTPTransport(server: ann.server.origin)) { path, body in
                guard path.hasSuffix("records/lookup") else { return body }
                var answer = try Sealkit_V1_LookupRecordsResponse(serializedBytes: body)
                answer.results = [.with { $0.record = record() }]
                return try answer.serializedData()
            }
            return fresh ? try person.onFreshDevice(transport: transport) : try person.through(transport)
        }
        #expect(await failure { _ = try await showing({ live }, to: ann, fresh: false).own.record(for: item.recordID) } == .rollback)
        // A device that has seen nothing cannot tell.
        #expect(await failure { _ = try await showing({ live }, to: ann, fresh: true).own.record(for: item.recordID) } == nil)

        // Made again together with its target: the old notice says nothing of the new life.
        let notice = try #require(recording.records().first { $0.hasDerived })
        let reborn = try await ann.own.save(ann.note(in: zone, "again", name: "item"))
        #expect(await failure { _ = try await showing({ notice }, to: ann, fresh: false).own.record(for: reborn.recordID) } == .rollback)
    }

    @Test func aTargetThatLivesAgainTakesNothingAlongLater() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let list = try await ann.own.save(ann.note(in: zone, "list", name: "list"))
        let recording = RecordingTransport(try HTTPTransport(server: ann.server.origin))
        try await ann.own.deleteRecord(withID: list.recordID)
        _ = await failure { _ = try await ann.through(recording).own.record(for: list.recordID) }
        let tombstone = try #require(recording.tombstones().first)
        try await ann.own.save(ann.note(in: zone, "list again", name: "list"))
        var item = ann.note(in: zone, "item", name: "item")
        item["list"] = Record.Reference(recordName: "list", action: .deleteSelf)
        let saved = try await ann.own.save(item)
        _ = try await ann.through(recording).own.record(for: saved.recordID)
        let step = try #require(recording.records().last)
        let forged = Sealkit_V1_Record.with {
            $0.recordName = "item"
            $0.recordType = "Note"
            $0.deleted = true
            $0.derived.steps = [.with { $0.record = step; $0.field = "list" }]
            $0.derived.tombstone = tombstone
        }
        let deceived = try ann.through(
            RewritingTransport(HTTPTransport(server: ann.server.origin)) { path, body in
                guard path.hasSuffix("records/changes") else { return body }
                var answer = try Sealkit_V1_RecordChangesResponse(serializedBytes: body)
                answer.records = [forged]
                return try answer.serializedData()
            })
        let changes = try await deceived.own.recordZoneChanges(inZoneWith: zone)
        #expect(changes.deletions.isEmpty && changes.modifications.map(\.result.failureCode) == [.rollback])
        #expect(try await ann.own.record(for: saved.recordID).encryptedValues["body"] == "item")
    }

    /// The device's own server, which answers changes with one notice.
    private func showing(_ notice: Sealkit_V1_Record, to person: Person, fresh: Bool = false) throws -> Person {
        let transport = RewritingTransport(try HTTPTransport(server: person.server.origin)) { path, body in
            guard path.hasSuffix("records/changes") else { return body }
            var answer = try Sealkit_V1_RecordChangesResponse(serializedBytes: body)
            answer.records = [notice]
            return try answer.serializedData()
        }
        return fresh ? try person.onFreshDevice(transport: transport) : try person.through(transport)
    }

    /// Every step of a chain is the newest of its record, not the last one alone: a record in between that let go of the
    /// target takes nobody along by what it was before.
    @Test func whatLetGoOfTheTargetTakesNothingAlong() async throws {
        let ann = try await Person()
        let (zone, list, item, detail) = try await family(ann)
        let recording = RecordingTransport(try HTTPTransport(server: ann.server.origin))
        let recorded = try ann.through(recording)
        _ = try await recorded.own.record(for: item.recordID)
        var free = try await recorded.own.record(for: item.recordID)
        let old = try #require(recording.records().first)
        free["list"] = nil as Record.Reference?
        _ = try await ann.own.save(free)
        _ = try await recorded.own.record(for: detail.recordID)
        let chained = try #require(recording.records().last)
        try await ann.own.deleteRecord(withID: list.recordID)
        _ = await failure { _ = try await recorded.own.record(for: list.recordID) }
        let forged = Sealkit_V1_Record.with {
            $0.recordName = "detail"
            $0.recordType = "Note"
            $0.deleted = true
            $0.derived.steps = [
                .with { $0.record = chained; $0.field = "items" }, .with { $0.record = old; $0.field = "list" },
            ]
            $0.derived.tombstone = recording.records().last ?? Sealkit_V1_Record()
        }
        let changes = try await showing(forged, to: ann).own.recordZoneChanges(inZoneWith: zone)
        #expect(changes.deletions.isEmpty && changes.modifications.map(\.result.failureCode) == [.rollback])
        #expect(try await ann.own.record(for: detail.recordID).encryptedValues["body"] == "detail")
        // A device that has seen nothing cannot tell: every statement in it was made.
        let stranger = try await showing(forged, to: ann, fresh: true).own.recordZoneChanges(inZoneWith: zone)
        #expect(stranger.deletions.map(\.recordID.recordName) == ["detail"])
    }

    /// The record in between was made again after it had gone: what went with it then stays gone.
    @Test func whatWentOnceMayBeMadeAgain() async throws {
        let ann = try await Person()
        let (zone, list, item, detail) = try await family(ann)
        let other = try ann.onFreshDevice()
        let before = try await other.own.recordZoneChanges(inZoneWith: zone).changeToken
        try await ann.own.deleteRecord(withID: list.recordID)
        let gone = try await other.own.recordZoneChanges(inZoneWith: zone, since: before)
        #expect(gone.deletions.count == 3)
        _ = try await ann.own.save(ann.note(in: zone, "again", name: "item"))
        for device in [other, try ann.onFreshDevice()] {
            let after = try await device.own.recordZoneChanges(inZoneWith: zone)
            #expect(Set(after.deletions.map(\.recordID.recordName)) == ["list", "detail"])
            #expect(after.modifications.map(\.recordID.recordName) == ["item"])
            #expect(try await device.own.record(for: item.recordID).encryptedValues["body"] == "again")
            #expect(await failure { _ = try await device.own.record(for: detail.recordID) } == .unknownItem)
        }
    }
}
