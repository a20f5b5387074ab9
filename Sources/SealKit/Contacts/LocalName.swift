import Foundation

/// A name that the user has given somebody. It is shown where a person is meant, so nothing may pass for it that it is not: no
/// character that cannot be seen, no letters of two alphabets that look alike, nothing that reads like an id or an address.
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
        guard let first = text.unicodeScalars.first, first.properties.isAlphabetic || first.properties.numericType != nil else {
            throw LocalName.refused("begins with a letter or a digit")
        }
        guard !text.contains("@") else { throw LocalName.refused("has no @, by which addresses are known") }
        guard text.last != " ", !text.contains("  ") else { throw LocalName.refused("has single spaces, and none at its end") }
        guard text.split(separator: " ").allSatisfy({ Alphabet.all(in: $0).count < 2 }) else {
            throw LocalName.refused("has no Latin, Greek and Cyrillic letters in one word, which look alike")
        }
        self.init(text: text, folded: LocalName.folded(text))
    }

    static func folded(_ text: String) -> String {
        text.precomposedStringWithCompatibilityMapping.lowercased().precomposedStringWithCompatibilityMapping
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
        case latin, greek, cyrillic

        static func all(in word: Substring) -> Set<Alphabet> { Set(word.unicodeScalars.compactMap(Alphabet.init)) }

        private init?(_ scalar: Unicode.Scalar) {
            guard scalar.properties.isAlphabetic else { return nil }
            switch scalar.value {
            case 0x41...0x5A, 0x61...0x7A, 0xC0...0x24F, 0x1E00...0x1EFF: self = .latin
            case 0x370...0x3FF, 0x1F00...0x1FFF: self = .greek
            case 0x400...0x52F: self = .cyrillic
            default: return nil
            }
        }
    }
}
