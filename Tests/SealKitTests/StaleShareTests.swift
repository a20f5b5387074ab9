import Foundation
import SealStatements
import Testing

@testable import SealKit

/// A share that another device has changed since it was fetched: what is wanted of it is done, or refused.
@Suite(.timeLimit(.minutes(60))) struct StaleShareTests {
    private func address() -> String { "invitee-\(UUID().uuidString.prefix(8).lowercased())@example.org" }

    /// A shared zone with one participant to be, and the URL for that one.
    private func invited(
        _ ann: Person, _ participant: Share.Participant
    ) async throws -> (zone: RecordZone.ID, share: Share, url: String) {
        let (zone, _, _) = try await ann.share()
        let share = try await ann.edit(zone) { $0.addParticipant(participant) }
        return (zone, share, try #require(share.oneTimeURL(for: participant.participantID)))
    }

    /// On another device.
    private func change(
        _ zone: RecordZone.ID, of ann: Person, _ body: (inout Share.Participant) -> Void
    ) async throws {
        try await ann.onFreshDevice().edit(zone) { share in
            for var participant in share.participants where participant.role != .owner {
                body(&participant)
                share.addParticipant(participant)
            }
        }
    }

    // MARK: Title, type and thumbnail

    @Test func aTitleThatAnotherDeviceHasSetStays() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, share) = try await ann.share(with: [(bob, .readOnly)])
        var seen = try await ann.share(of: zone)
        try await ann.onFreshDevice().edit(zone) { share in
            (share.title, share.thumbnailImageData) = ("Vegetables", Data([1, 2, 3]))
        }
        seen.addParticipant(.oneTimeURLParticipant())
        seen.shareType = "org.example.plan"
        let saved = try await ann.own.save(seen)
        #expect(saved.title == "Vegetables")
        #expect(saved.thumbnailImageData == Data([1, 2, 3]))
        #expect(saved.shareType == "org.example.plan")
        for url in [share.url] + saved.oneTimeURLs.values.map(Optional.some) {
            let metadata = try await bob.container.shareMetadata(for: try #require(url))
            #expect(metadata.title == "Vegetables")
            #expect(metadata.shareType == "org.example.plan")
            #expect(metadata.thumbnailImageData == Data([1, 2, 3]))
        }
        // What is taken away is gone.
        let emptied = try await ann.edit(zone) { ($0.title, $0.thumbnailImageData) = ("", nil) }
        #expect(emptied.title.isEmpty)
        #expect(emptied.thumbnailImageData == nil)
        #expect(emptied.shareType == "org.example.plan")
    }

    @Test func aNewValueOfASharedZonesShareHasNoTitleToSave() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, _) = try await ann.share()
        var share = Share(recordZoneID: zone)
        share.addParticipant(try await ann.participant(bob))
        let saved = try await ann.own.save(share)
        #expect(saved.title == "Garden plans")
        #expect(saved.participants.count == 2)
        #expect(try await bob.container.shareMetadata(for: try #require(saved.url)).title == "Garden plans")
    }

    /// Nobody vouches for what the URL shows: that is no empty title.
    @Test func metadataWithoutAPreviewHasNoTitleToSave() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, share) = try await ann.share(with: [(bob, .readWrite)])
        let joined = try await bob.join(share.url)
        try await ann.promote(bob, in: zone)
        try await bob.edit(joined) { $0.title = "Vegetables" }
        try await bob.shared.leaveShare(of: joined)
        let metadata = try await ann.container.shareMetadata(for: try #require(share.url))
        #expect(metadata.preview == nil)
        var seen = metadata.share
        seen.addParticipant(.oneTimeURLParticipant())
        #expect(try await ann.own.save(seen).title == "Vegetables")
    }

    // MARK: Invitations that others took the place of

    @Test func anInvitationThatWasRenewedIsTakenBackByItsAddress() async throws {
        let ann = try await Person()
        let mail = address()
        let (zone, stale, url) = try await invited(
            ann, try await ann.container.shareParticipant(forEmailAddress: mail, permission: .readWrite))
        try await change(zone, of: ann) { $0.permission = .readOnly }
        var share = stale
        share.removeParticipant(try #require(stale.participants.last))
        let saved = try await ann.own.save(share)
        #expect(saved.participants.count == 1)
        let bob = try await Person()
        #expect(await failure { try await bob.join(url) } == .unknownItem)
    }

    /// The permission is lowered where the end was changed, and that stays.
    @Test func anInvitationThatWasRenewedIsChangedByItsAddress() async throws {
        let ann = try await Person()
        let end = Date(timeIntervalSinceNow: 86_400)
        let (zone, stale, _) = try await invited(
            ann, try await ann.container.shareParticipant(forEmailAddress: address(), permission: .readWrite))
        try await change(zone, of: ann) { $0.expirationDate = end }
        var share = stale
        var participant = try #require(stale.participants.last)
        participant.permission = .readOnly
        share.addParticipant(participant)
        let saved = try await ann.own.save(share)
        #expect(saved.participants.map(\.permission) == [.readWrite, .readOnly])
        let kept = try #require(saved.participants.last?.expirationDate)
        #expect(abs(kept.timeIntervalSince(end)) < 0.001)
    }

    /// No address tells whose the invitation is that has come since.
    @Test func anInvitationOfNobodyThatWasRenewedIsNotPassedOver() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, stale, url) = try await invited(ann, .oneTimeURLParticipant(permission: .readWrite))
        try await change(zone, of: ann) { $0.permission = .readOnly }
        var (removed, lowered) = (stale, stale)
        var participant = try #require(stale.participants.last)
        removed.removeParticipant(participant)
        participant.expirationDate = Date(timeIntervalSinceNow: 86_400)
        lowered.addParticipant(participant)
        let (gone, changed) = (removed, lowered)
        for share in [gone, changed] {
            #expect(await failure { try await ann.own.save(share) } == .invalidArguments)
        }
        // Nor where it was accepted meanwhile.
        try await bob.join(url)
        #expect(await failure { try await ann.own.save(gone) } == .invalidArguments)
        #expect(try await ann.share(of: zone).participants.count == 2)
        try await ann.edit(zone) { $0.removeParticipant(try #require($0.participant(bob))) }
        // Who is gone by now is gone.
        #expect(try await ann.own.save(gone).participants.count == 1)
        #expect(await failure { try await ann.own.save(changed) } == .invalidArguments)
    }

    @Test func whoIsRemovedAndAddedHasAnotherURL() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let mail = address()
        let (zone, _, url) = try await invited(ann, try await ann.container.shareParticipant(forEmailAddress: mail))
        let again = try await ann.container.shareParticipant(forEmailAddress: mail, permission: .readWrite)
        let saved = try await ann.edit(zone) { share in
            share.removeParticipant(try #require(share.participants.last))
            share.addParticipant(again)
        }
        #expect(saved.participants.map(\.permission) == [.readWrite, .readWrite])
        let other = try #require(saved.oneTimeURL(for: again.participantID))
        #expect(other != url)
        #expect(await failure { try await bob.join(url) } == .unknownItem)
        // Who has accepted goes, and is asked anew.
        let invitee = try await ann.participant(bob)
        let joined = try await bob.join(try await ann.edit(zone) { $0.addParticipant(invitee) }.url)
        let anew = try await ann.participant(bob)
        let after = try await ann.edit(zone) { share in
            share.removeParticipant(try #require(share.participant(bob)))
            share.addParticipant(anew)
        }
        #expect(after.participant(bob)?.acceptanceStatus == .pending)
        #expect(await failure { try await bob.shared.save(bob.note(in: joined, "x")) } == .zoneNotFound)
        try await bob.join(after.url)
    }

    // MARK: One person in two places

    /// Carol, who administers the share since later, cannot read that Bob came by the address that she invites.
    @Test func aSecondInvitationOfSomebodyIsOneByItself() async throws {
        let server = try ServerProcess()
        defer { server.stop() }
        let (ann, bob, carol) = (try await Person(server), try await Person(server), try await Person(server))
        let mail = address()
        try await bob.link(mail, discoverable: false)
        let (zone, _, url) = try await invited(
            ann, try await ann.container.shareParticipant(forEmailAddress: mail, permission: .readWrite))
        try await bob.join(url)
        try await ann.promote(bob, in: zone)
        let invitee = try await ann.participant(carol, .readWrite)
        let carols = try await carol.join(try await ann.edit(zone) { $0.addParticipant(invitee) }.url)
        try await ann.promote(carol, in: zone)
        let second = try await carol.container.shareParticipant(forEmailAddress: mail, permission: .readWrite)
        try await carol.edit(carols) { $0.addParticipant(second) }

        let renamed = try await ann.edit(zone) { $0.title = "Vegetables" }
        #expect(renamed.participants.map(\.acceptanceStatus) == [.accepted, .accepted, .accepted, .pending])
        let lowered = try await carol.edit(carols) { share in
            var pending = try #require(share.participants.last)
            pending.permission = .readOnly
            share.addParticipant(pending)
        }
        #expect(lowered.participants.last?.permission == .readOnly)
        #expect(lowered.participant(bob)?.permission == .readWrite)
        let after = try await ann.edit(zone) { $0.removeParticipant(try #require($0.participants.last)) }
        #expect(after.participants.count == 3)
        #expect(after.participant(bob)?.role == .administrator)
    }

    // MARK: The public

    @Test func whoJoinedByThePublicURLIsInvitedWhereThatIsClosed() async throws {
        let (ann, bob, carol) = (try await Person(), try await Person(), try await Person())
        let (zone, _, _) = try await ann.share()
        let open = try await ann.edit(zone) { $0.publicPermission = .readOnly }
        for person in [bob, carol] { try await person.join(open.url) }
        let invitee = try await ann.participant(bob, .readWrite)
        let closed = try await ann.edit(zone) { share in
            share.publicPermission = .none
            share.addParticipant(invitee)
        }
        #expect(closed.participants.count == 2)
        #expect(closed.participant(bob)?.acceptanceStatus == .pending)
        #expect(closed.participant(bob)?.permission == .readWrite)
        #expect(closed.participant(carol) == nil)
        let joined = try await bob.join(closed.url)
        try await bob.shared.save(bob.note(in: joined, "by name"))
        #expect(await failure { try await carol.join(closed.url) } == .unknownItem)
    }

    @Test func aNewParticipantsRoleIsNotLeftOut() async throws {
        let (ann, bob) = (try await Person(), try await Person())
        let (zone, _, share) = try await ann.share(with: [(bob, .readWrite)])
        try await bob.join(share.url)
        var anew = Share(recordZoneID: zone)
        var participant = try await ann.participant(bob, .readWrite)
        participant.role = .administrator
        anew.addParticipant(participant)
        #expect(try await ann.own.save(anew).participant(bob)?.role == .administrator)
    }
}
