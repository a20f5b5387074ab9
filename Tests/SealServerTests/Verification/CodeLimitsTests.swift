import Foundation
import SealEnvelope
import SealPrimitives
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService

/// How many codes go out, whatever the clock does; and that asking is the same work for every address.
@Suite(.timeLimit(.minutes(60))) struct CodeLimitsTests {
    private static func limits(_ rules: [SendingLimits.Rule]) -> AbuseLimits {
        var limits = AbuseLimits()
        limits.sending.rules = rules
        return limits
    }

    @Test func everybodyTogether() async throws {
        let hour: Int64 = 3_600_000_000
        let limits = Self.limits([
            .init(kind: .allMail, count: 3, window: hour), .init(kind: .allPhones, count: 2, window: hour),
        ])
        try await RunningServer.with(limits: limits, sendsTexts: true) { server in
            for number in 0..<3 {
                let client = try await TestClient.ready(server)
                _ = try await client.begin("a\(number)@example.org")
            }
            let late = try await TestClient.ready(server)
            try await expectRefusal(.requestRateLimited) { try await late.begin("b@example.org") }
            // Phones are counted by themselves.
            for number in 0..<2 { _ = try await late.begin("+4930123456\(number)") }
            try await expectRefusal(.requestRateLimited) { try await late.begin("+49301234569") }
            server.clock.advance(seconds: 3_600)
            _ = try await late.begin("b@example.org")
            _ = try await late.begin("+49301234569")
        }
    }

    @Test func addressesOfOneMailboxAreCountedTogetherAndAreNotTheSame() async throws {
        try await RunningServer.with { server in
            let alice = try await TestClient.ready(server)
            for address in ["a+1@example.org", "A+2+3@example.org", "a@example.org"] {
                _ = try await alice.begin(address)
            }
            for address in ["a+4@example.org", "a@example.org", "a+@example.org"] {
                try await expectRefusal(.requestRateLimited, "\(address)") { try await alice.begin(address) }
            }
            for address in ["b+1@example.org", "a+1@example.com", "+49301234567"] {
                let code = try await refusal { try await alice.begin(address) }
                #expect(code == (address.contains("@") ? nil : .serverRejectedRequest))
            }
            let (tagged, plain) = (try Address("a+1@example.org"), try Address("a@example.org"))
            #expect(tagged != plain)
            #expect(server.services.addresses.hash(tagged) != server.services.addresses.hash(plain))
            #expect(tagged.mailbox == plain)
            #expect(plain.mailbox == plain)
            #expect(try Address("+49301234567").mailbox.normalized == "+49301234567")
        }
    }

    @Test func whatIsRefusedReachesTheDatabaseOnce() async throws {
        let counter = StatementCounter()
        try await RunningServer.with(behindProxy: true, counter: counter) { server in
            var clients: [TestClient] = []
            for number in 0..<7 {
                var client = try await TestClient.ready(server)
                client.forwardedFor = "203.0.113.\(number)"
                clients.append(client)
            }
            for client in clients.prefix(6) { _ = try await client.begin("a@example.org") }
            let asking = clients
            try await expectRefusal(.requestRateLimited) { try await asking[6].begin("a@example.org") }
            try await waitUntil("all is sent and noted") { server.services.outbox.count == 0 }
            let before = counter.count
            var seen: Set<Double> = []
            for round in 0..<50 {
                do {
                    _ = try await asking[round % 7].begin(round % 2 == 0 ? "a@example.org" : "A@EXAMPLE.org")
                    Issue.record("was sent")
                } catch let refusal as Refusal {
                    #expect(refusal.code == .requestRateLimited)
                    seen.insert(refusal.failure.retryAfter)
                }
            }
            #expect(counter.count == before, "refused from memory")
            #expect(seen == [900])
            // As soon as the oldest is old enough it is sent again, and a restart would not have forgotten.
            server.clock.advance(seconds: 900)
            _ = try await asking[6].begin("a@example.org")
        }
    }

    private static func client(_ server: RunningServer, at address: Int) async throws -> TestClient {
        var client = try await TestClient.ready(server)
        client.forwardedFor = "203.0.113.\(address)"
        return client
    }

    @Test func whoAsksForSomebodyElsesAddressDoesNotUseItUp() async throws {
        try await RunningServer.with(behindProxy: true) { server in
            let mallory = try await Self.client(server, at: 1)
            for _ in 0..<3 { _ = try await mallory.begin("victim+x@example.org") }
            try await expectRefusal(.requestRateLimited) { try await mallory.begin("victim@example.org") }
            // The victim gets a code, at once and even beside the attacker.
            let victim = try await Self.client(server, at: 1)
            let begun = try await victim.begin("victim@example.org")
            _ = try await victim.complete(begun.verificationID, try await server.mail.code(4))
            // Nor do further accounts of the attacker's use it up: somebody who asks from elsewhere is always left one.
            _ = try await Self.client(server, at: 1).begin("victim@example.org")
            let third = try await Self.client(server, at: 1)
            try await expectRefusal(.requestRateLimited) { try await third.begin("victim@example.org") }
            _ = try await Self.client(server, at: 2).begin("victim@example.org")
            // The mailbox is not filled for that.
            let late = try await Self.client(server, at: 3)
            try await expectRefusal(.requestRateLimited) { try await late.begin("victim@example.org") }
        }
    }

    @Test func whoAsksWithSomebodyElsesURLDoesNotUseItUp() async throws {
        try await RunningServer.with(behindProxy: true) { server in
            let share = randomBytes(16)
            let mallory = try await Self.client(server, at: 1)
            for number in 0..<10 { _ = try await mallory.begin("m\(number)@example.org", routingID: share) }
            try await expectRefusal(.requestRateLimited) {
                try await mallory.begin("m10@example.org", routingID: share)
            }
            let invited = try await Self.client(server, at: 1)
            let begun = try await invited.begin("invited@example.org", routingID: share)
            _ = try await invited.complete(begun.verificationID, try await server.mail.code(11))
        }
    }

    @Test func aClockThatIsSetBackAndForth() async throws {
        try await RunningServer.with { server in
            let alice = try await TestClient.ready(server)
            let start = server.clock.now
            for _ in 0..<3 { _ = try await alice.begin("a@example.org") }
            // Back by a month: what was sent then lies in the future, and blocks for no longer than its window.
            server.clock.advance(seconds: -30 * 86_400)
            do {
                _ = try await alice.begin("a@example.org")
                Issue.record("was sent")
            } catch let refusal as Refusal {
                #expect(refusal.code == .requestRateLimited)
                #expect(refusal.failure.retryAfter <= 900)
            }
            server.clock.advance(seconds: 901)
            let begun = try await alice.begin("a@example.org")
            let code = try await server.mail.code(4)
            // A clock that is set back by seconds, as clocks are, takes nothing away.
            server.clock.advance(seconds: -30)
            _ = try await alice.complete(begun.verificationID, code)
            // Forward again.
            server.clock.set(start + 86_400_000_000)
            _ = try await alice.begin("a@example.org")
        }
    }

    @Test func aCodeLivesNoLongerThroughASetClock() async throws {
        try await RunningServer.with { server in
            let alice = try await TestClient.ready(server)
            let begun = try await alice.begin("a@example.org")
            let code = try await server.mail.code(1)
            // An hour back: it would be good for seventy minutes.
            server.clock.advance(seconds: -3_600)
            try await expectRefusal(.verificationFailed) { try await alice.complete(begun.verificationID, code) }
            server.clock.advance(seconds: 3_600)
            _ = try await alice.complete(begun.verificationID, code)
        }
    }

    /// An invited address, one that is linked, one that nobody knows: the same statements, and one message each.
    @Test func beginningIsTheSameWorkForEveryAddress() async throws {
        let (folder, counter) = (TemporaryFolder(), StatementCounter())
        try await RunningServer.with(folder: folder, counter: counter) { server in
            let anna = try await Person.ready(server)
            var zone = try await anna.makeSharedZone()
            let invitation = try anna.invitation(to: nil, in: zone)
            try await anna.append(
                try anna.next(on: zone, invitations: [invitation.draft]), to: &zone, links: [invitation.link],
                addresses: [(invitation.keys.id, "invited@example.org")])
            let bob = try await TestClient.ready(server)
            let linked = try await bob.begin("linked@example.org")
            _ = try await bob.complete(linked.verificationID, server.mail.code(1), discoverable: true)
            let mallory = try await TestClient.ready(server)
            _ = try await mallory.begin("first@example.org", routingID: invitation.routingID)
            try await waitUntil("all is sent and noted") { server.services.outbox.count == 0 }

            var counts: Set<Int> = []
            let addresses = ["invited@example.org", "linked@example.org", "nobody@example.org"]
            for round in 0..<2 {
                for address in addresses {
                    let (before, sent) = (counter.count, server.mail.sent.count)
                    let begun = try await mallory.begin(address, routingID: invitation.routingID)
                    try await waitUntil("all is sent and noted") { server.services.outbox.count == 0 }
                    counts.insert(counter.count - before)
                    #expect(server.mail.sent.count == sent + 1, "round \(round)")
                    #expect(server.mail.sent[sent].recipient == address, "round \(round)")
                    // Nothing is left of the answer but what is random or the time's.
                    let rest = Sealkit_V1_BeginVerificationResponse.with {
                        $0.verificationID = begun.verificationID
                        $0.expires = begun.expires
                    }
                    #expect(begun == rest)
                    #expect(begun.expires == server.clock.now + PendingVerification.lifetime)
                }
            }
            #expect(counts.count == 1, "as many statements, whoever it is: \(counts)")
            // And by the share's own routing id or by any other.
            let before = counter.count
            _ = try await mallory.begin("other@example.org", routingID: [UInt8](repeating: 9, count: 16))
            try await waitUntil("all is sent and noted") { server.services.outbox.count == 0 }
            #expect(counts.contains(counter.count - before))
        }
    }
}
