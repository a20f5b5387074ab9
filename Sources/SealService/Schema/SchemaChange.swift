package import SealSchema
package import SealStatements
package import SealStorage

/// What a change of a schema means for indexes over records that exist.
package struct SchemaChange: Sendable {
    package let container: String
    package let environment: Environment
    /// Fields whose indexes differ. Nothing else of a schema change concerns stored records: they never change.
    package var indexes: [Index]

    package struct Index: Sendable, Equatable {
        /// `StoredSchema.fieldID`.
        package let id: Int64
        package let type: String
        /// A user field, or a system field by its schema name.
        package let field: String
        package let kind: ValueType
        /// None for a field that is new.
        package let before: RecordType.Indexes
        /// None for a field that went.
        package let after: RecordType.Indexes
    }

    package mutating func add(
        _ id: Int64, _ name: String, of type: String, from before: RecordType.Field?, to after: RecordType.Field?
    ) {
        guard before?.indexes ?? [] != after?.indexes ?? [], let kind = (after ?? before)?.type else { return }
        indexes.append(
            Index(
                id: id, type: type, field: name, kind: kind, before: before?.indexes ?? [], after: after?.indexes ?? [])
        )
    }
}

/// Everybody who follows schema changes. Called in the change's transaction, for imports, deployments and resets, and
/// for fields that appear with a save where records may exist from before (`StoredSchema.hasHistory`): not for those
/// that appear in a container that always had a schema, since no stored record has them.
///
/// What takes long (indexing the records of all users) is only noted here, durably, and done after the commit.
package enum SchemaFollowers {
    package static func follow(_ change: SchemaChange, now: Int64, _ connection: any SQLConnection) throws {
        try IndexBuilds.note(change, connection)
    }
}
