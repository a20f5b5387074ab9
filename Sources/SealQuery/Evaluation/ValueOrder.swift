public import SealStatements

/// How values compare in queries: the one place that says so, for indexes, evaluation and sorting alike.
///
/// Strings are compared without regard to case, by the bytes of their lower-case composed form; numbers by value,
/// whichever of the two kinds they are, with NaN equal to itself and above all others; references by the record's name,
/// which a string may give; dates by their number of seconds; everything else only with its own kind.
public enum ValueOrder {
    public enum Order: Sendable { case less, equal, greater }

    /// Nil when the two do not compare.
    public static func compare(_ left: Value, _ right: Value) -> Order? {
        switch (left, right) {
        case (.string(let left), .string(let right)): Fold.compare(left, right)
        case (.data(let left), .data(let right)): order(left, right)
        case (.int64(let left), .int64(let right)): order(left, right)
        case (.double(let left), .double(let right)), (.date(let left), .date(let right)):
            order(bits(left), bits(right))
        case (.int64(let left), .double(let right)): order(left, right)
        case (.double(let left), .int64(let right)): flipped(order(right, left))
        case (.reference(let left), .reference(let right)):
            order(Array(left.recordName.utf8), Array(right.recordName.utf8))
        case (.reference(let left), .string(let right)): order(Array(left.recordName.utf8), Array(right.utf8))
        default: nil
        }
    }

    fileprivate static func flipped(_ order: Order) -> Order {
        switch order {
        case .less: .greater
        case .equal: .equal
        case .greater: .less
        }
    }

    private static func order<T: Comparable>(_ left: T, _ right: T) -> Order {
        left < right ? .less : left == right ? .equal : .greater
    }

    fileprivate static func order(_ left: [UInt8], _ right: [UInt8]) -> Order {
        left == right ? .equal : left.lexicographicallyPrecedes(right) ? .less : .greater
    }

    /// How what is folded already stands to a text that may be far longer.
    fileprivate static func order(_ folded: [UInt8], of text: String) -> Order {
        order(folded, Fold.bytes(text, atMost: folded.count + 1))
    }

    /// Exact: neither is rounded to the other's kind.
    private static func order(_ left: Int64, _ right: Double) -> Order {
        guard !right.isNaN, right < 0x1p63 else { return .less }
        guard right >= -0x1p63 else { return .greater }
        let whole = right.rounded(.down)
        let order = order(left, Int64(whole))
        return order == .equal && whole < right ? .less : order
    }

    /// A double as a number that is ordered as it is: negative zero is zero, and there is one NaN.
    static func bits(_ value: Double) -> UInt64 {
        guard !value.isNaN else { return .max }
        let bits = (value == 0 ? 0 : value).bitPattern
        return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    }
}

/// Case folding of strings.
public enum Fold {
    /// The bytes that a string is compared by.
    public static func bytes(_ text: String) -> [UInt8] {
        var bytes = [UInt8](text.utf8)
        for index in bytes.indices {
            guard bytes[index] < 0x80 else { return composed(text) }
            bytes[index] = lower(bytes[index])
        }
        return bytes
    }

    /// The first of these bytes.
    static func bytes(_ text: String, atMost count: Int) -> [UInt8] {
        // One more is looked at: an accent would join with the last.
        let start = text.utf8.prefix(count + 1)
        guard !start.allSatisfy({ $0 < 0x80 }) else { return start.prefix(count).map(lower) }
        var length = 4 * count
        while true {
            let start = upToLetter(text, after: length)
            let folded = composed(start)
            guard folded.count < count, start.utf8.count < text.utf8.count else { return Array(folded.prefix(count)) }
            length *= 2
        }
    }

    /// A text's beginning, of so many bytes at least, which ends before a letter: no accent joins over its end.
    private static func upToLetter(_ text: String, after count: Int) -> String {
        guard let place = text.utf8.index(text.startIndex, offsetBy: count, limitedBy: text.endIndex) else {
            return text
        }
        let scalars = text.unicodeScalars
        let end = scalars[place...].firstIndex { scalar in
            switch scalar.properties.generalCategory {
            case .nonspacingMark, .spacingMark, .enclosingMark: false
            // Hangul's vowels and finals join, though they are letters.
            default: !(0x1160...0x11FF).contains(scalar.value)
            }
        }
        return String(scalars[..<(end ?? text.endIndex)])
    }

    /// How two strings are ordered: known at the first difference between ASCII characters, however long they are.
    static func compare(_ left: String, _ right: String) -> ValueOrder.Order {
        let order = unsafe left.utf8.withContiguousStorageIfAvailable { left in
            unsafe right.utf8.withContiguousStorageIfAvailable { right in unsafe compareASCII(left, right) }
        }
        if case .some(.some(.some(let order))) = order { return order }
        // A byte beyond the shorter one's decides: the longer one may be a whole text.
        guard left.utf8.count > right.utf8.count else { return ValueOrder.order(bytes(left), of: right) }
        return ValueOrder.flipped(ValueOrder.order(bytes(right), of: left))
    }

    /// Nil where another character comes before the difference, or right after it: accents join with what they follow.
    private static func compareASCII(
        _ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>
    ) -> ValueOrder.Order? {
        func isASCII(_ text: UnsafeBufferPointer<UInt8>, at index: Int) -> Bool {
            unsafe index >= text.count || text[index] < 0x80
        }
        var index = 0
        while true {
            guard unsafe isASCII(left, at: index), unsafe isASCII(right, at: index) else { return nil }
            guard index < left.count else { return index < right.count ? .less : .equal }
            guard index < right.count else { return .greater }
            let (first, second) = unsafe (lower(left[index]), lower(right[index]))
            index += 1
            guard first != second else { continue }
            guard unsafe isASCII(left, at: index), unsafe isASCII(right, at: index) else { return nil }
            return first < second ? .less : .greater
        }
    }

    private static func lower(_ byte: UInt8) -> UInt8 { byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte }
}
