import SealStatements

/// A list that is asked for in parts, each after the last item of the one before, and comes in the order of a key:
/// nothing comes twice, and no server keeps a client busy with it for ever.
public struct OrderedListing<Key: ListingKey>: Sendable {
    public private(set) var last: Key

    /// - Parameter last: what the next part is asked for after.
    public init(after last: Key) { self.last = last }

    /// - Throws: `circle` for an item that does not come after the one before, and for more that brings none.
    public mutating func take(_ part: [Key], isMoreComing: Bool) throws(ClientError) {
        for key in part {
            guard Key.isOrdered(last, key) else { throw .circle }
            last = key
        }
        guard !isMoreComing || !part.isEmpty else { throw .circle }
    }
}

public protocol ListingKey: Sendable {
    /// One comes before the other, and is another.
    static func isOrdered(_ one: Self, _ other: Self) -> Bool
}

/// By their bytes.
extension String: ListingKey {
    public static func isOrdered(_ one: String, _ other: String) -> Bool { FieldSet.isOrdered(one, other) }
}

/// The place of a record in its zone's feed.
extension UInt64: ListingKey {
    public static func isOrdered(_ one: UInt64, _ other: UInt64) -> Bool { one < other }
}
