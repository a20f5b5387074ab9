import SealStatements

extension Parser {
    /// One side of a condition.
    enum Operand {
        case key(String)
        case value(Value)
        case values([Value])
        /// `distanceToLocation:fromLocation:(key, place)`
        case distance(String, Location)
        /// `self`, `allTokens`: the record's searchable texts.
        case everyText
        /// `tokenize:using:(text, 'cdl')`
        case tokenized(String)

        func key(_ offset: Int) throws(QueryError) -> String {
            guard case .key(let key) = self else {
                throw QueryError("a field's name is missing", remedy: "put the field on the left", offset: offset)
            }
            return key
        }
    }

    mutating func operand() throws(QueryError) -> Operand {
        let start = token.offset
        switch token.kind {
        case .integer(let number):
            advance()
            return .value(.int64(number))
        case .real(let number):
            advance()
            return .value(.double(number))
        case .string(let text):
            advance()
            return .value(.string(text))
        case .symbol("-"):
            advance()
            switch token.kind {
            case .integer(let number):
                advance()
                return .value(.int64(-number))
            // The one number whose digits are out of range without the sign.
            case .real(let number):
                advance()
                return .value(number == 0x1p63 ? .int64(.min) : .double(-number))
            default: throw unexpected("a number")
            }
        case .symbol("{"): return .values(try braces())
        case .argument(let letter):
            advance()
            return try argument(letter, at: start)
        case .word(let word, let isKey):
            advance()
            return isKey ? .key(Query.SystemField.canonicalName(word)) : try named(word, at: start)
        default: throw unexpected("a field or a value")
        }
    }

    private mutating func braces() throws(QueryError) -> [Value] {
        advance()
        var values: [Value] = []
        if take("}") { return values }
        while true {
            let start = token.offset
            guard case .value(let value) = try operand() else {
                throw QueryError(
                    "a list holds something that is no value", remedy: "write values, separated by commas",
                    offset: start)
            }
            values.append(value)
            guard values.count <= Query.Limits.listValues else {
                throw error("a list has more than \(Query.Limits.listValues) values", "ask in several queries")
            }
            if take("}") { return values }
            try expect(",")
        }
    }

    private mutating func argument(_ letter: Character, at start: Int) throws(QueryError) -> Operand {
        guard nextArgument < arguments.count else {
            throw QueryError(
                "there is no argument for this format", remedy: "give one argument for each %@, %K, %d or %f",
                offset: start)
        }
        let value = arguments[nextArgument].queryValue
        nextArgument += 1
        switch (letter, value) {
        case ("K", .string(let key)):
            guard Names.isIdentifier(key) || Query.SystemField(key: key) != nil else {
                throw QueryError(
                    "the argument of %K is not a field's name",
                    remedy: "key paths are not part of CloudKit's predicates", offset: start)
            }
            return .key(Query.SystemField.canonicalName(key))
        case ("@", .list(let values)): return .values(values)
        case ("@", _), ("d", .int64), ("i", .int64), ("u", .int64), ("f", .double): return .value(value)
        case ("f", .int64(let number)): return .value(.double(Double(number)))
        default:
            throw QueryError(
                "the argument is not of the kind that its format says",
                remedy: "use %@ for every kind, %K for a field's name", offset: start)
        }
    }

