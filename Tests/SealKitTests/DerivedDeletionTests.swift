import Foundation
import SealClient
import SealKitTesting
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealKit

/// Records that go with the target of a `deleteSelf` reference, as the SDK sees them: verified, never inferred.
@Suite(.timeLimit(.minutes(60))) struct DerivedDeletionTests {
    /// A target `list` with a record that goes with it, and one that goes with that.
    /// - Parameter zone: nil for a new one.
    private func family(_ person: Person, in zone: RecordZone.ID? = nil) async throws -> (
        zone: RecordZone.ID, list: Record, item: Record, detail: Record
    ) {
        let made = zone == nil ? try await person.makeZone() : nil
        let zone = try #require(zone ?? made)
        let list = person.note(in: zone, "list", name: "list")
        var item = person.note(in: zone, "item", name: "item")
        item["list"] = Record.Reference(recordName: "list", action: .deleteSelf)
        var detail = person.note(in: zone, "detail", name: "detail")
        detail.setPlainValue("items", .list([.reference(ReferenceValue(recordName: "item", action: .deleteSelf))]))
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
        #expect(after.deletions.map(\.recordID.recordName) == ["list", "item", "detail"])
        #expect(after.modifications.isEmpty)
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
        #expect(again.base?.statement.revision == 2)
        #expect(again.base?.statement.previous == item.base?.hash)
        #expect(again.base?.statement.wrappedKey != item.base?.statement.wrappedKey)
        for device in [ann, try ann.onFreshDevice()] {
            let found = try await device.own.record(for: item.recordID)
            #expect(found.encryptedValues["body"] == "again")
            #expect(found.allKeys() == ["body"])
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
            ("no tombstone", { $0.derived.clearTombstone() }),
            ("another record", { $0.recordName = "spare" }),
            ("another type", { $0.recordType = "Other" }),
            ("not deleted", { $0.deleted = false }),
            (
                "a field beside it",
                {
                    $0.fields = [
                        .with {
                            $0.name = "body"
                            $0.omitted = Data(repeating: 0, count: 32)
                        }
                    ]
                }
            ),
            (
                "the record's own statement as the target's",
                { notice in
                    notice.derived.tombstone = .with {
                        $0.statement = notice.statement
                        $0.proof = notice.proof
                    }
                }
            ),
            (
                "the target's deletion as the record",
                { notice in
                    (notice.statement, notice.proof) = (
                        notice.derived.tombstone.statement, notice.derived.tombstone.proof
                    )
                }
            ),
            ("another leaf", { $0.derived.index = 1 - $0.derived.index }),
            (
                "another count",
                {
                    $0.derived.count = 1
                    $0.derived.index = 0
                    $0.derived.path = Data()
                }
            ),
            ("more than may go along", { $0.derived.count = 751 }),
            ("no path", { $0.derived.path = Data() }),
            ("a path that is none", { $0.derived.path.removeLast() }),
            ("a broken signature", { $0.derived.tombstone.proof.signature = Data(repeating: 0, count: 64) }),
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
            let code = await failure {
                changes = try await deceived.own.recordZoneChanges(inZoneWith: zone, since: token)
            }
            // A deletion that does not verify fails the whole answer; what does not even claim one is that record's
            // failure.
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

    /// Whoever has the old key still can sign a deletion under it at any time, with whatever it is to take along.
    @Test func aBackDatedDeletionTakesNothingAlong() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let shared = try await SharedZone(of: ann, with: [(bob, .readWrite)])
        let (zone, list, item, _) = try await family(ann, in: shared.zoneID)
        let token = try await ann.own.recordZoneChanges(inZoneWith: zone).changeToken
        try await bob.shared.deleteRecord(withID: shared.recordID("list", for: bob))
        try await AttackedZone.remove(bob, from: zone, of: try ann.onFreshDevice())

        // What the server shows of the deletion, and of what went with it.
        let shown = Mutex<Set<String>>([])
        let device = try ann.through(
            RewritingTransport(HTTPTransport(server: ann.server.origin)) { path, body in
                guard path.hasSuffix("records/changes") else { return body }
                var answer = try Sealkit_V1_RecordChangesResponse(serializedBytes: body)
                answer.records.removeAll { !shown.withLock { $0 }.contains($0.recordName) }
                return try answer.serializedData()
            })
        // Nothing, until the device has heard of the new key.
        #expect(try await device.own.recordZoneChanges(inZoneWith: zone, since: token).deletions.isEmpty)
        shown.withLock { $0 = ["item"] }
        let stays = try await device.own.recordZoneChanges(inZoneWith: zone, since: token)
        #expect(stays.deletions.isEmpty)
        #expect(stays.modifications.map(\.result.failureCode) == [.rollback])
        for names: Set in [["list"], ["list", "item", "detail"]] {
            shown.withLock { $0 = names }
            let code = await failure { _ = try await device.own.recordZoneChanges(inZoneWith: zone, since: token) }
            #expect(code == .rollback, "\(names)")
        }
        #expect(await failure { _ = try await ann.own.record(for: item.recordID) } == .rollback)
        #expect(await failure { _ = try await ann.own.record(for: list.recordID) } == .rollback)
        // A device that has seen nothing before has nothing to go by.
        let changes = try await ann.onFreshDevice().own.recordZoneChanges(inZoneWith: zone)
        #expect(!changes.modifications.contains { ["list", "item", "detail"].contains($0.recordID.recordName) })
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
        func showing(_ record: @escaping @Sendable () -> Sealkit_V1_Record, to person: Person, fresh: Bool) throws
            -> Person
        {
            let transport = RewritingTransport(try HTTPTransport(server: ann.server.origin)) { path, body in
                guard path.hasSuffix("records/lookup") else { return body }
                var answer = try Sealkit_V1_LookupRecordsResponse(serializedBytes: body)
                answer.results = [.with { $0.record = record() }]
                return try answer.serializedData()
            }
            return fresh ? try person.onFreshDevice(transport: transport) : try person.through(transport)
        }
        #expect(
            await failure { _ = try await showing({ live }, to: ann, fresh: false).own.record(for: item.recordID) }
                == .rollback)
        // A device that has seen nothing cannot tell.
        #expect(
            await failure { _ = try await showing({ live }, to: ann, fresh: true).own.record(for: item.recordID) }
                == nil)

        // Made again together with its target: the old notice says nothing of the new life.
        let notice = try #require(recording.records().first { $0.hasDerived })
        let reborn = try await ann.own.save(ann.note(in: zone, "again", name: "item"))
        #expect(
            await failure { _ = try await showing({ notice }, to: ann, fresh: false).own.record(for: reborn.recordID) }
                == .rollback)
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
        let live = try #require(recording.records().last)
        let forged = try Forgery.notice(of: live, with: tombstone, covering: [])
        let deceived = try ann.through(
            RewritingTransport(HTTPTransport(server: ann.server.origin)) { path, body in
                guard path.hasSuffix("records/changes") else { return body }
                var answer = try Sealkit_V1_RecordChangesResponse(serializedBytes: body)
                answer.records = [forged]
                return try answer.serializedData()
            })
        #expect(await failure { _ = try await deceived.own.recordZoneChanges(inZoneWith: zone) } == .integrityFailure)
        #expect(try await ann.own.record(for: saved.recordID).encryptedValues["body"] == "item")
    }

    /// A deletion that a server got somebody to sign over an old statement takes nothing from whoever has seen a newer
    /// one.
    @Test func whatWasSavedSinceStays() async throws {
        let ann = try await Person()
        let (zone, list, item, _) = try await family(ann)
        let network = try HostileNetwork(ann.server)
        let device = try ann.through(network)
        var free = try await device.own.record(for: item.recordID)
        let old = try #require(network.records.last)
        free["list"] = nil as Record.Reference?
        _ = try await ann.own.save(free)
        let tombstone = try Forgery.deletion(of: list.base, by: ann, try await ann.view(of: zone), covering: [old])
        network.show([try Forgery.notice(of: old, with: tombstone, covering: [old])])
        let changes = try await device.own.recordZoneChanges(inZoneWith: zone)
        let told = changes.modificationResultsByID[item.recordID]
        #expect(changes.deletions.isEmpty)
        #expect(told?.failureCode == .rollback)
        network.beHonest()
        #expect(try await device.own.record(for: item.recordID).encryptedValues["body"] == "item")

        // Nor does the one who deletes sign for it.
        network.rewrite("records/modify", Sealkit_V1_ModifyRecordsResponse.self) { answer in
            answer.results[0].failure = Sealkit_V1_Failure(.deletionIncomplete, "not all")
            answer.results[0].taken.records = [
                .with {
                    $0.record = old
                    $0.field = "list"
                }
            ]
        }
        let other = try await ann.own.save(ann.note(in: zone, "other", name: "other"))
        #expect(await failure { try await device.own.deleteRecord(withID: list.recordID) } == .rollback)
        network.beHonest()
        #expect(try await ann.own.record(for: other.recordID).encryptedValues["body"] == "other")
    }

    /// Ann deletes the target, and the item goes with it; then the target is made again. A device that has seen its
    /// later life first is told nothing else by the feed than that the item is gone: no alarm.
    @Test func aTargetThatWasMadeAgainIsNoAlarm() async throws {
        let ann = try await Person()
        let (zone, list, item, detail) = try await family(ann)
        let other = try ann.onFreshDevice()
        let before = try await other.own.recordZoneChanges(inZoneWith: zone).changeToken
        try await ann.own.deleteRecord(withID: list.recordID)
        _ = try await ann.own.save(ann.note(in: zone, "again", name: "list"))
        #expect(try await other.own.record(for: list.recordID).encryptedValues["body"] == "again")
        let after = try await other.own.recordZoneChanges(inZoneWith: zone, since: before)
        #expect(Set(after.deletions.map(\.recordID.recordName)) == ["item", "detail"])
        #expect(after.modifications.map(\.recordID.recordName) == ["list"])
        #expect(after.modifications.map(\.result.failureCode) == [nil])
        #expect(try await other.container.violations().isEmpty)
        for id in [item.recordID, detail.recordID] {
            #expect(await failure { _ = try await other.own.record(for: id) } == .unknownItem)
        }
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

    // MARK: Deleting

    /// What one request saves stays, also where it refers to what is deleted only since, and where the deletion has to
    /// go again: for what else goes along, and for an older roster than that was signed by.
    @Test(arguments: [false, true]) func whatIsSavedBesideADeletionStays(isBehind: Bool) async throws {
        let ann = try await Person()
        let (zone, list, item, _) = try await family(ann)
        let other = try ann.onFreshDevice()
        _ = try await other.own.record(for: list.recordID)
        if isBehind {
            try await ann.own.save(Share(recordZoneID: zone))
            var changed = item
            changed.encryptedValues["body"] = "signed under a newer head"
            try await ann.own.save(changed)
        }
        var new = other.note(in: zone, "new", name: "new")
        new["list"] = Record.Reference(recordName: "list", action: .deleteSelf)
        let results = try await other.own.modifyRecords(saving: [new], deleting: [list.recordID], atomically: false)
        #expect(try results.saveResults[new.recordID]?.get().base?.statement.revision == 1)
        #expect(results.deleteResults.values.map(\.failureCode) == [nil])
        #expect(try await ann.own.record(for: new.recordID).encryptedValues["body"] == "new")
        #expect(await failure { _ = try await ann.own.record(for: item.recordID) } == .unknownItem)
    }

    /// The deletion is refused for a child, whose move is sent again; what goes with the target was saved in the first
    /// request.
    @Test func whatIsSavedStaysWhereTheDeletionWaitsForAChildToMove() async throws {
        let ann = try await Person()
        let (zone, list, item, _) = try await family(ann)
        var child = ann.note(in: zone, "child", name: "child")
        child.setParent(list)
        child = try await ann.own.save(child)
        let other = try ann.onFreshDevice()
        var moved = try await other.own.record(for: child.recordID)
        child.encryptedValues["body"] = "changed meanwhile"
        try await ann.own.save(child)
        moved.parent = nil
        var new = other.note(in: zone, "new", name: "new")
        new["list"] = Record.Reference(recordName: "list", action: .deleteSelf)
        let results = try await other.own.modifyRecords(
            saving: [moved, new], deleting: [list.recordID], savePolicy: .changedKeys, atomically: false)
        try results.deleteResults[list.recordID]?.get()
        #expect(try results.saveResults[moved.recordID]?.get().parent == nil)
        let saved = try #require(try results.saveResults[new.recordID]?.get())
        #expect(try await ann.own.record(for: new.recordID).recordChangeTag == saved.recordChangeTag)
        for id in [list.recordID, item.recordID] {
            let gone = await failure { _ = try await ann.own.record(for: id) }
            #expect(gone == .unknownItem)
        }
    }

    /// A server that names what does not go along, or not like this: nothing of it is signed, and the record stays.
    @Test func nothingIsCoveredBecauseAServerNamesIt() async throws {
        let ann = try await Person()
        let (zone, list, item, detail) = try await family(ann)
        let spare = try await ann.own.save(ann.note(in: zone, "spare", name: "spare"))
        let network = try HostileNetwork(ann.server)
        let device = try ann.through(network)
        for id in [list.recordID, spare.recordID] { _ = try await device.own.record(for: id) }
        let (target, unrelated) = (try #require(network.records.dropLast().last), try #require(network.records.last))

        typealias Lie = @Sendable (inout Sealkit_V1_TakenRecords) -> Void
        let lies: [(String, Lie)] = [
            (
                "one that refers to nothing",
                {
                    $0.records.append(
                        .with {
                            $0.record = unrelated
                            $0.field = "body"
                        })
                }
            ),
            (
                "the target itself",
                {
                    $0.records.append(
                        .with {
                            $0.record = target
                            $0.field = "body"
                        })
                }
            ),
            ("one twice", { $0.records.append($0.records[0]) }),
            ("one before what it refers to", { $0.records.reverse() }),
            ("another field", { $0.records[0].field = "body" }),
            ("the reference withheld", { $0.records[0].record.fields.removeAll { $0.name == "list" } }),
            (
                "the reference redirected",
                { taken in
                    for index in taken.records[0].record.fields.indices
                    where taken.records[0].record.fields[index].name == "list" {
                        taken.records[0].record.fields[index].plain.reference.recordName = "item"
                    }
                }
            ),
            ("another name", { $0.records[0].record.recordName = "spare" }),
            ("a broken signature", { $0.records[0].record.proof.signature = Data(repeating: 0, count: 64) }),
            ("more than may go along", { $0.records = Array(repeating: $0.records[0], count: 751) }),
        ]
        for (what, lie) in lies {
            network.rewrite("records/modify", Sealkit_V1_ModifyRecordsResponse.self) { answer in
                for index in answer.results.indices where answer.results[index].hasTaken {
                    lie(&answer.results[index].taken)
                }
            }
            network.forget()
            #expect(
                await failure { try await device.own.deleteRecord(withID: list.recordID) } == .integrityFailure,
                "\(what)")
            #expect(network.sent(to: "records/modify").count == 1, "\(what)")
            network.beHonest()
        }
        for id in [list.recordID, item.recordID, detail.recordID, spare.recordID] {
            _ = try await ann.own.record(for: id)
        }
        #expect(try await !device.container.violations().isEmpty)
        try await device.own.deleteRecord(withID: list.recordID)
        #expect(await failure { _ = try await ann.own.record(for: detail.recordID) } == .unknownItem)
    }

    /// Between the first answer and the second request somebody else makes a record refer to the target.
    @Test func whoRefersMeanwhileIsCoveredInTheNextRound() async throws {
        let ann = try await Person()
        let (zone, list, item, _) = try await family(ann)
        let network = try HostileNetwork(ann.server)
        let device = try ann.onFreshDevice().through(network)
        let rounds = LockedValue(0)
        network.lie { path, _, _ in
            guard path.hasSuffix("records/modify") else { return }
            rounds.change { $0 += 1 }
            guard rounds.value < 3 else { return }
            var late = ann.note(in: zone, "late", name: "late\(rounds.value)")
            late["list"] = Record.Reference(recordName: "list", action: .deleteSelf)
            _ = try await ann.own.save(late)
        }
        try await device.own.deleteRecord(withID: list.recordID)
        #expect(rounds.value == 4)
        let gone = try await ann.own.recordZoneChanges(inZoneWith: zone)
        #expect(gone.modifications.isEmpty)
        #expect(gone.deletions.count == 5)
        #expect(await failure { _ = try await device.own.record(for: item.recordID) } == .unknownItem)
    }

    /// A save that cannot pass, since its parent is not there, does not hold up the deletion that would take its record
    /// along.
    @Test(arguments: [true, false]) func aSaveThatFailsHoldsNoDeletionUp(atomically: Bool) async throws {
        let ann = try await Person()
        let (zone, list, item, _) = try await family(ann)
        var orphan = ann.note(in: zone, "orphan", name: "item")
        orphan.parent = Record.Reference(recordName: "nowhere")
        let results = try await ann.own.modifyRecords(
            saving: [orphan], deleting: [list.recordID], savePolicy: .allKeys, atomically: atomically)
        #expect(results.saveResults[item.recordID]?.failureCode == .referenceViolation)
        #expect(results.deleteResults[list.recordID]?.failureCode == (atomically ? .batchRequestFailed : nil))
        let left = try await ann.own.recordZoneChanges(inZoneWith: zone)
        #expect(left.modifications.count == (atomically ? 3 : 0))
    }

    /// It would go with the deletion, but for a save of the same call that meets another version first.
    @Test func aParentStaysWithWhatTheSameCallSavesAnew() async throws {
        let ann = try await Person()
        let (zone, list, item, detail) = try await family(ann)
        var child = ann.note(in: zone, "child", name: "child")
        child.setParent(detail)
        let again = ann.note(in: zone, "again", name: "item")
        let results = try await ann.own.modifyRecords(
            saving: [child, again], deleting: [list.recordID], savePolicy: .allKeys)
        #expect(results.saveResults.values.compactMap(\.failureCode).isEmpty)
        try results.deleteResults[list.recordID]?.get()
        for id in [child.recordID, item.recordID, detail.recordID] { _ = try await ann.own.record(for: id) }
    }

    @Test func whatKeepsChangingEndsInAnError() async throws {
        let ann = try await Person()
        let (zone, list, _, _) = try await family(ann)
        let network = try HostileNetwork(ann.server)
        let device = try ann.onFreshDevice().through(network)
        let rounds = LockedValue(0)
        network.lie { path, _, _ in
            guard path.hasSuffix("records/modify") else { return }
            rounds.change { $0 += 1 }
            var late = ann.note(in: zone, "late", name: "late\(rounds.value)")
            late["list"] = Record.Reference(recordName: "list", action: .deleteSelf)
            _ = try await ann.own.save(late)
        }
        var error: SealKitError?
        do { try await device.own.deleteRecord(withID: list.recordID) } catch let thrown { error = thrown }
        #expect(error?.code == .deletionIncomplete)
        #expect((error?.retryAfter ?? 0) > 0)
        #expect(rounds.value == WriteRounds.most)
        #expect(try await ann.own.recordZoneChanges(inZoneWith: zone).deletions.isEmpty)
    }

    /// Two devices delete at once, the same target and two that take the same record along.
    @Test func twoDevicesDeleteAtOnce() async throws {
        let ann = try await Person()
        let (zone, list, item, _) = try await family(ann)
        let second = try await ann.own.save(ann.note(in: zone, "second", name: "second"))
        var both = try await ann.own.record(for: item.recordID)
        both["goesWithToo"] = Record.Reference(recordName: "second", action: .deleteSelf)
        _ = try await ann.own.save(both)
        let network = try HostileNetwork(ann.server)
        let device = try ann.onFreshDevice().through(network)
        let isDeleted = LockedValue(false)
        network.lie { path, _, _ in
            guard path.hasSuffix("records/modify"), !isDeleted.value else { return }
            isDeleted.change { $0 = true }
            try await ann.own.deleteRecord(withID: list.recordID)
        }
        let results = try await device.own.modifyRecords(deleting: [list.recordID, second.recordID]).deleteResults
        for id in [list.recordID, second.recordID] { try results[id]?.get() }
        #expect(results.count == 2)
        #expect(isDeleted.value)
        for reader in [ann, device, try ann.onFreshDevice()] {
            let changes = try await reader.own.recordZoneChanges(inZoneWith: zone)
            #expect(changes.modifications.isEmpty)
            #expect(Set(changes.deletions.map(\.recordID.recordName)) == ["list", "second", "item", "detail"])
        }
    }

    /// What the same batch saves stays, and what goes with that; in a zone that saves each record by itself too.
    @Test func whatTheBatchSavesStays() async throws {
        let ann = try await Person()
        for isAtomic in [true, false] {
            let (zone, list, item, detail) = try await family(ann)
            var edited = item
            edited.encryptedValues["body"] = "edited"
            let free = ann.note(in: zone, "free", name: "free")
            var going = ann.note(in: zone, "going", name: "going")
            going["list"] = Record.Reference(recordName: "list", action: .deleteSelf)
            _ = try await ann.own.save(going)
            let results = try await ann.own.modifyRecords(
                saving: [edited, free], deleting: [list.recordID], atomically: isAtomic)
            try results.deleteResults[list.recordID]?.get()
            for id in [edited.recordID, free.recordID] { _ = try results.saveResults[id]?.get() }
            #expect(try await ann.own.record(for: item.recordID).encryptedValues["body"] == "edited")
            _ = try await ann.own.record(for: detail.recordID)
            #expect(await failure { _ = try await ann.own.record(for: going.recordID) } == .unknownItem)
        }
    }
}
