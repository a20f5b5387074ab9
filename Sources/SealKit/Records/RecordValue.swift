public import Foundation
public import SealStatements

public typealias RecordValue = SealStatements.Value
public typealias Location = SealStatements.Location

/// A Swift type that a record field can hold: `String`, `Data`, `Date`, `Int`, `Int64`, `Double`, `Float`, `Bool`, `Location`,
/// `Record.Reference`, and arrays of each. As in CloudKit, `Bool` is kept as the integer 0 or 1, and `Float` as a double.
public protocol RecordValueConvertible: Sendable {
    var recordValue: RecordValue { get }
    init?(recordValue: RecordValue)
}

extension String: RecordValueConvertible {
    public var recordValue: RecordValue { .string(self) }
    public init?(recordValue: RecordValue) {
        guard case .string(let text) = recordValue else { return nil }
        self = text
    }
}

extension Data: RecordValueConvertible {
    public var recordValue: RecordValue { .data([UInt8](self)) }
    public init?(recordValue: RecordValue) {
        guard case .data(let bytes) = recordValue else { return nil }
        self = Data(bytes)
    }
}

extension Int64: RecordValueConvertible {
    public var recordValue: RecordValue { .int64(self) }
    public init?(recordValue: RecordValue) {
        guard case .int64(let number) = recordValue else { return nil }
        self = number
    }
}

extension Int: RecordValueConvertible {
    public var recordValue: RecordValue { .int64(Int64(self)) }
    public init?(recordValue: RecordValue) {
        guard case .int64(let number) = recordValue, let exact = Int(exactly: number) else { return nil }
        self = exact
    }
}

extension Double: RecordValueConvertible {
    public var recordValue: RecordValue { .double(self) }
    public init?(recordValue: RecordValue) {
        guard case .double(let number) = recordValue else { return nil }
        self = number
    }
}

extension Float: RecordValueConvertible {
    public var recordValue: RecordValue { .double(Double(self)) }
    public init?(recordValue: RecordValue) {
        guard case .double(let number) = recordValue else { return nil }
        self = Float(number)
    }
}

/// Kept as the integer 0 or 1; no other integer reads as one.
extension Bool: RecordValueConvertible {
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
extension Date: RecordValueConvertible {
    public var recordValue: RecordValue { .date(timeIntervalSinceReferenceDate) }
    public init?(recordValue: RecordValue) {
        guard case .date(let seconds) = recordValue else { return nil }
        self.init(timeIntervalSinceReferenceDate: seconds)
    }
}

extension Location: RecordValueConvertible {
    public var recordValue: RecordValue { .location(self) }
    public init?(recordValue: RecordValue) {
        guard case .location(let place) = recordValue else { return nil }
        self = place
    }
}

/// Plain fields only: the server follows references, so that they cannot be encrypted values.
extension Record.Reference: RecordValueConvertible {
    public var recordValue: RecordValue { .reference(ReferenceValue(recordName: recordName, action: action)) }
    public init?(recordValue: RecordValue) {
        guard case .reference(let reference) = recordValue else { return nil }
        self.init(recordName: reference.recordName, action: reference.action)
    }
}

/// An empty list is of no kind, and reads as an empty array of every type.
extension Array: RecordValueConvertible where Element: RecordValueConvertible {
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
