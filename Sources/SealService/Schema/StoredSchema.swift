package import SealSchema
package import SealStatements

/// A container's schema in one environment as the database has it: with the numbers that stand for its fields in index
/// rows.
package struct StoredSchema: Sendable {
    package let container: String
    package let environment: Environment
    /// Names this content: random, so that a schema whose transaction was taken back is never mistaken for another.
    package let version: Int64
    /// Records may exist from before the schema knew their types: fields that appear are indexed for those too.
    let hasHistory: Bool
    /// Complete: with the built-in types.
    package let schema: Schema
    /// By type and field, the system's indexable ones included. Never used again, whatever becomes of the field. Types
    /// of a schema that was never written have none.
    package let ids: [String: [String: Int64]]
    /// The types as queries and their indexes need them.
    package let indexed: [String: IndexedType]

    /// Version of a schema that was never written.
    static let unwritten: Int64 = 0

    /// Before anybody has saved anything.
    package init(container: String, environment: Environment) {
        self.init(
            container: container, environment: environment, version: Self.unwritten, hasHistory: false,
            schema: .builtIn, ids: [:])
    }

    package init(
        container: String, environment: Environment, version: Int64, hasHistory: Bool, schema: Schema,
        ids: [String: [String: Int64]]
    ) {
        self.container = container
        self.environment = environment
        self.version = version
        self.hasHistory = hasHistory
        self.schema = schema
        self.ids = ids
        indexed = IndexedType.all(in: schema, ids: ids)
    }

    /// The number of a field in index rows, for tests: stable over renewed indexes, deployments and restarts.
    /// - Parameter field: a user field, or a system field by its schema name (`___recordID`).
    func fieldID(type: String, field: String) -> Int64? { ids[type]?[field] }

    /// - Parameter field: a user field, or a system field by its schema name; nil for one that the schema does not
    ///   list.
    package func field(_ name: String, of type: String) -> RecordType.Field? { schema.types[type]?.fields[name] }

    /// Development takes what it is given; production what was deployed.
    package var judge: SchemaJudge { SchemaJudge(schema, mayGrow: environment == .development) }
}
