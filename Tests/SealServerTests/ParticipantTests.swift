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

/// What the server checks and keeps of administrators, the public, and those who ask for access.
@Suite struct ServerParticipantTests {
    typealias Draft = RosterAuthor<XWingHPKE>.Draft

    /// Anna's shared zone, with Bert in it.
    private func withBert(
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
            #expect(try await refusal { try await bert.links(before) } == .permissionFailure)
            #expect(try await refusal { try await bert.updateLinks(before) } == .permissionFailure)
            #expect(try await refusal { try await bert.access(before) } == .permissionFailure)
            #expect(try await refusal { try await bert.updateAccess(before, allows: true) } == .permissionFailure)
            // Sealed for one who is no administrator yet, then for one who becomes one by the same entry.
            let copy = bert.sealedLink()
            let promotion = try anna.next(on: zone, [.setRole(bert.user, .administrator)])
            var request = anna.appendRequest(promotion, to: zone)
            request.sealedLinks = [copy]
            let (early, sent) = (Sealkit_V1_UpdateLinksRequest.with { $0.sealedLinks = [copy] }, request)
            #expect(try await refusal { try await anna.updateLinks(before, early) } == .invalidArguments)
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
                [copy, copy], [.with { $0.reader = Data([1]); $0.sealed = Data([1]) }], [.with { $0.reader = copy.reader }],
                [.with { $0.reader = Data(randomBytes(16)); $0.sealed = Data([1]) }],
                [.with { $0.reader = copy.reader; $0.sealed = Data(count: 4_097) }],
            ] as [[Sealkit_V1_SealedLink]] {
                let message = Sealkit_V1_UpdateLinksRequest.with { $0.sealedLinks = wrong }
                #expect(try await refusal { try await anna.updateLinks(promoted, message) } == .invalidArguments)
            }
            let many = Sealkit_V1_UpdateLinksRequest.with { $0.sealedLinks = Array(repeating: copy, count: 102) }
            #expect(try await refusal { try await anna.updateLinks(promoted, many) } == .limitExceeded)

            // Who is no administrator any more, has no copy.
            try await anna.append(try anna.next(on: zone, [.setRole(bert.user, .privateUser)], rotating: true), to: &zone)
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
            #expect(try await refusal { try await anna.updateLinks(current, theirs) } == .unknownItem)
            #expect(try await refusal { try await bert.updateLinks(current, unknown) } == .unknownItem)
            #expect(try await refusal { try await bert.updateLinks(current, large) } == .limitExceeded)
            #expect(try await refusal { try await bert.updateLinks(current, short) } == .invalidArguments)
            try await bert.updateLinks(zone, theirs)
            try await bert.updateLinks(zone, update(shareWide))
            let carl = try await Person.ready(server)
            #expect(try await carl.metadata(own.routingID).preview == Data([9]))
            #expect(try await bert.metadata([UInt8](shareWide)).preview == Data([9]))
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
            #expect(try await refusal { try await bert.send(taken, to: current) } == .permissionFailure)
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
            #expect(try await refusal { try await anna.send(sent, to: current) } == .integrityFailure)
            try await anna.append(seat.draft, to: &zone, links: [seat.link])
            let metadata = try await carl.metadata(seat.routingID)
            #expect([UInt8](metadata.invitationID) == seat.keys.id.bytes && metadata.grant.subjectKind == 2)
            try await carl.acceptPublic(seat, in: &zone)
            #expect(zone.roster.members[carl.user]?.role == .publicUser)
            #expect(try await carl.zones(shared: true).count == 1)
            // No invitations beside it.
            let invitation = try anna.invitation(to: nil, in: zone)
            let mixed = anna.appendRequest(try anna.next(on: zone, invitations: [invitation.draft]), to: zone, links: [invitation.link])
            let open = zone
            #expect(try await refusal { try await anna.send(mixed, to: open) } == .invalidArguments)

