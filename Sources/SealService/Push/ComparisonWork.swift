import SealStatements

/// What comparing a field's value with others costs: in comparisons of two numbers.
///
/// A text counts by its bytes beside that, since its accents and case are evened out: once for each condition, however
/// many values that has, and once for each of those. One of ASCII alone is read as far as the longest of a condition's
/// values, which has a limit.
struct ComparisonWork {
    /// One, or a list's elements.
    private let values: Int
    private let bytes: Int

    /// Bytes of a text that cost as much as a comparison.
    private static let bytesEach = 8
    /// Of one whose words are read, where accents are taken off of them.
    private static let bytesEachOfWords = 2

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

    /// Of reading a value's words, which looks at all of it.
    static func ofWords(of value: Value) -> Int {
        switch value {
        case .string(let text): 1 + text.utf8.count / (isASCII(text) ? bytesEach : bytesEachOfWords)
        case .list(let elements): elements.reduce(0) { $0 + ofWords(of: $1) }
        default: 0
        }
    }

    /// Of comparing it, or each of its elements, with each of a condition's values.
    func times(_ others: [Value]) -> Int { times(Others(others)) }

    func times(_ others: Others) -> Int {
        values * others.count + (bytes * others.conditions + values * others.reach + others.bytes) / Self.bytesEach
    }

    private static func isASCII(_ text: String) -> Bool { text.utf8.allSatisfy { $0 < 0x80 } }

    private static func bytes(beyondASCII value: Value) -> Int {
        guard case .string(let text) = value, !isASCII(text) else { return 0 }
        return text.utf8.count
    }
}

extension ComparisonWork {
    /// What values are compared with: of a query, or of several conditions of it together.
    struct Others {
        fileprivate private(set) var conditions = 0
        fileprivate private(set) var count = 0
        fileprivate private(set) var bytes = 0
        /// How far each text is read, for all conditions together.
        fileprivate private(set) var reach = 0

        /// Bytes of ASCII that cost as much as one of another text: they are compared as they are.
        private static let bytesOfASCII = 8

        /// Nothing yet.
        init() {}

        init(_ values: [Value]) { add(values) }

        /// A condition's values.
        mutating func add(_ values: [Value]) {
            conditions += 1
            count += values.count
            var longest = 0
            for case .string(let text) in values {
                bytes += ComparisonWork.isASCII(text) ? text.utf8.count / Self.bytesOfASCII : text.utf8.count
                longest = max(longest, text.utf8.count)
            }
            reach += longest / Self.bytesOfASCII
        }
    }
}
