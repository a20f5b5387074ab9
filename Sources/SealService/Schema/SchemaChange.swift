import SealSchema
import SealStatements

/// What a change of a schema means for indexes over records that exist.
struct SchemaChange: Sendable {
    let container: String
    let environment: Environment
    /// Fields whose indexes differ. Nothing else of a schema change concerns stored records: they never change.
    var indexes: [Index]

    struct Index: Sendable, Equatable {
        /// `StoredSchema.fieldID`.
        let id: Int64
        let type: String
        /// A user field, or a system field by its schema name.
        let field: String
        let kind: ValueType
        /// None for a field that is new.
        let before: RecordType.Indexes
        /// None for a field that went.
        let after: RecordType.Indexes
    }

    mutating func add(
        _ id: Int64, _ name: String, of type: String, from before: RecordType.Field?, to after: RecordType.Field?
    ) {
        guard before?.indexes ?? [] != after?.indexes ?? [], let kind = (after ?? before)?.type else { return }
        indexes.append(
            Index(
                id: id, type: type, field: name, kind: kind, before: before?.indexes ?? [], after: after?.indexes ?? [])
        )
    }
}