            // Closed: whoever joined is out, and its grant goes.
            try await anna.append(
                try anna.next(on: zone, [.settings(.init(linkID: try #require(zone.roster.linkID)))], rotating: true), to: &zone)
            #expect(zone.roster.members[carl.user] == nil)
            #expect(try await carl.zones(shared: true).isEmpty)
            #expect(try await refusal { try await carl.metadata(seat.routingID) } == .unknownItem)
        }
    }

    @Test func openingWithInvitationsIsRefused() async throws {
        try await withBert { anna, _, made, _ in
            var zone = made
            let invitation = try anna.invitation(to: nil, in: zone)
            try await anna.append(try anna.next(on: zone, invitations: [invitation.draft]), to: &zone, links: [invitation.link])
            let seat = try anna.publicSeat(in: zone)
            let (request, current) = (anna.appendRequest(seat.draft, to: zone, links: [seat.link]), zone)
            #expect(try await refusal { try await anna.send(request, to: current) } == .invalidArguments)
        }
    }

    @Test func blockedPeopleFindNoShareByAnyURL() async throws {
        try await withBert { anna, bert, made, server in
            var zone = made
            let carl = try await Person.ready(server)
            try await anna.append(try anna.next(on: zone, [.block(carl.user)], rotating: true), to: &zone)
            let seat = try anna.publicSeat(in: zone)
            try await anna.append(seat.draft, to: &zone, links: [seat.link])
            #expect(try await refusal { try await carl.metadata(seat.routingID) } == .unknownItem)
            let (request, _) = try carl.publicAcceptance(seat, in: zone)
            #expect(try await refusal { try await carl.send(request) } == .unknownItem)
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
            #expect(try await refusal { try await last.send(request) } == .tooManyParticipants)
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
            #expect(try await refusal { try await dora.send(late) } == .unknownItem)
            #expect(try await carl.metadata(single.routingID).alreadyMember)
            #expect(try await refusal { try await dora.metadata(single.routingID) } == .unknownItem)
            try await anna.remove(carl, from: &zone)
            #expect(try await refusal { try await carl.metadata(single.routingID) } == .unknownItem)
        }
    }

    // MARK: Access requests

    @Test func aRequestIsToldToTheOwnerAndAnswered() async throws {
        try await withBert { anna, bert, zone, server in
            let carl = try await Person.ready(server)
            let routing = [UInt8](try await anna.links(zone).links[0].routingID)
            #expect(try await refusal { try await carl.ask(routing) } == .unknownItem)
            #expect(try await refusal { try await carl.shareOwner(routing) } == .unknownItem)
            try await anna.updateAccess(zone, allows: true)
            #expect(try await carl.shareOwner(routing).zone.zoneName == zone.name)
            try await anna.subscribe(.database())
            try await bert.subscribe(.database(), in: "shared")
            let (annas, berts) = (try await anna.listen(), try await bert.listen())
            let (annaBefore, bertBefore) = (try await anna.zoneChanges().token, try await bert.zoneChanges(shared: true).token)
            try await carl.ask(routing)
            _ = try await annas.notification()
            #expect(try await anna.zoneChanges(annaBefore).modifications.count == 1)
            // Asking again wakes nobody, and who answers nothing hears of nothing: the next that Bert hears of is a record.
            try await carl.ask(routing)
            #expect(try await bert.zoneChanges(bertBefore, shared: true).modifications.isEmpty)
            #expect(try await anna.access(zone).requesters.count == 1)
            try await anna.updateAccess(zone, denied: [carl.user.recordName])
            #expect(try await anna.access(zone).requesters.isEmpty)
            _ = (annas, berts)
        }
    }

    @Test func whatIsAskedHasToBeWellFormed() async throws {
        try await withBert { anna, bert, zone, server in
            let carl = try await Person.ready(server)
            let routing = [UInt8](try await anna.links(zone).links[0].routingID)
            try await anna.updateAccess(zone, allows: true)
            #expect(try await refusal { try await carl.ask(routing, id: 15) } == .invalidArguments)
            #expect(try await refusal { try await carl.ask(routing, contact: 0) } == .invalidArguments)
            #expect(try await refusal { try await carl.ask(routing, contact: 4_097) } == .invalidArguments)
            #expect(try await refusal { try await carl.ask(randomBytes(16)) } == .unknownItem)
            #expect(try await refusal { try await bert.ask(routing) } == .invalidArguments)
            #expect(try await refusal { try await anna.ask(routing) } == .invalidArguments)
            #expect(try await refusal { try await anna.updateAccess(zone, denied: ["nobody"]) } == .invalidArguments)
            let many = Array(repeating: carl.user.recordName, count: 101)
            #expect(try await refusal { try await anna.updateAccess(zone, denied: many) } == .limitExceeded)
            let unshared = try await anna.makeZone("unshared")
            #expect(try await refusal { try await anna.updateAccess(unshared, allows: true) } == .unknownItem)
            // The zone's end is the end of its requests.
            try await carl.ask(routing)
            _ = try await anna.deleteZone(zone)
            #expect(try await refusal { try await carl.ask(routing) } == .unknownItem)
        }
    }

    // MARK: The page

    @Test func thePageNamesTheFallbackOfEveryContainerAndIsTheSameForAll() async throws {
        let fallback = ["org.example.notes": "https://notes.example.org/get?a=1&b=2", "org.example.tasks": "https://tasks.example.org"]
        try await RunningServer.with(fallbackURLs: fallback) { server in
            let client = try TestClient(server)
            let first = try await client.raw("GET", "/s/" + String(repeating: "A", count: 22)).body
            let second = try await client.raw("GET", "/s/" + String(repeating: "B", count: 22)).body
            #expect(first == second)
            let page = String(decoding: first, as: UTF8.self)
            #expect(page.contains(#"<a rel="noreferrer" href="https://notes.example.org/get?a=1&amp;b=2">org.example.notes</a>"#))
            #expect(page.contains("https://tasks.example.org") && !page.contains("<script"))
        }
        try await RunningServer.with { server in
            let page = String(decoding: try await TestClient(server).raw("GET", "/s/x").body, as: UTF8.self)
            #expect(page.contains("sealkit share accept") && !page.contains("No app opened it?"))
        }
    }

    @Test func aFallbackIsOneHTTPSURLOfAContainer() async throws {
        func load(_ text: String) async throws -> [String: String] {
            try await ServerConfiguration.load(flags: ["data": "/data", "fallback-url": text], environment: [:]).fallbackURLs
        }
        #expect(try await load("a.b=https://x.example.org/get?a=b c=https://y.example.org") == ["a.b": "https://x.example.org/get?a=b", "c": "https://y.example.org"])
        for wrong in [
            "https://x.example.org", "a b=https://x.example.org", "a=http://x.example.org", "a=javascript:alert(1)",
            #"a=https://x.example.org/"onclick="#, "a=https://u:p@x.example.org", "a=https://x.example.org,a=https://y.example.org",
            "a=https://x.example.org/" + String(repeating: "x", count: 2_048), "a=https://",
        ] {
            await #expect(throws: ConfigurationError.self) { try await load(wrong) }
        }
    }
}
