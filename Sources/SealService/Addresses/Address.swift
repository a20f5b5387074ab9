import SealWire

/// An e-mail address or a phone number in the one spelling by which it is compared.
///
/// Two spellings that reach one mailbox must be one address, and two addresses must never become one: so the local
/// part's case is folded in ASCII only, the domain is lower-cased, and nothing else is touched or accepted.
package struct Address: Sendable, Equatable {
    package enum Kind: String, CaseIterable, Sendable { case email, phone }

    /// RFC 5321's path, without its angle brackets; phone numbers are shorter.
    package static let mostBytes = 254

    package let kind: Kind
    package let normalized: String

    /// Tells the kinds apart by the “@”.
    package init(_ text: String) throws(ServerError) {
        if text.utf8.contains(0x40) { try self.init(email: text) } else { try self.init(phone: text) }
    }

    package init(email text: String) throws(ServerError) {
        guard text.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw ServerError(
                .invalidArguments, "The address has characters outside ASCII, which this server does not take.",
                remedy: "Write an international domain in its A-label form (xn--…).")
        }
        let bytes = Array(text.utf8).map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 }
        guard bytes.count <= Self.mostBytes, let at = bytes.lastIndex(of: 0x40), Self.isLocalPart(bytes[..<at]),
            Self.isDomain(bytes[(at + 1)...])
        else {
            throw ServerError(
                .invalidArguments, "This is not an e-mail address of the usual form, name@example.org.",
                remedy: "Check for spaces, quotes and missing parts.")
        }
        kind = .email
        normalized = String(decoding: bytes, as: UTF8.self)
    }

    package init(phone text: String) throws(ServerError) {
        let digits = text.utf8.dropFirst()
        guard text.utf8.first == 0x2B, (8...15).contains(digits.count),
            digits.allSatisfy({ (0x30...0x39).contains($0) }),
            digits.first != 0x30
        else {
            throw ServerError(
                .invalidArguments, "This is neither an e-mail address nor a phone number in international form.",
                remedy: "Write a phone number as + and 8 to 15 digits, the country's first, nothing between them.")
        }
        kind = .phone
        normalized = text
    }

    /// Without what follows a “+” in an e-mail address's local part, by which one mailbox has any number of addresses
    /// (RFC 5233): for counting what is sent, and never for who somebody is, since elsewhere it may be part of a name.
    package var mailbox: Address {
        guard kind == .email, let plus = normalized.firstIndex(of: "+"), let at = normalized.lastIndex(of: "@") else {
            return self
        }
        return Address(kind: kind, normalized: String(normalized[..<plus] + normalized[at...]))
    }

    private init(kind: Kind, normalized: String) {
        self.kind = kind
        self.normalized = normalized
    }

    /// RFC 5321's dot-string. Quoted local parts are left out: nobody has one, and quoting is where injections hide.
    private static func isLocalPart(_ bytes: ArraySlice<UInt8>) -> Bool {
        let others = Array("!#$%&'*+-/=?^_`{|}~.".utf8)
        guard (1...64).contains(bytes.count), bytes.first != 0x2E, bytes.last != 0x2E else { return false }
        var previous: UInt8 = 0
        for byte in bytes {
            guard isLetterOrDigit(byte) || others.contains(byte), !(byte == 0x2E && previous == 0x2E) else {
                return false
            }
            previous = byte
        }
        return true
    }

    /// Two or more labels of letters, digits and hyphens; the last is not a number, so no IP addresses. Of the labels
    /// that are reserved for codings (RFC 5890: `??--…`), A-labels alone are in use.
    private static func isDomain(_ bytes: ArraySlice<UInt8>) -> Bool {
        let labels = bytes.split(separator: 0x2E, omittingEmptySubsequences: false)
        guard labels.count >= 2, let last = labels.last, last.contains(where: { !(0x30...0x39).contains($0) }) else {
            return false
        }
        return labels.allSatisfy { label in
            (1...63).contains(label.count) && label.first != 0x2D && label.last != 0x2D
                && label.allSatisfy { isLetterOrDigit($0) || $0 == 0x2D }
                && (!label.dropFirst(2).starts(with: [0x2D, 0x2D])
                    || (label.count > 4 && label.starts(with: [0x78, 0x6E])))
        }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
    }
}

extension Address: CustomStringConvertible, CustomReflectable {
    /// Addresses show nowhere.
    package var description: String { "Address" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
