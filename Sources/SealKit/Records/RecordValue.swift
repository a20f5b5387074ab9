public import Foundation
public import SealStatements

/// What a field holds, whatever its type: for code that learns the type when it runs.
public typealias RecordValue = SealStatements.Value
/// A place on earth, CloudKit's `CLLocation`: latitude and longitude in degrees, the rest as far as it is known.
public typealias Location = SealStatements.Location

/// A Swift type that a record field can hold: an ``InlineRecordValue``, or an ``Asset``. CloudKit's
/// `CKRecordValueProtocol`.
public protocol RecordValueConvertible: Sendable {
    /// As a field keeps it.
    var fieldContent: Record.Content { get }
    /// nil where the field holds something else.
    init?(fieldContent: Record.Content)
}

/// A value that lies in the record itself: `String`, `Data`, `Date`, `Bool`, `Double`, `Float`, integers of 16, 32 and
/// 64 bits that an `Int64` holds, `NSNumber`, `Location`, `Record.Reference`, and arrays of each. As in CloudKit,
/// `Bool` is kept as the integer 0 or 1, and `Float` as a double. Encrypted values and the elements of lists are such;
/// types of your own conform to it.
public protocol InlineRecordValue: RecordValueConvertible {
    /// As a record keeps it.
    var recordValue: RecordValue { get }
    /// nil where the value is of another type, or does not fit this one exactly.
    init?(recordValue: RecordValue)
}

extension InlineRecordValue {
    public var fieldContent: Record.Content { .value(recordValue) }
    public init?(fieldContent: Record.Content) {
        guard case .value(let value) = fieldContent else { return nil }
        self.init(recordValue: value)
    }
}

extension Asset: RecordValueConvertible {
    public var fieldContent: Record.Content { .asset(self) }
    public init?(fieldContent: Record.Content) {
        guard case .asset(let asset) = fieldContent else { return nil }
        self = asset
    }
}

extension String: InlineRecordValue {
    public var recordValue: RecordValue { .string(self) }
    public init?(recordValue: RecordValue) {
        guard case .string(let text) = recordValue else { return nil }
        self = text
    }
}

extension Data: InlineRecordValue {
    public var recordValue: RecordValue { .data([UInt8](self)) }
    public init?(recordValue: RecordValue) {
        guard case .data(let bytes) = recordValue else { return nil }
        self = Data(bytes)
    }
}

// Integers that an `Int64` holds, whatever they are; each by itself, as a type that can be larger has no such value.
// Bytes are not among them: an array of those is `Data`.

extension Int: InlineRecordValue {
    public var recordValue: RecordValue { .int64(Int64(self)) }
    public init?(recordValue: RecordValue) { self.init(inRange: recordValue) }
}

extension Int64: InlineRecordValue {
    public var recordValue: RecordValue { .int64(self) }
    public init?(recordValue: RecordValue) { self.init(inRange: recordValue) }
}

extension Int32: InlineRecordValue {
    public var recordValue: RecordValue { .int64(Int64(self)) }
    public init?(recordValue: RecordValue) { self.init(inRange: recordValue) }
}

extension Int16: InlineRecordValue {
    public var recordValue: RecordValue { .int64(Int64(self)) }
    public init?(recordValue: RecordValue) { self.init(inRange: recordValue) }
}

extension UInt32: InlineRecordValue {
    public var recordValue: RecordValue { .int64(Int64(self)) }
    public init?(recordValue: RecordValue) { self.init(inRange: recordValue) }
}

extension UInt16: InlineRecordValue {
    public var recordValue: RecordValue { .int64(Int64(self)) }
    public init?(recordValue: RecordValue) { self.init(inRange: recordValue) }
}

extension FixedWidthInteger {
    /// nil where the field holds something else, or a number that this type does not.
    fileprivate init?(inRange value: RecordValue) {
        guard case .int64(let number) = value else { return nil }
        self.init(exactly: number)
    }
}

extension Double: InlineRecordValue {
    public var recordValue: RecordValue { .double(self) }
    public init?(recordValue: RecordValue) {
        guard case .double(let number) = recordValue else { return nil }
        self = number
    }
}

extension Float: InlineRecordValue {
    public var recordValue: RecordValue { .double(Double(self)) }
    public init?(recordValue: RecordValue) {
        guard case .double(let number) = recordValue else { return nil }
        self = Float(number)
    }
}

/// Kept as the integer 0 or 1; no other integer reads as one.
extension Bool: InlineRecordValue {
    public var recordValue: RecordValue { .int64(self ? 1 : 0) }
    public init?(recordValue: RecordValue) {
        switch recordValue {
        case .int64(0): self = false
        case .int64(1): self = true
        default: return nil
        }
    }
}

/// Kept as the number that it is, so that the same date comes back.
extension Date: InlineRecordValue {
    public var recordValue: RecordValue { .date(timeIntervalSinceReferenceDate) }
    public init?(recordValue: RecordValue) {
        guard case .date(let seconds) = recordValue else { return nil }
        self.init(timeIntervalSinceReferenceDate: seconds)
    }
}

extension Location: InlineRecordValue {
    public var recordValue: RecordValue { .location(self) }
    public init?(recordValue: RecordValue) {
        guard case .location(let place) = recordValue else { return nil }
        self = place
    }
}

/// Plain fields only: the server follows references, so that they cannot be encrypted values.
extension Record.Reference: InlineRecordValue {
    public var recordValue: RecordValue { .reference(ReferenceValue(recordName: recordName, action: action)) }
    public init?(recordValue: RecordValue) {
        guard case .reference(let reference) = recordValue else { return nil }
        self.init(recordName: reference.recordName, action: reference.action)
    }
}

/// An empty list is of no kind, and reads as an empty array of every type.
extension Array: RecordValueConvertible where Element: InlineRecordValue {}
extension Array: InlineRecordValue where Element: InlineRecordValue {
    public var recordValue: RecordValue { .list(map(\.recordValue)) }
    public init?(recordValue: RecordValue) {
        guard case .list(let values) = recordValue else { return nil }
        var elements: [Element] = []
        elements.reserveCapacity(values.count)
        for value in values {
            guard let element = Element(recordValue: value) else { return nil }
            elements.append(element)
        }
        self = elements
    }
}
