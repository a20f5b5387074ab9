/// The XML that an S3 store answers with: elements and text, by which lists, upload ids and errors come. What else XML
/// has (document types, entities of its own) no store sends, and is refused.
struct S3Document {
    /// Why an answer is none.
    struct Malformed: Error {}

    struct Element {
        /// Without a namespace's prefix.
        let name: String
        var text = ""
        var children: [Element] = []

        /// The text of the first child of a name.
        subscript(name: String) -> String? { children.first { $0.name == name }?.text }
        func all(_ name: String) -> [Element] { children.filter { $0.name == name } }
    }

    let root: Element

    /// Deeper than anything that S3 has.
    private static let mostLevels = 16

    init(_ bytes: some Sequence<UInt8>) throws(Malformed) {
        var reader = Reader(bytes: Array(bytes))
        var open: [Element] = []
        var whole: Element?
        while whole == nil {
            let text = try reader.text()
            if open.isEmpty {
                guard text.allSatisfy(\.isWhitespace) else { throw Malformed() }
            } else {
                open[open.count - 1].text += text
            }
            var ended: Element?
            switch try reader.tag() {
            case .prolog: guard open.isEmpty else { throw Malformed() }
            case .begin(let name, isWhole: true): ended = Element(name: name)
            case .begin(let name, isWhole: false):
                guard open.count < Self.mostLevels else { throw Malformed() }
                open.append(Element(name: name))
            case .end(let name):
                guard let last = open.popLast(), last.name == name else { throw Malformed() }
                ended = last
            }
            guard let ended else { continue }
            if open.isEmpty { whole = ended } else { open[open.count - 1].children.append(ended) }
        }
        guard let whole, reader.isAtEnd else { throw Malformed() }
        root = whole
    }

    private enum Tag {
        /// `<?xml …?>`.
        case prolog
        /// Whole is what ends itself: `<Prefix/>`.
        case begin(String, isWhole: Bool)
        case end(String)
    }

    private struct Reader {
        let bytes: [UInt8]
        var at = 0

        /// But for white space.
        var isAtEnd: Bool { bytes[at...].allSatisfy { [0x20, 0x0A, 0x0D, 0x09].contains($0) } }

        /// Up to the next tag, with what entities stand for.
        mutating func text() throws(Malformed) -> String {
            guard let end = bytes[at...].firstIndex(of: UInt8(ascii: "<")) else { throw Malformed() }
            defer { at = end }
            return try Self.plain(String(decoding: bytes[at..<end], as: UTF8.self))
        }

        mutating func tag() throws(Malformed) -> Tag {
            var (end, quote) = (at + 1, UInt8?.none)
            while end < bytes.count, quote != nil || bytes[end] != UInt8(ascii: ">") {
                let byte = bytes[end]
                if quote == byte {
                    quote = nil
                } else if quote == nil, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                    quote = byte
                }
                end += 1
            }
            guard end < bytes.count else { throw Malformed() }
            let inside = String(decoding: bytes[(at + 1)..<end], as: UTF8.self)
            at = end + 1
            switch inside.first {
            case "?": return .prolog
            case "/": return .end(try Self.name(inside.dropFirst()))
            default: return .begin(try Self.name(inside[...]), isWhole: inside.last == "/")
            }
        }

        private static func name(_ text: Substring) throws(Malformed) -> String {
            let whole = text.prefix { !$0.isWhitespace && $0 != "/" }
            let name = whole.split(separator: ":").last ?? ""
            guard !name.isEmpty, name.utf8.allSatisfy({ S3Signature.isUnreserved($0) }) else { throw Malformed() }
            return String(name)
        }

        private static func plain(_ text: String) throws(Malformed) -> String {
            guard text.contains("&") else { return text }
            var (result, rest) = ("", text[...])
            while let start = rest.firstIndex(of: "&") {
                result += rest[..<start]
                guard let end = rest[start...].firstIndex(of: ";") else { throw Malformed() }
                result.append(try character(rest[rest.index(after: start)..<end]))
                rest = rest[rest.index(after: end)...]
            }
            return result + rest
        }

        private static func character(_ entity: Substring) throws(Malformed) -> Character {
            switch entity {
            case "lt": return "<"
            case "gt": return ">"
            case "amp": return "&"
            case "quot": return "\""
            case "apos": return "'"
            default:
                let isHex = entity.hasPrefix("#x")
                let digits = entity.dropFirst(isHex ? 2 : 1)
                // A number's text may have a sign, an entity none.
                guard entity.hasPrefix("#"), digits.allSatisfy({ $0.isASCII && $0.isHexDigit }),
                    let scalar = UInt32(digits, radix: isHex ? 16 : 10).flatMap({ Unicode.Scalar($0) })
                else { throw Malformed() }
                return Character(scalar)
            }
        }
    }
}
