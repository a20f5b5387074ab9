import Foundation
import SealEnvelope
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import Testing

@testable import SealKit

@Suite struct ShareTests {
    /// A zone of Ann's with one note, shared as `title` with whoever `invite` adds.
    private func sharedZone(
        _ ann: Person, _ invitees: [(Person, Share.Participant.Permission)] = []
    ) async throws -> (zone: RecordZone.ID, note: Record, share: Share) {
        let zone = try await ann.makeZone()
        let note = try await ann.own.save(ann.note(in: zone, "from Ann"))
        var share = Share(recordZoneID: zone)
        share.title = "Garden plans"
        for (person, permission) in invitees {
            share.addParticipant(
                try await ann.container.shareParticipant(forUserRecordID: person.container.userRecordID(), permission: permission))
        }
        share = try await ann.own.save(share)
        return (zone, note, share)
    }

    private func join(_ person: Person, _ share: Share) async throws -> RecordZone.ID {
        try await person.container.accept(try await person.container.shareMetadata(for: try #require(share.url)))
    }

    private func address() -> String { "someone-\(UUID().uuidString.prefix(8).lowercased())@example.org" }

    // MARK: Creating and inviting

    @Test func aKnownAccountIsFoundByItsProvenAddressAndAcceptsWithAURLOfItsOwn() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let mail = address()
        try await bob.link(mail)
        let zone = try await ann.makeZone()
        let note = try await ann.own.save(ann.note(in: zone, "from Ann"))
        var share = Share(recordZoneID: zone)
        share.title = "Garden plans"
        let invitee = try await ann.container.shareParticipant(forEmailAddress: mail.uppercased(), permission: .readWrite)
        #expect(invitee.userIdentity.hasAccount)
        share.addParticipant(invitee)
        share = try await ann.own.save(share)
        let url = try #require(share.oneTimeURL(for: invitee.participantID))
        #expect(share.participants.map(\.acceptanceStatus) == [.accepted, .pending])

        let metadata = try await bob.container.shareMetadata(for: url)
        #expect(metadata.title == "Garden plans")
        #expect(metadata.ownerIdentity.userRecordID?.recordName == ann.name)
        #expect(metadata.participantPermission == .readWrite)
        #expect(metadata.participantStatus == .pending)
        let joined = try await bob.container.accept(metadata)
        #expect(joined.ownerName == ann.name)
        let found = try await bob.shared.record(for: Record.ID(recordName: note.recordID.recordName, zoneID: joined))
        #expect(found.encryptedValues["body"] == "from Ann")
        #expect(try await bob.shared.allRecordZones().map(\.zoneID) == [joined])
        #expect(try await ann.own.share(for: zone).participants.map(\.acceptanceStatus) == [.accepted, .accepted])
        // Accepting again changes nothing.
        #expect(try await bob.join(url) == joined)
    }

    @Test func anInviteeWithoutAnAccountProvesItsAddressAndSealsItsOwnGrant() async throws {
        let ann = try await Person()
        let (zone, note, _) = try await sharedZone(ann)
        let mail = address()
        var share = try await ann.own.share(for: zone)
        let placeholder = try await ann.container.shareParticipant(forEmailAddress: mail)
        #expect(!placeholder.userIdentity.hasAccount)
        share.addParticipant(placeholder)
        share = try await ann.own.save(share)
        let url = try #require(share.oneTimeURL(for: placeholder.participantID))
        #expect(url != share.url)
        #expect(share.participants.last?.userIdentity.lookupInfo == .emailAddress(mail))

        let carol = try await Person()
        #expect(await failure { _ = try await carol.container.shareMetadata(for: url) } == .participantMayNeedVerification)
        let verification = try await carol.container.beginVerification(of: mail, for: url)
        let code = try await carol.code(mail)
        let wrong = code == "00000000" ? "00000001" : "00000000"
        #expect(await failure { _ = try await verification.complete(code: wrong) } == .verificationFailed)
        let token = try await verification.complete(code: code)
        let metadata = try await carol.container.shareMetadata(for: url)
        let joined = try await carol.container.accept(metadata, token: token)
        let body: String? = try await carol.shared.record(for: Record.ID(recordName: note.recordID.recordName, zoneID: joined))
            .encryptedValues["body"]
        #expect(body == "from Ann")

        // The token is spent and the seat is taken: neither is good for anybody else.
        let dave = try await Person()
        #expect(await failure { _ = try await dave.container.shareMetadata(for: url) } != nil)
        #expect(await failure { _ = try await dave.container.accept(metadata, token: token) } != nil)
    }

    @Test func codesCountOnlyForWhoAskedAndOnlyFiveTimes() async throws {
        let (ann, dave) = (try await Person(), try await Person())
        let mail = address()
        let verification = try await ann.container.beginVerification(of: mail)
        let code = try await ann.code(mail)
        let stolen = Verification(id: verification.id, expires: verification.expires, core: dave.container.core)
        #expect(await failure { _ = try await stolen.complete(code: code) } == .verificationFailed)
        for _ in 0..<5 {
            #expect(await failure { _ = try await verification.complete(code: "12345678" == code ? "1" : "12345678") } == .verificationFailed)
        }
        #expect(await failure { _ = try await verification.complete(code: code) } == .verificationFailed)
    }

    @Test func theUninvitedAreRefusedWhateverURLTheyHold() async throws {
        let (ann, bob, dave) = (try await Person(), try await Person(), try await Person())
        let (zone, note, share) = try await sharedZone(ann, [(bob, .readOnly)])
        let url = try #require(share.url)
        #expect(await failure { _ = try await dave.container.shareMetadata(for: url) } == .unknownItem)
        let foreign = RecordZone.ID(zoneName: zone.zoneName, ownerName: ann.name)
        let id = Record.ID(recordName: note.recordID.recordName, zoneID: foreign)
        #expect(await failure { _ = try await dave.shared.record(for: id) } == .zoneNotFound)
        // Invited, and not accepted: nothing yet.
        #expect(await failure { _ = try await bob.shared.record(for: id) } == .zoneNotFound)
        #expect(await failure { try await bob.shared.save(bob.note(in: foreign, "x")) } == .zoneNotFound)

        // With the server's help Dave has all that Bob's invitation gives: the URL alone opens no known invitee's grant.
        let bobs = try await bob.container.shareMetadata(for: url)
        let invitation = try #require(bobs.seat)
        let keys = try ShareURL(url).secret.invitationKeys(scopeID: bobs.roster.scopeID, invitationID: invitation.id)
        #expect(throws: SealError.authenticationFailed) {
            try Grants<XWingHPKE>.open(
                bobs.grant, epoch: bobs.roster.currentEpoch, invitation: keys, keys: dave.container.core.identity().keys)
        }
        #expect(throws: SealError.authenticationFailed) {
            try Grants<XWingHPKE>.open(bobs.grant, epoch: bobs.roster.currentEpoch, invitation: keys, keys: nil)
        }
        #expect(await failure { _ = try await dave.container.accept(bobs) } == .integrityFailure)
    }

    @Test func urlsThatAreCutShortAlteredOrOfAnotherShareAreRefused() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (_, _, share) = try await sharedZone(ann, [(bob, .readOnly)])
        let (_, _, other) = try await sharedZone(ann, [(bob, .readOnly)])
        let url = try #require(share.url)
        let parts = url.split(separator: "#")
        let otherParts = try #require(other.url).split(separator: "#")
        let swapped = "\(otherParts[0])#\(parts[1])"
        #expect(await failure { _ = try await bob.container.shareMetadata(for: swapped) } == .invalidArguments)
        for broken in [String(url.dropLast()), String(parts[0]), url + "A", url.replacingOccurrences(of: "/s/", with: "/t/")] {
            #expect(await failure { _ = try await bob.container.shareMetadata(for: broken) } == .invalidArguments, "\(broken.count)")
        }
        var secret = try Base64URL.decode(parts[1])
        secret[5] ^= 1
        let altered = "\(parts[0])#\(Base64URL.encode(secret))"
        #expect(await failure { _ = try await bob.container.shareMetadata(for: altered) } == .integrityFailure)
    }

    // MARK: Reading and writing

    @Test func aWriterSavesAndTheOwnerSeesWhoItWas() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, note, share) = try await sharedZone(ann, [(bob, .readWrite)])
        let joined = try await join(bob, share)
        let fromBob = try await bob.shared.save(bob.note(in: joined, "from Bob"))
        var edited = try await bob.shared.record(for: Record.ID(recordName: note.recordID.recordName, zoneID: joined))
        edited.encryptedValues["body"] = "edited by Bob"
        try await bob.shared.save(edited)

        let first = try await ann.own.record(for: Record.ID(recordName: fromBob.recordID.recordName, zoneID: zone))
        #expect(first.encryptedValues["body"] == "from Bob")
        #expect(first.creatorUserRecordID?.recordName == bob.name)
        let second = try await ann.own.record(for: note.recordID)
        #expect(second.encryptedValues["body"] == "edited by Bob")
        #expect(second.creatorUserRecordID?.recordName == ann.name)
        #expect(second.lastModifiedUserRecordID?.recordName == bob.name)
    }

    @Test func aReadersWriteIsRefusedByTheServerAndByEveryClient() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let (zone, note, share) = try await sharedZone(ann, [(bob, .readOnly), (carol, .readOnly)])
        let joined = try await join(bob, share)
        #expect(await failure { try await bob.shared.save(bob.note(in: joined, "x")) } == .permissionFailure)
        var found = try await bob.shared.record(for: Record.ID(recordName: note.recordID.recordName, zoneID: joined))
        found.encryptedValues["body"] = "forged"
        #expect(await failure { try await bob.shared.save(found) } == .permissionFailure)
        #expect(await failure { try await bob.shared.deleteRecord(withID: found.recordID) } == .permissionFailure)

        // A server that lets it pass: Bob holds the zone's key, so the record opens; but his statement does not count.
        let forged = try await Forgery.record(by: bob, zone: joined, body: "forged by a reader")
        let hostile = RewritingTransport.showing([forged], before: try HTTPTransport(server: ann.server.origin))
        let deceived = try ann.onFreshDevice(transport: hostile)
        #expect(await failure { _ = try await deceived.own.record(for: Record.ID(recordName: forged.recordName, zoneID: zone)) } == .integrityFailure)
        let changes = try await deceived.own.recordZoneChanges(inZoneWith: zone)
        #expect(changes.modifications.map(\.result.failureCode) == [.integrityFailure])
        // Without the check of the author's right, everything else about the forgery holds: the key is the zone's own.
        let view = try await bob.container.core.keeper(of: bob.container.core.scope(of: joined)).current()
        #expect(try Forgery.opens(forged, view: view))
    }

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
        let participant = try #require(current.participants.first { $0.userIdentity.userRecordID?.recordName == carol.name })
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
        #expect(await failure { _ = try await carol.shared.record(for: Record.ID(recordName: "x", zoneID: carols)) } == .zoneNotFound)
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
        var partly = try #require(try await other.own.records(for: [note.recordID], desiredKeys: [])[note.recordID]?.get())
        try await ann.own.deleteRecord(withID: note.recordID)
        try await ann.own.rotateKeys(of: zone)
        partly["headline"] = "too late"
        let fresh = other.note(in: zone, "new")
        let results = try await other.own.modifyRecords(saving: [partly, fresh], atomically: false).saveResults
        #expect(results[note.recordID]?.failureCode == .unknownItem && results[fresh.recordID]?.failureCode == nil)
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
