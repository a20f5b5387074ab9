import Foundation

/// A name that the user has given somebody. It is shown where a person is meant, so nothing may pass for it that it is
/// not: no character that cannot be seen, no letters of two alphabets that look alike, nothing that reads like an id or
/// an address.
struct LocalName: Sendable {
    let text: String
    /// The same for all spellings that are hard to tell apart.
    let folded: String

    static let mostCharacters = 64
    private static let mostBytes = 256

    /// As it was kept.
    init(text: String, folded: String) { (self.text, self.folded) = (text, folded) }

    /// - Throws: `invalidArguments`, which says what is wrong with it.
    init(_ given: String) throws(SealKitError) {
        let text = given.precomposedStringWithCanonicalMapping
        guard (1...LocalName.mostCharacters).contains(text.count), text.utf8.count <= LocalName.mostBytes else {
            throw LocalName.refused("has 1 to \(LocalName.mostCharacters) characters")
        }
        guard text.unicodeScalars.allSatisfy(LocalName.isSeen) else {
            throw LocalName.refused("has no control character, and none that cannot be seen")
        }
        guard let first = text.unicodeScalars.first,
            first.properties.isAlphabetic || first.properties.numericType != nil
        else {
            throw LocalName.refused("begins with a letter or a digit")
        }
        guard !text.contains("@") else { throw LocalName.refused("has no @, by which addresses are known") }
        guard !LocalName.readsLikeAnID(text) else {
            throw LocalName.refused("does not read like a user's id or a safety number, for which it would be taken")
        }
        guard !LocalName.readsLikeAnAddress(text) else {
            throw LocalName.refused("does not read like a phone number or the address of a page")
        }
        guard text.last != " ", !text.contains("  ") else {
            throw LocalName.refused("has single spaces, and none at its end")
        }
        guard text.split(separator: " ").allSatisfy({ Alphabet.all(in: $0).count < 2 }) else {
            throw LocalName.refused(
                "has letters of one alphabet in a word, as those of Latin, Greek, Cyrillic and their kin look alike")
        }
        self.init(text: text, folded: LocalName.folded(text))
    }

    static func folded(_ text: String) -> String {
        text.precomposedStringWithCompatibilityMapping.lowercased().precomposedStringWithCompatibilityMapping
    }

    /// An id without its underscore, the beginning of one, or groups of a safety number.
    private static func readsLikeAnID(_ text: String) -> Bool {
        let signs = folded(text).unicodeScalars.filter { $0 != " " && $0 != "-" && $0 != "_" }
        guard signs.count >= 16 else { return false }
        return signs.allSatisfy { ("0"..."9").contains($0) || ("a"..."f").contains($0) }
    }

    /// So many digits, and nothing but what is written between them; or a scheme.
    private static func readsLikeAnAddress(_ text: String) -> Bool {
        let text = folded(text)
        guard !text.contains("://") else { return true }
        let digits = text.unicodeScalars.count { $0.properties.numericType != nil }
        return digits >= 6
            && text.unicodeScalars.allSatisfy { scalar in
                scalar.properties.numericType != nil || " -./()".unicodeScalars.contains(scalar)
            }
    }

    private static func refused(_ rule: String) -> SealKitError {
        SealKitError(.invalidArguments, "this is no name for somebody: it \(rule)", remedy: "choose another one")
    }

    private static func isSeen(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        case .spaceSeparator: scalar == " "
        // A pattern of Braille without a dot.
        default: !scalar.properties.isDefaultIgnorableCodePoint && scalar != "\u{2800}"
        }
    }

    /// Those of which letters are taken for each other's.
    private enum Alphabet {
        case latin, greek, cyrillic, coptic, armenian, cherokee, lisu, deseret

        /// Of letters that are another one in another width or style, that one counts.
        static func all(in word: Substring) -> Set<Alphabet> {
            Set(String(word).precomposedStringWithCompatibilityMapping.unicodeScalars.compactMap(Alphabet.init))
        }

        private init?(_ scalar: Unicode.Scalar) {
            guard scalar.properties.isAlphabetic else { return nil }
            switch scalar.value {
            case 0x41...0x5A, 0x61...0x7A, 0xC0...0x2AF, 0x1D00...0x1D25, 0x1D6B...0x1DBF, 0x1E00...0x1EFF,
                0x2C60...0x2C7F, 0xA722...0xA7FF,
                0xAB30...0xAB64:
                self = .latin
            case 0x3E2...0x3EF, 0x2C80...0x2CFF: self = .coptic
            case 0x370...0x3FF, 0x1D26...0x1D2A, 0x1F00...0x1FFF: self = .greek
            case 0x400...0x52F, 0x1C80...0x1C8F, 0x1D2B, 0x2DE0...0x2DFF, 0xA640...0xA69F: self = .cyrillic
            case 0x531...0x58F: self = .armenian
            case 0x13A0...0x13FF, 0xAB70...0xABBF: self = .cherokee
            case 0xA4D0...0xA4FF: self = .lisu
            case 0x10400...0x1044F: self = .deseret
            default: return nil
            }
        }
    }
}
