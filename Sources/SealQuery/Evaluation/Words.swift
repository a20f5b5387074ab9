import Foundation
public import SealStatements

/// The words of a text, as search sees them: runs of letters and digits, without case and accents, stop words left out.
public enum Words {
    /// Longer words count by so many characters.
    static let characters = 64

    /// Lucene's English stop words.
    static let stopWords: Set<String> = [
        "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not",
        "of", "on", "or",
        "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will", "with",
    ]

    /// The longest of the stop words.
    private static let stopWordCharacters = 5

    /// Each word once.
    public static func of(_ text: String) -> Set<String> {
        var words: Set<String> = []
        let scalars = Fold.word(text).unicodeScalars
        // Where a word begins, where what counts of it ends, and how many characters that are.
        var (start, end, count) = (scalars.startIndex, scalars.startIndex, 0)
        func finish() {
            guard count > 0 else { return }
            let word = String(scalars[start..<end])
            if count > stopWordCharacters || !stopWords.contains(word) { words.insert(word) }
            count = 0
        }
        var index = scalars.startIndex
        while index < scalars.endIndex {
            let next = scalars.index(after: index)
            if isPart(scalars[index]) {
                if count == 0 { start = index }
                if count < characters { (end, count) = (next, count + 1) }
            } else {
                finish()
            }
            index = next
        }
        finish()
        return words
    }

    /// Those of a text, or of a list of them.
    public static func of(_ value: Value) -> Set<String> {
        switch value {
        case .string(let text): of(text)
        case .list(let elements):
            elements.reduce(into: []) { words, element in
                if case .string(let text) = element { words.formUnion(of(text)) }
            }
        default: []
        }
    }

    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII
            ? (scalar.value >= 0x30 && scalar.value <= 0x39) || (scalar.value >= 0x61 && scalar.value <= 0x7A)
            : scalar.properties.isAlphabetic || scalar.properties.numericType != nil
    }
}

extension Fold {
    /// Without case and accents, composed: what words are compared by.
    static func word(_ text: String) -> String {
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text.lowercased() }
        let options: String.CompareOptions = [.caseInsensitive, .diacriticInsensitive, .widthInsensitive]
        return normalized(normalized(text).folding(options: options, locale: nil))
    }
}
