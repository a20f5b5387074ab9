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

extension ServerParticipantTests {
    // MARK: Access requests

    @Test func aRequestIsToldToTheOwnerAndAnswered() async throws {
        try await withBert { anna, bert, zone, server in
            let carl = try await Person.ready(server)
            let routing = [UInt8](try await anna.links(zone).links[0].routingID)
            let refused23 = try await refusal { try await carl.ask(routing) }
            #expect(refused23 == .unknownItem)
            let refused24 = try await refusal { try await carl.shareOwner(routing) }
            #expect(refused24 == .unknownItem)
            try await anna.updateAccess(zone, allows: true)
            #expect(try await carl.shareOwner(routing).zone.zoneName == zone.name)
            try await anna.subscribe(.database())
            try await bert.subscribe(.database(), in: "shared")
            let (annas, berts) = (try await anna.listen(), try await bert.listen())
            let (annaBefore, bertBefore) = (
                try await anna.zoneChanges().token, try await bert.zoneChanges(shared: true).token
            )
            try await carl.ask(routing)
            _ = try await annas.notification()
            #expect(try await anna.zoneChanges(annaBefore).modifications.count == 1)
            // Asking again wakes nobody, and who answers nothing hears of nothing: the next that Bert hears of is a
            // record.
            try await carl.ask(routing)
            #expect(try await bert.zoneChanges(bertBefore, shared: true).modifications.isEmpty)
            #expect(try await anna.access(zone).requesters.count == 1)
            try await anna.updateAccess(zone, denied: [carl.user.recordName])
            #expect(try await anna.access(zone).requesters.isEmpty)
            _ = (annas, berts)
        }
    }

    /// Where nobody may ask any more, what was asked goes, and does not come back with the right to ask.
    @Test func whatWasAskedGoesWithTheRightToAsk() async throws {
        try await withBert { anna, _, zone, server in
            let carl = try await Person.ready(server)
            let routing = [UInt8](try await anna.links(zone).links[0].routingID)
            try await anna.updateAccess(zone, allows: true)
            try await carl.ask(routing)
            #expect(try await anna.access(zone).requesters.count == 1)
            try await anna.updateAccess(zone, allows: false)
            #expect(try await anna.access(zone).requesters.isEmpty)
            try await anna.updateAccess(zone, allows: true)
            #expect(try await anna.access(zone).requesters.isEmpty)
        }
    }

    @Test func whatIsAskedHasToBeWellFormed() async throws {
        try await withBert { anna, bert, zone, server in
            let carl = try await Person.ready(server)
            let routing = [UInt8](try await anna.links(zone).links[0].routingID)
            try await anna.updateAccess(zone, allows: true)
            let refused25 = try await refusal { try await carl.ask(routing, id: 15) }
            #expect(refused25 == .invalidArguments)
            let refused26 = try await refusal { try await carl.ask(routing, contact: 0) }
            #expect(refused26 == .invalidArguments)
            let refused27 = try await refusal { try await carl.ask(routing, contact: 4_097) }
            #expect(refused27 == .invalidArguments)
            let refused28 = try await refusal { try await carl.ask(randomBytes(16)) }
            #expect(refused28 == .unknownItem)
            let refused29 = try await refusal { try await bert.ask(routing) }
            #expect(refused29 == .invalidArguments)
            let refused30 = try await refusal { try await anna.ask(routing) }
            #expect(refused30 == .invalidArguments)
            let refused31 = try await refusal { try await anna.updateAccess(zone, denied: ["nobody"]) }
            #expect(refused31 == .invalidArguments)
            let many = Array(repeating: carl.user.recordName, count: 101)
            let refused32 = try await refusal { try await anna.updateAccess(zone, denied: many) }
            #expect(refused32 == .limitExceeded)
            let unshared = try await anna.makeZone("unshared")
            let refused33 = try await refusal { try await anna.updateAccess(unshared, allows: true) }
            #expect(refused33 == .unknownItem)
            // The zone's end is the end of its requests.
            try await carl.ask(routing)
            _ = try await anna.deleteZone(zone)
            let refused34 = try await refusal { try await carl.ask(routing) }
            #expect(refused34 == .unknownItem)
        }
    }

    // MARK: The page

    @Test func thePageNamesTheFallbackOfEveryContainerAndIsTheSameForAll() async throws {
        let fallback = [
            "org.example.notes": "https://notes.example.org/get?a=1&b=2",
            "org.example.tasks": "https://tasks.example.org",
        ]
        try await RunningServer.with(fallbackURLs: fallback) { server in
            let client = try TestClient(server)
            let first = try await client.raw("GET", "/s/" + String(repeating: "A", count: 22)).body
            let second = try await client.raw("GET", "/s/" + String(repeating: "B", count: 22)).body
            #expect(first == second)
            let page = String(decoding: first, as: UTF8.self)
            #expect(
                page.contains(
                    #"<a rel="noreferrer" href="https://notes.example.org/get?a=1&amp;b=2">org.example.notes</a>"#))
            #expect(page.contains("https://tasks.example.org"))
            #expect(!page.contains("<script"))
        }
        try await RunningServer.with { server in
            let page = String(decoding: try await TestClient(server).raw("GET", "/s/x").body, as: UTF8.self)
            #expect(page.contains("sealkit share accept"))
            #expect(!page.contains("No app opened it?"))
        }
    }

    @Test func aFallbackIsOneHTTPSURLOfAContainer() async throws {
        func load(_ text: String) async throws -> [String: String] {
            try await ServerConfiguration.load(flags: ["data": "/data", "fallback-url": text], environment: [:])
                .fallbackURLs
        }
        #expect(
            try await load("a.b=https://x.example.org/get?a=b c=https://y.example.org") == [
                "a.b": "https://x.example.org/get?a=b", "c": "https://y.example.org",
            ])
        for wrong in [
            "https://x.example.org", "a b=https://x.example.org", "a=http://x.example.org", "a=javascript:alert(1)",
            #"a=https://x.example.org/"onclick="#, "a=https://u:p@x.example.org",
            "a=https://x.example.org,a=https://y.example.org",
            "a=https://x.example.org/" + String(repeating: "x", count: 2_048), "a=https://",
        ] {
            await #expect(throws: ConfigurationError.self) { try await load(wrong) }
        }
    }
}
