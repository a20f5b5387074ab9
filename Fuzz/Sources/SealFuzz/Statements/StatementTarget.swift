import SealPrimitives
import SealStatements

/// Statements: one valid encoding.
enum StatementTarget: FuzzTarget {
    static let name = "statement"
    static let seeds = [Seed.hex("statements", "encoded"), .hex("records", "statement")]

    static func run(_ input: [UInt8]) {
        guard let statement = try? Statement(canonicalBytes: input) else { return }
        require(statement.canonicalBytes() == input, "a statement with another encoding")
        require((statement.kind == .delete) == statement.wrappedKey.isEmpty, "a key that is missing or too much")
        require(statement.revision > 0 && statement.revision < 1 << 62, "a revision out of bounds")
        require((statement.revision == 1) == (statement.previous == .zero), "a first revision with a predecessor")
        require(Names.isPlain(statement.recordName) && Names.isRecordType(statement.recordType), "a name out of bounds")
    }
}
