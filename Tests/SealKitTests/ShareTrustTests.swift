import Foundation
import SealLab
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit

/// What whoever shares is told of: URLs that were replaced, seats that are still open, and whose keys nobody has
/// compared.
@Suite(.timeLimit(.minutes(60))) struct ShareTrustTests {
    @Test func whoWasInvitedByNameGetsTheNewURL() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let (zone, note, share) = try await ann.share(with: [(bob, .readWrite)])
        let old = try #require(share.url)
        let waiting = try #require(share.participant(bob))
        #expect(!share.isURLRenewed)
        #expect(share.waitingForURL.map(\.participantID) == [waiting.participantID])
        // The share-wide URL is lost to its owner: an administrator who made it kept it, or the server keeps it back.
        let (device, network) = try ann.behindAttacker()
        var fetched = try await device.own.share(for: zone)
        let isFirst = LockedValue(true)
        network.rewrite("links/fetch", Sealkit_V1_LinksResponse.self) { answer in
            guard isFirst.value else { return }
            isFirst.change { $0 = false }
            answer.links = []
            answer.sealedLink = Data()
        }
        fetched.addParticipant(try await ann.participant(carol))
        let saved = try await device.own.save(fetched)
        let new = try #require(saved.url)
        #expect(saved.isURLRenewed)
        #expect(new != old)
        #expect(
            Set(saved.waitingForURL.compactMap { $0.userIdentity.userRecordID?.recordName }) == [bob.name, carol.name])
        #expect(saved.participant(bob)?.permission == .readWrite)
        // The one before leads nowhere, and says what may be the reason; the new one is both invitees'.
        let error = await #expect(throws: SealKitError.self) { try await bob.join(old) }
        #expect(error?.remedy.contains("newer URL") == true, "\(error.map { "\($0)" } ?? "")")
        let joined = try await bob.join(new)
        #expect(
            try await bob.body(of: Record.ID(recordName: note.recordID.recordName, zoneID: joined)) == "from the owner")
        _ = try await carol.join(new)
        let after = try await ann.own.share(for: zone)
        #expect(after.url == new)
        #expect(!after.isURLRenewed)
        #expect(after.waitingForURL.isEmpty)
    }

    @Test func openOneTimeInvitationsAreNamedAfterARemoval() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, share) = try await ann.share(with: [(bob, .readWrite)])
        try await bob.join(share.url)
        let spare = Share.Participant.oneTimeURLParticipant(permission: .readWrite)
        let saved = try await ann.edit(zone) { $0.addParticipant(spare) }
        let url = try #require(saved.oneTimeURL(for: spare.participantID))
        var removed = try await ann.edit(zone) { $0.removeParticipant(try #require($0.participant(bob))) }
        #expect(removed.openOneTimeInvitations.map(\.participantID) == [spare.participantID])
        // Whoever has it comes back with it, which is why its owner is told; once it is taken back it leads nowhere.
        _ = try await bob.container.shareMetadata(for: url)
        removed = try await ann.edit(zone) { share in
            for participant in share.openOneTimeInvitations { share.removeParticipant(participant) }
        }
        #expect(removed.openOneTimeInvitations.isEmpty)
        #expect(await failure { _ = try await bob.container.shareMetadata(for: url) } == .unknownItem)
    }

    @Test func whoTheServerNamesIsNotVerifiedUntilSomebodyHasCompared() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let address = "bob-\(UUID().uuidString.lowercased())@example.org"
        try await bob.link(address)
        let found = try await ann.container.shareParticipant(forEmailAddress: address)
        #expect(found.userIdentity.userRecordID?.recordName == bob.name)
        #expect(!found.userIdentity.isVerified)
        let nobody = try await ann.container.shareParticipant(
            forEmailAddress: "nobody-\(UUID().uuidString.lowercased())@example.org")
        #expect(!nobody.userIdentity.hasAccount)
        #expect(!nobody.userIdentity.isVerified)
        let zone = try await ann.makeZone()
        var share = Share(recordZoneID: zone)
        share.addParticipant(found)
        share = try await ann.own.save(share)
        #expect(share.participant(bob)?.userIdentity.isVerified == false)
        let url = try #require(share.oneTimeURL(for: found.participantID))
        #expect(try await bob.container.shareMetadata(for: url).ownerIdentity.isVerified == false)

        let contacts = ann.container.contacts
        try await contacts.verify(try await contacts.refreshedContact(for: bob.container.userRecordID()))
        #expect(try await ann.container.shareParticipant(forEmailAddress: address).userIdentity.isVerified)
        #expect(try await ann.own.share(for: zone).participant(bob)?.userIdentity.isVerified == true)
        // On that device, by that user.
        #expect(try await ann.onFreshDevice().own.share(for: zone).participant(bob)?.userIdentity.isVerified == false)
        try await bob.container.contacts.verify(
            try await bob.container.contacts.refreshedContact(for: ann.container.userRecordID()))
        #expect(try await bob.container.shareMetadata(for: url).ownerIdentity.isVerified)
        // A number that was compared is of those keys alone.
        try await bob.rotateKeys(KeptKeys(bob))
        _ = try await contacts.refreshedContact(for: bob.container.userRecordID())
        #expect(try await ann.own.share(for: zone).participant(bob)?.userIdentity.isVerified == false)
    }
}
