public import Foundation

extension Query.Predicate {
    /// Reads CloudKit's predicate language.
    ///
    ///     try Query.Predicate("age BETWEEN {%@, %@} AND name BEGINSWITH %@", 3, 5, "An")
    ///
    /// `%@` takes any value, `%K` a field's name, `%d` an integer, `%f` a number. There are `= != < <= > >=`,
    /// `BETWEEN`, `IN`, `BEGINSWITH`, `CONTAINS` (of lists), `ANY`, `self CONTAINS` and `allTokens TOKENMATCHES[cdl]`
    /// (words), `distanceToLocation:fromLocation:(key, %@) < metres`, `now`, `AND`, `NOT`, `TRUEPREDICATE`,
    /// `FALSEPREDICATE`.
    /// - Throws: `QueryError`, with the place, for everything else, and for what CloudKit does not have (OR, key paths,
    ///   …).
    public init(_ text: String, _ arguments: any Query.Argument...) throws(QueryError) {
        try self.init(text: text, arguments: arguments)
    }

    /// - Parameter now: what `now` stands for.
    public init(text: String, arguments: [any Query.Argument], now: Date = Date()) throws(QueryError) {
        var parser = try Parser(text, arguments, now: now.timeIntervalSinceReferenceDate)
        self = try parser.predicate()
    }
}
