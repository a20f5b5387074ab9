import SealStatements

extension Query {
    /// Whether a record is a result: of the type, fulfilling the predicate, with a value for everything that it is
    /// sorted by.
    public func matches(_ record: Subject) -> Bool {
        record.recordType == recordType && predicate.matches(record) && sortKeys(of: record) != nil
    }

    /// What a record is sorted by: a key for each sort descriptor. Nil when it lacks one.
    public func sortKeys(of record: Subject) -> [IndexKey]? {
        var keys: [IndexKey] = []
        for descriptor in sortDescriptors {
            guard let key = descriptor.key(of: record) else { return nil }
            keys.append(key)
        }
        return keys
    }

    /// Whether what has the first keys may come before what has the second.
    public func isOrdered(_ first: [IndexKey], _ second: [IndexKey]) -> Bool {
        for ((descriptor, first), second) in zip(zip(sortDescriptors, first), second) where first != second {
            return (first < second) == descriptor.ascending
        }
        return true
    }
}

extension Query.SortDescriptor {
    func key(of record: Query.Subject) -> IndexKey? {
        guard let value = record.value(key) else { return nil }
        guard let relativeLocation else {
            // A cell has no order that means anything.
            if case .location = value { return nil }
            return IndexKey(value)
        }
        return record.metres(key, from: relativeLocation).flatMap { IndexKey(.double($0)) }
    }
}

extension Query.Predicate {
    /// Whether a record fulfils every condition.
    public func matches(_ record: Query.Subject) -> Bool { conditions.allSatisfy { $0.matches(record) } }
}

extension Query.Condition {
    /// Whether a record has the field, in a kind that compares, and passes the test (or, negated, does not).
    public func matches(_ record: Query.Subject) -> Bool {
        guard let passes = test.passes(record) else { return false }
        return passes != isNegated
    }
}

extension Query.Test {
    /// Nil when the test does not apply.
    fileprivate func passes(_ record: Query.Subject) -> Bool? {
        switch self {
        case .never: return false
        case .words(let text, let all): return record.hasWords(of: text, all: all)
        case .compare(let key, let comparison, let other):
            guard let order = record.value(key).flatMap({ ValueOrder.compare($0, other) }) else { return nil }
            return comparison.holds(order)
        case .between(let key, let low, let high):
            guard let value = record.value(key), let fromLow = ValueOrder.compare(value, low),
                let fromHigh = ValueOrder.compare(value, high)
            else { return nil }
            return fromLow != .less && fromHigh != .greater
        case .isIn(let key, let values):
            guard let value = record.value(key), value.kind != nil else { return nil }
            return Asked(values).contains(value)
        case .beginsWith(let key, let prefix):
            guard case .string(let text)? = record.value(key) else { return nil }
            return text.hasPrefix(prefix)
        case .contains(let key, let value):
            guard case .list(let elements)? = record.value(key) else { return nil }
            let asked = Asked([value])
            return elements.contains { asked.contains($0) }
        case .containsAny(let key, let values):
            guard case .list(let elements)? = record.value(key) else { return nil }
            let asked = Asked(values)
            return elements.contains { asked.contains($0) }
        case .near(let key, let latitude, let longitude, let metres):
            return record.metres(key, from: Location(latitude: latitude, longitude: longitude)).map { $0 <= metres }
        }
    }
}

/// Values that others are compared with: each text is folded once, and what is compared with it once for all of them,
/// no further than the longest reaches.
private struct Asked {
    private let values: [Value]
    private let folded: Set<[UInt8]>
    private let longest: Int

    init(_ values: [Value]) {
        self.values = values
        var folded: Set<[UInt8]> = []
        for case .string(let text) in values { folded.insert(Fold.bytes(text)) }
        self.folded = folded
        longest = folded.map { $0.count }.max() ?? 0
    }

    /// Whether it is equal to one of them.
    func contains(_ value: Value) -> Bool {
        // A text compares with texts alone.
        guard case .string(let text) = value else { return values.contains { ValueOrder.compare(value, $0) == .equal } }
        return !folded.isEmpty && folded.contains(Fold.bytes(text, atMost: longest + 1))
    }
}

extension Query.Comparison {
    fileprivate func holds(_ order: ValueOrder.Order) -> Bool {
        switch self {
        case .equal: order == .equal
        case .notEqual: order != .equal
        case .less: order == .less
        case .lessOrEqual: order != .greater
        case .greater: order == .greater
        case .greaterOrEqual: order != .less
        }
    }
}
