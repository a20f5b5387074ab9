import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import SealCoding
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealEnvelope
@testable import SealKit
@testable import SealServer
@testable import SealService
@testable import SealStorage

extension SharingTests {
    @Test func strangersLearnNothing() async throws {
        try await withTwo { anna, bert, made, server in
            var zone = made
            let carl = try await Person.ready(server)
            let invitation = try anna.invitation(to: bert, in: zone, expires: server.clock.now + 1_000_000)
            try await anna.append(
                try anna.next(on: zone, invitations: [invitation.draft]), to: &zone, links: [invitation.link])
            #expect(try await refusal { try await carl.metadata(invitation.routingID) } == .unknownItem)
            #expect(try await refusal { try await carl.metadata(randomBytes(16)) } == .unknownItem)
            #expect(try await refusal { try await carl.metadata([1]) } == .unknownItem)
            // Carl cannot take Bert's seat, nor have Bert's grant.
            let (stolen, _) = try carl.acceptRequest(invitation, in: zone)
            #expect(try await refusal { try await carl.send(stolen) } == .unknownItem)
            // Bert's acceptance sent by Carl, and what Bert might get wrong.
            let (request, _) = try bert.acceptRequest(invitation, in: zone)
            #expect(try await refusal { try await carl.send(request) } == .unknownItem)
            func code(_ change: (inout Sealkit_V1_AcceptShareRequest) -> Void) async throws -> ErrorCode? {
                var changed = request
                changed.operationID = Data(randomBytes(16))
                change(&changed)
                let sent = changed
                return try await refusal { try await bert.send(sent) }
            }
            #expect(try await code { $0.operationID = Data() } == .invalidArguments)
            #expect(try await code { $0.clearGrant() } == .invalidArguments)
            #expect(try await code { $0.grant.subject = Data(anna.user.id.bytes) } == .invalidArguments)
            #expect(try await code { $0.grant.epoch = 3 } == .invalidArguments)
            #expect(try await code { $0.entry.signature[0] ^= 1 } == .integrityFailure)
            #expect(try await code { $0.entry = stolen.entry } == .permissionFailure)
            let current = zone
            let leave = bert.author.plain(.leave, on: current.roster, time: 1)
            #expect(try await code { $0.entry = leave.entry.wire } == .invalidArguments)
            // Not by way of rosters/append either.
            var entry = bert.appendRequest(leave, to: zone)
            entry.entry = request.entry
            let sent = entry
            #expect(try await refusal { try await bert.send(sent, to: current) } == .invalidArguments)
            let first = try await bert.send(request)
            #expect(try await bert.send(request) == first)
            #expect(try await code { _ in } == .invalidArguments)
        }
    }

    @Test func expiredInvitationsAreOver() async throws {
        try await withTwo { anna, bert, made, server in
            var zone = made
            let invitation = try anna.invitation(to: bert, in: zone, expires: server.clock.now + 1_000_000)
            try await anna.append(
                try anna.next(on: zone, invitations: [invitation.draft]), to: &zone, links: [invitation.link])
            let (request, _) = try bert.acceptRequest(invitation, in: zone)
            server.clock.advance(seconds: 2)
            #expect(try await refusal { try await bert.metadata(invitation.routingID) } == .unknownItem)
            #expect(try await refusal { try await bert.send(request) } == .unknownItem)
        }
    }

    @Test func anAcceptanceOnAnOldHeadIsRefused() async throws {
        try await withTwo { anna, bert, made, _ in
            var zone = made
            let invitation = try anna.invitation(to: bert, in: zone)
            try await anna.append(
                try anna.next(on: zone, invitations: [invitation.draft]), to: &zone, links: [invitation.link])
            let (request, _) = try bert.acceptRequest(invitation, in: zone)
            try await anna.append(try anna.next(on: zone, rotating: true), to: &zone)
            #expect(try await refusal { try await bert.send(request) } == .rosterChanged)
            #expect(try await bert.metadata(invitation.routingID).grant.epoch == 1)
            try await bert.accept(invitation, in: &zone)
        }
    }

