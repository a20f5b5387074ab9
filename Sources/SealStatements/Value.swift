public import SealPrimitives

/// CloudKit's value kinds and their tag bytes (PROTOCOL.md, "Values").
public enum ValueKind: UInt8, Sendable, Hashable, CaseIterable {
    case string = 1
    case data = 2
    case int64 = 3
    case double = 4
    case date = 5
    case location = 6
    case reference = 7
    case asset = 8

    /// Added to the element's tag for a list.
    static let listBit: UInt8 = 0x10

    /// The fewest bytes that an element takes, so that a hostile count is refused before allocation.
    var minimumBytes: Int {
        switch self {
        case .string, .data: 4
        case .int64, .double, .date: 8
        case .location: 64
        case .reference: 6
        case .asset: 1
        }
    }

    /// References and assets stay visible to the server, as in CloudKit; everything else may be encrypted.
    public var mayBeEncrypted: Bool { self != .reference && self != .asset }
}

/// The kind of a value or of a list's elements, in one byte.
public struct ValueType: Sendable, Hashable {
    public let kind: ValueKind
    public let isList: Bool

    public init(_ kind: ValueKind, isList: Bool = false) {
        self.kind = kind
        self.isList = isList
    }

    /// - Throws: `malformed` for a byte that names no kind.
    public init(tag: UInt8) throws(SealError) {
        let isList = tag & ValueKind.listBit != 0
        guard let kind = ValueKind(rawValue: isList ? tag & ~ValueKind.listBit : tag) else { throw .malformed }
        self.init(kind, isList: isList)
    }

    public var tag: UInt8 { isList ? kind.rawValue | ValueKind.listBit : kind.rawValue }
}

public struct Location: Sendable, Hashable {
    public var latitude, longitude, altitude: Double
    public var horizontalAccuracy, verticalAccuracy: Double
    public var course, speed: Double
    /// Microseconds since 1970.
    public var timestamp: Int64

    public init(
        latitude: Double, longitude: Double, altitude: Double = 0, horizontalAccuracy: Double = 0,
        verticalAccuracy: Double = -1, course: Double = -1, speed: Double = -1, timestamp: Int64 = 0
    ) {
        self.latitude = latitude
        self.longitude = longitude
        self.altitude = altitude
        self.horizontalAccuracy = horizontalAccuracy
        self.verticalAccuracy = verticalAccuracy
        self.course = course
        self.speed = speed
        self.timestamp = timestamp
    }
}

/// A reference to a record in the same zone.
public struct ReferenceValue: Sendable, Hashable {
    public enum Action: UInt8, Sendable { case none = 0, deleteSelf = 1 }
    public var recordName: String
    public var action: Action

    public init(recordName: String, action: Action = .none) {
        self.recordName = recordName
        self.action = action
    }
}

/// A value with its one canonical encoding.
public enum Value: Sendable, Hashable {
    case string(String)
    case data([UInt8])
    case int64(Int64)
    case double(Double)
    /// Microseconds since 1970.
    case date(Int64)
    case location(Location)
    case reference(ReferenceValue)
    /// Elements of one kind, which is kept when the list is empty.
    case list(ValueKind, [Value])

    public var type: ValueType {
        switch self {
        case .string: ValueType(.string)
        case .data: ValueType(.data)
        case .int64: ValueType(.int64)
        case .double: ValueType(.double)
        case .date: ValueType(.date)
        case .location: ValueType(.location)
        case .reference: ValueType(.reference)
        case .list(let kind, _): ValueType(kind, isList: true)
        }
    }
}

// MARK: Encoding

extension Value {
    /// Tag byte and payload.
    /// - Throws: `malformed` when a list mixes kinds or holds lists; `unsupported` for a list of assets.
    public func canonicalBytes() throws(SealError) -> [UInt8] {
        var writer = CanonicalWriter(capacity: estimatedBytes)
        try write(to: &writer)
        return writer.bytes
    }

