import AsyncHTTPClient
import Foundation
import NIOCore
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService
@testable import SealStorage

/// What verification refuses, row by row: addresses with every trick of RFC 5321, RFC 6531 and E.164, look-alikes,
/// bodies and codes of other shapes, and tokens with anything changed. Nothing of it shows in an error or a log.
@Suite(.timeLimit(.minutes(60))) struct VerificationRefusalTests {
    /// What no address is, and why somebody might think so.
    static let addresses: [(text: String, trick: String)] = [
        // RFC 5321 and 5322
        ("", "nothing"), ("@", "no parts"), ("canary", "no domain"), ("canary@", "no domain"),
        ("@canary.example", "no local part"),
        ("canary@localhost", "one label"), ("\"canary\"@example.org", "quoted string"),
        ("\"a b\"@canary.example", "quoted space"),
        ("\"a\\\"b\"@canary.example", "quoted pair"), ("canary.\"x\"@example.org", "obsolete local part"),
        ("canary(comment)@example.org", "comment"), ("(comment)canary@example.org", "comment in front"),
        ("canary@(comment)example.org", "comment in the domain"), ("canary @example.org", "folding space"),
        ("canary@ example.org", "space"), (" canary@example.org", "space in front"),
        ("canary@example.org ", "space behind"),
        ("canary@example.org\r\n", "line end"), ("canary\r\n @example.org", "folded"),
        ("canary@example.org\r\nBcc: x@y.example", "header"),
        ("canary@example.org\nRCPT TO:<x@y.example>", "SMTP command"), ("canary@example.org>\r\nDATA", "envelope end"),
        ("canary@example.org\0@x.example", "NUL"), ("canary@example.org\u{7F}", "DEL"),
        ("\u{1B}canary@example.org", "escape"),
        ("<canary@example.org>", "path"), ("Canary <canary@example.org>", "mailbox"),
        ("mailto:canary@example.org", "URL"),
        ("@relay.example:canary@example.org", "source route"), ("canary%x@example.org@relay.example", "percent hack"),
        ("canary!x@example.org@y", "bang path"), ("canary@a.example,canary@b.example", "list"),
        ("canary@a.example;canary@b.example", "list"), ("group: canary@example.org;", "group"),
        ("canary@@example.org", "two signs"),
        (".canary@example.org", "dot in front"), ("canary.@example.org", "dot behind"),
        ("ca..nary@example.org", "two dots"),
        ("canary@.example.org", "empty label"), ("canary@example..org", "empty label"), ("canary@example.org.", "root"),
        ("canary@-example.org", "hyphen in front"), ("canary@example-.org", "hyphen behind"),
        ("canary@exa_mple.org", "underscore"),
        ("canary@[127.0.0.1]", "address literal"), ("canary@[IPv6:::1]", "address literal"),
        ("canary@127.0.0.1", "IP address"),
        ("canary@2130706433", "IP address as a number"), ("canary@example.123", "numeric top level"),
        (String(repeating: "c", count: 65) + "@example.org", "65 bytes before the sign"),
        ("canary@" + String(repeating: "c", count: 64) + ".org", "64 bytes in a label"),
        ("c@" + String(repeating: "canary1890.", count: 23) + "org", "more than 254 bytes"),
        ("c@" + String(repeating: "c.", count: 100_000) + "org", "very long"),
        // RFC 6531, internationalised domains, look-alikes
        ("c\u{E4}nary@example.org", "UTF-8 local part"), ("canary@ex\u{E4}mple.org", "U-label"),
        ("canary@\u{4F8B}\u{3048}.jp", "U-label"),
        ("c\u{0430}nary@example.org", "Cyrillic a"), ("canary@ex\u{0430}mple.org", "Cyrillic a in the domain"),
        ("c\u{0430}n\u{0430}ry@ex\u{0430}mple.org", "more of them"), ("\u{212A}anary@example.org", "Kelvin sign"),
        ("canary@example\u{3002}org", "ideographic full stop"), ("canary\u{FF20}example.org", "full-width sign"),
        ("canary@example.org\u{200B}", "zero-width space"), ("can\u{AD}ary@example.org", "soft hyphen"),
        ("canary\u{202E}@gro.elpmaxe", "right to left"), ("ca\u{0301}nary@example.org", "combining accent"),
        ("canary@\u{FF45}xample.org", "full-width letter"), ("canary@xn--.org", "empty A-label"),
        ("canary@xn---.org", "no A-label"),
        ("canary@ab--cd.org", "reserved label"), ("canary@xn--a-.org", "A-label with a hyphen behind"),
        ("canary\u{131}@example.org", "dotless i"), ("canary@example.\u{43E}rg", "Cyrillic o"),
        // E.164
        ("+", "no digits"), ("+1234567", "too short"), ("+1234567890123456", "16 digits"),
        ("+04930123456", "country that begins with 0"),
        ("004930123456", "international prefix"), ("4930123456", "no plus"), ("+49 30 123456", "spaces"),
        ("+49-30-123456", "hyphens"),
        ("+49(30)123456", "parentheses"), ("+49.30.123456", "dots"), ("++4930123456", "two pluses"),
        ("+4930123456;ext=1", "extension"),
        ("+4930123456,,1", "pauses"), ("tel:+4930123456", "URL"), ("+4930123456#", "hash"), ("*4930123456", "star"),
        ("+\u{FF14}\u{FF19}\u{FF13}\u{FF10}\u{FF11}\u{FF12}\u{FF13}\u{FF14}", "full-width digits"),
        ("+\u{0664}\u{0669}\u{0663}\u{0660}\u{0661}\u{0662}\u{0663}\u{0664}", "Arabic-Indic digits"),
        ("\u{FF0B}4930123456", "full-width plus"),
        ("+4930123456\0", "NUL"), ("+4930123456\r\n", "line end"), ("+4930123456\u{200B}", "zero-width space"),
        ("+49301234O6", "letter O"),
        ("+1e10000000", "exponent"), ("+ 4930123456", "space behind the plus"),
        (String(repeating: "+", count: 100_000), "very long"),
    ]

    @Test func addresses() async throws {
        let log = LogCapture()
        try await RunningServer.with(sendsTexts: true, logger: log.logger) { server in
            let client = try await TestClient.ready(server)
            for (text, trick) in Self.addresses {
                do {
                    _ = try await client.begin(text)
                    Issue.record("taken: \(trick)")
                } catch let refusal as Refusal {
                    let said = refusal.failure.reason + refusal.failure.remedy
                    #expect(refusal.code == .invalidArguments, "\(trick)")
                    #expect(refusal.status == 400, "\(trick)")
                    #expect(!refusal.failure.remedy.isEmpty, "\(trick)")
                    #expect(!said.contains("canary"), "\(trick): \(said)")
                }
                // The same in look-ups and in what an account does with its addresses.
                let either = Result { () throws(ServerError) in try Address(text) }
                let byMail = Result { () throws(ServerError) in try Address(email: text) }
                let byPhone = Result { () throws(ServerError) in try Address(phone: text) }
                #expect(either.isFailure, "\(trick)")
                #expect(byMail.isFailure, "\(trick)")
                #expect(byPhone.isFailure, "\(trick)")
            }
            // What is odd and good all the same.
            for good in [
                "o'neil+x@a-b.example", "!#$%&'*+-/=?^_`{|}~@example.org", "a@xn--bcher-kva.example", "+12345678",
                "+123456789012345",
            ] {
                _ = try Address(good)
            }
            #expect(server.mail.sent.isEmpty)
            #expect(server.phones.sent.isEmpty)
        }
        #expect(!log.lines.contains { $0.contains("canary") })
    }

    /// JSON of other shapes where a string is due, and bodies beyond any size.
    @Test func bodies() async throws {
        let log = LogCapture()
        try await RunningServer.with(logger: log.logger) { server in
            let alice = try await TestClient.ready(server)
            let begun = try await alice.begin("a@example.org")
            _ = try await server.mail.code(1)
            let client = RefusalClient(origin: server.origin, token: alice.token)
            let id = begun.verificationID.base64EncodedString()
            for code in [
                #"["12345678"]"#, #"["1","2"]"#, "[]", "{}", #"{"$ne":""}"#, "12345678", "true", "1e7",
                #"{"code":"1"}"#,
            ] {
                let body = #"{"verificationId":"\#(id)","code":\#(code),"signature":"AAAA"}"#
                let answer = try await client.send(
                    "POST", "/1/verification/complete", type: RefusalClient.json, bytes: Array(body.utf8))
                RefusalClient.check(answer, 400, .invalidArguments, code)
            }
            for address in [#"["a@example.org"]"#, "{}", "7", #"["a@example.org","b@example.org"]"#, "true"] {
                let body = #"{"container":"\#(TestClient.container)","address":\#(address)}"#
                let answer = try await client.send(
                    "POST", "/1/verification/begin", type: RefusalClient.json, bytes: Array(body.utf8))
                RefusalClient.check(answer, 400, .invalidArguments, address)
            }
            // The same field twice: the last one counts, as JSON and protobuf have it, and is checked like any other.
            let twice = #"{"container":"\#(TestClient.container)","address":"b@example.org","address":"canary"}"#
            let answer = try await client.send(
                "POST", "/1/verification/begin", type: RefusalClient.json, bytes: Array(twice.utf8))
            RefusalClient.check(answer, 400, .invalidArguments, "twice")
            let large = ByteBuffer(repeating: 0x61, count: 10 << 20)
            for path in [
                "verification/begin", "verification/complete", "addresses/list", "addresses/update", "addresses/unlink",
                "directory/lookup",
            ] {
                for type in [RefusalClient.json, RefusalClient.protobuf] {
                    let answer = try await client.send("POST", "/1/" + path, type: type, .bytes(large))
                    RefusalClient.check(answer, 413, .limitExceeded, path)
                }
            }
            // Ten megabytes that say they are few.
            let code = String(repeating: "1", count: 3 << 20)
            try await expectRefusal(.verificationFailed) { try await alice.complete(begun.verificationID, code) }
            for language in ["de_DE", "\u{0434}e", "de\r\nX: y", String(repeating: "a", count: 1_000)] {
                try await expectRefusal(.invalidArguments) {
                    try await alice.begin("c@example.org", language: language)
                }
            }
            #expect(server.mail.sent.count == 1)
        }
        #expect(!log.lines.contains { $0.contains("canary") || $0.contains("request failed") })
    }

    /// Each row is a good token with one thing changed.
    @Test func tokens() async throws {
        try await RunningServer.with { server in
            let (alice, now) = (try await TestClient.ready(server), server.clock.now)
            let (routing, seat, hash) = (
                [UInt8](repeating: 5, count: 16), try ID16([UInt8](repeating: 8, count: 16)),
                [UInt8](repeating: 0xAB, count: 32)
            )
            let keys = server.services.tokenIssuer.keys
            let good = TokenClaims(
                iss: server.origin, aud: TestClient.container, sub: alice.chain.userID.recordName,
                adr: Hex.encode(hash),
                shr: Base64URL.encode(routing), par: seat.hex, issued: now, jti: "good")
            let footer = try TokenFooter(kid: keys.newest.id).encoded()
            func signed(_ message: [UInt8], footer: [UInt8] = footer, by key: SigningKey = keys.newest.signingKey)
                -> String
            {
                PasetoPublic.sign(message, footer: footer, key: key)
            }
            func changed(_ change: (inout [String: Any]) -> Void) throws -> String {
                var claims = try #require(
                    JSONSerialization.jsonObject(with: Data(try good.encoded())) as? [String: Any])
                change(&claims)
                return signed([UInt8](try JSONSerialization.data(withJSONObject: claims)))
            }
            let token = signed(try good.encoded())
            let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            let stranger = try TestClient.newKey()
            let strangersID = KeyIdentifier.paserk(of: stranger.verificationKey)
            var rows: [(what: String, token: String)] = [
                ("empty", ""), ("not a token", "canary"), ("a session", alice.token),
                ("ten megabytes", String(repeating: "v4.public.", count: 1 << 20)),
                // Headers
                ("version 3", "v3" + token.dropFirst(2)), ("version 2", "v2" + token.dropFirst(2)),
                ("upper case", "V4" + token.dropFirst(2)),
                ("local", "v4.local" + token.dropFirst(9)), ("no purpose", "v4." + parts[2] + "." + parts[3]),
                ("a JWT of nobody's", "eyJhbGciOiJub25lIn0." + parts[2] + "."), ("spaces", " " + token),
                ("a line end", token + "\n"),
                // Footers
                ("no footer", parts.prefix(3).joined(separator: ".")),
                ("an empty footer", parts.prefix(3).joined(separator: ".") + "."),
                ("a part more", token + ".e30"),
                ("another footer", parts.prefix(3).joined(separator: ".") + "." + Base64URL.encode(Array("{}".utf8))),
                ("padding", token + "="),
                ("a footer that is no JSON", signed(try good.encoded(), footer: Array("kid".utf8))),
                (
                    "a key that is none of ours",
                    signed(try good.encoded(), footer: try TokenFooter(kid: strangersID).encoded(), by: stranger)
                ),
                ("another's signature under our key's name", signed(try good.encoded(), by: stranger)),
                ("a signed footer without a key", signed(try good.encoded(), footer: [])),
                ("a path for a key", signed(try good.encoded(), footer: try TokenFooter(kid: "../address").encoded())),
                // Keys of other purposes
                (
                    "the webhooks' key",
                    signed(
                        try good.encoded(),
                        footer: try TokenFooter(kid: server.services.webhookKeys.newest.id).encoded(),
                        by: server.services.webhookKeys.newest.signingKey)
                ),
                // Messages
                ("no claims", signed([])), ("claims that are no JSON", signed([0xFF, 0xFE])),
                ("a list", signed(Array("[]".utf8))),
                (
                    "a signature cut off",
                    ["v4", "public", Base64URL.encode(try good.encoded()), parts[3]].joined(separator: ".")
                ),
            ]
            for (index, bit) in [(0, UInt8(1)), (40, 4), (200, 128)] {
                var message = try Base64URL.decode(parts[2])
                message[index % message.count] ^= bit
                rows.append(
                    ("bit \(index)", ["v4", "public", Base64URL.encode(message), parts[3]].joined(separator: ".")))
            }
            for (name, values) in [
                ("iss", ["https://elsewhere.example", server.origin + "/", "", 7] as [Any]),
                ("aud", ["org.example.other", "", TestClient.container.uppercased()]),
                ("sub", ["_" + String(repeating: "0", count: 32), ""]),
                ("adr", [Hex.encode([UInt8](repeating: 4, count: 32)), "", Hex.encode(hash).uppercased()]),
                ("shr", [Base64URL.encode([UInt8](repeating: 6, count: 16)), "", Base64URL.encode(routing) + "=="]),
                ("par", [try ID16([UInt8](repeating: 9, count: 16)).hex, ""]),
                ("nbf", [TokenClaims.text(now + 3_600_000_000), "", "tomorrow"]),
                (
                    "exp",
                    [
                        TokenClaims.text(now), TokenClaims.text(now - 1_000_000), "", "never", 9_999_999_999,
                        "9999999999999999999",
                    ]
                ),
                ("jti", [7, ["one"]]), ("iat", [7]),
            ] {
                for value in values { rows.append(("\(name): \(value)", try changed { $0[name] = value })) }
                rows.append(("no \(name)", try changed { $0[name] = nil }))
            }
            let (verifier, user) = (server.services.tokenVerifier, alice.chain.userID)
            @Sendable func spend(_ token: String) async throws -> ErrorCode? {
                do {
                    try await server.services.database.write(at: .everything) { connection in
                        try verifier.spend(
                            token, container: TestClient.container, user: user, routingID: routing, invitationID: seat,
                            addressHash: hash,
                            now: now, in: connection)
                    }
                    return nil
                } catch let error as ServerError {
                    return error.code
                }
            }
            for (what, token) in rows {
                let code = try await spend(token)
                #expect(code == .verificationFailed, "\(what)")
            }
            // None of them has used it up, and it is good once.
            #expect(try await spend(token) == nil)
            #expect(try await spend(token) == .verificationFailed)
            // The clock jumps ahead, others' tokens are spent, and it jumps back: still once.
            let later = now + 6 * 86_400_000_000
            var other = good
            (other.jti, other.iat, other.nbf, other.exp) = (
                "other", TokenClaims.text(later), TokenClaims.text(later),
                TokenClaims.text(later + TokenClaims.lifetime)
            )
            let ahead = signed(try other.encoded())
            try await server.services.database.write(at: .everything) { connection in
                try verifier.spend(
                    ahead, container: TestClient.container, user: user, routingID: routing, invitationID: seat,
                    addressHash: hash, now: later,
                    in: connection)
            }
            #expect(try await spend(token) == .verificationFailed)
        }
    }
}

extension Result {
    fileprivate var isFailure: Bool { if case .failure = self { true } else { false } }
}
