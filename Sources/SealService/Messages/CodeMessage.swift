package import SealPrimitives

/// A code on its way to an address: what the outbox keeps. It is put into words when it is sent.
///
/// Nothing in those words was chosen by whoever asked for the code: no name, no title, no link.
package struct CodeMessage: Sendable {
    /// How long a code is good, in microseconds.
    static let lifetime: Int64 = 10 * 60_000_000
    /// How far a clock may be set back without what was made before losing its use.
    static let clockTolerance: Int64 = 2 * 60_000_000

    package let recipient: String
    package let code: String
    /// One of `MessageTexts.all`.
    package let language: String

    /// - Parameters:
    ///   - id: in every attempt the same.
    ///   - origin: the server's, so that the reader knows where the code belongs.
    package func written(_ kind: Address.Kind, id: String, origin: String) -> OutgoingMessage {
        let texts = MessageTexts.of(language)
        let values = ["code": code, "origin": origin]
        switch kind {
        case .email:
            return OutgoingMessage(
                id: id, recipient: recipient,
                // Subjects show on locked screens: the code is in the body alone.
                subject: texts.subject, body: MessageTemplate.plain(texts, values),
                html: MessageTemplate.html(texts, values, language: language), language: language)
        case .phone:
            return OutgoingMessage(
                id: id, recipient: recipient, subject: "", body: MessageTemplate.fill(texts.phone, values), html: "",
                language: language)
        }
    }

    // MARK: In the outbox

    /// All are filled up to so many bytes: how long an address is shows in none.
    private static let sealedFrom = 512

    /// - Parameter associatedData: of the row that it is kept in.
    package func sealed(under key: SecretBytes, associatedData: [UInt8]) -> [UInt8] {
        var random = SystemRandom()
        var writer = CanonicalWriter(capacity: Self.sealedFrom)
        writer.string(recipient)
        writer.string(code)
        writer.string(language)
        let filling = [UInt8](repeating: 0, count: max(0, Self.sealedFrom - writer.bytes.count))
        return AEAD.seal(writer.bytes + filling, under: key, associatedData: associatedData, random: &random)
    }

    /// - Throws: `authenticationFailed`, for what was sealed under another key or lay in another row.
    package init(opening sealed: [UInt8], under key: SecretBytes, associatedData: [UInt8]) throws(SealError) {
        var reader = CanonicalReader(try AEAD.open(sealed, under: key, associatedData: associatedData))
        recipient = try reader.string(atMost: Self.sealedFrom)
        code = try reader.string(atMost: Self.sealedFrom)
        language = try reader.string(atMost: Self.sealedFrom)
        try reader.zeros()
    }

    package init(recipient: String, code: String, language: String) {
        (self.recipient, self.code, self.language) = (recipient, code, language)
    }
}

extension CodeMessage: CustomStringConvertible, CustomReflectable {
    /// Address and code show nowhere.
    package var description: String { "CodeMessage" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