    /// Room for the encoding and for the padding that may follow it (an eighth at most), so that nothing grows.
    private var estimatedBytes: Int {
        let payload =
            switch self {
            case .string(let text): text.utf8.count
            case .data(let bytes): bytes.count
            default: 24
            }
        return payload + payload / 8 + 40
    }

    private func write(to writer: inout CanonicalWriter) throws(SealError) {
        writer.number(type.tag)
        guard case .list(let kind, let elements) = self else { return writePayload(to: &writer) }
        // Assets are no values, and neither is a list of none of them: no reader would take it.
        guard kind != .asset else { throw .unsupported }
        writer.number(UInt32(elements.count))
        for element in elements {
            guard element.type == ValueType(kind) else { throw .malformed }
            element.writePayload(to: &writer)
        }
    }

    private func writePayload(to writer: inout CanonicalWriter) {
        switch self {
        case .string(let text): writer.string(text)
        case .data(let bytes): writer.blob(bytes)
        case .int64(let number): writer.number(number)
        case .double(let number): writer.double(number)
        case .date(let microseconds): writer.number(microseconds)
        case .location(let place):
            writer.double(place.latitude)
            writer.double(place.longitude)
            writer.double(place.altitude)
            writer.double(place.horizontalAccuracy)
            writer.double(place.verticalAccuracy)
            writer.double(place.course)
            writer.double(place.speed)
            writer.number(place.timestamp)
        case .reference(let reference):
            writer.string(reference.recordName)
            writer.number(reference.action.rawValue)
        case .list: break  // `write` has refused lists in lists
        }
    }

    /// The whole of `bytes` as one value.
    public init(canonicalBytes bytes: [UInt8]) throws(SealError) {
        var reader = CanonicalReader(bytes)
        self = try Value(reading: &reader)
        try reader.finish()
    }

    /// The next value of a longer encoding.
    public init(reading reader: inout CanonicalReader) throws(SealError) {
        let type = try ValueType(tag: reader.byte())
        guard type.isList else {
            self = try Value(readingPayload: type.kind, from: &reader)
            return
        }
        guard type.kind != .asset else { throw .unsupported }
        let count = try reader.count(UInt32.self, ofAtLeast: type.kind.minimumBytes)
        var elements: [Value] = []
        elements.reserveCapacity(count)
        for _ in 0..<count { elements.append(try Value(readingPayload: type.kind, from: &reader)) }
        self = .list(type.kind, elements)
    }

    private init(readingPayload kind: ValueKind, from reader: inout CanonicalReader) throws(SealError) {
        switch kind {
        case .string: self = .string(try reader.string(atMost: Limits.recordBytes))
        case .data: self = .data(try reader.blob(atMost: Limits.recordBytes))
        case .int64: self = .int64(try reader.number())
        case .double: self = .double(try reader.double())
        case .date: self = .date(try reader.number())
        case .location:
            var place = Location(latitude: try reader.double(), longitude: try reader.double())
            place.altitude = try reader.double()
            place.horizontalAccuracy = try reader.double()
            place.verticalAccuracy = try reader.double()
            place.course = try reader.double()
            place.speed = try reader.double()
            place.timestamp = try reader.number()
            self = .location(place)
        case .reference:
            let name = try reader.name()
            guard let action = ReferenceValue.Action(rawValue: try reader.byte()) else { throw .malformed }
            self = .reference(ReferenceValue(recordName: name, action: action))
        case .asset: throw .unsupported
        }
    }
}

private let canonicalNaN: UInt64 = 0x7FF8_0000_0000_0000

extension CanonicalWriter {
    /// The bits, with one NaN.
    mutating func double(_ value: Double) { number(value.isNaN ? canonicalNaN : value.bitPattern) }
}

extension CanonicalReader {
    mutating func double() throws(SealError) -> Double {
        let bits = try number(UInt64.self)
        let value = Double(bitPattern: bits)
        guard !value.isNaN || bits == canonicalNaN else { throw .malformed }
        return value
    }
}
