public import Foundation
public import SealStatements

/// Kept as an integer where it is one that an `Int64` holds, else as a double.
extension NSNumber: InlineRecordValue {}

extension InlineRecordValue where Self: NSNumber {
    /// As a record keeps it.
    public var recordValue: RecordValue {
        let isFloating = ["f", "d"].contains(String(cString: objCType))
        guard !isFloating, let integer = Int64(exactly: self) else { return .double(doubleValue) }
        return .int64(integer)
    }

    /// nil where the value is of another type, or does not fit this one exactly.
    public init?(recordValue: RecordValue) {
        let number: NSNumber
        switch recordValue {
        case .int64(let integer): number = NSNumber(value: integer)
        case .double(let double): number = NSNumber(value: double)
        default: return nil
        }
        guard let number = number as? Self else { return nil }
        self = number
    }
}

extension RecordValue {
    /// For casts as CloudKit code has them. A number is an `NSNumber`, since that alone casts to `Int`, `Int64`,
    /// `Double` and `Bool` alike; nil for a list of several kinds.
    var swiftValue: (any InlineRecordValue)? {
        switch self {
        case .string(let text): text
        case .data(let bytes): Data(bytes)
        case .int64(let number): NSNumber(value: number)
        case .double(let number): NSNumber(value: number)
        case .date(let seconds): Date(timeIntervalSinceReferenceDate: seconds)
        case .location(let place): place
        case .reference: Record.Reference(recordValue: self)
        case .list(let elements): swiftList(of: elements.first?.kind)
        }
    }

    private func swiftList(of kind: ValueKind?) -> (any InlineRecordValue)? {
        switch kind {
        case .string: [String](recordValue: self)
        case .data: [Data](recordValue: self)
        case .date: [Date](recordValue: self)
        case .location: [Location](recordValue: self)
        case .reference: [Record.Reference](recordValue: self)
        // An empty array casts to one of every type.
        case .int64, .double, nil: [NSNumber](recordValue: self)
        case .asset: nil
        }
    }
}
