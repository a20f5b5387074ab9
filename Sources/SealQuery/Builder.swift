public import SealStatements

extension Query {
    /// A plain field with its type, to build conditions that the compiler checks:
    ///
    ///     Query.Field<Int>("age") > 3 && Query.Field<String>("name").beginsWith("An") && !(Query.Field<String>("city")
    ///     == "Rome")
    ///
    /// What CloudKit does not have, like NOT over several conditions, does not compile.
    public struct Field<Value: Argument>: Sendable, Hashable {
        public let key: String

        public init(_ key: String) { self.key = Query.SystemField.canonicalName(key) }
    }
}

// MARK: Equality

extension Query.Field {
    public static func == (field: Self, value: Value) -> Query.Condition { field.compare(.equal, value) }
    public static func != (field: Self, value: Value) -> Query.Condition { field.compare(.notEqual, value) }

    public func isIn(_ values: [Value]) -> Query.Condition { .init(.isIn(key, values.map(\.queryValue))) }

    fileprivate func compare(_ comparison: Query.Comparison, _ value: Value) -> Query.Condition {
        .init(.compare(key, comparison, value.queryValue))
    }
}

// MARK: Ranges

extension Query.Field where Value: Query.OrderedArgument {
    public static func < (field: Self, value: Value) -> Query.Condition { field.compare(.less, value) }
    public static func <= (field: Self, value: Value) -> Query.Condition { field.compare(.lessOrEqual, value) }
    public static func > (field: Self, value: Value) -> Query.Condition { field.compare(.greater, value) }
    public static func >= (field: Self, value: Value) -> Query.Condition { field.compare(.greaterOrEqual, value) }

    /// Both ends included.
    public func between(_ low: Value, _ high: Value) -> Query.Predicate {
        Query.Predicate([.init(.between(key, low.queryValue, high.queryValue))])
    }
}

extension Query.Field where Value == String {
    public func beginsWith(_ prefix: String) -> Query.Condition { .init(.beginsWith(key, prefix)) }
}

// MARK: Lists, places, words

extension Query.Field {
    /// The list has this element.
    public func contains<Element>(_ element: Element) -> Query.Condition where Value == [Element] {
        .init(.contains(key, element.queryValue))
    }

    /// The list has one of these elements.
    public func containsAny<Element>(_ elements: [Element]) -> Query.Condition where Value == [Element] {
        .init(.containsAny(key, elements.map(\.queryValue)))
    }
}

extension Query.Field where Value == Location {
    /// At most so many metres away.
    public func isWithin(metres: Double, of place: Location) -> Query.Predicate {
        Query.Predicate([.init(.near(key, latitude: place.latitude, longitude: place.longitude, metres: metres))])
    }
}

extension Query.Predicate {
    /// Any of these words in the record's searchable texts.
    public static func containsAnyWord(of text: String) -> Query.Predicate { .init([.init(.words(text, all: false))]) }
    /// All of these words in the record's searchable texts.
    public static func containsAllWords(of text: String) -> Query.Predicate { .init([.init(.words(text, all: true))]) }

    public static func && (left: Self, right: Self) -> Self { .init(left.conditions + right.conditions) }
    public static func && (left: Self, right: Query.Condition) -> Self { .init(left.conditions + [right]) }
}

extension Query.Condition {
    public static func && (left: Self, right: Self) -> Query.Predicate { .init([left, right]) }
    public static func && (left: Self, right: Query.Predicate) -> Query.Predicate { .init([left] + right.conditions) }
    public static prefix func ! (condition: Self) -> Self { condition.negated }
}
