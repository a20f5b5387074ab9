import Foundation
import SealPrimitives
import SealWire
import Testing

@testable import SealServer
@testable import SealService

/// What messages with codes say, in which language, and that nothing in them can be more than text.
@Suite(.timeLimit(.minutes(60))) struct MessageTests {
    private func written(
        _ kind: Address.Kind = .email, language: String = "en", origin: String = "https://notes.example.org"
    ) -> OutgoingMessage {
        CodeMessage(recipient: "a@example.org", code: "00001234", language: language).written(
            kind, id: "one", origin: origin)
    }

    @Test func everyLanguageSaysEverything() {
        #expect(MessageTexts.all.count >= 5)
        for (language, texts) in MessageTexts.all {
            for text in [texts.subject, texts.lead, texts.validity, texts.warning, texts.ignore, texts.phone] {
                #expect(!text.isEmpty, "\(language)")
                #expect(!text.contains("\n"), "\(language)")
            }
            let mail = written(language: language)
            // The code stands alone on its line, and no subject shows it on a locked screen.
            #expect(mail.body.split(separator: "\n").contains("    00001234"), "\(language)")
            #expect(!mail.subject.contains("00001234"), "\(language)")
            for text in [mail.body, mail.html] {
                #expect(text.contains("00001234"), "\(language)")
                #expect(text.contains("https://notes.example.org"), "\(language)")
                #expect(!text.contains("{"), "\(language)")
            }
            #expect(mail.html.contains(#"<html lang="\#(language)">"#))
            let text = written(.phone, language: language)
            #expect(text.body.hasPrefix("00001234 "))
            #expect(text.body.contains("https://notes.example.org"))
            #expect(text.subject.isEmpty, "one text message: \(language)")
            #expect(text.html.isEmpty, "one text message: \(language)")
            #expect(text.body.utf16.count <= 160, "one text message: \(language)")
        }
    }

    @Test func whatIsPutInIsEscaped() {
        let origin = #"https://x.example/"><script>alert('1')</script>&{code}{origin}"#
        let mail = written(origin: origin)
        #expect(
            mail.html.contains(
                "https://x.example/&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;{code}{origin}"))
        #expect(!mail.html.contains("<script"), "values are not templates")
        #expect(mail.html.components(separatedBy: "00001234").count == 2, "values are not templates")
        #expect(mail.body.contains(origin))
        for text in [mail.html, mail.body] { #expect(!text.contains("a@example.org")) }
        // The code too, wherever it came from.
        let odd = CodeMessage(recipient: "a@example.org", code: "<b>1", language: "en").written(
            .email, id: "one", origin: "o")
        #expect(odd.html.contains("&lt;b&gt;1"))
        #expect(!odd.html.contains("<b>1"))
        #expect(MessageTemplate.fill("{a}{b}{c", ["a": "{b}", "b": "B"]) == "{b}B{c")
    }

    @Test func theLanguageIsTheRequests() throws {
        func language(_ tag: String, _ header: String? = nil) throws -> String {
            try MessageTexts.language(tag, acceptLanguage: header)
        }
        for (tag, expected) in [
            ("de", "de"), ("de-AT", "de"), ("DE", "de"), ("pt-BR", "pt"), ("tlh", "en"), ("", "en"),
        ] {
            #expect(try language(tag) == expected)
        }
        // The request itself counts before what a browser says.
        #expect(try language("fr", "de") == "fr" && language("tlh", "de") == "en")
        for (header, expected) in [
            ("de", "de"), ("tlh, fr;q=0.5, es;q=0.8", "es"), ("da, en-gb;q=0.8, en;q=0.7", "en"), ("*", "en"),
            ("it;q=0, nl;q=0.1", "nl"),
            (";;;,,q=", "en"), (String(repeating: "xx,", count: 10_000) + "de", "en"), ("pl;q=x, ja;q=0.2", "ja"),
        ] {
            #expect(try language("", header) == expected, "\(header.prefix(40))")
        }
        for bad in [
            "de_DE", "d\u{0435}", "de-", "-", "de\r\nBcc: x@y", "abcdefghi", String(repeating: "a-", count: 30) + "a",
            " de",
        ] {
            #expect(throws: ServerError.self, "\(bad)") { try language(bad) }
        }
    }

    @Test func aMailHasBothForms() throws {
        let message = written(language: "de")
        let (from, to) = (try #require(Mailbox("Notes <n@example.org>")), try #require(Mailbox("alice@example.net")))
        let mail = MailMessage(
            from: from, to: to, subject: message.subject, body: message.body, html: message.html, language: "de",
            date: Date(timeIntervalSince1970: 1_700_000_000), identifier: "0123456789abcdef0123456789abcdef")
        let text = String(decoding: try mail.encoded(), as: UTF8.self)
        let head = try #require(text.components(separatedBy: "\r\n\r\n").first)
        #expect(head.contains("Content-Language: de"))
        #expect(head.contains("Subject: =?utf-8?B?"))
        let boundary = try #require(head.components(separatedBy: "boundary=\"").last?.split(separator: "\"").first)
            .description
        #expect(boundary.hasPrefix("=_"))
        #expect(boundary.count > 20)
        #expect(boundary.allSatisfy { !$0.isNumber })
        let parts = text.components(separatedBy: "--\(boundary)")
        #expect(parts.count == 4 && parts[3] == "--\r\n")
        #expect(
            parts[1].contains("Content-Type: text/plain; charset=utf-8") && parts[1].contains("\r\n    00001234\r\n"))
        #expect(parts[2].contains("Content-Type: text/html; charset=utf-8"))
        #expect(parts[2].contains("00001234"))
        #expect(text.utf8.allSatisfy { $0 < 127 })
        #expect(text.split(separator: "\r\n").allSatisfy { $0.utf8.count <= 78 })
        #expect(throws: MessengerError.invalidHeader("Content-Language")) {
            var bad = mail
            bad.language = "de\r\nBcc: x@y"
            _ = try bad.encoded()
        }
    }

    @Test func whatWaitsIsSealed() throws {
        var random = SystemRandom()
        let key = SecretBytes(random: &random)
        let place: [UInt8] = [1, 2, 3]
        let short = CodeMessage(recipient: "a@b.org", code: "12345678", language: "en")
        let long = CodeMessage(
            recipient: String(repeating: "a", count: 60) + "@example.org", code: "12345678", language: "de")
        let sealed = short.sealed(under: key, associatedData: place)
        #expect(sealed.count == long.sealed(under: key, associatedData: place).count, "lengths tell nothing")
        #expect(!sealed.contains(bytes: Array("a@b.org".utf8)))
        #expect(!sealed.contains(bytes: Array("12345678".utf8)))
        let opened = try CodeMessage(opening: sealed, under: key, associatedData: place)
        #expect(opened.recipient == "a@b.org")
        #expect(opened.code == "12345678")
        #expect(opened.language == "en")
        #expect(throws: SealError.self) { try CodeMessage(opening: sealed, under: key, associatedData: [1, 2]) }
        #expect(throws: SealError.self) {
            try CodeMessage(opening: sealed, under: SecretBytes(random: &random), associatedData: place)
        }
        #expect(throws: SealError.self) {
            try CodeMessage(opening: Array(sealed.dropLast()), under: key, associatedData: place)
        }
        #expect("\(short)" == "CodeMessage")
        #expect(!String(reflecting: short).contains("1234"))
    }
}
