public import SealPrimitives
public import SealStatements

/// What is signed for records that are written in the public database (R-PUB-1 to R-PUB-6): nothing there is sealed,
/// and no roster says who may write.
public struct PublicWriting: Sendable {
    private let scope: Scope
    private let author: UserID
    private let time: Int64

    /// - Parameter time: of its author's clock, microseconds since 1970.
    public init(in scope: Scope, by author: UserID, at time: Int64) {
        (self.scope, self.author, self.time) = (scope, author, time)
    }

    public func save(of recordName: String, type: String, after base: RecordWriting.Base?) -> Statement {
        statement(.save, recordName, type, base, parent: nil)
    }

    public func deletion(of recordName: String, type: String, after base: RecordWriting.Base) -> Statement {
        statement(.delete, recordName, type, base, parent: base.statement.parent)
    }

    /// A field of a record that is to be saved.
    public enum Field: Sendable {
        case plain(Value)
        /// Nil where it was not sent yet.
        case asset(PublicAsset?, blob: String)
        case encrypted
        /// It was not asked for.
        case omitted
    }

    /// How a field is sent: what stays by its digest.
    /// - Parameter base: after a deletion nothing is there to be carried over.
    /// - Returns: nil for what was not asked for, and is not carried over.
    /// - Throws: `unsupported` for what has no place there.
    public static func content(
        of field: Field, isChanged: Bool, known: Digest?, after base: RecordWriting.Base?
    ) throws(SealError) -> WireField? {
        if !isChanged, let known, base?.statement.kind == .save { return .digest(known) }
        switch field {
        case .plain(let value): return .stored(.plain(value), blob: nil)
        case .asset(let asset?, let blob): return .publicAsset(asset, blob: blob)
        case .omitted: return nil
        case .asset(nil, _), .encrypted: throw .unsupported
        }
    }

    private func statement(
        _ kind: Statement.Kind, _ recordName: String, _ type: String, _ base: RecordWriting.Base?, parent: String?
    ) -> Statement {
        PublicStatements.next(
            kind, of: recordName, type: type, in: scope.container, scope.environment, by: author, at: time,
            after: base.map { ($0.statement, $0.hash) }, parent: parent)
    }
}
