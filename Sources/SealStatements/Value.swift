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

/// What a schema declares a field to hold: values of one kind, or lists of them.
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

/// What one value is, in the byte that stands in front of it and that a sealed field shows: its type, or that it is a
/// list without elements, which is of no kind.
public enum ValueTag: Sendable, Hashable {
    case type(ValueType)
    case emptyList

    /// - Throws: `malformed` for a byte that no value has.
    public init(byte: UInt8) throws(SealError) {
        self = byte == ValueKind.listBit ? .emptyList : .type(try ValueType(tag: byte))
    }

    public var byte: UInt8 {
        switch self {
        case .type(let type): type.tag
        case .emptyList: ValueKind.listBit
        }
    }

    public var isList: Bool {
        switch self {
        case .type(let type): type.isList
        case .emptyList: true
        }
    }

    public var mayBeEncrypted: Bool {
        switch self {
        case .type(let type): type.kind.mayBeEncrypted
        case .emptyList: true
        }
    }

    /// Whether a field that is declared so can hold the value: an empty list fits every type of list.
    public func fits(_ declared: ValueType) -> Bool {
        switch self {
        case .type(let type): type == declared
        case .emptyList: declared.isList
        }
    }
}

public struct Location: Sendable, Hashable {
    public var latitude, longitude, altitude: Double
    public var horizontalAccuracy, verticalAccuracy: Double
    public var course, speed: Double
    /// When it was measured: seconds since 2001-01-01T00:00:00Z, finite.
    public var time: Double

    public init(
        latitude: Double, longitude: Double, altitude: Double = 0, horizontalAccuracy: Double = 0,
        verticalAccuracy: Double = -1, course: Double = -1, speed: Double = -1, time: Double = 0
    ) {
        self.latitude = latitude
        self.longitude = longitude
        self.altitude = altitude
        self.horizontalAccuracy = horizontalAccuracy
        self.verticalAccuracy = verticalAccuracy
        self.course = course
        self.speed = speed
        self.time = time
    }
}

/// A reference to a record in the same zone.
public struct ReferenceValue: Sendable, Hashable {
    public enum Action: UInt8, Sendable {
        case none = 0
        case deleteSelf = 1
    }
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
    /// Seconds since 2001-01-01T00:00:00Z, finite: the number that Foundation's `Date` is, so that a date comes back as
    /// it was.
    case date(Double)
    indirect case location(Location)
    case reference(ReferenceValue)
    /// Elements of one kind. Without elements it is a list of no kind.
    case list([Value])

    /// Nil for a list.
    public var kind: ValueKind? {
        switch self {
        case .string: .string
        case .data: .data
        case .int64: .int64
        case .double: .double
        case .date: .date
        case .location: .location
        case .reference: .reference
        case .list: nil
        }
    }

    /// Of a list, by its first element: whether the others are of that kind, its encoding finds.
    public var tag: ValueTag {
        if let kind { return .type(ValueType(kind)) }
        guard case .list(let elements) = self, let kind = elements.first?.kind else { return .emptyList }
        return .type(ValueType(kind, isList: true))
    }

    /// What keeps a value from having an encoding.
    public enum Fault: Sendable, Hashable {
        /// A date, or a location's time, is NaN or infinite.
        case dateNotFinite
        /// A list has elements of several kinds, or lists.
        case mixedList
    }

    /// Nil for a value that has an encoding.
    public var fault: Fault? {
        switch self {
        case .string, .data, .int64, .double, .reference: return nil
        case .date(let seconds): return seconds.isFinite ? nil : .dateNotFinite
        case .location(let place): return place.time.isFinite ? nil : .dateNotFinite
        case .list(let elements):
            guard let first = elements.first else { return nil }
            guard let kind = first.kind else { return .mixedList }
            for element in elements {
                guard element.kind == kind else { return .mixedList }
                if let fault = element.fault { return fault }
            }
            return nil
        }
    }
}

// MARK: Encoding

extension Value {
    /// Tag byte and payload.
    /// - Throws: `malformed` for a value with a `fault`.
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
        writer.number(tag.byte)
        guard case .list(let elements) = self else { return try writePayload(to: &writer) }
        writer.number(UInt32(elements.count))
        guard let first = elements.first else { return }
        // A list in a list has none.
        guard let kind = first.kind else { throw .malformed }
        for element in elements {
            guard element.kind == kind else { throw .malformed }
            try element.writePayload(to: &writer)
        }
    }

    private func writePayload(to writer: inout CanonicalWriter) throws(SealError) {
        switch self {
        case .string(let text): writer.string(text)
        case .data(let bytes): writer.blob(bytes)
        case .int64(let number): writer.number(number)
        case .double(let number): writer.double(number)
        case .date(let seconds): try writer.date(seconds)
        case .location(let place):
            writer.double(place.latitude)
            writer.double(place.longitude)
            writer.double(place.altitude)
            writer.double(place.horizontalAccuracy)
            writer.double(place.verticalAccuracy)
            writer.double(place.course)
            writer.double(place.speed)
            try writer.date(place.time)
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
        guard case .type(let type) = try ValueTag(byte: reader.byte()) else {
            guard try reader.number(UInt32.self) == 0 else { throw .malformed }
            self = .list([])
            return
        }
        guard type.isList else {
            self = try Value(readingPayload: type.kind, from: &reader)
            return
        }
        guard type.kind != .asset else { throw .unsupported }
        let count = try reader.count(UInt32.self, ofAtLeast: type.kind.minimumBytes)
        // A list without elements has one form, and no kind in it.
        guard count > 0 else { throw .malformed }
        var elements: [Value] = []
        elements.reserveCapacity(count)
        for _ in 0..<count { elements.append(try Value(readingPayload: type.kind, from: &reader)) }
        self = .list(elements)
    }

    private init(readingPayload kind: ValueKind, from reader: inout CanonicalReader) throws(SealError) {
        switch kind {
        case .string: self = .string(try reader.string(atMost: Limits.recordBytes))
        case .data: self = .data(try reader.blob(atMost: Limits.recordBytes))
        case .int64: self = .int64(try reader.number())
        case .double: self = .double(try reader.double())
        case .date: self = .date(try reader.date())
        case .location:
            var place = Location(latitude: try reader.double(), longitude: try reader.double())
            place.altitude = try reader.double()
            place.horizontalAccuracy = try reader.double()
            place.verticalAccuracy = try reader.double()
            place.course = try reader.double()
            place.speed = try reader.double()
            place.time = try reader.date()
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

    /// The bits of a finite number, with one zero.
    mutating func date(_ seconds: Double) throws(SealError) {
        guard seconds.isFinite else { throw .malformed }
        number((seconds == 0 ? 0 : seconds).bitPattern)
    }
}

extension CanonicalReader {
    mutating func double() throws(SealError) -> Double {
        let bits = try number(UInt64.self)
        let value = Double(bitPattern: bits)
        guard !value.isNaN || bits == canonicalNaN else { throw .malformed }
        return value
    }

    mutating func date() throws(SealError) -> Double {
        try Value.canonicalSeconds(Double(bitPattern: try number(UInt64.self)))
    }
}
