import SealPrimitives
package import SealStatements

package enum ValueVectors {
    static func check(_ test: Fields) throws(VectorError) {
        let encoded = try test.bytes("encoded")
        let decoded = try core(Value(canonicalBytes: encoded))
        try test.expect("encoded", .hex(try core(decoded.canonicalBytes())))
        try test.expect("value", json(decoded))
        let value = try value(test.object("value"))
        try test.expect("encoded", .hex(try core(value.canonicalBytes())))
    }

    private static func bits(_ value: Double) -> JSON {
        .string(Hex.encode((0..<8).map { UInt8(truncatingIfNeeded: value.bitPattern >> (56 - 8 * $0)) }))
    }

    package static func json(_ value: Value) -> JSON {
        var fields: [String: JSON] = ["kind": .string(kind(of: value))]
        switch value {
        case .string(let text): fields["string"] = .string(text)
        case .data(let bytes): fields["data"] = .hex(bytes)
        case .int64(let number): fields["number"] = .number(number)
        case .date(let seconds): fields["bits"] = bits(seconds)
        case .double(let number): fields["bits"] = bits(number.isNaN ? .nan : number)
        case .location(let place):
            fields["bits"] = .array(
                [
                    place.latitude, place.longitude, place.altitude, place.horizontalAccuracy, place.verticalAccuracy,
                    place.course, place.speed,
                ].map { bits($0) })
            fields["timestamp"] = bits(place.time)
        case .reference(let reference):
            fields["recordName"] = .string(reference.recordName)
            fields["action"] = .string(reference.action == .deleteSelf ? deleteSelf : "none")
        case .list(let elements): fields["list"] = .array(elements.map { json($0) })
        }
        return .object(fields)
    }

    private static let deleteSelf = "deleteSelf"

    /// Of a list, its elements'.
    private static func kind(of value: Value) -> String {
        guard case .type(let type) = value.tag else { return "list" }
        return name(of: type.kind)
    }

    private static func name(of kind: ValueKind) -> String {
        switch kind {
        case .string: "string"
        case .data: "data"
        case .int64: "int64"
        case .double: "double"
        case .date: "date"
        case .location: "location"
        case .reference: "reference"
        case .asset: "asset"
        }
    }

    package static func value(_ fields: Fields) throws(VectorError) -> Value {
        if fields.has("list") {
            let list = Value.list(try fields.objects("list").map { element throws(VectorError) in try value(element) })
            try fields.expect("kind", .string(kind(of: list)))
            return list
        }
        let name = try fields.string("kind")
        guard let kind = ValueKind.allCases.first(where: { Self.name(of: $0) == name }) else { throw .missing("kind") }
        func double(_ text: String) throws(VectorError) -> Double {
            guard let bits = UInt64(text, radix: 16) else { throw .missing("bits") }
            return Double(bitPattern: bits)
        }
        switch kind {
        case .string: return .string(try fields.string("string"))
        case .data: return .data(try fields.bytes("data"))
        case .int64: return .int64(try fields.number("number"))
        case .date: return .date(try double(fields.string("bits")))
        case .double: return .double(try double(fields.string("bits")))
        case .location:
            let bits = try fields.strings("bits").map { text throws(VectorError) in try double(text) }
            guard bits.count == 7 else { throw .missing("bits") }
            return .location(
                Location(
                    latitude: bits[0], longitude: bits[1], altitude: bits[2], horizontalAccuracy: bits[3],
                    verticalAccuracy: bits[4],
                    course: bits[5], speed: bits[6], time: try double(fields.string("timestamp"))))
        case .reference:
            let deletes = try fields.string("action") == deleteSelf
            return .reference(
                ReferenceValue(recordName: try fields.string("recordName"), action: deletes ? .deleteSelf : .none))
        case .asset: throw .missing("kind")
        }
    }
}
