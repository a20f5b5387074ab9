import SealEnvelope
public import SealPrimitives
public import SealStatements

/// A version of a record, as far as its writer has it.
public struct WrittenVersion {
    public typealias Field = RecordWriting.Field

    private let statement: Statement
    private let digests: [String: Digest]
    /// Nil where only digests are known.
    private let fields: [String: Field]?

    public init(_ statement: Statement, digests: [String: Digest], fields: [String: Field]?) {
        (self.statement, self.digests, self.fields) = (statement, digests, fields)
    }

    /// Nothing that an app could see is different from `known`: another record's save gave it a new change tag, its key
    /// was wrapped anew, or the same values were sealed under a new one. Signing after the newer statement then loses
    /// nothing.
    public func showsTheSame(as known: WrittenVersion) -> Bool {
        guard known.statement.kind == .save else { return false }
        return (digests == known.digests || hasTheValues(of: known))
            && statement.recordType == known.statement.recordType && statement.parent == known.statement.parent
            && statement.share == known.statement.share && statement.creator == known.statement.creator
    }

    /// Sealed under another key. What was not fetched is the same only as the same bytes.
    private func hasTheValues(of known: WrittenVersion) -> Bool {
        guard let former = known.fields, let fields, fields.count == former.count else { return false }
        for (name, field) in former {
            let isSame =
                switch (field, fields[name]) {
                case (.plain(let one), .plain(let other)?), (.encrypted(let one), .encrypted(let other)?): one == other
                case (.asset(let one?), .asset(let other?)?): one.root == other.root && one.salt == other.salt
                case (.omitted, .some): known.digests[name] == digests[name]
                default: false
                }
            guard isSame else { return false }
        }
        return true
    }
}
