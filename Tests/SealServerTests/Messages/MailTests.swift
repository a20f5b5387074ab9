import Foundation
import Testing

@testable import SealServer
@testable import SealService

@Suite(.timeLimit(.minutes(60))) struct MailTests {
    func message(subject: String = "Your code", body: String = "Hello", from: String = "Notes <n@example.org>") throws
        -> String
    {
        let from = try #require(Mailbox(from))
        let to = try #require(Mailbox("alice@example.net"))
        let mail = MailMessage(
            from: from, to: to, subject: subject, body: body, date: Date(timeIntervalSince1970: 1_700_000_000),
            identifier: "abc")
        return String(decoding: try mail.encoded(), as: UTF8.self)
    }

    @Test func aPlainMessage() throws {
        #expect(
            try message(body: "Code: 12=34\n.dot \r\n\n…")
                == """
                Date: Tue, 14 Nov 2023 22:13:20 +0000\r
                From: Notes <n@example.org>\r
                To: alice@example.net\r
                Message-ID: <abc@example.org>\r
                Subject: Your code\r
                MIME-Version: 1.0\r
                Content-Language: en\r
                Auto-Submitted: auto-generated\r
                Content-Type: text/plain; charset=utf-8\r
                Content-Transfer-Encoding: quoted-printable\r
                \r
                Code: 12=3D34\r
                .dot=20\r
                \r
                =E2=80=A6\r

                """)
    }

    @Test func longAndForeignText() throws {
        let text = try message(
            subject: "Grüße " + String(repeating: "ü", count: 60), body: String(repeating: "é", count: 400),
            from: "Ärger, GmbH <n@example.org>")
        #expect(text.contains("Subject: =?utf-8?B?"))
        #expect(text.contains("From: =?utf-8?B?w4RyZ2VyLCBHbWJI?= <n@example.org>"))
        #expect(text.split(separator: "\r\n").allSatisfy { $0.utf8.count <= 84 })
        #expect(text.utf8.allSatisfy { $0 < 127 })
    }

    @Test func headersCannotBeInjected() {
        for bad in ["a\r\nBcc: x@y", "a\nb", "a\rb", "a\0b", "a\u{85}b", "a\u{2028}b"] {
            #expect(throws: MessengerError.invalidHeader("Subject")) { try message(subject: bad) }
        }
        for bad in [
            "a@b\r\nBcc: c@d", "a@b>", "<a@b", "a@b c@d", "a", "@b", "a@", "a@b,c@d", "a\n@b", "x\r\n <a@b>",
            "a@b>\r\nDATA",
            "\"a\"@b", "a@.b", "a\u{2028}@b",
        ] {
            #expect(Mailbox(bad) == nil, "\(bad)")
        }
    }

    @Test func nothingOfAMessageIsPrinted() {
        let message = OutgoingMessage(
            id: "i", recipient: "alice@example.net", subject: "s", body: "12345678", html: "", language: "en")
        for text in ["\(message)", String(reflecting: message), "\(Mirror(reflecting: message).children.map(\.value))"]
        {
            #expect(!text.contains("alice"))
            #expect(!text.contains("1234"))
        }
    }

    @Test func anUnreachableRelayIsAnErrorWithoutTheAddress() async throws {
        let messenger = try MailMessenger(
            configuration: MailConfiguration(url: "smtp://127.0.0.1:1", from: "n@example.org", startTLS: .off))
        do {
            try await messenger.send(
                OutgoingMessage(
                    id: "i", recipient: "alice@example.net", subject: "s", body: "b", html: "", language: "en"))
            Issue.record("was sent")
        } catch {
            #expect(error is MessengerError)
            #expect(!"\(error)".contains("alice"))
        }
        await #expect(throws: MessengerError.invalidRecipient) {
            try await messenger.send(
                OutgoingMessage(
                    id: "i", recipient: "a@b>\r\nRCPT TO:<c@d", subject: "s", body: "b", html: "", language: "en"))
        }
    }

    /// With a relay: `SEALKIT_TEST_SMTP=smtp://127.0.0.1:1025 swift test --filter MailTests`.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["SEALKIT_TEST_SMTP"] != nil))
    func aRelayTakesIt() async throws {
        let environment = ProcessInfo.processInfo.environment
        let ca = environment["SEALKIT_TEST_SMTP_CA"]
        let messenger = try MailMessenger(
            configuration: MailConfiguration(
                url: environment["SEALKIT_TEST_SMTP"] ?? "", from: "Ärger <n@example.org>",
                username: environment["SEALKIT_TEST_SMTP_USER"],
                password: environment["SEALKIT_TEST_SMTP_USER"], authorityFile: ca,
                startTLS: ca == nil ? .off : .required))
        try await messenger.send(
            OutgoingMessage(
                id: "i", recipient: "alice@example.net", subject: "Grüße", body: "line\n.dot\n..two\nend", html: "",
                language: "de"))
    }
}
