import Foundation
import SealClient
import SealEnvelope
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import Testing

@testable import SealKit

@Suite(.timeLimit(.minutes(60))) struct AdministratorTests {
    /// Ann's zone with Bob as administrator.
    private func administered() async throws -> (ann: Person, bob: Person, zone: RecordZone.ID, bobs: RecordZone.ID) {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, share) = try await ann.share(with: [(bob, .readWrite)])
        let joined = try await bob.join(share.url)
        try await ann.promote(bob, in: zone)
        return (ann, bob, zone, joined)
    }

    @Test func anAdministratorManagesParticipantsFromTheSharedDatabase() async throws {
        let (ann, bob, zone, bobs) = try await administered()
        let (carol, dave) = (try await Person(), try await Person())
        let seen = try await bob.share(of: bobs)
        #expect(seen.currentUserParticipant?.role == .administrator)
        #expect(seen.currentUserParticipant?.userIdentity.userRecordID?.recordName == bob.name)
        let mine = try await ann.share(of: zone)
        #expect(seen.url != nil)
        #expect(seen.url == mine.url)
        // Invites by name, with the share's URL; and by nothing, with a URL that is Bob's to know.
        let single = Share.Participant.oneTimeURLParticipant(permission: .readWrite)
        let invitee = try await bob.participant(carol)
        var saved = try await bob.edit(bobs) { share in
            share.addParticipant(invitee)
            share.addParticipant(single)
        }
        let oneTime = try #require(saved.oneTimeURL(for: single.participantID))
        #expect(try await ann.share(of: zone).oneTimeURL(for: single.participantID) == nil)
        let carols = try await carol.join(saved.url)
        try await dave.join(oneTime)
        #expect(
            try await ann.share(of: zone).participants.map(\.acceptanceStatus) == [
                .accepted, .accepted, .accepted, .accepted,
            ])

        // Changes a permission, and removes: with a new key.
        saved = try await bob.edit(bobs) { share in
            var participant = try #require(share.participant(carol))
            participant.permission = .readWrite
            share.addParticipant(participant)
        }
        try await carol.shared.save(carol.note(in: carols, "written by right"))
        let epoch = try await ann.epoch(of: zone)
        try await bob.edit(bobs) { share in share.removeParticipant(try #require(share.participant(carol))) }
        #expect(try await ann.epoch(of: zone) == epoch + 1)
        #expect(await failure { try await carol.shared.save(carol.note(in: carols, "too late")) } == .zoneNotFound)
        // The title is an administrator's too, in URLs as well.
        try await bob.edit(bobs) { $0.title = "Bob's title" }
        #expect(try await ann.share(of: zone).title == "Bob's title")
        #expect(try await dave.container.shareMetadata(for: oneTime).title == "Bob's title")
    }

    @Test func whatIsTheOwnersIsRefused() async throws {
        let (ann, bob, zone, bobs) = try await administered()
        let carol = try await Person()
        let carolsSeat = try await ann.participant(carol, .readWrite)
        let share = try await ann.edit(zone) { $0.addParticipant(carolsSeat) }
        try await carol.join(share.url)
        // A participant who administers nothing saves nothing, and has no URL.
        let joined = RecordZone.ID(zoneName: zone.zoneName, ownerName: ann.name)
        let carols = try await carol.share(of: joined)
        #expect(carols.url == nil)
        #expect(carols.currentUserParticipant?.role == .privateUser)
        #expect(await failure { try await carol.edit(joined) { $0.title = "x" } } == .permissionFailure)

        #expect(await failure { try await bob.edit(bobs) { $0.publicPermission = .readOnly } } == .permissionFailure)
        #expect(await failure { try await bob.promote(carol, in: bobs) } == .permissionFailure)
        try await ann.promote(carol, in: zone)
        #expect(
            await failure { try await bob.edit(bobs) { $0.removeParticipant(try #require($0.participant(carol))) } }
                == .permissionFailure)
        #expect(
            await failure { try await bob.edit(bobs) { try $0.blockParticipant(try #require($0.participant(carol))) } }
                == .permissionFailure)
        #expect(try await ann.share(of: zone).participants.count == 3)
    }

    @Test func anAdministratorMayWriteAndHasAccepted() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let (zone, _, share) = try await ann.share(with: [(bob, .readOnly), (carol, .readWrite)])
        #expect(await failure { try await ann.promote(carol, in: zone) } == .invalidArguments)
        try await bob.join(share.url)
        #expect(await failure { try await ann.promote(bob, in: zone) } == .invalidArguments)
        // Both at once, and back.
        try await ann.edit(zone) { share in
            var participant = try #require(share.participant(bob))
            (participant.role, participant.permission) = (.administrator, .readWrite)
            share.addParticipant(participant)
        }
        let saved = try await ann.edit(zone) { share in
            var participant = try #require(share.participant(bob))
            (participant.role, participant.permission) = (.privateUser, .readOnly)
            share.addParticipant(participant)
        }
        #expect(saved.participant(bob)?.role == .privateUser)
        #expect(saved.participant(bob)?.permission == .readOnly)
    }

    @Test func whoIsNoAdministratorAnyMoreHasNeitherURLsNorOpenInvitations() async throws {
        let (ann, bob, zone, bobs) = try await administered()
        let dave = try await Person()
        let single = Share.Participant.oneTimeURLParticipant()
        let saved = try await bob.edit(bobs) { $0.addParticipant(single) }
        let oneTime = saved.oneTimeURL(for: single.participantID)
        let epoch = try await ann.epoch(of: zone)
        let after = try await ann.edit(zone) { share in
            var participant = try #require(share.participant(bob))
            participant.role = .privateUser
            share.addParticipant(participant)
        }
        #expect(after.participants.count == 2)
        #expect(try await ann.epoch(of: zone) == epoch + 1)
        #expect(await failure { try await dave.join(oneTime) } == .unknownItem)
        #expect(try await bob.share(of: bobs).url == nil)
        #expect(await failure { try await bob.edit(bobs) { $0.title = "x" } } == .permissionFailure)
    }

    /// An administrator puts somebody out of a public share: the URL is renewed, and the owner has the new one.
    @Test func theURLThatAnAdministratorRenewsIsTheOwnersToo() async throws {
        let (ann, bob, zone, bobs) = try await administered()
        let eve = try await Person()
        let opened = try await ann.edit(zone) { $0.publicPermission = .readOnly }
        try await eve.join(opened.url)
        let renewed = try await bob.edit(bobs) { try $0.blockParticipant(try #require($0.participant(eve))) }
        #expect(renewed.url != nil)
        #expect(renewed.url != opened.url)
        #expect(try await ann.share(of: zone).url == renewed.url)
        #expect(await failure { try await eve.join(opened.url) } == .unknownItem)
        #expect(await failure { try await eve.join(renewed.url) } == .unknownItem)
    }

    /// The server gives an administrator a secret of its own in the place of the share's.
    @Test func aSecretThatTheRosterDoesNotNameIsNoURL() async throws {
        let (_, bob, _, bobs) = try await administered()
        let view = try await bob.container.core.keeper(of: bob.container.core.scope(of: bobs)).refresh()
        var random = SystemRandom()
        let made = LinkSecret(random: &random)
        let sealed = try SealedLinks<XWingHPKE>.seal(
            made, scopeID: view.roster.scopeID, to: bob.container.core.identity().chain)
        // It opens: without the comparison with the roster's link id it would be taken for the share's.
        #expect(throws: SealError.self) {
            try SealedLinks<XWingHPKE>.open(
                sealed, scopeID: view.roster.scopeID, linkID: try #require(view.roster.linkID),
                as: bob.container.core.userID(),
                keys: bob.container.core.identity().keys)
        }
        let opened = try SealedLinks<XWingHPKE>.open(
            sealed, scopeID: view.roster.scopeID, linkID: made.id(in: view.roster.scopeID),
            as: bob.container.core.userID(),
            keys: bob.container.core.identity().keys)
        #expect(opened.id(in: view.roster.scopeID) != view.roster.linkID)
    }

    @Test func twoAdministratorsAtOnceConverge() async throws {
        let (ann, bob, zone, bobs) = try await administered()
        let (carol, dave) = (try await Person(), try await Person())
        let (annas, bobsInvitee) = (try await ann.participant(carol, .readWrite), try await bob.participant(dave))
        async let first = ann.edit(zone) { $0.addParticipant(annas) }
        async let second = bob.edit(bobs) { $0.addParticipant(bobsInvitee) }
        let saved = try await [first, second]
        #expect(saved.allSatisfy { $0.url != nil })
        let (one, other) = (try await ann.share(of: zone), try await bob.share(of: bobs))
        #expect(one.participants.map(\.participantID) == other.participants.map(\.participantID))
        #expect(one.participants.count == 4)
        #expect(one.url == other.url)
        // Both put out the same person: the second finds it gone.
        try await carol.join(one.url)
        async let removed: Share = ann.edit(zone) { share in
            if let participant = share.participant(carol) { share.removeParticipant(participant) }
        }
        async let removedToo: Share = bob.edit(bobs) { share in
            if let participant = share.participant(carol) { share.removeParticipant(participant) }
        }
        _ = try await [removed, removedToo]
        #expect(try await ann.share(of: zone).participants.count == 3)
        let epochs = (try await ann.epoch(of: zone), try await bob.epoch(of: bobs))
        #expect(epochs.0 == epochs.1)
    }
}
