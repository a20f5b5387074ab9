import Foundation
import SealClient
import SealEnvelope
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import Testing

@testable import SealKit

extension ShareTests {
    // MARK: Taking rights away

    @Test func removingAParticipantOpensANewEpochInTheSameStep() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let (zone, note, share) = try await sharedZone(ann, [(bob, .readWrite), (carol, .readOnly)])
        let bobs = try await join(bob, share)
        let carols = try await join(carol, share)
        let known = Record.ID(recordName: note.recordID.recordName, zoneID: carols)
        _ = try await carol.shared.record(for: known)
        let old = try await carol.container.core.keeper(of: carol.container.core.scope(of: carols)).current()

        var current = try await ann.own.share(for: zone)
        let participant = try #require(
            current.participants.first { $0.userIdentity.userRecordID?.recordName == carol.name })
        current.removeParticipant(participant)
        current = try await ann.own.save(current)
        #expect(current.participants.count == 2)
        let after = try await ann.container.core.keeper(of: ann.container.core.scope(of: zone)).current()
        #expect(after.roster.currentEpoch.number == old.roster.currentEpoch.number + 1)

        let secret = try await ann.own.save(ann.note(in: zone, "after Carol left"))
        #expect(await failure { _ = try await carol.shared.record(for: known) } == .zoneNotFound)
        let zones = try await carol.shared.databaseChanges()
        #expect(zones.deletions.map(\.reason) == [.unshared])

        // With the server's whole database: the old keys open the old note and not the new one.
        let raw = RecordingTransport(try HTTPTransport(server: ann.server.origin))
        let spy = try ann.onFreshDevice(transport: raw)
        _ = try await spy.own.records(for: [note.recordID, secret.recordID])
        let wires = raw.records()
        #expect(wires.count == 2)
        for wire in wires {
            let isOld = wire.recordName == note.recordID.recordName
            let opened = old.keys.values.contains { Forgery.opens(wire, with: $0) }
            #expect(opened == isOld)
        }

        // Those who remain go on, and an edit of an old record takes the new key.
        let bobsView = try await bob.shared.record(for: Record.ID(recordName: secret.recordID.recordName, zoneID: bobs))
        #expect(bobsView.encryptedValues["body"] == "after Carol left")
        var edited = try await bob.shared.record(for: Record.ID(recordName: note.recordID.recordName, zoneID: bobs))
        edited.encryptedValues["body"] = "rewritten"
        edited = try await bob.shared.save(edited)
        #expect(edited.base?.statement.epoch == after.roster.currentEpoch.number)
        #expect(try await ann.own.record(for: note.recordID).encryptedValues["body"] == "rewritten")
    }

    @Test func demotingAWriterOpensANewEpochAndEndsItsWriting() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, share) = try await sharedZone(ann, [(bob, .readWrite)])
        let joined = try await join(bob, share)
        try await bob.shared.save(bob.note(in: joined, "while it lasted"))
        var current = try await ann.own.share(for: zone)
        var participant = try #require(current.participants.first { $0.role != .owner })
        participant.permission = .readOnly
        current.addParticipant(participant)
        current = try await ann.own.save(current)
        #expect(current.participants.last?.permission == .readOnly)
        #expect(await failure { try await bob.shared.save(bob.note(in: joined, "too late")) } == .permissionFailure)
        let secret = try await ann.own.save(ann.note(in: zone, "still readable"))
        let found = try await bob.shared.record(for: Record.ID(recordName: secret.recordID.recordName, zoneID: joined))
        #expect(found.encryptedValues["body"] == "still readable")
        #expect(found.base?.statement.epoch == 1)
    }

    @Test func revokingAnInvitationOpensANewEpochAndEndsItsURL() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, share) = try await sharedZone(ann, [(bob, .readOnly)])
        var current = try await ann.own.share(for: zone)
        current.removeParticipant(try #require(current.participants.last))
        current = try await ann.own.save(current)
        #expect(current.participants.count == 1)
        #expect(await failure { _ = try await self.join(bob, share) } == .unknownItem)
        // And can be invited again.
        current.addParticipant(try await ann.container.shareParticipant(forUserRecordID: bob.container.userRecordID()))
        current = try await ann.own.save(current)
        _ = try await join(bob, current)
    }

    @Test func whoeverLeavesMakesTheNextWriterRotateFirst() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let (zone, _, share) = try await sharedZone(ann, [(bob, .readWrite), (carol, .readOnly)])
        let bobs = try await join(bob, share)
        let carols = try await join(carol, share)
        try await carol.shared.leaveShare(of: carols)
        #expect(
            await failure { _ = try await carol.shared.record(for: Record.ID(recordName: "x", zoneID: carols)) }
                == .zoneNotFound)
        let saved = try await bob.shared.save(bob.note(in: bobs, "under a new key"))
        #expect(saved.base?.statement.epoch == 1)
        let found = try await ann.own.record(for: Record.ID(recordName: saved.recordID.recordName, zoneID: zone))
        #expect(found.encryptedValues["body"] == "under a new key")
        #expect(await failure { try await ann.own.leaveShare(of: zone) } == .badDatabase)
    }

    /// A device need not have heard of the change before it writes.
    @Test func aReaderWhoMayWriteNowWrites() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, note, share) = try await sharedZone(ann, [(bob, .readOnly)])
        let joined = try await join(bob, share)
        var current = try await ann.own.share(for: zone)
        var participant = try #require(current.participants.first { $0.role != .owner })
        participant.permission = .readWrite
        current.addParticipant(participant)
        current = try await ann.own.save(current)
        try await bob.shared.deleteRecord(withID: Record.ID(recordName: note.recordID.recordName, zoneID: joined))
        #expect(await failure { _ = try await ann.own.record(for: note.recordID) } == .unknownItem)
        try await bob.shared.save(bob.note(in: joined, "bob's"))
    }

    @Test func whoeverHasLeftIsToldThatThereIsNoZone() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (_, _, share) = try await sharedZone(ann, [(bob, .readWrite)])
        let joined = try await join(bob, share)
        let saved = try await bob.shared.save(bob.note(in: joined, "while it lasted"))
        try await bob.shared.leaveShare(of: joined)
        #expect(await failure { try await bob.shared.save(bob.note(in: joined, "too late")) } == .zoneNotFound)
        #expect(await failure { try await bob.shared.save(saved) } == .zoneNotFound)
        #expect(await failure { try await bob.shared.deleteRecord(withID: saved.recordID) } == .zoneNotFound)
        #expect(await failure { try await bob.shared.leaveShare(of: joined) } == .zoneNotFound)
    }

    /// One that is gone fails by itself, though its values were to be fetched for the new key.
    @Test func aRecordThatIsGoneDoesNotKeepOthersFromTheNewKey() async throws {
        let ann = try await Person()
        let zone = try await ann.makeZone()
        let note = try await ann.own.save(ann.note(in: zone, "body"))
        let other = try ann.onFreshDevice()
        var partly = try #require(
            try await other.own.records(for: [note.recordID], desiredKeys: [])[note.recordID]?.get())
        try await ann.own.deleteRecord(withID: note.recordID)
        try await ann.own.rotateKeys(of: zone)
        partly["headline"] = "too late"
        let fresh = other.note(in: zone, "new")
        let results = try await other.own.modifyRecords(saving: [partly, fresh], atomically: false).saveResults
        #expect(results[note.recordID]?.failureCode == .unknownItem)
        #expect(results[fresh.recordID]?.failureCode == nil)
        #expect(try await ann.own.record(for: fresh.recordID).encryptedValues["body"] == "new")
    }

    @Test func whatADeviceHasSeenIsNotRolledBack() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, note, share) = try await sharedZone(ann, [(bob, .readWrite)])
        let recording = RecordingTransport(try HTTPTransport(server: ann.server.origin))
        let watcher = try ann.through(recording)
        _ = try await watcher.own.record(for: note.recordID)
        let old = try #require(recording.records().first)
        var edited = note
        edited.encryptedValues["body"] = "second"
        try await ann.own.save(edited)

        let hostile = RewritingTransport.showing([old], before: try HTTPTransport(server: ann.server.origin))
        let deceived = try ann.through(hostile)
        #expect(await failure { _ = try await deceived.own.record(for: note.recordID) } == .rollback)
        // A device that has never seen the second revision cannot know.
        let fresh = try ann.onFreshDevice(transport: hostile)
        #expect(try await fresh.own.record(for: note.recordID).encryptedValues["body"] == "from Ann")
        _ = (zone, share, bob)
    }
}
