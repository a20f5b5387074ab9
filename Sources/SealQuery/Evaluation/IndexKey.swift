public import SealStatements

/// Values as bytes that are ordered as the values are (`ValueOrder`): what an index holds.
public struct IndexKey: Sendable, Hashable, Comparable {
    public let bytes: [UInt8]

    public init(bytes: [UInt8]) { self.bytes = bytes }

    /// Above every key.
    public static let end = IndexKey(bytes: [UInt8](repeating: 0xFF, count: Query.Limits.keyBytes + 1))

    /// A value that is no list. Strings and data by their first `Query.Limits.keyBytes` bytes; a location as a cell.
    /// - Returns: nil for a list, and for a location that is not on the earth.
    public init?(_ value: Value) {
        switch value {
        case .string(let text): self.init(bytes: Fold.bytes(text, atMost: Query.Limits.keyBytes))
        case .data(let data): self.init(bytes: Array(data.prefix(Query.Limits.keyBytes)))
        case .int64(let number): self.init(UInt64(bitPattern: number) ^ 1 << 63)
        case .double(let number), .date(let number): self.init(ValueOrder.bits(number))
        case .reference(let reference): self.init(bytes: Array(reference.recordName.utf8))
        case .location(let place):
            guard let cell = Cells.cell(place.latitude, place.longitude) else { return nil }
            self.init(cell)
        case .list: return nil
        }
    }

    public init(_ number: UInt64) {
        bytes = (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }

    /// The least key above this one.
    public var next: IndexKey { IndexKey(bytes: bytes + [0]) }

    public static func < (left: IndexKey, right: IndexKey) -> Bool { left.bytes.lexicographicallyPrecedes(right.bytes) }

    /// The entries of a field's value: one, or one for each different element of a list.
    public static func entries(of value: Value) -> Set<IndexKey> {
        guard case .list(let elements) = value else { return IndexKey(value).map { [$0] } ?? [] }
        return Set(elements.compactMap { IndexKey($0) })
    }
}

/// Keys from one up to, and without, another.
public struct KeyRange: Sendable, Hashable {
    public let lower: IndexKey
    public let upper: IndexKey

    public init(_ lower: IndexKey, _ upper: IndexKey) {
        self.lower = lower
        self.upper = upper
    }

    public static let all = KeyRange(IndexKey(bytes: []), .end)
}
