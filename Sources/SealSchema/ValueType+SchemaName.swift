public import SealStatements

extension ValueKind {
    /// The schema language's word.
    public var schemaName: String {
        switch self {
        case .string: "STRING"
        case .data: "BYTES"
        case .int64: "INT64"
        case .double: "DOUBLE"
        case .date: "TIMESTAMP"
        case .location: "LOCATION"
        case .reference: "REFERENCE"
        case .asset: "ASSET"
        }
    }
}

extension ValueType {
    /// `STRING`, `LIST<REFERENCE>`, …
    public var schemaName: String { isList ? "LIST<\(kind.schemaName)>" : kind.schemaName }
}
