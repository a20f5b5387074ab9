public import SealPrimitives

extension Wire {
    /// What a condition asks of a field (query.proto). A number that is none of these is refused.
    public enum Comparator: UInt32, WireValue {
        case unspecified = 0
        case equals = 1
        case notEquals = 2
        case lessThan = 3
        case lessThanOrEquals = 4
        case greaterThan = 5
        case greaterThanOrEquals = 6
        case between = 7
        case `in` = 8
        case beginsWith = 9
        case listContains = 10
        case listContainsAny = 11
        case containsAnyTokens = 12
        case containsAllTokens = 13
        case near = 14
        case never = 15

        public static var form: WireForm { .number }
        public var isDefault: Bool { self == .unspecified }
        public init() { self = .unspecified }
        public init(reading reader: inout WireReader) throws(SealError) {
            guard let known = Comparator(rawValue: try UInt32(reading: &reader)) else { throw .malformed }
            self = known
        }
        public func measure(with sizer: inout WireSizer) { rawValue.measure(with: &sizer) }
        public func write(to writer: inout WireWriter) { rawValue.write(to: &writer) }
    }
}
