import Foundation
import SealClient
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Synchronization
import Testing

@testable import SealKit

/// Sealing again what nobody has written since a new key was opened.
@Suite(.timeLimit(.minutes(60))) struct RekeyTests {
    private let temporary: TemporaryFolder
    init() throws { temporary = try TemporaryFolder() }

    /// What records refer to with `deleteSelf` they have already, however many of them are sealed again at once.
    @Test func recordsThatReferToVeryManyAreSealedAgain() async throws {
        let (ann, carol) = (try await Person(), try await Person())
        let zone = try await SharedZone(of: ann, with: [(carol, .readOnly)])
        let references = (0..<700).map { Record.Reference(recordName: "t\($0)", action: .deleteSelf) }
        for index in 0..<15 {
            var record = ann.note(in: zone.zoneID, "text", name: "r\(index)")
            record["targets"] = references
            try await ann.own.save(record)
        }
        try await zone.remove(carol)
        let result = try await ann.own.rekey(zone.zoneID)
        #expect(result.failures.isEmpty)
        // And the share's own record.
        #expect(result.rekeyed == 16)
        #expect(try await ann.own.keyStatus(of: zone.zoneID).staleRecordCount == 0)
    }

    @Test func everythingComesUnderTheNewestKeyAndLooksAsBefore() async throws {
        let (ann, carol) = (try await Person(), try await Person())
        let zone = try await SharedZone(of: ann, with: [(carol, .readOnly)])
        let file = temporary.url.appendingPathComponent("file")
        try pattern(70_000).write(to: file)
        var parent = ann.note(in: zone.zoneID, "parent", name: "parent")
        parent["file"] = Asset(fileURL: file)
        parent["headline"] = "plain"
        var child = ann.note(in: zone.zoneID, "child", name: "child")
        child.setParent(parent)
        let results = try await ann.own.modifyRecords(saving: [parent, child]).saveResults
        let before = try results.mapValues { try $0.get() }
        try await ann.own.save(ann.note(in: zone.zoneID, "gone", name: "gone"))
        try await ann.own.deleteRecord(withID: zone.recordID("gone", for: ann))
        let carols = try await zone.view(of: carol)
        try await zone.remove(carol)
        let fresh = try await ann.own.save(ann.note(in: zone.zoneID, "new", name: "new"))

        var status = try await ann.own.keyStatus(of: zone.zoneID)
        #expect(status.newestEpoch == 1)
        #expect(status.oldestEpochInUse == 0)
        // Parent, child, and the share's own record.
        #expect(status.staleRecordCount == 3)
        let told = Mutex<[[Int]]>([])
        let result = try await ann.own.rekey(zone.zoneID) { done, total in told.withLock { $0.append([done, total]) } }
        #expect(result.rekeyed == 3)
        #expect(result.writtenByOthers == 0)
        #expect(result.failures.isEmpty)
        let steps = told.withLock { $0 }
        #expect(steps == [[3, 3]])
        status = try await ann.own.keyStatus(of: zone.zoneID)
        #expect(status.oldestEpochInUse == 1)
        #expect(status.staleRecordCount == 0)

        let reader = try ann.onFreshDevice()
        for (id, old) in before {
            let now = try await reader.own.record(for: id)
            #expect(now.base?.statement.epoch == 1)
            #expect(now.base?.statement.isKeyCarried == false)
            #expect(now.encryptedValues["body"] == old.encryptedValues["body"] as String?)
            #expect(now.recordChangeTag == old.recordChangeTag)
            #expect(now.modificationDate == old.modificationDate)
            #expect(now.parent == old.parent)
            #expect(now.creatorUserRecordID == old.creatorUserRecordID)
            #expect(now.base?.digests["body"] != old.base?.digests["body"])
        }
        let found = try await reader.own.record(for: parent.recordID)
        let asset: Asset? = found["file"]
        #expect(found["headline"] == "plain")
        #expect(try Data(contentsOf: try #require(asset?.fileURL)) == pattern(70_000))
        // Written under the newest key already: left as it was.
        let untouched = try await reader.own.record(for: fresh.recordID)
        #expect(untouched.base?.hash == fresh.base?.hash)
        for wire in try await zone.stored(["parent", "child"]) {
            let opened = carols.keys.values.contains { Forgery.opens(wire, with: $0) }
            #expect(!opened)
        }
        let share = try await ann.own.share(for: zone.zoneID)
        #expect(share.participants.count == 1)
        // Nothing is left to do.
        let again = try await ann.own.rekey(zone.zoneID)
        #expect(again.rekeyed == 0)
        #expect(again.failures.isEmpty)
    }

    @Test func itIsPausedByCancellingAndGoesOnWhereItStopped() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        for part in 0..<2 {
            _ = try await ann.own.modifyRecords(
                saving: (0..<220).map { ann.note(in: zone, "body", name: "note-\(part)-\($0)") })
        }
        try await ann.own.rotateKeys(of: zone)
        let work = Task {
            // After the first batch.
            try await ann.own.rekey(zone) { _, _ in withUnsafeCurrentTask { $0?.cancel() } }
        }
        let code = await failure { _ = try await work.value }
        #expect(code == .operationCancelled)
        let left = try await ann.own.keyStatus(of: zone)
        #expect(left.staleRecordCount == 40)
        #expect(left.oldestEpochInUse == 0)
        let device = try ann.onFreshDevice()
        let result = try await device.own.rekey(zone)
        #expect(result.rekeyed == 40)
        #expect(try await device.own.keyStatus(of: zone).staleRecordCount == 0)
    }

    /// It has time: where the server asks for more than a call waits, it waits.
    @Test(arguments: ["records/stale", "records/modify"]) func itWaitsAsLongAsTheServerAsksFor(call: String)
        async throws
    {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        try await ann.own.save(ann.note(in: zone, "body", name: "note"))
        try await ann.own.rotateKeys(of: zone)
        let refusal = LossyTransport.Loss.refusal(
            SealKitError(.requestRateLimited, "the test refused it", retryAfter: 600))
        let network = LossyTransport(try HTTPTransport(server: ann.server.origin), losing: call, [refusal])
        let pacing = FakePacing()
        let result = try await ann.through(network, pacing: pacing.pacing).own.rekey(zone)
        #expect(result.rekeyed == 1)
        #expect(result.failures.isEmpty)
        #expect(pacing.sleeps.contains { $0 >= .seconds(600) })
    }

    @Test func aKilledProcessGoesOnWhereItStopped() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone("Notes")
        for part in 0..<4 {
            _ = try await ann.own.modifyRecords(
                saving: (0..<300).map { ann.note(in: zone, "body", name: "note-\(part)-\($0)") })
        }
        try await ann.own.rotateKeys(of: zone)
        let file = temporary.url.appendingPathComponent("ann.json")
        try KeyFile.write(ann.account, to: file, passphrase: nil)
        let arguments = [
            "zone", "rekey", "Notes", "--key-file", file.path, "--container", ann.container.containerIdentifier,
        ]
        let process = Process()
        process.executableURL = ServerProcess.executable
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.start()
        var left = 1200
        while left == 1200, process.isRunning { left = try await ann.own.keyStatus(of: zone).staleRecordCount }
        kill(process.processIdentifier, SIGKILL)
        await process.end()
        // What was on its way when it was killed may still arrive.
        var (before, stopped) = (-1, try await ann.own.keyStatus(of: zone).staleRecordCount)
        while before != stopped {
            try await Task.sleep(for: .milliseconds(300))
            (before, stopped) = (stopped, try await ann.own.keyStatus(of: zone).staleRecordCount)
        }
        #expect(stopped < 1200)
        let rest = try await Command.finished(ServerProcess.executable, arguments + ["--json"])
        #expect(rest.status == 0)
        let rekeyed = rest.output.split(separator: "\"rekeyed\":").last.flatMap { Int($0.prefix(while: \.isNumber)) }
        #expect(try #require(rekeyed) == stopped, "\(rest.output) \(rest.errors)")
        #expect(try await ann.own.keyStatus(of: zone).staleRecordCount == 0)
        let status = try await Command.finished(
            ServerProcess.executable,
            ["zone", "keys", "Notes", "--key-file", file.path, "--container", ann.container.containerIdentifier])
        #expect(status.output == "newest key 1, oldest in use 1\n")
    }

    @Test func whatOthersWriteMeanwhileIsTheirs() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let zone = try await SharedZone(of: ann, with: [(bob, .readWrite)])
        _ = try await ann.own.modifyRecords(saving: ["a", "b", "c"].map { ann.note(in: zone.zoneID, "old", name: $0) })
        try await ann.own.rotateKeys(of: zone.zoneID)
        let isFirst = Mutex(true)
        let device = try ann.through(
            RewritingTransport(HTTPTransport(server: ann.server.origin)) { path, body in
                guard path.hasSuffix("records/stale"),
                    isFirst.withLock({ first in
                        defer { first = false }
                        return first
                    })
                else { return body }
                var edited = try await bob.shared.record(for: zone.recordID("a", for: bob))
                edited.encryptedValues["body"] = "Bob's"
                try await bob.shared.save(edited)
                try await bob.shared.deleteRecord(withID: zone.recordID("b", for: bob))
                return body
            })
        let result = try await device.own.rekey(zone.zoneID)
        // "c", and the share's own record.
        #expect(result.rekeyed == 2)
        #expect(result.writtenByOthers == 2)
        #expect(result.failures.isEmpty)
        let found = try await ann.own.records(for: ["a", "b", "c"].map { zone.recordID($0, for: ann) })
        let bodies = found.mapValues { try? $0.get().encryptedValues["body"] as String? }
        #expect(bodies[zone.recordID("a", for: ann)] == "Bob's")
        #expect(bodies[zone.recordID("c", for: ann)] == "old")
        #expect(found[zone.recordID("b", for: ann)]?.failureCode == .unknownItem)
    }

    /// The save of a child gives its parent another change tag, and no other key.
    @Test func whatGotAChildMeanwhileIsSealedAgain() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let parent = try await ann.own.save(ann.note(in: zone, "old", name: "parent"))
        try await ann.own.rotateKeys(of: zone)
        let isFirst = Mutex(true)
        let device = try ann.through(
            RewritingTransport(HTTPTransport(server: ann.server.origin)) { path, body in
                guard path.hasSuffix("records/stale"),
                    isFirst.withLock({ first in
                        defer { first = false }
                        return first
                    })
                else { return body }
                var child = ann.note(in: zone, "child", name: "child")
                child.setParent(parent)
                try await ann.own.save(child)
                return body
            })
        let result = try await device.own.rekey(zone)
        #expect(result.rekeyed == 1)
        #expect(result.writtenByOthers == 0)
        #expect(result.failures.isEmpty)
        #expect(try await ann.own.keyStatus(of: zone).staleRecordCount == 0)
    }

    /// Everything was gone through when another key is opened: the same call begins again.
    @Test func aNewKeyOnTheWayLeavesNothingUnderTheOneBefore() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        _ = try await ann.own.modifyRecords(saving: (0..<20).map { ann.note(in: zone, "body", name: "note-\($0)") })
        try await ann.own.rotateKeys(of: zone)
        let isFirst = Mutex(true)
        let rotating = try ann.through(
            RewritingTransport(HTTPTransport(server: ann.server.origin)) { path, body in
                // Nothing is left, says the answer.
                guard path.hasSuffix("records/stale"),
                    try Sealkit_V1_StaleRecordsResponse(serializedBytes: body).records.isEmpty,
                    isFirst.withLock({ first in
                        defer { first = false }
                        return first
                    })
                else { return body }
                try await ann.own.rotateKeys(of: zone)
                return body
            })
        let result = try await rotating.own.rekey(zone)
        #expect(result.failures.isEmpty)
        #expect(result.rekeyed == 40)
        #expect(result.writtenByOthers == 0)
        let status = try await ann.own.keyStatus(of: zone)
        #expect(status.newestEpoch == 2)
        #expect(status.oldestEpochInUse == 2)
        #expect(status.staleRecordCount == 0)
    }

    @Test func twoAtOnceAndANewKeyOnTheWayLeaveNothingBehind() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        _ = try await ann.own.modifyRecords(
            saving: (0..<60).map { ann.note(in: zone, "body \($0)", name: "note-\($0)") })
        try await ann.own.rotateKeys(of: zone)
        // The other begins when the one has heard what is left to do: otherwise it may have done all of it by then,
        // and the one sends no batch on whose way a key could be opened.
        let (isGoing, go) = AsyncStream<Void>.makeStream()
        let isFirst = Mutex(true)
        let rotating = try ann.through(
            RewritingTransport(HTTPTransport(server: ann.server.origin)) { path, body in
                if path.hasSuffix("records/stale") { go.finish() }
                guard path.hasSuffix("records/modify"),
                    isFirst.withLock({ first in
                        defer { first = false }
                        return first
                    })
                else { return body }
                try await ann.own.rotateKeys(of: zone)
                return body
            })
        let other = try ann.onFreshDevice()
        async let one = {
            defer { go.finish() }
            return try await rotating.own.rekey(zone)
        }()
        for await _ in isGoing {}
        async let two = other.own.rekey(zone)
        let results = [try await one, try await two]
        #expect(results.allSatisfy { $0.failures.isEmpty })
        _ = try await ann.own.rekey(zone)
        let status = try await ann.own.keyStatus(of: zone)
        #expect(status.newestEpoch == 2)
        #expect(status.oldestEpochInUse == 2)
        #expect(status.staleRecordCount == 0)
        let changes = try await ann.onFreshDevice().own.recordZoneChanges(inZoneWith: zone)
        let bodies = try changes.modifications.map { try $0.result.get().encryptedValues["body"] as String? }
        #expect(Set(bodies) == Set((0..<60).map { "body \($0)" }))
    }

    @Test func aWriterMayAndAReaderMayNot() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let zone = try await SharedZone(of: ann, with: [(bob, .readWrite), (carol, .readOnly)])
        try await ann.own.save(ann.note(in: zone.zoneID, "old", name: "note"))
        try await ann.own.rotateKeys(of: zone.zoneID)
        #expect(await failure { try await carol.shared.rekey(zone.id(for: carol)) } == .permissionFailure)
        #expect(await failure { try await ann.container.publicDatabase.rekey(.default) } == .badDatabase)
        let result = try await bob.shared.rekey(zone.id(for: bob))
        #expect(result.rekeyed == 1)
        // The share's own record is the owner's to write.
        #expect(result.failures.mapValues(\.code) == [zone.recordID(Share.recordName, for: bob): .permissionFailure])
        #expect(try await ann.own.rekey(zone.zoneID).rekeyed == 1)
        let found = try await carol.shared.record(for: zone.recordID("note", for: carol))
        #expect(found.encryptedValues["body"] == "old")
        #expect(found.base?.statement.epoch == 1)
    }

    @Test func anAppThatHasARecordFromBeforeSavesItWithoutAConflict() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        var note = ann.note(in: zone, "first", name: "note")
        note["headline"] = "plain"
        note = try await ann.own.save(note)
        let phone = try ann.onFreshDevice()
        try await phone.own.rotateKeys(of: zone)
        try await phone.own.rekey(zone)
        note.encryptedValues["body"] = "second"
        let saved = try await ann.own.save(note)
        #expect(saved.base?.statement.revision == 3)
        #expect(saved.base?.statement.epoch == 1)
        // What somebody really changed is a conflict as ever.
        var others = try await phone.own.record(for: note.recordID)
        others.encryptedValues["body"] = "third"
        try await phone.own.save(others)
        note.encryptedValues["body"] = "fourth"
        #expect(await failure { try await ann.own.save(note) } == .serverRecordChanged)
    }

    @Test func whatARemovedParticipantAndTheServerSlipInIsNotSealedForThem() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let zone = try await SharedZone(of: ann, with: [(bob, .readWrite)])
        try await ann.own.save(ann.note(in: zone.zoneID, "honest", name: "note"))
        let bobs = try await zone.view(of: bob)
        // Signed with Bob's key, under the key of his time, citing the head of his time: all of that holds.
        let forged = try await Forgery.record(by: bob, zone: zone.id(for: bob), body: "back-dated")
        #expect(try Forgery.opens(forged, view: bobs))
        try await zone.remove(bob)
        // A device that has never read the zone's feed reads it first.
        let deceived = try ann.onFreshDevice(
            transport: RewritingTransport(HTTPTransport(server: ann.server.origin)) { path, body in
                guard path.hasSuffix("records/stale") else { return body }
                var answer = try Sealkit_V1_StaleRecordsResponse(serializedBytes: body)
                guard !answer.records.isEmpty else { return body }
                var slipped = forged
                slipped.position = (answer.records.map(\.position).max() ?? 0) + 1
                answer.records.append(slipped)
                return try answer.serializedData()
            })
        let result = try await deceived.own.rekey(zone.zoneID)
        #expect(result.rekeyed == 2)
        #expect(result.failures.mapValues(\.code) == [zone.recordID("forged", for: ann): .rollback])
        // Where the check is missing, for a device that looks it up and has read no feed, it passes.
        let blind = try ann.onFreshDevice(
            transport: RewritingTransport.showing([forged], before: try HTTPTransport(server: ann.server.origin)))
        let found = try await blind.own.record(for: zone.recordID("forged", for: ann))
        #expect(found.encryptedValues["body"] == "back-dated")
    }

    @Test func aServerThatGoesInCirclesIsLeft() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        try await ann.own.save(ann.note(in: zone, "body", name: "note"))
        try await ann.own.rotateKeys(of: zone)
        let first = Mutex<Data?>(nil)
        let deceived = try ann.through(
            RewritingTransport(HTTPTransport(server: ann.server.origin)) { path, body in
                guard path.hasSuffix("records/stale") else { return body }
                return first.withLock { kept in
                    if let kept { return kept }
                    kept = body
                    return body
                }
            })
        #expect(await failure { try await deceived.own.rekey(zone) } == .serverRejectedRequest)
    }

    @Test func theAppsOwnPlaceInTheFeedStays() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        try await ann.own.save(ann.note(in: zone, "one", name: "one"))
        let first = try await ann.own.recordZoneChanges(inZoneWith: zone)
        let phone = try ann.onFreshDevice()
        try await phone.own.save(phone.note(in: zone, "two", name: "two"))
        try await phone.own.rotateKeys(of: zone)
        try await ann.own.rekey(zone)
        // It reads on from where it was, without a gap, and that counts.
        let second = try await ann.own.recordZoneChanges(inZoneWith: zone, since: first.changeToken)
        #expect(Set(second.modifications.map(\.recordID.recordName)) == ["one", "two"])
        try await phone.own.rotateKeys(of: zone)
        let third = try await ann.own.recordZoneChanges(inZoneWith: zone, since: second.changeToken)
        let scope = try ann.container.core.scope(of: zone)
        let known = try await ann.container.core.trust.feed(
            zone: scope.id, incarnation: 1, ScopePlace(scope.id, 1))
        #expect(known?.token == third.changeToken.bytes)
        #expect(known?.caughtUpEpoch == 2)
    }
}
