import SealPrimitives
import SealStatements

/// Statements: one valid encoding.
enum StatementTarget: FuzzTarget {
    static let name = "statement"
    static let seeds =
        ["statements", "moves", "public"].map { Seed.hex($0, "encoded") }
        + ["records", "placement", "deletions"].map { Seed.hex($0, "statement") }

    static func run(_ input: [UInt8]) {
        guard let statement = try? Statement(canonicalBytes: input) else { return }
        require(statement.canonicalBytes() == input, "a statement with another encoding")
        let isPublic = statement.scopeID == .zero
        require(
            statement.wrappedKey.count == (statement.kind == .delete || isPublic ? 0 : 72),
            "a key that is missing or too much")
        if isPublic {
            require(
                statement.zoneIncarnation == 1 && statement.scopeIncarnation == 0 && statement.epoch == 0
                    && statement.rosterSequence == 0 && statement.rosterHead == .zero,
                "something of a scope in the public database")
        }
        if let former = statement.formerScope {
            require(
                statement.kind == .save && statement.revision > 1 && !isPublic, "a former scope of what never moved")
            require(
                former.scopeID != statement.scopeID || former.incarnation != statement.scopeIncarnation,
                "moved to where it was")
        }
        require(statement.revision > 0 && statement.revision < 1 << 62, "a revision out of bounds")
        require((statement.revision == 1) == (statement.previous == .zero), "a first revision with a predecessor")
        require(Names.isPlain(statement.recordName) && Names.isRecordType(statement.recordType), "a name out of bounds")
    }
}
