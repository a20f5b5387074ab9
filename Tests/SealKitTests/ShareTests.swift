import Foundation
import SealClient
import SealEnvelope
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import Testing

@testable import SealKit

@Suite(.timeLimit(.minutes(60))) struct ShareTests {
    /// A zone of Ann's with one note, shared as `title` with whoever `invite` adds.
    func sharedZone(
        _ ann: Person, _ invitees: [(Person, Share.Participant.Permission)] = []
    ) async throws -> (zone: RecordZone.ID, note: Record, share: Share) {
        let zone = try await ann.makeZone()
        let note = try await ann.own.save(ann.note(in: zone, "from Ann"))
        var share = Share(recordZoneID: zone)
        share.title = "Garden plans"
        for (person, permission) in invitees {
            share.addParticipant(
                try await ann.container.shareParticipant(
                    forUserRecordID: person.container.userRecordID(), permission: permission))
        }
        share = try await ann.own.save(share)
        return (zone, note, share)
    }

    func join(_ person: Person, _ share: Share) async throws -> RecordZone.ID {
        try await person.container.accept(try await person.container.shareMetadata(for: try #require(share.url)))
    }

    func address() -> String { "someone-\(UUID().uuidString.prefix(8).lowercased())@example.org" }

    // MARK: Creating and inviting

    @Test func aKnownAccountIsFoundByItsProvenAddressAndAcceptsWithAURLOfItsOwn() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let mail = address()
        try await bob.link(mail)
        let zone = try await ann.makeZone()
        let note = try await ann.own.save(ann.note(in: zone, "from Ann"))
        var share = Share(recordZoneID: zone)
        share.title = "Garden plans"
        let invitee = try await ann.container.shareParticipant(
            forEmailAddress: mail.uppercased(), permission: .readWrite)
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
        #expect(
            await failure { _ = try await carol.container.shareMetadata(for: url) } == .participantMayNeedVerification)
        let verification = try await carol.container.beginVerification(of: mail, for: url)
        let code = try await carol.code(mail)
        let wrong = code == "00000000" ? "00000001" : "00000000"
        #expect(await failure { _ = try await verification.complete(code: wrong) } == .verificationFailed)
        let token = try await verification.complete(code: code)
        let metadata = try await carol.container.shareMetadata(for: url)
        let joined = try await carol.container.accept(metadata, token: token)
        let body: String? = try await carol.shared.record(
            for: Record.ID(recordName: note.recordID.recordName, zoneID: joined)
        )
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
        let stolen = Verification(
            id: verification.id, address: mail, routingID: nil, expires: verification.expires, core: dave.container.core
        )
        #expect(await failure { _ = try await stolen.complete(code: code) } == .verificationFailed)
        for _ in 0..<5 {
            #expect(
                await failure { _ = try await verification.complete(code: "12345678" == code ? "1" : "12345678") }
                    == .verificationFailed)
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

        // With the server's help Dave has all that Bob's invitation gives: the URL alone opens no known invitee's
        // grant.
        let bobs = try await bob.container.shareMetadata(for: url)
        let invitation = try #require(bobs.seat)
        let keys = try ShareURL(url).secret.invitationKeys(
            scopeID: bobs.opening.roster.scopeID, invitationID: invitation.id)
        #expect(throws: SealError.authenticationFailed) {
            try Grants<XWingHPKE>.open(
                bobs.opening.grant, epoch: bobs.opening.roster.currentEpoch, invitation: keys,
                keys: dave.container.core.identity().keys
            )
        }
        #expect(throws: SealError.authenticationFailed) {
            try Grants<XWingHPKE>.open(
                bobs.opening.grant, epoch: bobs.opening.roster.currentEpoch, invitation: keys, keys: nil)
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
        for broken in [
            String(url.dropLast()), String(parts[0]), url + "A", url.replacingOccurrences(of: "/s/", with: "/t/"),
        ] {
            #expect(
                await failure { _ = try await bob.container.shareMetadata(for: broken) } == .invalidArguments,
                "\(broken.count)")
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
        #expect(
            await failure {
                _ = try await deceived.own.record(for: Record.ID(recordName: forged.recordName, zoneID: zone))
            } == .integrityFailure)
        let changes = try await deceived.own.recordZoneChanges(inZoneWith: zone)
        #expect(changes.modifications.map(\.result.failureCode) == [.integrityFailure])
        // Without the check of the author's right, everything else about the forgery holds: the key is the zone's own.
        let view = try await bob.container.core.keeper(of: bob.container.core.scope(of: joined)).current()
        #expect(try Forgery.opens(forged, view: view))
    }
}
