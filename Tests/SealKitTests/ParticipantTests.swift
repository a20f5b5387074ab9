import Foundation
import SealClient
import SealEnvelope
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import Testing

@testable import SealKit

@Suite(.timeLimit(.minutes(60))) struct ParticipantTests {
    private func address() -> String { "someone-\(UUID().uuidString.prefix(8).lowercased())@example.org" }

    // MARK: The public

    @Test func whileAShareIsPublicAnybodyWithTheURLJoins() async throws {
        let (ann, bob, eve) = (try await Person(), try await Person(), try await Person())
        let (zone, note, closed) = try await ann.share()
        #expect(closed.publicPermission == .none)
        #expect(await failure { try await bob.join(closed.url) } == .unknownItem)

        let open = try await ann.edit(zone) { $0.publicPermission = .readOnly }
        #expect(open.publicPermission == .readOnly)
        #expect(open.url == closed.url)
        let metadata = try await bob.container.shareMetadata(for: try #require(open.url))
        #expect(metadata.participantRole == .publicUser)
        #expect(metadata.participantPermission == .readOnly)
        #expect(metadata.title == "Garden plans")
        #expect(metadata.participantStatus == .pending)
        let joined = try await bob.container.accept(metadata)
        let noteID = Record.ID(recordName: note.recordID.recordName, zoneID: joined)
        #expect(try await bob.shared.record(for: noteID).encryptedValues["body"] == "from the owner")
        #expect(await failure { try await bob.shared.save(bob.note(in: joined, "x")) } == .permissionFailure)
        #expect(try await bob.share(of: joined).currentUserParticipant?.role == .publicUser)

        // Whatever the permission becomes, it is theirs.
        let raised = try await ann.edit(zone) { $0.publicPermission = .readWrite }
        #expect(raised.participant(bob)?.permission == .readWrite)
        #expect(raised.url == closed.url)
        try await bob.shared.save(bob.note(in: joined, "from the public"))
        let epoch = try await ann.epoch(of: zone)
        try await ann.edit(zone) { $0.publicPermission = .readOnly }
        #expect(try await ann.epoch(of: zone) == epoch + 1)
        #expect(await failure { try await bob.shared.save(bob.note(in: joined, "too late")) } == .permissionFailure)

        // None puts them out, and opens a new key.
        let none = try await ann.edit(zone) { $0.publicPermission = .none }
        #expect(none.participants.map(\.role) == [.owner])
        #expect(none.url == closed.url)
        #expect(try await ann.epoch(of: zone) == epoch + 2)
        #expect(await failure { _ = try await bob.shared.record(for: noteID) } == .zoneNotFound)
        #expect(await failure { try await eve.join(closed.url) } == .unknownItem)
    }

    @Test func changingThePublicPermissionTakesOpenInvitationsBack() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let (zone, _, share) = try await ann.share(with: [(bob, .readWrite), (carol, .readOnly)])
        let bobs = try await bob.join(share.url)
        let open = try await ann.edit(zone) { $0.publicPermission = .readOnly }
        // Who has accepted stays; who has not joins as anybody does.
        #expect(open.participants.map(\.role) == [.owner, .privateUser])
        try await bob.shared.save(bob.note(in: bobs, "still a private user"))
        try await carol.join(open.url)
        #expect(try await ann.share(of: zone).participant(carol)?.role == .publicUser)
        // Nobody is invited by name meanwhile, and a public user has no permission of its own.
        let dave = try await Person()
        let invitee = try await ann.participant(dave)
        #expect(await failure { try await ann.edit(zone) { $0.addParticipant(invitee) } } == .invalidArguments)
        let code = await failure {
            try await ann.edit(zone) { share in
                var participant = try #require(share.participant(carol))
                participant.permission = .readWrite
                share.addParticipant(participant)
            }
        }
        #expect(code == .invalidArguments)
        // Both at once: closing, and inviting by name.
        let closed = try await ann.edit(zone) { share in
            share.publicPermission = .none
            share.addParticipant(invitee)
        }
        #expect(closed.participants.map(\.role) == [.owner, .privateUser, .privateUser])
        try await dave.join(closed.url)
    }

    @Test func whoIsPutOutOfAPublicShareHasNoURLToComeBackBy() async throws {
        let (ann, bob, eve) = (try await Person(), try await Person(), try await Person())
        let (zone, _, _) = try await ann.share()
        let open = try await ann.edit(zone) { $0.publicPermission = .readOnly }
        try await eve.join(open.url)
        let after = try await ann.edit(zone) { $0.removeParticipant(try #require($0.participant(eve))) }
        #expect(after.participants.count == 1)
        #expect(after.publicPermission == .readOnly)
        #expect(after.url != open.url)
        #expect(await failure { try await eve.join(open.url) } == .unknownItem)
        try await bob.join(after.url)
        // Blocked, it cannot come back by the new one either, until it is unblocked.
        let blocked = try await ann.edit(zone) { try $0.blockParticipant(try #require($0.participant(bob))) }
        #expect(blocked.blockedIdentities.map(\.userRecordID.recordName) == [bob.name])
        #expect(await failure { try await bob.join(blocked.url) } == .unknownItem)
        try await ann.edit(zone) { $0.unblockIdentities($0.blockedIdentities) }
        try await bob.join(blocked.url)
    }

    @Test func blockingEndsMembershipAndInvitation() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let (zone, note, share) = try await ann.share(with: [(bob, .readOnly), (carol, .readOnly)])
        let joined = try await bob.join(share.url)
        let epoch = try await ann.epoch(of: zone)
        let after = try await ann.edit(zone) { share in
            try share.blockParticipant(try #require(share.participant(bob)))
            try share.blockParticipant(try #require(share.participant(carol)))
        }
        var unsaved = after
        #expect(await failure { try unsaved.blockParticipant(try #require(after.owner)) } == .invalidArguments)
        #expect(await failure { try unsaved.blockParticipant(.oneTimeURLParticipant()) } == .invalidArguments)
        #expect(after.participants.count == 1)
        #expect(after.blockedIdentities.count == 2)
        #expect(after.url == share.url)
        #expect(try await ann.epoch(of: zone) == epoch + 1)
        let id = Record.ID(recordName: note.recordID.recordName, zoneID: joined)
        #expect(await failure { _ = try await bob.shared.record(for: id) } == .zoneNotFound)
        #expect(await failure { try await carol.join(share.url) } == .unknownItem)
        let invitee = try await ann.participant(bob)
        #expect(await failure { try await ann.edit(zone) { $0.addParticipant(invitee) } } == .invalidArguments)
        // Unblocked and invited in one step.
        let again = try await ann.edit(zone) { share in
            share.unblockIdentities(share.blockedIdentities.filter { $0.userRecordID.recordName == bob.name })
            share.addParticipant(invitee)
        }
        #expect(again.blockedIdentities.map(\.userRecordID.recordName) == [carol.name])
        try await bob.join(again.url)
    }

    // MARK: One-time URLs

    @Test func theFirstWhoClaimsAOneTimeURLIsItsParticipant() async throws {
        let (ann, bob, eve) = (try await Person(), try await Person(), try await Person())
        let (zone, _, _) = try await ann.share()
        let single = Share.Participant.oneTimeURLParticipant(permission: .readWrite)
        #expect(single.userIdentity.lookupInfo == nil)
        #expect(!single.userIdentity.hasAccount)
        #expect(single.acceptanceStatus == .pending)
        let share = try await ann.edit(zone) { $0.addParticipant(single) }
        let url = try #require(share.oneTimeURL(for: single.participantID))
        #expect(url != share.url)
        // The share-wide URL does not lead to it, and asks nobody for an address.
        #expect(await failure { try await bob.join(share.url) } == .unknownItem)
        let joined = try await bob.join(url)
        try await bob.shared.save(bob.note(in: joined, "first come"))
        #expect(await failure { try await eve.join(url) } == .unknownItem)

        let after = try await ann.share(of: zone)
        #expect(after.participants.last?.participantID == single.participantID)
        #expect(after.participants.last?.userIdentity.userRecordID?.recordName == bob.name)
        #expect(after.oneTimeURL(for: single.participantID) == url)
        // From then on it is like the share's URL, for that participant.
        let again = try await bob.container.shareMetadata(for: url)
        #expect(again.participantStatus == .accepted)
        #expect(again.participantPermission == .readWrite)
        #expect(try await bob.container.accept(again) == joined)
        try await ann.edit(zone) { $0.removeParticipant(try #require($0.participants.last)) }
        #expect(await failure { try await bob.join(url) } == .unknownItem)
    }

    /// Somebody with an account, too: the server's answer about an address is worth nothing without that URL.
    @Test func whoeverIsInvitedByAddressHasAURLOfItsOwn() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let mail = address()
        try await bob.link(mail)
        let (zone, _, _) = try await ann.share(with: [(carol, .readOnly)])
        let invitee = try await ann.container.shareParticipant(forEmailAddress: mail)
        #expect(invitee.userIdentity.hasAccount)
        let share = try await ann.edit(zone) { $0.addParticipant(invitee) }
        let own = try #require(share.oneTimeURL(for: invitee.participantID))

        // The attack: Carol kept the share-wide URL, and the server answered the look-up of the address with her
        // identity. Bob stands for her here: even the person whom the roster names gets no key from that URL's secret.
        let metadata = try await bob.container.shareMetadata(for: own)
        let shareWide = try ShareURL(try #require(share.url)).secret
        let seat = try #require(metadata.seat)
        let core = bob.container.core
        let wrong = try shareWide.invitationKeys(scopeID: metadata.opening.roster.scopeID, invitationID: seat.id)
        #expect(wrong.signingKey.verificationKey != seat.signingKey)
        #expect(throws: SealError.authenticationFailed) {
            try Grants<XWingHPKE>.open(
                metadata.opening.grant, epoch: metadata.opening.roster.currentEpoch, invitation: wrong,
                keys: core.identity().keys)
        }
        // With the secret of its own it opens: the refusal was for the secret.
        let right = try metadata.opening.url.secret.invitationKeys(
            scopeID: metadata.opening.roster.scopeID, invitationID: seat.id)
        _ = try Grants<XWingHPKE>.open(
            metadata.opening.grant, epoch: metadata.opening.roster.currentEpoch, invitation: right,
            keys: core.identity().keys)
        #expect(await failure { try await bob.join(share.url) } == .permissionFailure)
        #expect(await failure { try await carol.join(own) } == .unknownItem)
        try await bob.join(own)
    }

    // MARK: Open invitations

    @Test func anOpenInvitationsPermissionChangesBehindItsURL() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let carol = try await Person()
        let mail = address()
        let (zone, _, _) = try await ann.share(with: [(bob, .readOnly)])
        let byMail = try await ann.container.shareParticipant(forEmailAddress: mail)
        let before = try await ann.edit(zone) { $0.addParticipant(byMail) }
        let url = try #require(before.oneTimeURL(for: byMail.participantID))
        let epoch = try await ann.epoch(of: zone)
        let after = try await ann.edit(zone) { share in
            for participant in share.participants where participant.role != .owner {
                var participant = participant
                participant.permission = .readWrite
                share.addParticipant(participant)
            }
        }
        #expect(after.participants.map(\.permission) == [.readWrite, .readWrite, .readWrite])
        #expect(after.participants.map(\.acceptanceStatus) == [.accepted, .pending, .pending])
        #expect(after.url == before.url)
        #expect(try await ann.epoch(of: zone) == epoch + 1)
        let placeholder = try #require(after.participants.first { $0.userIdentity.lookupInfo == .emailAddress(mail) })
        #expect(after.oneTimeURL(for: placeholder.participantID) == url)
        let joined = try await bob.join(after.url)
        try await bob.shared.save(bob.note(in: joined, "may write"))
        try await carol.link(mail)
        let carols = try await carol.join(url)
        try await carol.shared.save(carol.note(in: carols, "may write, too"))
    }

    @Test func aParticipantMayReadAtLeast() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, share) = try await ann.share(with: [(bob, .readOnly)])
        try await bob.join(share.url)
        let invitee = try await ann.participant(try await Person(), .none)
        #expect(await failure { try await ann.edit(zone) { $0.addParticipant(invitee) } } == .invalidArguments)
        let code = await failure {
            try await ann.edit(zone) { share in
                var participant = try #require(share.participant(bob))
                participant.permission = .none
                share.addParticipant(participant)
            }
        }
        #expect(code == .invalidArguments)
    }

    // MARK: Who sees what

    @Test func addressesAreForThoseWhoAdministerAndDatesForAll() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let (zone, _, share) = try await ann.share(with: [(bob, .readWrite)])
        let joined = try await bob.join(share.url)
        let number = try await ann.container.shareParticipant(
            forPhoneNumber: "+4930\(Int.random(in: 1_000_000..<9_999_999))")
        #expect(!number.userIdentity.hasAccount)
        let saved = try await ann.edit(zone) { $0.addParticipant(number) }
        #expect(saved.participants.last?.userIdentity.lookupInfo == number.userIdentity.lookupInfo)
        #expect(saved.currentUserParticipant?.role == .owner)
        #expect(saved.owner?.userIdentity.userRecordID?.recordName == ann.name)
        let dates = saved.participants.compactMap(\.dateAddedToShare)
        #expect(dates.count == 3)
        #expect(dates == dates.sorted())
        let bobs = try await bob.share(of: joined)
        #expect(bobs.participants.map(\.participantID) == saved.participants.map(\.participantID))
        #expect(bobs.participants.last?.userIdentity.lookupInfo == nil)
        #expect(bobs.url == nil)
        #expect(bobs.participants.compactMap(\.dateAddedToShare) == dates)
        #expect(
            await failure { _ = try await ann.container.shareParticipant(forPhoneNumber: "0301234") }
                == .invalidArguments)
        _ = carol
    }
}
