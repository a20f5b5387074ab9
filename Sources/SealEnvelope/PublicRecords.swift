public import SealPrimitives
public import SealStatements

/// Signs records of the public database, where nothing is sealed.
public enum PublicRecords {
    /// A record of the public database as its author wants it stored.
    public struct Draft: Sendable {
        /// Everything of the statement but salt and fields' digest, which signing fills in.
        public var statement: Statement
        /// Every field's digest, ascending by name; a deletion has none.
        public var fields: [FieldDigest]

        public init(statement: Statement, fields: [FieldDigest]) {
            self.statement = statement
            self.fields = fields
        }
    }

    /// - Returns: the finished statements' bytes, and the author's signature over the tree of them, in this order.
    /// - Throws: `wrongContext` for a statement of a scope; `malformed` for fields out of order, or of a deletion;
    ///   `invalidLength` for no record, or more than 400.
    public static func sign(
        _ drafts: [Draft], signingKey: SigningKey, random: inout some RandomSource
    ) throws(SealError) -> (statements: [[UInt8]], signature: [UInt8]) {
        var statements: [[UInt8]] = []
        statements.reserveCapacity(drafts.count)
        for draft in drafts {
            guard draft.statement.isPublic else { throw .wrongContext }
            var statement = draft.statement
            statement.salt = ID16(random: &random)
            guard statement.kind == .save || draft.fields.isEmpty else { throw .malformed }
            statement.fieldsDigest =
                statement.kind == .delete ? TakenRecords.none.digest : try FieldSet.digest(draft.fields)
            try statement.check()
            statements.append(statement.canonicalBytes())
        }
        let tree = try StatementTree(leaves: statements.map { Statement.hash($0) })
        return (statements, signingKey.sign(StatementTree.signedBytes(root: tree.root, leafCount: tree.leafCount)))
    }
}
