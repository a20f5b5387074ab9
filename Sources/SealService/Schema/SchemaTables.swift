import SealSchema
import SealStatements
import SealStorage

/// A schema's rows, read in the caller's transaction.
enum SchemaTables {
    /// Nil for a schema that was never written.
    static func version(
        _ container: String, _ environment: Environment, in connection: any SQLConnection
    ) throws -> Int64? {
        try connection.first(
            "SELECT version FROM schema_state WHERE container = $1 AND environment = $2", key(container, environment)
        ) { try $0.int64("version") }
    }

    static func load(
        _ container: String, _ environment: Environment, in connection: any SQLConnection
    ) throws -> StoredSchema {
        let key = key(container, environment)
        let state = try connection.first(
            "SELECT version, history FROM schema_state WHERE container = $1 AND environment = $2", key
        ) { (version: try $0.int64("version"), hasHistory: try $0.bool("history")) }
        guard let state else { return StoredSchema(container: container, environment: environment) }

        var schema = Schema()
        var ids: [String: [String: Int64]] = [:]
        let fields = try connection.rows(
            "SELECT type, name, id, kind, encrypted, indexes FROM schema_field WHERE container = $1 AND environment = $2",
            key, FieldRow.init)
        for row in fields {
            ids[row.type, default: [:]][row.name] = row.id
            var type = schema.types[row.type] ?? RecordType(name: row.type, grants: [])
            // A system field has its number from the start; the schema lists it once it has an index.
            if SystemField(rawValue: row.name) == nil || !row.field.indexes.isEmpty {
                type.fields[row.name] = row.field
            }
            schema.types[row.type] = type
        }
        let grants = try connection.rows(
            "SELECT type, role, rights FROM schema_grant WHERE container = $1 AND environment = $2 ORDER BY type, role",
            key
        ) {
            (type: try $0.text("type"), grant: RecordType.Grant(bits: try $0.int64("rights"), to: try $0.text("role")))
        }
        for row in grants { schema.types[row.type]?.grants.append(row.grant) }
        schema.roles = Set(
            try connection.rows("SELECT name FROM schema_role WHERE container = $1 AND environment = $2", key) {
                try $0.text("name")
            })
        return StoredSchema(
            container: container, environment: environment, version: state.version, hasHistory: state.hasHistory,
            schema: schema.completed, ids: ids)
    }

    static func key(_ container: String, _ environment: Environment) -> [SQLValue] {
        [.text(container), .integer(Int64(environment.rawValue))]
    }

    private struct FieldRow {
        let type: String
        let name: String
        let id: Int64
        let field: RecordType.Field

        init(_ row: any SQLRow) throws {
            type = try row.text("type")
            name = try row.text("name")
            id = try row.int64("id")
            guard let tag = UInt8(exactly: try row.int64("kind")) else {
                throw StorageError.unexpectedType(column: "kind", wanted: "a value kind")
            }
            guard let indexes = UInt8(exactly: try row.int64("indexes")) else {
                throw StorageError.unexpectedType(column: "indexes", wanted: "a set of indexes")
            }
            field = RecordType.Field(
                try ValueType(tag: tag), isEncrypted: try row.bool("encrypted"),
                indexes: RecordType.Indexes(rawValue: indexes))
        }
    }
}

extension RecordType.Grant {
    /// Rights as a row keeps them: bit 0 READ, bit 1 CREATE, bit 2 WRITE.
    init(bits: Int64, to role: String) {
        self.init(Set(Right.allCases.filter { bits & (1 << Int64($0.rawValue - 1)) != 0 }), to: role)
    }

    var bits: Int64 { rights.reduce(0) { $0 | 1 << Int64($1.rawValue - 1) } }
}
