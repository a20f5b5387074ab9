/// A mail address, perhaps with a display name, that is safe to put into a header and an SMTP envelope.
package struct Mailbox: Sendable, Equatable {
    package let name: String?
    package let address: String

    /// Reads `a@b` or `Name <a@b>`. Nil for anything that could end a header or an envelope address early.
    package init?(_ text: String) {
        guard !text.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 }) else { return nil }
        var name: String?
        var address = Substring(text)
        if text.hasSuffix(">"), let open = text.lastIndex(of: "<") {
            address = text[text.index(after: open)...].dropLast()
            let before = text[..<open].trimming(while: { $0 == " " || $0 == "\"" })
            name = before.isEmpty ? nil : String(before)
        }
        guard Self.isAddress(address) else { return nil }
        self.name = name
        self.address = String(address)
    }

    private static func isAddress(_ text: Substring) -> Bool {
        guard text.utf8.count <= 254, let at = text.lastIndex(of: "@") else { return false }
        let local = text[..<at]
        let domain = text[text.index(after: at)...]
        guard (1...64).contains(local.utf8.count), !domain.isEmpty else { return false }
        // Quoted local parts are left out on purpose: nobody has one, and quoting is where injections hide.
        let refused = Set(" \t\r\n<>()[]\\,;:\"@")
        guard !local.contains(where: { refused.contains($0) }), !domain.contains(where: { refused.contains($0) }) else {
            return false
        }
        return text.unicodeScalars.allSatisfy { $0.value > 32 && !$0.properties.isWhitespace && $0.value != 127 }
            && !domain.hasPrefix(".") && !domain.hasSuffix(".") && !domain.hasPrefix("-")
    }
}

extension Substring {
    fileprivate func trimming(while isTrimmed: (Character) -> Bool) -> Substring {
        var result = drop(while: isTrimmed)
        while let last = result.last, isTrimmed(last) { result.removeLast() }
        return result
    }
}
