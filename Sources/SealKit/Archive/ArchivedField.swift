import Foundation
import SealCoding
import SealStatements

/// A field of a record in an archive: `{"type":"string","encrypted":true,"value":"…"}`, of a list `"list":true` and an
/// array. An empty list has no type.
/// What JSON numbers cannot hold in every reader is text: integers, and doubles that are no number.
struct ArchivedField: Sendable {
    enum Content: Sendable {
        case value(Value)
        case asset(ArchivedAsset)
    }

    var content: Content
    var isEncrypted = false
}

/// A file of a record: a name in the zone's folder `assets`, and what it has to hold.
struct ArchivedAsset: Codable, Sendable, Equatable {
    let file: String
    let bytes: UInt64
    let sha256: String
}

extension ArchivedField: Codable {
    private enum Key: String, CodingKey {
        case type, list, encrypted, value
    }

    private enum Kind: String, Codable {
        case string, bytes, int64, double, date, location, reference, asset

        init(_ kind: ValueKind) {
            self =
                switch kind {
                case .string: .string
                case .data: .bytes
                case .int64: .int64
                case .double: .double
                case .date: .date
                case .location: .location
                case .reference: .reference
                case .asset: .asset
                }
        }

        var valueKind: ValueKind {
            switch self {
            case .string: .string
            case .bytes: .data
            case .int64: .int64
            case .double: .double
            case .date: .date
            case .location: .location
            case .reference: .reference
            case .asset: .asset
            }
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch content {
        case .asset(let asset):
            try container.encode(Kind.asset, forKey: .type)
            try container.encode(asset, forKey: .value)
        case .value(.list(let elements)):
            try container.encodeIfPresent(elements.first?.kind.map(Kind.init), forKey: .type)
            try container.encode(true, forKey: .list)
            try container.encode(elements.map(ArchivedScalar.init), forKey: .value)
        case .value(let value):
            try container.encodeIfPresent(value.kind.map(Kind.init), forKey: .type)
            try container.encode(ArchivedScalar(value: value), forKey: .value)
        }
        if isEncrypted { try container.encode(true, forKey: .encrypted) }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        isEncrypted = try container.decodeIfPresent(Bool.self, forKey: .encrypted) ?? false
        let isList = try container.decodeIfPresent(Bool.self, forKey: .list) ?? false
        guard isList else {
            let kind = try container.decode(Kind.self, forKey: .type).valueKind
            guard kind == .asset else {
                content = .value(try ArchivedScalar(kind, from: try container.superDecoder(forKey: .value)).value)
                return
            }
            guard !isEncrypted else {
                throw DecodingError.dataCorruptedError(forKey: .encrypted, in: container, debugDescription: "an asset")
            }
            content = .asset(try container.decode(ArchivedAsset.self, forKey: .value))
            return
        }
        var array = try container.nestedUnkeyedContainer(forKey: .value)
        let kind = try container.decodeIfPresent(Kind.self, forKey: .type)?.valueKind
        guard (kind == nil) == array.isAtEnd else {
            throw DecodingError.dataCorruptedError(
                forKey: .type, in: container, debugDescription: "what has elements has a type")
        }
        var elements: [Value] = []
        while !array.isAtEnd, let kind {
            elements.append(try ArchivedScalar(kind, from: try array.superDecoder()).value)
        }
        content = .value(.list(elements))
    }
}

/// One value, as JSON has it.
private struct ArchivedScalar: Encodable {
    let value: Value

    init(value: Value) { self.value = value }

    private enum Key: String, CodingKey {
        case recordName, action
        case latitude, longitude, altitude, horizontalAccuracy, verticalAccuracy, course, speed, timestamp
    }

    func encode(to encoder: any Encoder) throws {
        switch value {
        case .location(let place):
            var container = encoder.container(keyedBy: Key.self)
            for (key, path) in Self.numbers { try container.encode(place[keyPath: path], forKey: key) }
            try container.encode(DateText.text(place.timestamp), forKey: .timestamp)
        case .reference(let reference):
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(reference.recordName, forKey: .recordName)
            if reference.action == .deleteSelf { try container.encode("deleteSelf", forKey: .action) }
        default:
            var container = encoder.singleValueContainer()
            switch value {
            case .string(let text): try container.encode(text)
            case .data(let bytes): try container.encode(Data(bytes).base64EncodedString())
            case .int64(let number): try container.encode(String(number))
            case .double(let number): try container.encode(number)
            case .date(let time): try container.encode(DateText.text(Date(timeIntervalSinceReferenceDate: time)))
            case .location, .reference, .list: break
            }
        }
    }

    private static var numbers: [(Key, WritableKeyPath<Location, Double>)] {
        [
            (.latitude, \.latitude), (.longitude, \.longitude), (.altitude, \.altitude),
            (.horizontalAccuracy, \.horizontalAccuracy),
            (.verticalAccuracy, \.verticalAccuracy), (.course, \.course), (.speed, \.speed),
        ]
    }

    init(_ kind: ValueKind, from decoder: any Decoder) throws {
        func wrong() -> DecodingError {
            DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "not of its type"))
        }
        switch kind {
        case .location:
            let container = try decoder.container(keyedBy: Key.self)
            var place = Location(latitude: 0, longitude: 0)
            for (key, path) in Self.numbers { place[keyPath: path] = try container.decode(Double.self, forKey: key) }
            guard let time = DateText.date(try container.decode(String.self, forKey: .timestamp)) else { throw wrong() }
            place.timestamp = time
            value = .location(place)
        case .reference:
            let container = try decoder.container(keyedBy: Key.self)
            let action = try container.decodeIfPresent(String.self, forKey: .action) ?? "none"
            guard ["none", "deleteSelf"].contains(action) else { throw wrong() }
            let name = try container.decode(String.self, forKey: .recordName)
            value = .reference(ReferenceValue(recordName: name, action: action == "none" ? .none : .deleteSelf))
        case .asset: throw wrong()
        case .double: value = .double(try decoder.singleValueContainer().decode(Double.self))
        case .string, .data, .int64, .date:
            let text = try decoder.singleValueContainer().decode(String.self)
            switch kind {
            case .data:
                guard let data = Data(base64Encoded: text) else { throw wrong() }
                value = .data([UInt8](data))
            case .int64:
                guard let number = Int64(text) else { throw wrong() }
                value = .int64(number)
            case .date:
                guard let date = DateText.date(text) else { throw wrong() }
                value = date.recordValue
            default: value = .string(text)
            }
        }
    }
}
