import Foundation

/// JSON as `--json` prints it: one object a line, keys sorted.
enum JSONValue: Encodable {
    case string(String)
    case integer(Int64)
    case double(Double)
    case bool(Bool)
    case array([JSONValue])
    case object([String: JSONValue])
    case null

    init(_ text: String?) { self = text.map { .string($0) } ?? .null }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .string(let text): try container.encode(text)
        case .integer(let number): try container.encode(number)
        case .double(let number): try container.encode(number)
        case .bool(let flag): try container.encode(flag)
        case .array(let values): try container.encode(values)
        case .object(let values): try container.encode(values)
        case .null: try container.encodeNil()
        }
    }

    /// One line. Characters that a terminal might obey are escaped, so that the line may be looked at too.
    var line: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "Infinity", negativeInfinity: "-Infinity", nan: "NaN")
        guard let data = try? encoder.encode(self) else { return "null" }
        var out = ""
        for scalar in String(decoding: data, as: UTF8.self).unicodeScalars {
            guard scalar.isUnprintable else {
                out.unicodeScalars.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 {
                let digits = String(unit, radix: 16)
                out += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            }
        }
        return out
    }
}
