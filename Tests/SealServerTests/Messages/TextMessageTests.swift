import Foundation
import HTTPTypes
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf
import Testing

@testable import SealServer
@testable import SealService

/// Codes for phones: signed POSTs to the operator's gateway.
@Suite(.timeLimit(.minutes(60))) struct TextMessageTests {
    private static let number = "+4930123456"

    @Test func aCodeReachesThePhone() async throws {
        try await WebhookReceiver.with { gateway in
            let sms = SMSConfiguration(url: gateway.origin + "/send?account=7", token: "gateway-token")
            try await RunningServer.with(sendsMail: false, smsConfiguration: sms) { server in
                let alice = try await TestClient.ready(server)
                // The first attempts fail as gateways do; the message is the same in each.
                gateway.answer([.serviceUnavailable, .tooManyRequests])
                let begun = try await alice.begin(Self.number, language: "de-CH")
                let deliveries = [
                    try await gateway.delivery(1), try await gateway.delivery(2), try await gateway.delivery(3),
                ]
                let texts = try deliveries.map { try Sealkit_V1_TextMessage(jsonUTF8Bytes: $0.body) }
                let text = texts[0]
                #expect(texts == [text, text, text])
                #expect(text.recipient == Self.number)
                #expect(text.language == "de")
                #expect(text.id.count == 32)
                #expect(text.text.contains("Bestätigungscode"))
                #expect(Set(deliveries.map(\.authorization)) == ["Bearer gateway-token"])
                #expect(Set(deliveries.map(\.path)) == ["/send"])

                // The gateway checks the signature with the published key, the very way that other webhooks are
                // checked.
                let keys = try await alice.call(
                    "/.well-known/sealkit/webhook-keys", nil, as: Sealkit_V1_TokenKeysResponse.self
                ).keys
                for delivery in deliveries {
                    let signature = try WebhookSignature(header: try #require(delivery.signature))
                    let found = keys.first { $0.keyID == signature.keyID }
                    let key = try #require(found)
                    let signed = WebhookSignature.signedBytes(
                        keyID: signature.keyID, time: signature.time, url: sms.url, body: [UInt8](delivery.body))
                    try VerificationKey(key.publicKey).verify(signature.signature, over: signed)
                    #expect(abs(signature.time - server.clock.now / 1_000_000) < 60)
                }
                let code = try #require(codes(in: text.text).first)
                _ = try await alice.complete(begun.verificationID, code)
                let list = try await alice.call(
                    "/1/addresses/list", Sealkit_V1_ListAddressesRequest(), as: Sealkit_V1_ListAddressesResponse.self)
                #expect(list.addresses.map(\.kind) == ["phone"])
                // Mail is another matter.
                try await expectRefusal(.serverRejectedRequest) { try await alice.begin("a@example.org") }
            }
        }
    }

    @Test func whatTheGatewayRefusesIsNotSentAgain() async throws {
        try await WebhookReceiver.with { gateway in
            try await RunningServer.with(
                sendsMail: false, smsConfiguration: SMSConfiguration(url: gateway.origin + "/send")
            ) { server in
                let alice = try await TestClient.ready(server)
                // Nor is a redirect followed: it could lead anywhere.
                for (count, status) in [HTTPResponse.Status.badRequest, .unauthorized, .temporaryRedirect].enumerated()
                {
                    gateway.answer([status])
                    _ = try await alice.begin("+493012345\(count)")
                    _ = try await gateway.delivery(count + 1)
                    try await waitUntil("it was given up") { server.services.outbox.count == 0 }
                }
                #expect(gateway.count == 3)
                #expect(try await gateway.delivery(1).authorization == nil)
            }
        }
    }

    @Test func whatIsWorthRetrying() {
        for status in [0, 500, 502, 503, 408, 425, 429] {
            #expect(MessengerError.gateway(status: status).isWorthRetrying, "\(status)")
        }
        for status in [300, 302, 307, 400, 401, 403, 404, 410, 422] {
            #expect(!MessengerError.gateway(status: status).isWorthRetrying, "\(status)")
        }
        #expect(MessengerError.notSent(code: 7, status: 0, reason: "").isWorthRetrying)
        #expect(MessengerError.notSent(code: 55, status: 421, reason: "").isWorthRetrying)
        #expect(!MessengerError.notSent(code: 55, status: 554, reason: "").isWorthRetrying)
        // One that falls silent after a good answer, as in the middle of a login, has refused nobody.
        let silent = MessengerError.notSent(code: 28, status: 334, reason: "Timeout was reached")
        #expect(silent.isOfTheWay)
        #expect(silent.text.contains("answered no more"), "\(silent.text)")
        let refused = MessengerError.notSent(code: 55, status: 550, reason: "Failed sending data to the peer")
        #expect(!refused.isOfTheWay)
        #expect(refused.text == "the relay refused it, and answered 550 (libcurl 55)")
        #expect(!MessengerError.invalidRecipient.isWorthRetrying)
    }

    @Test func configurations() async throws {
        func load(_ flags: [String: String], _ environment: [String: String] = [:]) async throws -> ServerConfiguration
        {
            try await ServerConfiguration.load(flags: ["data": "/d"].merging(flags) { $1 }, environment: environment)
        }
        let loaded = try await load(
            ["sms-webhook": "https://sms.example.org/secret-path"], ["SEALKIT_SMS_TOKEN": "secret-token"])
        #expect(loaded.sms?.url == "https://sms.example.org/secret-path")
        #expect(loaded.sms?.token == "secret-token")
        #expect(!"\(loaded)".contains("secret-"))
        #expect(!String(reflecting: loaded).contains("secret-"))
        let limits = try await load(["mail-per-hour": "0", "texts-per-hour": "7"]).limits
        #expect(limits.mailPerHour == 0)
        #expect(limits.textsPerHour == 7)
        #expect(SendingLimits(limits).rules.contains { $0.kind == .allPhones && $0.count == 7 })
        #expect(!SendingLimits(limits).rules.contains { $0.kind == .allMail })
        await #expect(throws: ConfigurationError.missing(setting: "sms-webhook")) { try await load(["sms-token": "x"]) }
        for bad in [
            "http://sms.example.org/", "ftp://x", "https://", "https://user@sms.example.org/", "sms", "https://a b/",
            "https://h/#f",
        ] {
            await #expect(throws: ConfigurationError.self, "\(bad)") { try await load(["sms-webhook": bad]) }
        }
        for bad in ["a b", "é", "a\r\nX: y"] {
            await #expect(throws: ConfigurationError.self, "\(bad)") {
                try await load(["sms-webhook": "https://h/", "sms-token": bad])
            }
        }
    }
}
