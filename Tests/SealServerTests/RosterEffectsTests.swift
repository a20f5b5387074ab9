import Foundation
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// What goes from the tables with somebody's seat: nothing stays for who is out, and nothing goes of who is in.
@Suite(.timeLimit(.minutes(60))) struct RosterEffectsTests {
    /// Whom grants, links, addresses, sealed links and requests are kept for, as text.
    private func kept(_ server: RunningServer, _ names: [String: ID16]) async throws -> [String] {
        let known = Dictionary(names.map { ($1.bytes, $0) }) { first, _ in first }
        @Sendable func name(_ bytes: [UInt8]) -> String { bytes.isEmpty ? "everybody" : known[bytes] ?? "somebody" }
        return try await server.services.database.read { connection in
            var all: [String] = []
            for (what, sql) in [
                ("grant", "SELECT subject AS who FROM epoch_grant"), ("link", "SELECT invitation AS who FROM link"),
                ("address", "SELECT invitation AS who FROM placeholder_address"),
                ("sealed link", "SELECT reader AS who FROM sealed_link"),
            ] {
                all += try connection.rows(sql) { row in
                    let subject = try row.bytes("who")
                    return "\(what) \(name(subject))"
                }
            }
            let requests = "SELECT i.user_name, r.approved FROM access_request r JOIN identity i ON i.id = r.requester"
            all += try connection.rows(requests) { row in
                let requester = try row.text("user_name")
                let person = names.first { UserID($0.value).recordName == requester }?.key ?? "somebody"
                return try row.bool("approved") ? "approved \(person)" : "request \(person)"
            }
            return Set(all).sorted()
        }
    }

    @Test func whoGoesLeavesNothingBehind() async throws {
        try await RunningServer.with { server in
            let (anna, bert, carl, dora) = (
                try await Person.ready(server), try await Person.ready(server), try await Person.ready(server),
                try await Person.ready(server)
            )
            var zone = try await anna.makeSharedZone()
            try await anna.share(&zone, with: bert)
            // Carl asks, and is invited; Dora comes by a link of her own.
            try await anna.updateAccess(zone, allows: true)
            try await carl.ask([UInt8](try await anna.links(zone).links[0].routingID))
            let seat = try anna.invitation(to: nil, in: zone)
            let names = [
                "Anna": anna.user.id, "Bert": bert.user.id, "Carl": carl.user.id, "Dora": dora.user.id,
                "seat": seat.keys.id,
            ]
            #expect(try await kept(server, names) == ["grant Anna", "grant Bert", "link everybody", "request Carl"])
            try await anna.share(&zone, with: carl)
            try await anna.append(try anna.next(on: zone, invitations: [seat.draft]), to: &zone, links: [seat.link])
            #expect(
                try await kept(server, names) == [
                    "approved Carl", "grant Anna", "grant Bert", "grant Carl", "grant seat", "link everybody",
                    "link seat",
                ])
            // The grant was the seat's; its link goes on leading who took it to the share.
            try await dora.accept(seat, in: &zone)
            let all = [
                "approved Carl", "grant Anna", "grant Bert", "grant Carl", "grant Dora", "link everybody", "link seat",
            ]
            #expect(try await kept(server, names) == all)
            try await anna.remove(carl, from: &zone)
            let epochs = try await kept(server, names)
            #expect(Set(epochs) == Set(all.filter { !$0.hasSuffix("Carl") }))
            try await dora.append(dora.author.plain(.leave, on: zone.roster, time: 5), to: &zone)
            #expect(Set(try await kept(server, names)) == ["grant Anna", "grant Bert", "link everybody"])
        }
    }

    @Test func aSeatThatIsTakenBackLeavesNothingBehind() async throws {
        try await RunningServer.with { server in
            let (anna, carl) = (try await Person.ready(server), try await Person.ready(server))
            var zone = try await anna.makeSharedZone()
            // For an address, and for somebody who has asked.
            let placeholder = try anna.invitation(to: nil, in: zone)
            let asked = try anna.invitation(to: carl, in: zone)
            let names = [
                "Anna": anna.user.id, "Carl": carl.user.id, "placeholder": placeholder.keys.id, "seat": asked.keys.id,
            ]
            try await anna.append(
                try anna.next(on: zone, invitations: [placeholder.draft]), to: &zone, links: [placeholder.link],
                addresses: [(placeholder.keys.id, "carl@example.org")])
            var shareWide = Sealkit_V1_Link()
            shareWide.routingID = Data(randomBytes(16))
            try await anna.append(
                try anna.next(on: zone, [.settings(.init(linkID: Digest(randomBytes(32))))]), to: &zone,
                links: [shareWide])
            try await anna.updateAccess(zone, allows: true)
            try await carl.ask([UInt8](shareWide.routingID))
            try await anna.append(try anna.next(on: zone, invitations: [asked.draft]), to: &zone)
            #expect(
                try await kept(server, names) == [
                    "address placeholder", "approved Carl", "grant Anna", "grant placeholder", "grant seat",
                    "link everybody",
                    "link placeholder",
                ])
            try await anna.append(
                try anna.next(on: zone, [.revoke(placeholder.keys.id), .revoke(asked.keys.id)], rotating: true),
                to: &zone)
            #expect(try await kept(server, names) == ["grant Anna", "link everybody"])
            // Blocked, nobody waits for an answer.
            try await carl.ask([UInt8](shareWide.routingID))
            #expect(try await kept(server, names) == ["grant Anna", "link everybody", "request Carl"])
            try await anna.append(try anna.next(on: zone, [.block(carl.user)], rotating: true), to: &zone)
            #expect(try await kept(server, names) == ["grant Anna", "link everybody"])
        }
    }

    @Test func aPublicSeatThatIsReplacedLeavesNoGrant() async throws {
        try await RunningServer.with { server in
            let anna = try await Person.ready(server)
            var zone = try await anna.makeSharedZone()
            let first = try anna.publicSeat(in: zone)
            try await anna.append(first.draft, to: &zone, links: [first.link])
            let second = try anna.publicSeat(in: zone, .readWrite, rotating: true)
            let names = ["Anna": anna.user.id, "first": first.keys.id, "second": second.keys.id]
            #expect(try await kept(server, names) == ["grant Anna", "grant first", "link everybody"])
            try await anna.append(second.draft, to: &zone, links: [second.link])
            #expect(try await kept(server, names) == ["grant Anna", "grant second", "link everybody"])
            let linkID = try #require(zone.roster.linkID)
            try await anna.append(
                try anna.next(on: zone, [.settings(.init(linkID: linkID))], rotating: true), to: &zone)
            #expect(try await kept(server, names) == ["grant Anna", "link everybody"])
        }
    }

    /// Copies of the share's secret are its administrators', as long as they are and it is.
    @Test func sealedLinksAreTheAdministrators() async throws {
        try await RunningServer.with { server in
            let (anna, bert, carl) = (
                try await Person.ready(server), try await Person.ready(server), try await Person.ready(server)
            )
            var zone = try await anna.makeSharedZone()
            for person in [bert, carl] { try await anna.share(&zone, with: person) }
            try await anna.append(
                try anna.next(on: zone, [.setRole(bert.user, .administrator), .setRole(carl.user, .administrator)]),
                to: &zone)
            let names = ["Anna": anna.user.id, "Bert": bert.user.id, "Carl": carl.user.id]
            func sealed() async throws -> [String] { try await kept(server, names).filter { $0.hasPrefix("sealed") } }
            let copies = [anna.sealedLink(), bert.sealedLink(), carl.sealedLink()]
            try await anna.updateLinks(zone, .with { $0.sealedLinks = copies })
            #expect(try await sealed() == ["sealed link Anna", "sealed link Bert", "sealed link Carl"])
            try await anna.append(
                try anna.next(on: zone, [.setRole(bert.user, .privateUser)], rotating: true), to: &zone)
            #expect(try await sealed() == ["sealed link Anna", "sealed link Carl"])
            try await anna.remove(carl, from: &zone)
            #expect(try await sealed() == ["sealed link Anna"])
            try await anna.append(
                try anna.next(on: zone, [.settings(.init(linkID: Digest(randomBytes(32))))]), to: &zone)
            #expect(try await sealed().isEmpty)
        }
    }
}
