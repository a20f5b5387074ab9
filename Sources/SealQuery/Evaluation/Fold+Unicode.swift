// For canonical composition: Foundation's takes a hundred times as long, and leaves Hangul in parts.
@_spi(_Unicode) import Swift

extension Fold {
    /// Equal for strings that Unicode takes for the same, whatever their accents are made of.
    static func composed(_ text: String) -> [UInt8] { Array(normalized(text.lowercased()).utf8) }

    /// Marks that count of those that follow one another: as many as any language has, and Unicode's own bound
    /// (UAX #15, stream-safe text). They are brought into an order, which takes the square of their number.
    private static let mostMarks = 30

    /// Scalar by scalar: as a sequence Embedded Swift does not take it.
    static func normalized(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        var composed = streamSafe(text)._nfc.makeIterator()
        while let scalar = composed.next() { scalars.append(scalar) }
        return String(scalars)
    }

    private static func streamSafe(_ text: String) -> String {
        var marks = 0
        func counts(_ scalar: Unicode.Scalar) -> Bool {
            // Tibetan vowels of two marks have no class of their own.
            let isTwo = scalar.value == 0xF73 || scalar.value == 0xF75 || scalar.value == 0xF81
            let isMark = scalar.value >= 0x300 && scalar.properties.canonicalCombiningClass != .notReordered
            marks = isTwo || isMark ? marks + 1 : 0
            return marks <= mostMarks
        }
        guard !text.unicodeScalars.allSatisfy(counts) else { return text }
        marks = 0
        return String(String.UnicodeScalarView(text.unicodeScalars.filter(counts)))
    }
}
