public import SealPrimitives
public import SealStatements

/// A life of a scope: where a record was seen last, and what was read without a gap.
public struct ScopePlace: Sendable, Hashable {
    public let scope: Digest
    public let incarnation: UInt32

    private static let byteCount = Digest.byteCount + 4

    public init(_ scope: Digest, _ incarnation: UInt32) { (self.scope, self.incarnation) = (scope, incarnation) }
    public init(_ place: Statement.FormerScope) { self.init(place.scopeID, place.incarnation) }

    /// Nil for anything but `bytes`.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == ScopePlace.byteCount, let scope = try? Digest(bytes.prefix(Digest.byteCount)) else {
            return nil
        }
        self.init(scope, bytes.suffix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) })
    }

    /// As it is kept: the incarnation's lowest byte comes first.
    public var bytes: [UInt8] {
        scope.bytes + (0..<4).map { UInt8(truncatingIfNeeded: incarnation >> (8 * $0)) }
    }
}
