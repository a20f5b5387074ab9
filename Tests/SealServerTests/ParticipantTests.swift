import AsyncHTTPClient
import Foundation
import NIOCore
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealKit
@testable import SealServer
@testable import SealService

/// What the server checks and keeps of administrators, the public, and those who ask for access.
@Suite(.timeLimit(.minutes(60))) struct ServerParticipantTests {
    /// Anna's shared zone, with Bert in it.
    func withBert(
        _ role: SealStatements.Role = .privateUser,
        _ body: @Sendable (Person, Person, TestZone, RunningServer) async throws -> Void
    ) async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            let bert = try await Person.ready(server)
            var zone = try await anna.makeSharedZone()
            try await anna.share(&zone, with: bert)
            if role == .administrator {
                try await anna.append(try anna.next(on: zone, [.setRole(bert.user, .administrator)]), to: &zone)
            }
            try await body(anna, bert, zone, server)
        }
    }

    // MARK: Links

    @Test func linksAreForThoseWhoAdminister() async throws {
        try await withBert { anna, bert, made, _ in
            var zone = made
            let before = zone
            let refused1 = try await refusal { try await bert.links(before) }
            #expect(refused1 == .permissionFailure)
            let refused2 = try await refusal { try await bert.updateLinks(before) }
            #expect(refused2 == .permissionFailure)
            let refused3 = try await refusal { try await bert.access(before) }
            #expect(refused3 == .permissionFailure)
            let refused4 = try await refusal { try await bert.updateAccess(before, allows: true) }
            #expect(refused4 == .permissionFailure)
            // Sealed for one who is no administrator yet, then for one who becomes one by the same entry.
            let copy = bert.sealedLink()
            let promotion = try anna.next(on: zone, [.setRole(bert.user, .administrator)])
            var request = anna.appendRequest(promotion, to: zone)
            request.sealedLinks = [copy]
            let (early, sent) = (Sealkit_V1_UpdateLinksRequest.with { $0.sealedLinks = [copy] }, request)
            let refused5 = try await refusal { try await anna.updateLinks(before, early) }
            #expect(refused5 == .invalidArguments)
            _ = try await anna.send(sent, to: zone)
            try zone.roster.append(promotion.entry)
            let promoted = zone
            #expect(try await bert.links(zone).sealedLink == copy.sealed)
            #expect(try await anna.links(zone).sealedLink.isEmpty)
            // The share-wide link comes, the secret that its maker keeps does not.
            let links = try await bert.links(zone).links
            #expect(links.count == 1 && links[0].keptSecret.isEmpty && !links[0].preview.isEmpty)
            #expect(try await anna.links(zone).links[0].keptSecret == Data([1, 2, 3]))

            // Not well formed, twice, or for somebody else.
            for wrong in [
                [copy, copy],
                [
                    .with {
                        $0.reader = Data([1])
                        $0.sealed = Data([1])
                    }
                ], [.with { $0.reader = copy.reader }],
                [
                    .with {
                        $0.reader = Data(randomBytes(16))
                        $0.sealed = Data([1])
                    }
                ],
                [
                    .with {
                        $0.reader = copy.reader
                        $0.sealed = Data(count: 4_097)
                    }
                ],
            ] as [[Sealkit_V1_SealedLink]] {
                let message = Sealkit_V1_UpdateLinksRequest.with { $0.sealedLinks = wrong }
                let refused6 = try await refusal { try await anna.updateLinks(promoted, message) }
                #expect(refused6 == .invalidArguments)
            }
            let many = Sealkit_V1_UpdateLinksRequest.with { $0.sealedLinks = Array(repeating: copy, count: 102) }
            let refused7 = try await refusal { try await anna.updateLinks(promoted, many) }
            #expect(refused7 == .limitExceeded)

            // Who is no administrator any more, has no copy.
            try await anna.append(
                try anna.next(on: zone, [.setRole(bert.user, .privateUser)], rotating: true), to: &zone)
            try await anna.append(try anna.next(on: zone, [.setRole(bert.user, .administrator)]), to: &zone)
            #expect(try await bert.links(zone).sealedLink.isEmpty)
        }
    }

    @Test func previewsAreRenewedByWhoMadeTheLink() async throws {
        try await withBert(.administrator) { anna, bert, made, server in
            var zone = made
            let own = try bert.invitation(to: nil, in: zone)
            try await bert.append(try bert.next(on: zone, invitations: [own.draft]), to: &zone, links: [own.link])
            let current = zone
            let shareWide = try await anna.links(zone).links[0].routingID
            func update(_ routing: Data, _ preview: Int = 1) -> Sealkit_V1_UpdateLinksRequest {
                .with {
                    $0.links = [
                        .with {
                            $0.routingID = routing
                            $0.preview = Data(repeating: 9, count: preview)
                        }
                    ]
                }
            }
            // Anna does not even see the one that Bert made.
            #expect(try await anna.links(zone).links.count == 1)
            #expect(try await bert.links(zone).links.count == 2)
            let (theirs, unknown) = (update(Data(own.routingID)), update(Data(randomBytes(16))))
            let (large, short) = (update(shareWide, 65_537), update(Data([1])))
            let refused8 = try await refusal { try await anna.updateLinks(current, theirs) }
            #expect(refused8 == .unknownItem)
            let refused9 = try await refusal { try await bert.updateLinks(current, unknown) }
            #expect(refused9 == .unknownItem)
            let refused10 = try await refusal { try await bert.updateLinks(current, large) }
            #expect(refused10 == .limitExceeded)
            let refused11 = try await refusal { try await bert.updateLinks(current, short) }
            #expect(refused11 == .invalidArguments)
            try await bert.updateLinks(zone, theirs)
            try await bert.updateLinks(zone, update(shareWide))
            let carl = try await Person.ready(server)
            #expect(try await carl.metadata(own.routingID).preview == Data([9]))
            #expect(try await bert.metadata([UInt8](shareWide)).preview == Data([9]))
        }
    }

    /// What a maker keeps of a link is the maker's alone: an administrator seals its preview anew and changes nothing
    /// else.
    @Test func anAdministratorLeavesTheSecretThatTheOwnerKeeps() async throws {
        try await withBert(.administrator) { anna, bert, zone, _ in
            var link = try await anna.links(zone).links[0]
            let kept = link.keptSecret
            #expect(!kept.isEmpty)
            (link.preview, link.keptSecret) = (Data([9]), Data([8, 8]))
            let sent = link
            try await bert.updateLinks(zone, .with { $0.links = [sent] })
            let after = try await anna.links(zone).links[0]
            #expect(after.preview == Data([9]))
            #expect(after.keptSecret == kept)
        }
    }

    @Test func anAdministratorReplacesTheShareWideLinkOnlyByRenewingIt() async throws {
        try await withBert(.administrator) { anna, bert, made, _ in
            var zone = made
            let before = try await anna.links(zone).links[0].routingID
            var link = Sealkit_V1_Link()
            link.routingID = Data(randomBytes(16))
            let taken = bert.appendRequest(try bert.next(on: zone, rotating: true), to: zone, links: [link])
            let current = zone
            let refused12 = try await refusal { try await bert.send(taken, to: current) }
            #expect(refused12 == .permissionFailure)
            #expect(try await anna.links(zone).links[0].routingID == before)
            let renewal = try bert.next(on: zone, [.settings(.init(linkID: Digest(randomBytes(32))))])
            try await bert.append(renewal, to: &zone, links: [link])
            #expect(try await anna.links(zone).links[0].routingID == link.routingID)
            #expect(try await anna.links(zone).links[0].keptSecret.isEmpty)
        }
    }

    // MARK: The public

    @Test func aPublicSeatIsThereForAnybody() async throws {
        try await withBert { anna, _, made, server in
            var zone = made
            let carl = try await Person.ready(server)
            let seat = try anna.publicSeat(in: zone)
            // Without the seat's grant it is not taken.
            var bare = anna.appendRequest(seat.draft, to: zone, links: [seat.link])
            bare.grants = []
            let (sent, current) = (bare, zone)
            let refused13 = try await refusal { try await anna.send(sent, to: current) }
            #expect(refused13 == .integrityFailure)
            try await anna.append(seat.draft, to: &zone, links: [seat.link])
            let metadata = try await carl.metadata(seat.routingID)
            #expect([UInt8](metadata.invitationID) == seat.keys.id.bytes)
            #expect(metadata.grant.subjectKind == 2)
            try await carl.acceptPublic(seat, in: &zone)
            #expect(zone.roster.members[carl.user]?.role == .publicUser)
            #expect(try await carl.zones(shared: true).count == 1)
            // No invitations beside it.
            let invitation = try anna.invitation(to: nil, in: zone)
            let mixed = anna.appendRequest(
                try anna.next(on: zone, invitations: [invitation.draft]), to: zone, links: [invitation.link])
            let open = zone
            let refused14 = try await refusal { try await anna.send(mixed, to: open) }
            #expect(refused14 == .invalidArguments)

            // Closed: whoever joined is out, and its grant goes.
            try await anna.append(
                try anna.next(on: zone, [.settings(.init(linkID: try #require(zone.roster.linkID)))], rotating: true),
                to: &zone)
            #expect(zone.roster.members[carl.user] == nil)
            #expect(try await carl.zones(shared: true).isEmpty)
            let refused15 = try await refusal { try await carl.metadata(seat.routingID) }
            #expect(refused15 == .unknownItem)
        }
    }

    @Test func openingWithInvitationsIsRefused() async throws {
        try await withBert { anna, _, made, _ in
            var zone = made
            let invitation = try anna.invitation(to: nil, in: zone)
            try await anna.append(
                try anna.next(on: zone, invitations: [invitation.draft]), to: &zone, links: [invitation.link])
            let seat = try anna.publicSeat(in: zone)
            let (request, current) = (anna.appendRequest(seat.draft, to: zone, links: [seat.link]), zone)
            let refused16 = try await refusal { try await anna.send(request, to: current) }
            #expect(refused16 == .invalidArguments)
        }
    }

    @Test func blockedPeopleFindNoShareByAnyURL() async throws {
        try await withBert { anna, bert, made, server in
            var zone = made
            let carl = try await Person.ready(server)
            try await anna.append(try anna.next(on: zone, [.block(carl.user)], rotating: true), to: &zone)
            let seat = try anna.publicSeat(in: zone)
            try await anna.append(seat.draft, to: &zone, links: [seat.link])
            let refused17 = try await refusal { try await carl.metadata(seat.routingID) }
            #expect(refused17 == .unknownItem)
            let (request, _) = try carl.publicAcceptance(seat, in: zone)
            let refused18 = try await refusal { try await carl.send(request) }
            #expect(refused18 == .unknownItem)
            _ = bert
        }
    }

    @Test func thePublicIsBoundedLikeEverybody() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            var zone = try await anna.makeSharedZone()
            let seat = try anna.publicSeat(in: zone)
            try await anna.append(seat.draft, to: &zone, links: [seat.link])
            for _ in 0..<Limits.participantsPerScope {
                try await (try await Person.ready(server)).acceptPublic(seat, in: &zone)
            }
            let last = try await Person.ready(server)
            // Its own core would refuse to make the entry: it is made for a roster with room.
            let request = try last.publicAcceptance(seat, in: zone).request
            let refused19 = try await refusal { try await last.send(request) }
            #expect(refused19 == .tooManyParticipants)
        }
    }

    // MARK: One-time URLs

    @Test func theFirstClaimerKeepsTheURLAndNobodyElseHasIt() async throws {
        try await withBert { anna, _, made, server in
            var zone = made
            let (carl, dora) = (try await Person.ready(server), try await Person.ready(server))
            let single = try anna.invitation(to: nil, in: zone)
            try await anna.append(try anna.next(on: zone, invitations: [single.draft]), to: &zone, links: [single.link])
            #expect(try await carl.metadata(single.routingID).invitationID == Data(single.keys.id.bytes))
            let (late, _) = try dora.acceptRequest(single, in: zone)
            try await carl.accept(single, in: &zone)
            let refused20 = try await refusal { try await dora.send(late) }
            #expect(refused20 == .unknownItem)
            #expect(try await carl.metadata(single.routingID).alreadyMember)
            let refused21 = try await refusal { try await dora.metadata(single.routingID) }
            #expect(refused21 == .unknownItem)
            try await anna.remove(carl, from: &zone)
            let refused22 = try await refusal { try await carl.metadata(single.routingID) }
            #expect(refused22 == .unknownItem)
        }
    }
}
