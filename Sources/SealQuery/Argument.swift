public import Foundation
public import SealStatements

extension Query {
    /// What can stand in the place of `%@` in a predicate: strings, numbers, dates, data, locations, references, and arrays.
    public protocol Argument: Sendable {
        var queryValue: Value { get }
        /// The kind of an empty array's elements.
        static var queryKind: ValueKind { get }
    }

    /// Arguments that are ordered.
    public protocol OrderedArgument: Argument {}
}

extension String: Query.OrderedArgument {
    public var queryValue: Value { .string(self) }
    public static var queryKind: ValueKind { .string }
}

extension Int: Query.OrderedArgument {
    public var queryValue: Value { .int64(Int64(self)) }
    public static var queryKind: ValueKind { .int64 }
}

extension Int64: Query.OrderedArgument {
    public var queryValue: Value { .int64(self) }
    public static var queryKind: ValueKind { .int64 }
}

extension Double: Query.OrderedArgument {
    public var queryValue: Value { .double(self) }
    public static var queryKind: ValueKind { .double }
}

/// As in CloudKit, 0 and 1.
extension Bool: Query.Argument {
    public var queryValue: Value { .int64(self ? 1 : 0) }
    public static var queryKind: ValueKind { .int64 }
}

extension Date: Query.OrderedArgument {
    public var queryValue: Value { .date(queryMicroseconds) }
    public static var queryKind: ValueKind { .date }

    /// Whole microseconds since 1970; beyond ±292,000 years the ends of the range.
    var queryMicroseconds: Int64 {
        let value = (timeIntervalSince1970 * 1_000_000).rounded()
        return value >= 0x1p63 ? .max : value > -0x1p63 ? Int64(value) : .min
    }
}

extension Data: Query.Argument {
    public var queryValue: Value { .data([UInt8](self)) }
    public static var queryKind: ValueKind { .data }
}

extension Location: Query.Argument {
    public var queryValue: Value { .location(self) }
    public static var queryKind: ValueKind { .location }
}

extension ReferenceValue: Query.Argument {
    public var queryValue: Value { .reference(self) }
    public static var queryKind: ValueKind { .reference }
}

extension Value: Query.Argument {
    public var queryValue: Value { self }
    public static var queryKind: ValueKind { .string }
}

extension Array: Query.Argument where Element: Query.Argument {
    public var queryValue: Value { .list(first?.queryValue.type.kind ?? Element.queryKind, map(\.queryValue)) }
    public static var queryKind: ValueKind { Element.queryKind }
}
