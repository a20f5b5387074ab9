import Foundation

extension Fold {
    /// Equal for strings that Unicode takes for the same, whatever their accents are made of.
    static func composed(_ text: String) -> [UInt8] {
        Array(text.lowercased().precomposedStringWithCanonicalMapping.utf8)
    }

    /// Without case and accents, composed: what words are compared by.
    static func word(_ text: String) -> String {
        text.utf8.allSatisfy { $0 < 0x80 }
            ? text.lowercased()
            : text.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
                .precomposedStringWithCanonicalMapping
    }
}
