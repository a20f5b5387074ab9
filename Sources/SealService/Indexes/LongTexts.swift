import SealQuery
import SealStatements

extension Value {
    /// Bytes of texts that are read in the writer as well, where they are asked for.
    private static let shortBytes = 256

    /// The words of a long text, or of a list that is: to be read before the writer is taken, since everybody waits
    /// meanwhile. Nil for what is short.
    var wordsOfLongTexts: Set<String>? { textBytes > Self.shortBytes ? Words.of(self) : nil }

    private var textBytes: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .list(let elements): elements.reduce(0) { $0 + $1.textBytes }
        default: 0
        }
    }
}
