package import SealQuery
package import SealSchema
package import SealStatements

/// A record type as queries and their indexes need it: each field with the number that its index entries go by.
package struct IndexedType: Sendable {
    package struct Field: Sendable {
        /// Never used for another field.
        package let id: Int64
        package let type: ValueType
        let isEncrypted: Bool
        package let indexes: RecordType.Indexes

        var isAsset: Bool { type.kind == .asset }
        /// Equality, ranges and sorting read the same entries.
        package var isOrdered: Bool { !isEncrypted && !indexes.isDisjoint(with: [.queryable, .sortable]) }
        var isSearchable: Bool { !isEncrypted && indexes.contains(.searchable) && type.kind == .string }
    }

    package let name: String
    /// The fields that records have, by name.
    package let fields: [String: Field]
    let systemFields: [Query.SystemField: Field]
    /// What `record_index` holds of the fields and the system fields; the record's name needs no entries, since records
    /// are kept by it.
    let ordered: [(name: String, field: Field)]
    let orderedSystem: [(name: Query.SystemField, field: Field)]
    let searchable: Set<String>

    package init(name: String, fields: [String: Field], systemFields: [Query.SystemField: Field]) {
        self.name = name
        self.fields = fields
        self.systemFields = systemFields
        ordered = fields.filter(\.value.isOrdered).map { ($0.key, $0.value) }
        orderedSystem = systemFields.filter { $0.value.isOrdered && $0.key != .recordID }.map { ($0.key, $0.value) }
        searchable = Set(fields.filter(\.value.isSearchable).keys)
    }

    /// Whether saves of such records have anything to do here.
    var hasEntries: Bool { !ordered.isEmpty || !orderedSystem.isEmpty || !searchable.isEmpty }

    /// Whether any of them is of what the fields hold.
    var hasFieldEntries: Bool { !ordered.isEmpty || !searchable.isEmpty }

    package func field(_ key: String) -> Field? {
        guard let system = Query.SystemField(rawValue: key) else { return fields[key] }
        return systemFields[system]
    }
}

extension IndexedType {
    /// Every type of a schema whose fields have numbers; the built-in ones of a schema that was never written have none
    /// yet.
    package static func all(in schema: Schema, ids: [String: [String: Int64]]) -> [String: IndexedType] {
        var all: [String: IndexedType] = [:]
        for (name, type) in schema.types {
            var fields: [String: Field] = [:]
            var systemFields: [Query.SystemField: Field] = [:]
            for (key, field) in type.fields {
                guard let id = ids[name]?[key] else { continue }
                let indexed = Field(id: id, type: field.type, isEncrypted: field.isEncrypted, indexes: field.indexes)
                if let system = Query.SystemField(key: key) {
                    systemFields[system] = indexed
                } else {
                    fields[key] = indexed
                }
            }
            all[name] = IndexedType(name: name, fields: fields, systemFields: systemFields)
        }
        return all
    }
}
