import Foundation
import SealLab
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService

@Suite(.timeLimit(.minutes(60))) struct VerificationTests {
    static let routingID = [UInt8](repeating: 5, count: 16)

    @Test func addressesHaveOneSpelling() throws {
        #expect(try Address("Alice@EXAMPLE.org").normalized == "alice@example.org")
        #expect(try Address("a.b+c@xn--bcher-kva.example") == Address(email: "A.B+C@XN--Bcher-KVA.example"))
        #expect(try Address("a.b@example.org") != Address("ab@example.org"))
        #expect(try Address("+4930123456").kind == .phone)
        for bad in [
            "", "a", "@", "a@", "@b.org", "a@b", "a@@b.org", "a@b@c.org", " a@b.org", "a@b.org ", "a b@c.org",
            "a@b.org\r\nBcc: x@y.org",
            ".a@b.org", "a.@b.org", "a..b@c.org", "\"a\"@b.org", "a@[127.0.0.1]", "a@127.0.0.1", "a@-b.org", "a@b-.org",
            "a@b..org",
            "a@b.org.", "ä@b.org", "a@bücher.example", "\u{212A}@b.org", "a<b@c.org", "a,b@c.org", "a@b_c.org",
            "a\0@b.org",
            String(repeating: "a", count: 65) + "@b.org", "a@" + String(repeating: "b", count: 64) + ".org",
            String(repeating: "a", count: 60) + "@"
                + Array(repeating: String(repeating: "b", count: 60), count: 4).joined(separator: "."),
            "+1234567", "+1234567890123456", "+0123456789", "4930123456", "+49 30 123456", "+49-30-123456",
            "+４９３０１２３４５６",
        ] {
            #expect(throws: ServerError.self, "\(bad)") { try Address(bad) }
        }
        #expect("\(try Address("a@example.org"))" == "Address")
    }

    @Test func codesAreEightDigits() {
        #expect(Verifications.code(from: [0, 0, 0, 0, 0, 0, 0, 7]) == "00000007")
        #expect(Verifications.code(from: [UInt8](repeating: 255, count: 8)).count == 8)
    }

    @Test func linkingAnAddress() async throws {
        try await RunningServer.with { server in
            let alice = try await TestClient.ready(server)
            let begun = try await alice.begin("Alice@Example.org")
            #expect(begun.verificationID.count == 16)
            #expect(begun.expires == server.clock.now + PendingVerification.lifetime)
            let code = try await server.mail.code(1)
            #expect(server.mail.sent[0].recipient == "Alice@Example.org")
            #expect(!server.mail.sent[0].subject.contains(code))
            #expect(server.mail.sent[0].body.contains(server.origin))
            let token = try await alice.complete(begun.verificationID, code)
            #expect(try await alice.me().linkedAddresses == 1)

            // Anyone can check the token with the published key.
            let keys = try await alice.call(
                "/.well-known/sealkit/token-keys", nil, as: Sealkit_V1_TokenKeysResponse.self
            ).keys
            let footer = try PasetoPublic.unverifiedFooter(token)
            #expect(String(decoding: footer, as: UTF8.self) == #"{"kid":"\#(keys[0].keyID)"}"#)
            let message = try PasetoPublic.verify(token, footer: footer, key: VerificationKey(keys[0].publicKey))
            let claims = try TokenClaims(decoding: message)
            #expect(claims.iss == server.origin)
            #expect(claims.aud == TestClient.container)
            #expect(claims.sub == alice.chain.userID.recordName)
            #expect(claims.shr.isEmpty)
            #expect(claims.par.isEmpty)
            #expect(claims.adr == Hex.encode(try server.services.addresses.hash("alice@example.org")))
            #expect(claims.iat == claims.nbf)
            #expect(claims.iat.hasSuffix("Z"))
            #expect(claims.iat.count == 20)
            #expect(
                try #require(TokenClaims.time(claims.exp)) - #require(TokenClaims.time(claims.iat))
                    == TokenClaims.lifetime)

            #expect(
                try await refusal { try await alice.complete(begun.verificationID, code) } == .verificationFailed,
                "code reuse")

            // Another account proves the same mailbox: it moves.
            let bob = try await TestClient.ready(server)
            let second = try await bob.begin("alice@example.org")
            _ = try await bob.complete(second.verificationID, server.mail.code(2))
            #expect(try await alice.me().linkedAddresses == 0)
            #expect(try await bob.me().linkedAddresses == 1)

            // Nothing that could be used or read lies in the database, its journal, or an error.
            let stored = try server.storedBytes()
            for secret in ["lice@", "LICE@", code, alice.token, token] {
                #expect(!stored.contains(bytes: Array(secret.utf8)))
            }
            #expect(!stored.contains(bytes: try Base64URL.decode(alice.token)))
        }
    }

    @Test func fiveTriesAndTenMinutes() async throws {
        try await RunningServer.with { server in
            let alice = try await TestClient.ready(server)
            let begun = try await alice.begin("a@example.org")
            let code = try await server.mail.code(1)
            let wrong = code == "00000000" ? "00000001" : "00000000"
            for _ in 0..<4 {
                #expect(
                    try await refusal { try await alice.complete(begun.verificationID, wrong) } == .verificationFailed)
            }
            _ = try await alice.complete(begun.verificationID, code)

            let second = try await alice.begin("b@example.org")
            let secondCode = try await server.mail.code(2)
            for _ in 0..<5 {
                #expect(
                    try await refusal { try await alice.complete(second.verificationID, "") } == .verificationFailed)
            }
            #expect(
                try await refusal { try await alice.complete(second.verificationID, secondCode) } == .verificationFailed
            )

            let third = try await alice.begin("c@example.org")
            let thirdCode = try await server.mail.code(3)
            server.clock.advance(seconds: 600)
            #expect(
                try await refusal { try await alice.complete(third.verificationID, thirdCode) } == .verificationFailed)
            #expect(
                try await refusal { try await alice.complete(Data(repeating: 1, count: 16), code) }
                    == .verificationFailed)
            #expect(try await alice.me().linkedAddresses == 1)
        }
    }

    @Test func aCodeIsForTheIdentityThatAsked() async throws {
        try await RunningServer.with { server in
            let alice = try await TestClient.ready(server)
            let mallory = try await TestClient.ready(server)
            let begun = try await alice.begin("a@example.org")
            let code = try await server.mail.code(1)
            try await expectRefusal(.verificationFailed) { try await mallory.complete(begun.verificationID, code) }
            try await expectRefusal(.verificationFailed) {
                try await mallory.complete(begun.verificationID, code, signer: alice.signingKey)
            }
            try await expectRefusal(.verificationFailed) {
                try await alice.complete(begun.verificationID, code, signer: mallory.signingKey)
            }
            try await expectRefusal(.verificationFailed) {
                try await alice.complete(begun.verificationID, code, signer: alice.loginKey)
            }
            _ = try await alice.complete(begun.verificationID, code)
            // Over all verifications of an account there is a limit too.
            var count = 0
            while try await refusal({ try await alice.complete(Data(), "") }) == .verificationFailed { count += 1 }
            #expect(count < 60)
        }
    }

    @Test func aCodeIsForTheAddressShareAndServerThatItWasAskedFor() async throws {
        try await RunningServer.with { server in
            let alice = try await TestClient.ready(server)
            let begun = try await alice.begin("Alice@example.org", routingID: [UInt8](repeating: 9, count: 16))
            let (id, code) = (begun.verificationID, try await server.mail.code(1))
            for address in ["alice@example.org", "mallory@example.org", "", String(repeating: "a", count: 300)] {
                try await expectRefusal(.verificationFailed, "\(address)") {
                    try await alice.complete(id, code, address: address)
                }
            }
            // Signed for something else than is sent beside it.
            try await expectRefusal(.verificationFailed) {
                try await alice.complete(id, code, origin: "https://evil.example.org")
            }
            server.clock.advance(seconds: 1)
            let again = try await alice.begin("Alice@example.org", routingID: [UInt8](repeating: 9, count: 16))
            let next = try await server.mail.code(2)
            for routingID in [[], [UInt8](repeating: 8, count: 16)] {
                try await expectRefusal(.verificationFailed) {
                    try await alice.complete(again.verificationID, next, routingID: routingID)
                }
            }
            _ = try await alice.complete(again.verificationID, next)
        }
    }

    @Test func allFailuresLookAlike() async throws {
        try await RunningServer.with { server in
            let alice = try await TestClient.ready(server)
            let begun = try await alice.begin("a@example.org")
            let code = try await server.mail.code(1)
            var seen: Set<Data> = []
            for (id, code, signer) in [
                (Data(), code, alice.signingKey), (Data(repeating: 1, count: 16), code, alice.signingKey),
                (begun.verificationID, "x", alice.signingKey), (begun.verificationID, code, alice.loginKey),
                (begun.verificationID, String(repeating: "1", count: 5000), alice.signingKey),
            ] {
                do {
                    _ = try await alice.complete(id, code, signer: signer)
                    Issue.record("passed")
                } catch let refusal as Refusal {
                    seen.insert(try refusal.failure.serializedBytes())
                }
            }
            #expect(seen.count == 1)
        }
    }

    @Test func requestsThatAreRefused() async throws {
        try await RunningServer.with { server in
            var client = try TestClient(server)
            #expect(try await refusal { try await client.begin("a@example.org") } == .notAuthenticated)
            client.token = try await client.create().token
            #expect(try await refusal { try await client.begin("a@example.org") } == .permissionFailure, "no identity")
            _ = try await client.register()
            #expect(try await refusal { try await client.begin("nobody") } == .invalidArguments)
            #expect(try await refusal { try await client.begin("+4930123456") } == .serverRejectedRequest)
            #expect(try await refusal { try await client.begin("a@example.org", routingID: [1]) } == .invalidArguments)
            #expect(try await refusal { try await client.begin("a@example.org", container: "") } == .badContainer)
            #expect(server.mail.sent.isEmpty)
            client.token = ""
            #expect(try await refusal { try await client.complete(Data(), "1") } == .notAuthenticated)
        }
        try await RunningServer.with(sendsMail: false) { server in
            let client = try await TestClient.ready(server)
            #expect(try await refusal { try await client.begin("a@example.org") } == .serverRejectedRequest)
        }
    }

    @Test func sendingIsLimited() async throws {
        try await RunningServer.with(behindProxy: true) { server in
            var alice = try await TestClient.ready(server)
            alice.forwardedFor = "203.0.113.1"
            // By account and address: three in a quarter of an hour, ten a day, however it is spelt.
            var sent = 0
            for round in 0..<4 {
                for _ in 0..<3 where sent < 10 {
                    _ = try await alice.begin("a@example.org")
                    sent += 1
                }
                let asking = alice
                #expect(
                    try await refusal { try await asking.begin("A@Example.ORG") } == .requestRateLimited,
                    "round \(round)")
                server.clock.advance(seconds: 3600)
            }
            #expect(sent == 10)
            server.clock.advance(seconds: 3600)
            do {
                _ = try await alice.begin("a@example.org")
                Issue.record("was sent")
            } catch let refusal as Refusal {
                #expect(refusal.status == 429)
                #expect(refusal.failure.retryAfter == 86_400 - 5 * 3600)
            }
            server.clock.advance(seconds: 86_400 - 5 * 3600)
            _ = try await alice.begin("a@example.org")
            server.clock.advance(seconds: 3600)

            // By account.
            for number in 0..<20 { _ = try await alice.begin("b\(number)@example.org") }
            #expect(try await refusal { try await alice.begin("b20@example.org") } == .requestRateLimited)
            // By client: another account at the same network address, with forged notes before the proxy's.
            var carol = try await TestClient.ready(server)
            carol.forwardedFor = "198.51.100.7, 203.0.113.1"
            for number in 0..<10 { _ = try await carol.begin("c\(number)@example.org") }
            #expect(try await refusal { try await carol.begin("c10@example.org") } == .requestRateLimited)
            // By share: half of it is for those who have not asked yet.
            var eager = try await TestClient.ready(server)
            eager.forwardedFor = "203.0.113.100"
            for number in 0..<10 { _ = try await eager.begin("d\(number)@example.org", routingID: Self.routingID) }
            let asking = eager
            #expect(
                try await refusal { try await asking.begin("d10@example.org", routingID: Self.routingID) }
                    == .requestRateLimited)
            for account in 0..<10 {
                var client = try await TestClient.ready(server)
                client.forwardedFor = "203.0.113.\(101 + account)"
                _ = try await client.begin("e\(account)@example.org", routingID: Self.routingID)
            }
            var dora = try await TestClient.ready(server)
            dora.forwardedFor = "203.0.113.200"
            #expect(
                try await refusal { try await dora.begin("d@example.org", routingID: Self.routingID) }
                    == .requestRateLimited)
            _ = try await dora.begin("d@example.org")
        }
    }

    @Test func theOutboxTriesAgain() async throws {
        try await RunningServer.with { server in
            let alice = try await TestClient.ready(server)
            server.mail.fail(with: [
                .notSent(code: 7, status: 0, reason: ""), .notSent(code: 55, status: 451, reason: ""),
            ])
            _ = try await alice.begin("a@example.org")
            _ = try await server.mail.code(1)
            #expect(server.mail.tries == 3)
            // The answer is the same when the mail cannot go out at all.
            server.mail.fail(with: [.notSent(code: 55, status: 550, reason: "")])
            _ = try await alice.begin("b@example.org")
            try await waitUntil("it is tried") { server.mail.tries == 4 }
            #expect(server.mail.sent.count == 1)
        }
    }

    @Test func aRealRelayBringsTheCode() async throws {
        let folder = TemporaryFolder()
        let relay = try MailServer(folder: URL(fileURLWithPath: folder.file("mail")))
        defer { relay.stop() }
        let mail = MailConfiguration(url: relay.url, from: "Codes <codes@example.org>", startTLS: .off)
        let limits = AbuseLimits()
        try await RunningServer.with(limits: limits, sendsMail: false, mailConfiguration: mail) { server in
            let alice = try await TestClient.ready(server)
            try await relay.waitUntilListening()
            let begun = try await alice.begin("Alice@Example.org")
            let code = try await relay.code(for: "Alice@Example.org")
            let text = try #require(relay.messages(to: "Alice@Example.org").last)
            #expect(text.contains("From: Codes <codes@example.org>"))
            let token = try await alice.complete(begun.verificationID, code)
            #expect(token.hasPrefix("v4.public."))
        }
    }
}
