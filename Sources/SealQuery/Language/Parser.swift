import SealStatements

/// CloudKit's predicate language, by recursive descent; what CloudKit does not have is refused by name.
struct Parser {
    var tokens: [Lexer.Token]
    var arguments: [any Query.Argument]
    /// Seconds since 2001, for `now`.
    let now: Double
    var position = 0
    var nextArgument = 0

    init(_ text: String, _ arguments: [any Query.Argument], now: Double) throws(QueryError) {
        tokens = try Lexer.tokens(of: text)
        self.arguments = arguments
        self.now = now
    }

    mutating func predicate() throws(QueryError) -> Query.Predicate {
        let conditions = try conjunction(depth: 0)
        guard token.kind == .end else { throw unexpected("the end of the predicate") }
        guard nextArgument == arguments.count else {
            throw error(
                "there are more arguments than formats in the predicate", "give one argument for each %@, %K, %d or %f")
        }
        for condition in conditions { try condition.validate() }
        guard conditions.count <= Query.Limits.conditions else {
            throw error("the predicate has more than \(Query.Limits.conditions) conditions", "ask in several queries")
        }
        return Query.Predicate(conditions)
    }

    // MARK: AND, NOT, parentheses

    private mutating func conjunction(depth: Int) throws(QueryError) -> [Query.Condition] {
        guard depth <= Query.Limits.depth else {
            throw error("the predicate is nested too deeply", "leave out parentheses")
        }
        var conditions = try term(depth: depth)
        while takeWord("AND") || take("&&") { conditions += try term(depth: depth) }
        if isWord("OR") || token.kind == .symbol("||") {
            throw error(
                "OR is not part of CloudKit's predicates", "use IN for several values, or ask in several queries")
        }
        return conditions
    }

    private mutating func term(depth: Int) throws(QueryError) -> [Query.Condition] {
        var negations = 0
        let start = token.offset
        while takeWord("NOT") || take("!") {
            negations += 1
            guard negations <= Query.Limits.depth else {
                throw error("the predicate is nested too deeply", "leave out NOTs")
            }
        }
        let conditions: [Query.Condition]
        if take("(") {
            conditions = try conjunction(depth: depth + 1)
            try expect(")")
        } else {
            conditions = try condition()
        }
        guard negations % 2 == 1 else { return conditions }
        guard let condition = conditions.first else { return [Query.Condition(.never)] }
        guard conditions.count == 1 else {
            throw QueryError(
                "NOT does not go over AND, as in CloudKit",
                remedy: "negate each condition by itself, or ask in several queries", offset: start)
        }
        if condition.test == .never { return [] }
        guard condition.test.mayBeNegated else {
            throw QueryError(
                "NOT does not go with BETWEEN, words or a distance, as in CloudKit",
                remedy: "turn the comparison round", offset: start)
        }
        return [condition.negated]
    }

    // MARK: One condition

    private mutating func condition() throws(QueryError) -> [Query.Condition] {
        if takeWord("TRUEPREDICATE") { return [] }
        if takeWord("FALSEPREDICATE") { return [Query.Condition(.never)] }
        var quantifier: String?
        for word in ["ANY", "SOME", "ALL", "NONE"] where takeWord(word) { quantifier = word == "SOME" ? "ANY" : word }
        let start = token.offset
        let left = try operand()
        if quantifier == "ALL" || quantifier == "NONE" {
            guard quantifier == "ALL", case .tokenized = left else {
                throw QueryError(
                    "ALL and NONE are not part of CloudKit's predicates", remedy: "use ANY, or NOT with a condition",
                    offset: start)
            }
        }
        return [Query.Condition(try test(left, quantifier: quantifier, at: start))]
    }

    private mutating func test(_ left: Operand, quantifier: String?, at start: Int) throws(QueryError) -> Query.Test {
        let operation = try self.operation()
        switch operation.name {
        case "BETWEEN": return try between(left, quantifier, at: start)
        case "IN": return try membership(left, quantifier, at: start)
        case "CONTAINS": return try contains(left, quantifier, options: operation.options, at: start)
        case "TOKENMATCHES":
            guard case .everyText = left, quantifier == nil else {
                throw QueryError(
                    "TOKENMATCHES searches allTokens", remedy: "write allTokens TOKENMATCHES[cdl] %@", offset: start)
            }
            return .words(try words(), all: true)
        case "BEGINSWITH":
            guard operation.options.isEmpty else {
                throw QueryError(
                    "BEGINSWITH heeds case and accents, as in CloudKit", remedy: "leave out its options", offset: start)
            }
            guard quantifier == nil else { throw notOfLists(start) }
            let key = try left.key(start)
            guard case .value(.string(let prefix)) = try operand() else {
                throw error("BEGINSWITH takes a string", "put it in quotes, or give it as %@")
            }
            return .beginsWith(key, prefix)
        default:
            guard let comparison = Parser.comparisons[operation.name] else { throw unexpected("an operator") }
            guard
                operation.options.isEmpty
                    || (operation.options == "c" && (comparison == .equal || comparison == .notEqual))
            else {
                throw QueryError(
                    "strings are compared without regard to case, and with regard to accents",
                    remedy: "leave out the options", offset: start)
            }
            return try compare(left, comparison, quantifier, at: start)
        }
    }

