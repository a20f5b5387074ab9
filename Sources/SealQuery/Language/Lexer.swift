/// Cuts a predicate's text into tokens. Offsets count characters.
struct Lexer {
    enum Kind: Equatable {
        /// A name or a keyword; `isKey` when it was escaped with `#`.
        case word(String, isKey: Bool)
        case integer(Int64)
        case real(Double)
        case string(String)
        /// `%@`, `%K`, `%d`, …: the letter that says what is expected.
        case argument(Character)
        /// Operators and punctuation.
        case symbol(String)
        /// `[cd]` after an operator.
        case options(String)
        case end
    }

    struct Token {
        let kind: Kind
        let offset: Int
    }

    private let text: [Character]
    private var position = 0

    static func tokens(of text: String) throws(QueryError) -> [Token] {
        guard text.utf8.count <= Query.Limits.textBytes else {
            throw QueryError(
                "the predicate has more than \(Query.Limits.textBytes) bytes",
                remedy: "give long values as arguments, with %@")
        }
        var lexer = Lexer(text: Array(text))
        var tokens: [Token] = []
        while let token = try lexer.next() { tokens.append(token) }
        tokens.append(Token(kind: .end, offset: lexer.text.count))
        return tokens
    }

    private init(text: [Character]) { self.text = text }

    private var current: Character? { position < text.count ? text[position] : nil }
    private func peek(_ distance: Int) -> Character? {
        position + distance < text.count ? text[position + distance] : nil
    }

    private mutating func next() throws(QueryError) -> Token? {
        while let character = current, character.isWhitespace { position += 1 }
        guard let character = current else { return nil }
        let start = position
        return Token(kind: try kind(character), offset: start)
    }

    private mutating func kind(_ character: Character) throws(QueryError) -> Kind {
        switch character {
        case "'", "\"": return .string(try quoted(character))
        case "%": return .argument(try format())
        case "0"..."9": return try number()
        case "#" where peek(1).map(Lexer.startsWord) == true:
            position += 1
            return .word(word(), isKey: true)
        case _ where Lexer.startsWord(character): return .word(word(), isKey: false)
        case "[": return .options(try options())
        default: return try symbol()
        }
    }

    private static func startsWord(_ character: Character) -> Bool {
        character == "_" || (character.isASCII && character.isLetter)
    }

    /// Letters, digits, underscores; dots (for key paths, to be refused by name) and the colons of function names.
    private mutating func word() -> String {
        let start = position
        while let character = current {
            let isPart = Lexer.startsWord(character) || (character.isASCII && character.isNumber)
            let joins =
                (character == "." || character == ":")
                && peek(1).map { Lexer.startsWord($0) || $0 == "@" || $0 == "(" } == true
            guard isPart || joins || (character == "@" && text[position - 1] == ".") else { break }
            position += 1
        }
        return String(text[start..<position])
    }

    private mutating func quoted(_ quote: Character) throws(QueryError) -> String {
        let start = position
        position += 1
        var content = ""
        while let character = current {
            position += 1
            if character == quote { return content }
            guard character == "\\" else {
                content.append(character)
                continue
            }
            guard let escaped = current else { break }
            position += 1
            switch escaped {
            case "\\", "'", "\"": content.append(escaped)
            case "n": content.append("\n")
            case "t": content.append("\t")
            case "r": content.append("\r")
            default:
                throw QueryError(
                    "an unknown escape in a string", remedy: "use \\\\, \\', \\\", \\n, \\r or \\t",
                    offset: position - 2)
            }
        }
        throw QueryError("a string does not end", remedy: "close it with the quote that it begins with", offset: start)
    }

    private mutating func format() throws(QueryError) -> Character {
        let start = position
        position += 1
        // Lengths (%ld, %lld, %lf) mean nothing here: arguments know their types.
        while current == "l" || current == "h" || current == "q" { position += 1 }
        guard let letter = current, "@Kdiuf".contains(letter) else {
            throw QueryError("an unknown format", remedy: "use %@, %K, %d, %i, %u or %f", offset: start)
        }
        position += 1
        return letter
    }

    private mutating func number() throws(QueryError) -> Kind {
        let start = position
        var isReal = false
        while let character = current {
            if character.isASCII, character.isNumber {
                position += 1
            } else if character == ".", peek(1)?.isNumber == true, !isReal {
                isReal = true
                position += 1
            } else if character == "e" || character == "E",
                peek(1)?.isNumber == true || ((peek(1) == "-" || peek(1) == "+") && peek(2)?.isNumber == true)
            {
                isReal = true
                position += 2
            } else {
                break
            }
        }
        let digits = String(text[start..<position])
        // A name may not begin with a digit, and hexadecimal is not part of the language.
        guard current.map({ Lexer.startsWord($0) }) != true else {
            throw QueryError(
                "a number with letters in it", remedy: "write numbers in decimal digits, strings in quotes",
                offset: start)
        }
        if !isReal, let number = Int64(digits) { return .integer(number) }
        guard let number = Double(digits), number.isFinite else {
            throw QueryError("a number that is out of range", remedy: "use numbers that a double holds", offset: start)
        }
        return .real(number)
    }

    private mutating func options() throws(QueryError) -> String {
        let start = position
        position += 1
        var letters = ""
        while let character = current, character != "]" {
            letters.append(character)
            position += 1
            guard letters.count <= 8 else { break }
        }
        guard current == "]", !letters.isEmpty else {
            throw QueryError("options that do not end", remedy: "write them as in CONTAINS[cd]", offset: start)
        }
        position += 1
        return letters.lowercased()
    }

    private static let symbols = [
        "==", "!=", "<>", "<=", ">=", "=<", "=>", "&&", "||", "=", "<", ">", "!", "(", ")", "{", "}", ",", "-", "+",
        "*", "/", "$", "@", ".", "^", ":=",
    ]

    private mutating func symbol() throws(QueryError) -> Kind {
        for symbol in Lexer.symbols where Array(symbol) == Array(text[position...].prefix(symbol.count)) {
            position += symbol.count
            return .symbol(symbol)
        }
        throw QueryError(
            "a character that is not part of the language", remedy: "put text into quotes", offset: position)
    }
}
