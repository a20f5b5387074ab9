package import Foundation

/// An RFC 5322 message: plain text and HTML in UTF-8, quoted-printable, so that it passes any relay unchanged.
package struct MailMessage: Sendable {
    package let from: Mailbox
    package let to: Mailbox
    package let subject: String
    package let body: String
    /// The same for readers that show HTML; empty for a message of plain text alone.
    package var html: String
    /// BCP 47.
    package var language: String
    package let date: Date
    /// The left half of the Message-ID.
    package let identifier: String

    package init(
        from: Mailbox, to: Mailbox, subject: String, body: String, html: String = "", language: String = "en",
        date: Date,
        identifier: String
    ) {
        self.from = from
        self.to = to
        self.subject = subject
        self.body = body
        self.html = html
        self.language = language
        self.date = date
        self.identifier = identifier
    }

    /// The bytes for SMTP's DATA, with CRLF line ends. Leading dots are doubled by libcurl.
    package func encoded() throws(MessengerError) -> [UInt8] {
        guard Self.isHeaderSafe(subject) else { throw .invalidHeader("Subject") }
        guard Self.isHeaderSafe(identifier), identifier.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
            throw .invalidHeader("Message-ID")
        }
        let domain = from.address.split(separator: "@").last.map(String.init) ?? "localhost"
        guard Self.isHeaderSafe(language), language.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
            throw .invalidHeader("Content-Language")
        }
        let lines = [
            "Date: \(Self.format(date))",
            "From: \(try Self.mailbox(from))",
            "To: \(try Self.mailbox(to))",
            "Message-ID: <\(identifier)@\(domain)>",
            "Subject: \(Self.headerText(subject))",
            "MIME-Version: 1.0",
            "Content-Language: \(language)",
            "Auto-Submitted: auto-generated",
        ]
        return Self.lines(lines) + content
    }

    private var content: [UInt8] {
        guard !html.isEmpty else { return Self.part("plain", body) }
        let boundary = self.boundary
        // The plainest first, the best last: RFC 2046, 5.1.4.
        return Self.lines(["Content-Type: multipart/alternative;", " boundary=\"\(boundary)\"", ""])
            + Self.lines(["--\(boundary)"]) + Self.part("plain", body)
            + Self.lines(["--\(boundary)"]) + Self.part("html", html) + Self.lines(["--\(boundary)--"])
    }

    /// Quoted-printable text never has `=_`. In letters: what looks for a code's digits finds none here.
    private var boundary: String {
        "=_"
            + String(
                String.UnicodeScalarView(
                    identifier.unicodeScalars.compactMap { scalar in
                        switch scalar {
                        case "0"..."9": Unicode.Scalar(UInt8(scalar.value) + 0x37)
                        case "a"..."z", "A"..."Z": scalar
                        default: nil
                        }
                    }))
    }

    private static func part(_ subtype: String, _ text: String) -> [UInt8] {
        lines(["Content-Type: text/\(subtype); charset=utf-8", "Content-Transfer-Encoding: quoted-printable", ""])
            + quotedPrintable(text)
    }

    private static func lines(_ lines: [String]) -> [UInt8] { Array(lines.map { $0 + "\r\n" }.joined().utf8) }

    /// No control characters: nothing that could end the header and start another.
    private static func isHeaderSafe(_ text: String) -> Bool {
        !text.unicodeScalars.contains {
            $0.value < 32 || (127...159).contains($0.value) || [0x2028, 0x2029].contains($0.value)
        }
    }

    private static func mailbox(_ mailbox: Mailbox) throws(MessengerError) -> String {
        guard let name = mailbox.name else { return mailbox.address }
        guard isHeaderSafe(name) else { throw .invalidHeader("From") }
        let isPlain = name.utf8.allSatisfy { byte in
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 32
        }
        return "\(isPlain ? name : encodedWords(name)) <\(mailbox.address)>"
    }

    private static func headerText(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { (32...126).contains($0) } && text.utf8.count <= 60 && !text.contains("=?")
        return isPlain ? text : encodedWords(text)
    }

    /// RFC 2047: base64 words of at most 75 characters, each of whole characters, folded onto lines of their own.
    private static func encodedWords(_ text: String) -> String {
        var words: [String] = []
        var part: [UInt8] = []
        func flush() {
            if !part.isEmpty { words.append("=?utf-8?B?\(Data(part).base64EncodedString())?=") }
            part = []
        }
        for scalar in text.unicodeScalars {
            let bytes = Array(String(scalar).utf8)
            if part.count + bytes.count > 45 { flush() }
            part += bytes
        }
        flush()
        return words.joined(separator: "\r\n ")
    }

    /// RFC 2045: lines of at most 76 characters; any line end becomes CRLF.
    static func quotedPrintable(_ text: String) -> [UInt8] {
        let hex = Array("0123456789ABCDEF".utf8)
        var result: [UInt8] = []
        let normal = text.replacingOccurrences(of: "\r\n", with: "\n").replacingOccurrences(of: "\r", with: "\n")
        var lines = normal.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.last?.isEmpty == true { lines.removeLast() }
        for line in lines {
            var length = 0
            let bytes = Array(line.utf8)
            for (index, byte) in bytes.enumerated() {
                let isLast = index == bytes.count - 1
                let isLiteral = ((33...126).contains(byte) && byte != 61) || (byte == 32 && !isLast)
                let token = isLiteral ? [byte] : [61, hex[Int(byte >> 4)], hex[Int(byte & 15)]]
                if length + token.count > 75 {
                    result += [61, 13, 10]
                    length = 0
                }
                result += token
                length += token.count
            }
            result += [13, 10]
        }
        return result
    }

    private static func format(_ date: Date) -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss '+0000'"
        return formatter.string(from: date)
    }
}