    static let comparisons: [String: Query.Comparison] = [
        "=": .equal, "==": .equal, "!=": .notEqual, "<>": .notEqual, "<": .less, "<=": .lessOrEqual, "=<": .lessOrEqual,
        ">": .greater, ">=": .greaterOrEqual, "=>": .greaterOrEqual,
    ]

    private mutating func compare(
        _ left: Operand, _ comparison: Query.Comparison, _ quantifier: String?, at start: Int
    ) throws(QueryError) -> Query.Test {
        let right = try operand()
        switch (left, right) {
        case (.distance(let key, let place), .value(let value)):
            return try near(key, place, comparison, value, start)
        case (.value(let value), .distance(let key, let place)):
            return try near(key, place, comparison.flipped, value, start)
        case (.key(let key), .value(let value)):
            guard quantifier == nil else {
                guard comparison == .equal else { throw notOfLists(start) }
                return .contains(key, try scalar(value, start))
            }
            return .compare(key, comparison, try scalar(value, start))
        case (.value(let value), .key(let key)):
            guard quantifier == nil else { throw notOfLists(start) }
            return .compare(key, comparison.flipped, try scalar(value, start))
        case (.everyText, _), (_, .everyText), (.tokenized, _), (_, .tokenized):
            throw QueryError(
                "the record itself is compared", remedy: "search its words with self CONTAINS, or name recordID",
                offset: start)
        default:
            throw QueryError(
                "a comparison needs one field and one value", remedy: "compare a field with a value", offset: start)
        }
    }

    private func near(
        _ key: String, _ place: Location, _ comparison: Query.Comparison, _ value: Value, _ start: Int
    ) throws(QueryError) -> Query.Test {
        guard comparison == .less || comparison == .lessOrEqual else {
            throw QueryError(
                "only what is inside a circle can be asked for",
                remedy: "write distanceToLocation:fromLocation:(key, %@) < metres", offset: start)
        }
        let metres: Double
        switch value {
        case .int64(let number): metres = Double(number)
        case .double(let number): metres = number
        default:
            throw QueryError(
                "a distance is compared with something that is no number", remedy: "give metres", offset: start)
        }
        return .near(key, latitude: place.latitude, longitude: place.longitude, metres: metres)
    }

    private mutating func between(_ left: Operand, _ quantifier: String?, at start: Int) throws(QueryError)
        -> Query.Test
    {
        guard quantifier == nil else { throw notOfLists(start) }
        let key = try left.key(start)
        let place = token.offset
        guard case .values(let ends) = try operand(), ends.count == 2 else {
            throw QueryError("BETWEEN takes two values", remedy: "write BETWEEN {low, high}", offset: place)
        }
        return .between(key, try scalar(ends[0], place), try scalar(ends[1], place))
    }

    private mutating func membership(_ left: Operand, _ quantifier: String?, at start: Int) throws(QueryError)
        -> Query.Test
    {
        let place = token.offset
        let right = try operand()
        switch (left, right) {
        case (.key(let key), .values(let values)):
            var scalars: [Value] = []
            for value in values { scalars.append(try scalar(value, place)) }
            return quantifier == nil ? .isIn(key, scalars) : .containsAny(key, scalars)
        case (.value(let value), .key(let key)) where quantifier == nil: return .contains(key, try scalar(value, start))
        case (.values(let values), .key(let key)) where quantifier == "ANY":
            var scalars: [Value] = []
            for value in values { scalars.append(try scalar(value, start)) }
            return .containsAny(key, scalars)
        case (.tokenized(let text), .everyText): return .words(text, all: quantifier == "ALL")
        default:
            throw QueryError(
                "IN needs a field and a list of values",
                remedy: "write key IN {1, 2}, key IN %@, or %@ IN key for a list field", offset: start)
        }
    }

    private mutating func contains(
        _ left: Operand, _ quantifier: String?, options: String, at start: Int
    ) throws(QueryError) -> Query.Test {
        if case .everyText = left {
            guard quantifier == nil else { throw notOfLists(start) }
            return .words(try words(), all: false)
        }
        guard options.isEmpty else {
            throw QueryError(
                "CONTAINS with options searches words, of the record itself", remedy: "write self CONTAINS %@",
                offset: start)
        }
        let key = try left.key(start)
        let place = token.offset
        guard case .value(let value) = try operand() else {
            throw QueryError("CONTAINS takes one value", remedy: "use ANY key IN %@ for several", offset: place)
        }
        return .contains(key, try scalar(value, place))
    }

    private mutating func words() throws(QueryError) -> String {
        let place = token.offset
        switch try operand() {
        case .value(.string(let text)), .tokenized(let text): return text
        default:
            throw QueryError(
                "words are given as a string", remedy: "put them in quotes, or give them as %@", offset: place)
        }
    }

    private func scalar(_ value: Value, _ offset: Int) throws(QueryError) -> Value {
        switch value {
        case .list:
            throw QueryError("a list is compared with", remedy: "use IN, or CONTAINS for one element", offset: offset)
        case .location:
            throw QueryError(
                "a location is compared with", remedy: "write distanceToLocation:fromLocation:(key, %@) < metres",
                offset: offset)
        default: return value
        }
    }

    private func notOfLists(_ offset: Int) -> QueryError {
        QueryError(
            "ANY goes with =, IN and CONTAINS only, as in CloudKit", remedy: "leave out ANY, or ask for equal elements",
            offset: offset)
    }
}
