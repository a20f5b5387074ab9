public import Foundation
public import SealStatements

extension Query {
    /// What can stand in the place of `%@` in a predicate: strings, numbers, dates, data, locations, references, and
    /// arrays.
    public protocol Argument: Sendable {
        var queryValue: Value { get }
    }

    /// Arguments that are ordered.
    public protocol OrderedArgument: Argument {}
}

extension String: Query.OrderedArgument {
    public var queryValue: Value { .string(self) }
}

extension Int: Query.OrderedArgument {
    public var queryValue: Value { .int64(Int64(self)) }
}

extension Int64: Query.OrderedArgument {
    public var queryValue: Value { .int64(self) }
}

extension Double: Query.OrderedArgument {
    public var queryValue: Value { .double(self) }
}

/// As in CloudKit, 0 and 1.
extension Bool: Query.Argument {
    public var queryValue: Value { .int64(self ? 1 : 0) }
}

extension Date: Query.OrderedArgument {
    public var queryValue: Value { .date(timeIntervalSinceReferenceDate) }
}

extension Data: Query.Argument {
    public var queryValue: Value { .data([UInt8](self)) }
}

extension Location: Query.Argument {
    public var queryValue: Value { .location(self) }
}

extension ReferenceValue: Query.Argument {
    public var queryValue: Value { .reference(self) }
}

extension Value: Query.Argument {
    public var queryValue: Value { self }
}

extension Array: Query.Argument where Element: Query.Argument {
    public var queryValue: Value { .list(map(\.queryValue)) }
}
