import SealStatements

/// What comparing a field's value with others costs: in comparisons of two numbers.
///
/// A text counts by its bytes beside that, since its accents and case are evened out for each comparison. One of ASCII
/// alone is as long as what it is compared with, which has a limit: where they differ, the rest does not matter.
struct ComparisonWork {
    /// One, or a list's elements.
    private let values: Int
    private let bytes: Int

    /// Bytes of a text that cost as much as a comparison.
    private static let bytesEach = 8

    /// - Parameter value: nil where the record lacks the field.
    init(_ value: Value?) {
        guard case .list(let elements)? = value else {
            (values, bytes) = (1, value.map(Self.bytes(beyondASCII:)) ?? 0)
            return
        }
        (values, bytes) = (elements.count, elements.reduce(0) { $0 + Self.bytes(beyondASCII: $1) })
    }

    /// Of reading a text that is asked for.
    static func of(_ text: String) -> Int { 1 + text.utf8.count / bytesEach }

    /// Of comparing it, or each of its elements, with each of these.
    func times(_ others: [Value]) -> Int {
        let asked = others.reduce(0) { sum, other in
            if case .string(let text) = other { sum + text.utf8.count } else { sum }
        }
        return values * others.count + (bytes * others.count + values * asked) / Self.bytesEach
    }

    private static func bytes(beyondASCII value: Value) -> Int {
        guard case .string(let text) = value, !text.utf8.allSatisfy({ $0 < 0x80 }) else { return 0 }
        return text.utf8.count
    }
}
