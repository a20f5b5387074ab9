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

    /// Each word once.
    public static func of(_ text: String) -> Set<String> {
        var words: Set<String> = []
        var word = String.UnicodeScalarView()
        var count = 0
        func end() {
            guard count > 0 else { return }
            let text = String(word)
            if !stopWords.contains(text) { words.insert(text) }
            word = String.UnicodeScalarView()
            count = 0
        }
        for scalar in Fold.word(text).unicodeScalars {
            guard isPart(scalar) else {
                end()
                continue
            }
            if count < characters { word.append(scalar) }
            count += 1
        }
        end()
        return words
    }

    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII
            ? (scalar.value >= 0x30 && scalar.value <= 0x39) || (scalar.value >= 0x61 && scalar.value <= 0x7A)
            : scalar.properties.isAlphabetic || scalar.properties.numericType != nil
    }
}