    /// Before somebody makes an account for a share: without one, and without anything about the share.
    @Test func aNewcomerIsToldOnlyWhetherThereIsASeat() async throws {
        try await withTwo { anna, bert, made, server in
            var zone = made
            let nobody = try TestClient(server)
            func ask(_ routingID: [UInt8]) async throws -> Sealkit_V1_AccountResponse {
                try await nobody.call(
                    "/1/share/newcomer", Sealkit_V1_ShareMetadataRequest.with { $0.routingID = Data(routingID) },
                    as: Sealkit_V1_AccountResponse.self)
            }
            let (named, waiting) = (try anna.invitation(to: bert, in: zone), try anna.invitation(to: nil, in: zone))
            let bearer = try anna.invitation(to: nil, in: zone, expires: server.clock.now + 1_000_000)
            try await anna.append(
                try anna.next(on: zone, invitations: [named.draft, waiting.draft, bearer.draft]), to: &zone,
                links: [named.link, waiting.link, bearer.link],
                addresses: [(waiting.keys.id, "bert@example.org")])
            // Whoever has the URL, or proves an address later.
            for routing in [waiting.routingID, bearer.routingID] {
                #expect(try await ask(routing) == Sealkit_V1_AccountResponse())
            }
            // The link of who is invited by name is the share-wide one: it opens nobody's placeholder, however proven.
            try await expectRefusal(.unknownItem) { try await ask(named.routingID) }
            // One that leads nowhere, and one that expires.
            try await expectRefusal(.unknownItem) { try await ask(randomBytes(16)) }
            server.clock.advance(seconds: 2)
            try await expectRefusal(.unknownItem) { try await ask(bearer.routingID) }
            // The first acceptance binds: nobody is left who is waited for.
            let begun = try await bert.client.begin("bert@example.org", routingID: waiting.routingID)
            let code = try await server.mail.code(1)
            let token = try await bert.client.complete(begun.verificationID, code, signer: bert.keys.signingKey)
            try await bert.accept(waiting, in: &zone, token: token)
            for routing in [waiting.routingID, named.routingID] {
                try await expectRefusal(.unknownItem) { try await ask(routing) }
            }
        }
    }

    /// For a client that no app has told: whoever has the URL and an account is told the container, and nothing else.
    @Test func aLinkTellsItsPlace() async throws {
        try await withTwo { anna, bert, made, server in
            var zone = made
            let invitation = try anna.invitation(to: bert, in: zone)
            try await anna.append(
                try anna.next(on: zone, invitations: [invitation.draft]), to: &zone, links: [invitation.link])
            var new = try TestClient(server)
            func ask(_ client: TestClient, _ routingID: [UInt8]) async throws -> Sealkit_V1_SharePlaceResponse {
                try await client.call(
                    "/1/share/place", Sealkit_V1_SharePlaceRequest.with { $0.routingID = Data(routingID) },
                    as: Sealkit_V1_SharePlaceResponse.self)
            }
            let nobody = new
            try await expectRefusal(.notAuthenticated) { try await ask(nobody, invitation.routingID) }
            // Without an identity in any container.
            new.token = try await new.create().token
            let newcomer = new
            let answer = try await ask(newcomer, invitation.routingID)
            #expect([answer.container, answer.environment] == [TestClient.container, "development"])
            try await expectRefusal(.unknownItem) { try await ask(newcomer, randomBytes(16)) }
            try await expectRefusal(.unknownItem) { try await ask(newcomer, [1]) }
            // To those who are blocked it is a link that leads nowhere.
            let carl = try await Person.ready(server)
            let known = try await ask(carl.client, invitation.routingID)
            #expect(known == answer)
            try await anna.append(try anna.next(on: zone, [.block(carl.user)], rotating: true), to: &zone)
            try await expectRefusal(.unknownItem) { try await ask(carl.client, invitation.routingID) }
        }
    }

    /// While a share is public its link has a seat for everybody.
    @Test func aNewcomerIsToldOfThePublicSeat() async throws {
        try await withTwo { anna, _, made, server in
            var zone = made
            let nobody = try TestClient(server)
            let seat = try anna.publicSeat(in: zone)
            let request = Sealkit_V1_ShareMetadataRequest.with { $0.routingID = Data(seat.routingID) }
            try await expectRefusal(.unknownItem) {
                try await nobody.call("/1/share/newcomer", request, as: Sealkit_V1_AccountResponse.self)
            }
            try await anna.append(seat.draft, to: &zone, links: [seat.link])
            let answer = try await nobody.call("/1/share/newcomer", request, as: Sealkit_V1_AccountResponse.self)
            #expect(answer == Sealkit_V1_AccountResponse())
        }
    }

