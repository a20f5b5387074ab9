import SealService
import SealWire

/// The fields of a query or a form, as browsers send them.
struct FormFields: Sendable {
    /// Of a form's body.
    static let mostBytes = 16 << 10

    private let fields: [(name: String, value: String)]

    /// - Parameter text: `application/x-www-form-urlencoded`.
    /// - Throws: `invalidArguments` for what is no text in UTF-8.
    init(_ text: Substring) throws(ServerError) {
        var fields: [(String, String)] = []
        for part in text.split(separator: "&") {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decode(pair[0]), let value = Self.decode(pair.count > 1 ? pair[1] : "") else {
                throw ServerError(
                    .invalidArguments, "A field of the form is no text in UTF-8.", remedy: "Send it again.")
            }
            fields.append((name, value))
        }
        self.fields = fields
    }

    init() { fields = [] }

    /// Empty where there is none.
    subscript(_ name: String) -> String { fields.first { $0.name == name }?.value ?? "" }

    /// Of a field that may be there several times, or has a word a line.
    func all(_ name: String) -> [String] {
        fields.filter { $0.name == name }.flatMap { $0.value.split(whereSeparator: \.isNewline) }
            .map { $0.trimmingSpaces }.filter { !$0.isEmpty }
    }

    private static func decode(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(0x20)
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }

    /// A query of these, for a link.
    static func query(_ fields: [(name: String, value: String)]) -> String {
        fields.filter { !$0.value.isEmpty }.map { "\(encode($0.name))=\(encode($0.value))" }.joined(separator: "&")
    }

    private static func encode(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF")
        return text.utf8.reduce(into: "") { result, byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default: result += "%\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
            }
        }
    }
}

extension Substring {
    fileprivate var trimmingSpaces: String {
        String(drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