    private mutating func named(_ word: String, at start: Int) throws(QueryError) -> Operand {
        switch word.uppercased() {
        case "SELF", "ALLTOKENS": return .everyText
        case "TRUE", "YES": return .value(.int64(1))
        case "FALSE", "NO": return .value(.int64(0))
        case "NOW":
            if take("(") { try expect(")") }
            return .value(.date(now))
        case "NIL", "NULL":
            throw QueryError(
                "absence cannot be asked for, as in CloudKit",
                remedy: "a record without the field fulfils no condition on it", offset: start)
        case "DISTANCETOLOCATION:FROMLOCATION:": return try distance()
        case "TOKENIZE:USING:": return try tokenized()
        default: break
        }
        let refused = [
            "AND", "OR", "NOT", "IN", "BETWEEN", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES", "ANY", "ALL",
            "SOME", "NONE",
        ]
        guard !refused.contains(word.uppercased()) else {
            throw QueryError(
                "a field or a value is missing", remedy: "write #name for a field that is called like a keyword",
                offset: start)
        }
        if word.uppercased() == "SUBQUERY" || word.uppercased() == "FUNCTION" || word.uppercased() == "CAST"
            || token.kind == .symbol("(")
        {
            throw QueryError(
                "this function is not part of CloudKit's predicates",
                remedy: "there are distanceToLocation:fromLocation:, tokenize:using: and now", offset: start)
        }
        guard !word.contains("."), !word.contains(":") else {
            throw QueryError(
                "key paths are not part of CloudKit's predicates", remedy: "name a field of the record itself",
                offset: start)
        }
        return .key(Query.SystemField.canonicalName(word))
    }

    private mutating func distance() throws(QueryError) -> Operand {
        try expect("(")
        let start = token.offset
        let first = try operand()
        try expect(",")
        let second = try operand()
        try expect(")")
        switch (first, second) {
        case (.key(let key), .value(.location(let place))), (.value(.location(let place)), .key(let key)):
            return .distance(key, place)
        default:
            throw QueryError(
                "a distance is between a field and a location", remedy: "give the location as %@", offset: start)
        }
    }

    private mutating func tokenized() throws(QueryError) -> Operand {
        try expect("(")
        let start = token.offset
        guard case .value(.string(let text)) = try operand() else {
            throw QueryError(
                "words are given as a string", remedy: "put them in quotes, or give them as %@", offset: start)
        }
        try expect(",")
        guard case .value(.string) = try operand() else { throw unexpected("the options, as 'cdl'") }
        try expect(")")
        return .tokenized(text)
    }

    // MARK: Operators

    mutating func operation() throws(QueryError) -> (name: String, options: String) {
        let start = token.offset
        let name: String
        switch token.kind {
        case .symbol(let symbol): name = symbol
        case .word(let word, isKey: false): name = word.uppercased()
        default: throw unexpected("an operator")
        }
        if ["ENDSWITH", "LIKE", "MATCHES"].contains(name) {
            throw QueryError(
                "\(name) is not part of CloudKit's predicates",
                remedy: "use BEGINSWITH, or search words with self CONTAINS", offset: start)
        }
        if ["+", "-", "*", "/"].contains(name) {
            throw QueryError(
                "arithmetic is not part of CloudKit's predicates",
                remedy: "compute the value before, and give it as %@", offset: start)
        }
        guard
            Parser.comparisons[name] != nil
                || ["BETWEEN", "IN", "CONTAINS", "BEGINSWITH", "TOKENMATCHES"].contains(name)
        else {
            throw unexpected("an operator")
        }
        advance()
        guard case .options(let options) = token.kind else { return (name, "") }
        advance()
        guard options.allSatisfy({ "cdln".contains($0) }) else {
            throw QueryError("unknown options", remedy: "there are c, d and l", offset: start)
        }
        return (name, options)
    }

    // MARK: Tokens

    var token: Lexer.Token { tokens[position] }

    mutating func advance() { if position < tokens.count - 1 { position += 1 } }

    func isWord(_ word: String) -> Bool {
        guard case .word(let found, isKey: false) = token.kind else { return false }
        return found.uppercased() == word
    }

    mutating func takeWord(_ word: String) -> Bool {
        guard isWord(word) else { return false }
        advance()
        return true
    }

    mutating func take(_ symbol: String) -> Bool {
        guard token.kind == .symbol(symbol) else { return false }
        advance()
        return true
    }

    mutating func expect(_ symbol: String) throws(QueryError) {
        guard take(symbol) else { throw unexpected("'\(symbol)'") }
    }

    func error(_ reason: String, _ remedy: String) -> QueryError {
        QueryError(reason, remedy: remedy, offset: token.offset)
    }

    func unexpected(_ wanted: String) -> QueryError {
        error("the predicate does not go on as it could", "here \(wanted) is expected")
    }
}