    @Test func aPlaceholderProvesItsAddress() async throws {
        try await withTwo { anna, bert, made, server in
            var zone = made
            let carl = try await Person.ready(server)
            let invitation = try anna.invitation(to: nil, in: zone)
            var shareWide = invitation.link
            shareWide.invitationID = Data()
            shareWide.routingID = Data(randomBytes(16))
            try await anna.append(
                try anna.next(on: zone, invitations: [invitation.draft]), to: &zone,
                links: [invitation.link, shareWide],
                addresses: [(invitation.keys.id, "Bert@Example.org")])
            let open = zone
            // Whoever comes with a link may have been invited, and gets neither grant nor roster.
            for routing in [invitation.routingID, [UInt8](shareWide.routingID)] {
                try await expectRefusal(.participantMayNeedVerification) { try await bert.metadata(routing) }
            }
            let (early, _) = try bert.acceptRequest(invitation, in: open)
            try await expectRefusal(.participantMayNeedVerification) { try await bert.send(early) }
            let (bad, _) = try bert.acceptRequest(invitation, in: open, token: "v4.public.nonsense")
            try await expectRefusal(.verificationFailed) { try await bert.send(bad) }

            let begun = try await bert.client.begin("bert@example.org", routingID: invitation.routingID)
            let code = try await server.mail.code(1)
            let token = try await bert.client.complete(begun.verificationID, code, signer: bert.keys.signingKey)
            // The address is proven: the metadata comes, with the invitation's grant; by the share-wide link it does
            // not.
            #expect(try await bert.metadata(invitation.routingID).grant.subject == Data(invitation.keys.id.bytes))
            try await expectRefusal(.permissionFailure) { try await bert.metadata([UInt8](shareWide.routingID)) }
            // Nobody else can use the token.
            let (stolen, _) = try carl.acceptRequest(invitation, in: open, token: token)
            try await expectRefusal(.verificationFailed) { try await carl.send(stolen) }
            try await bert.accept(invitation, in: &zone, token: token)
            #expect(try await bert.codes([Write("a")], in: zone) == [nil])
            // The first acceptance binds: the link and its grant are gone.
            try await expectRefusal(.unknownItem) { try await carl.metadata(invitation.routingID) }
            let left = try await server.services.database.read { connection in
                try connection.rows("SELECT kind FROM epoch_grant") { try $0.int64("kind") }
            }
            #expect(left == [1, 1])

            // Once proven, the address is not asked for again.
            let second = try await anna.makeSharedZone("second")
            var other = second
            let next = try anna.invitation(to: nil, in: other)
            try await anna.append(
                try anna.next(on: other, invitations: [next.draft]), to: &other, links: [next.link],
                addresses: [(next.keys.id, "bert@example.org")])
            try await bert.accept(next, in: &other)
        }
    }

    @Test func oneHundredParticipantsAndNoMore() async throws {
        try await withTwo { anna, _, made, _ in
            var zone = made
            let invitations = try (0..<100).map { _ in try anna.invitation(to: nil, in: zone).draft }
            try await anna.append(try anna.next(on: zone, invitations: invitations), to: &zone)
            let full = zone
            let more = try anna.next(on: full, invitations: [try anna.invitation(to: nil, in: full).draft])
            try await expectRefusal(.tooManyParticipants) {
                try await anna.send(anna.appendRequest(more, to: full), to: full)
            }
        }
    }

    @Test func theSharePageTellsNothing() async throws {
        try await RunningServer.with { server in
            var bodies: Set<String> = []
            for id in ["AAAA", "BBBB"] {
                for method in [HTTPMethod.GET, .HEAD] {
                    var request = HTTPClientRequest(url: server.origin + "/s/" + id)
                    request.method = method
                    let response = try await HTTPClient.shared.execute(request, timeout: .seconds(5))
                    #expect(response.status == .ok)
                    #expect(
                        response.headers.first(name: "content-security-policy")
                            == "default-src 'none'; style-src 'unsafe-inline'")
                    #expect(response.headers.first(name: "referrer-policy") == "no-referrer")
                    let body = String(buffer: try await response.body.collect(upTo: 1 << 20))
                    if method == .GET { bodies.insert(body) } else { #expect(body.isEmpty) }
                }
            }
            #expect(bodies.count == 1)
            #expect(bodies.allSatisfy { $0.contains("sealkit share accept") && !$0.contains("<script") })
        }
    }
}
