public import SealStatements

extension Query.Condition {
    /// Where in a field's index everything lies that fulfils this; and possibly more, which evaluation tells apart.
    ///
    /// - Parameter kind: the kind of the field's values, or of its elements.
    /// - Returns: ranges, ascending and apart; none when nothing can fulfil it; nil when the index is of no help (a
    ///   negated condition on a list is fulfilled by what is not there).
    public func ranges(in kind: ValueKind) -> [KeyRange]? {
        switch test {
        case .never, .words: nil
        case .compare(_, let comparison, let value):
            switch isNegated ? comparison.opposite : comparison {
            case .equal: KeyRange.joined(Query.equal(value, kind))
            case .notEqual: Query.fits(value, kind) ? [.all] : []
            case .less, .lessOrEqual: Query.upTo(value, kind).map { [KeyRange(KeyRange.all.lower, $0)] } ?? []
            case .greater, .greaterOrEqual: Query.from(value, kind).map { [KeyRange($0, .end)] } ?? []
            }
        case .between(_, let low, let high):
            if let low = Query.from(low, kind), let high = Query.upTo(high, kind), low < high {
                [KeyRange(low, high)]
            } else {
                []
            }
        case .isIn(_, let values): isNegated ? [.all] : KeyRange.joined(values.flatMap { Query.equal($0, kind) })
        case .contains(_, let value): isNegated ? nil : KeyRange.joined(Query.equal(value, kind))
        case .containsAny(_, let values): isNegated ? nil : KeyRange.joined(values.flatMap { Query.equal($0, kind) })
        case .beginsWith(_, let prefix): isNegated ? [.all] : Query.prefixed(prefix, kind)
        case .near(_, let latitude, let longitude, let metres):
            kind == .location
                ? Cells.ranges(latitude: latitude, longitude: longitude, metres: metres).map { range in
                    KeyRange(
                        IndexKey(range.lowerBound), range.upperBound == .max ? .end : IndexKey(range.upperBound + 1))
                } : []
        }
    }
}

extension Query {
    /// Whether a field of this kind can be compared with this value.
    public static func fits(_ value: Value, _ kind: ValueKind) -> Bool {
        switch value {
        case .int64, .double: kind == .int64 || kind == .double
        case .string: kind == .string || kind == .reference
        case .data, .date, .reference: kind == value.kind
        case .location, .list: false
        }
    }

    fileprivate static func equal(_ value: Value, _ kind: ValueKind) -> [KeyRange] {
        guard let from = from(value, kind), let upTo = upTo(value, kind), from < upTo else { return [] }
        return [KeyRange(from, upTo)]
    }

    /// The first key that something not below the value can have; nil when nothing can.
    fileprivate static func from(_ value: Value, _ kind: ValueKind) -> IndexKey? {
        guard fits(value, kind) else { return nil }
        switch (value, kind) {
        case (.double(let number), .int64):
            guard !number.isNaN, number < 0x1p63 else { return nil }
            return IndexKey(.int64(number < -0x1p63 ? .min : Int64(number.rounded(.up))))
        // Rounded to nearest, it may be the key of a lower number: what is between is told apart by evaluation.
        case (.int64(let number), .double): return IndexKey(.double(Double(number).nextDown))
        case (.string(let name), .reference): return IndexKey(bytes: Array(name.utf8))
        default: return IndexKey(value)
        }
    }

    /// The first key that something not above the value cannot have; nil when nothing is not above it.
    fileprivate static func upTo(_ value: Value, _ kind: ValueKind) -> IndexKey? {
        guard fits(value, kind) else { return nil }
        switch (value, kind) {
        case (.double(let number), .int64):
            if number.isNaN || number >= 0x1p63 { return .end }
            guard number >= -0x1p63 else { return nil }
            return IndexKey(.int64(Int64(number.rounded(.down))))?.next
        case (.int64(let number), .double): return IndexKey(.double(Double(number).nextUp))?.next
        case (.string(let name), .reference): return IndexKey(bytes: Array(name.utf8)).next
        default: return IndexKey(value)?.next
        }
    }

    /// What is ASCII folds to itself in any company; from the first other character on, accents may join with what
    /// follows.
    private static func prefixed(_ prefix: String, _ kind: ValueKind) -> [KeyRange] {
        guard kind == .string else { return [] }
        let start = String(prefix.prefix { $0.isASCII })
        let safe = start.count == prefix.count ? start : String(start.dropLast())
        let bytes = Fold.bytes(safe, atMost: Limits.keyBytes)
        return [KeyRange(IndexKey(bytes: bytes), IndexKey(bytes: bytes + [0xFF]))]
    }
}

extension KeyRange {
    /// The same keys in ranges that are ascending and apart.
    static func joined(_ ranges: [KeyRange]) -> [KeyRange] {
        var joined: [KeyRange] = []
        for range in ranges.sorted(by: { $0.lower < $1.lower }) {
            if let last = joined.last, range.lower <= last.upper {
                joined[joined.count - 1] = KeyRange(last.lower, max(last.upper, range.upper))
            } else {
                joined.append(range)
            }
        }
        return joined
    }
}

extension Query.Comparison {
    var opposite: Query.Comparison {
        switch self {
        case .equal: .notEqual
        case .notEqual: .equal
        case .less: .greaterOrEqual
        case .lessOrEqual: .greater
        case .greater: .lessOrEqual
        case .greaterOrEqual: .less
        }
    }
}
