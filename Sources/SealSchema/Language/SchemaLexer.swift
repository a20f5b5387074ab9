/// Cuts a schema file into tokens. Comments (`//`, `--`, `/* */`) and white space separate them.
struct SchemaLexer {
    private let bytes: [UInt8]
    private var index = 0
    private var line = 1
    private var column = 1

    init(_ text: String) {
        bytes = Array(text.utf8)
        // A byte order mark, as some editors write it.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
    }

    mutating func next() throws(SchemaError) -> SchemaToken {
        try skip()
        let (line, column) = (self.line, self.column)
        func token(_ kind: SchemaToken.Kind) -> SchemaToken { SchemaToken(kind: kind, line: line, column: column) }
        guard let byte = peek() else { return token(.end) }
        switch byte {
        case UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "<"),
            UInt8(ascii: ">"):
            advance()
            return token(.symbol(byte))
        case UInt8(ascii: "\""):
            advance()
            let start = index
            while let byte = peek(), byte != UInt8(ascii: "\"") {
                guard byte >= 0x20 else { throw token(.end).error("the quoted name does not end on its line") }
                advance()
            }
            guard peek() != nil else { throw token(.end).error("the quoted name has no closing quote") }
            let name = String(decoding: bytes[start..<index], as: UTF8.self)
            advance()
            return token(.quoted(name))
        case _ where Self.isWord(byte):
            let start = index
            while let byte = peek(), Self.isWord(byte) { advance() }
            return token(.word(String(decoding: bytes[start..<index], as: UTF8.self)))
        default:
            throw token(.end).error(
                "this character has no meaning here; names other than letters, digits and underscores stand in double quotes"
            )
        }
    }

    private func peek(_ offset: Int = 0) -> UInt8? { index + offset < bytes.count ? bytes[index + offset] : nil }

    private mutating func advance() {
        let byte = bytes[index]
        index += 1
        if byte == UInt8(ascii: "\n") {
            line += 1
            column = 1
        } else if peek().map({ $0 & 0xC0 != 0x80 }) ?? true {
            // A scalar ends where the next byte continues none.
            column += 1
        }
    }

    private mutating func skip() throws(SchemaError) {
        while let byte = peek() {
            switch (byte, peek(1)) {
            case (UInt8(ascii: " "), _), (UInt8(ascii: "\t"), _), (UInt8(ascii: "\r"), _), (UInt8(ascii: "\n"), _):
                advance()
            case (UInt8(ascii: "/"), UInt8(ascii: "/")), (UInt8(ascii: "-"), UInt8(ascii: "-")):
                while let byte = peek(), byte != UInt8(ascii: "\n") { advance() }
            case (UInt8(ascii: "/"), UInt8(ascii: "*")):
                let start = SchemaToken(kind: .end, line: line, column: column)
                advance()
                advance()
                while !(peek() == UInt8(ascii: "*") && peek(1) == UInt8(ascii: "/")) {
                    guard peek() != nil else { throw start.error("the comment has no closing */") }
                    advance()
                }
                advance()
                advance()
            default: return
            }
        }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
