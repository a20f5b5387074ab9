import SealSchema
import SealStatements
import SealStorage

/// Writing a schema: only the rows that differ, in the caller's transaction.
extension SchemaTables {
    /// Brings the rows from what they are to `target`.
    /// - Parameters:
    ///   - stored: as this transaction has it.
    ///   - marksHistory: records stay whose types or fields go.
    /// - Returns: the new schema, and what it means for indexes.
    static func write(
        _ target: Schema, over stored: StoredSchema, marksHistory: Bool = false, in connection: any SQLConnection
    ) throws -> (schema: StoredSchema, change: SchemaChange) {
        let target = target.completed
        let key = key(stored.container, stored.environment)
        var ids = stored.ids
        var change = SchemaChange(container: stored.container, environment: stored.environment, indexes: [])
        try drop(from: &ids, target, stored, &change, connection)
        try insert(into: &ids, target, &change, connection)
        for (type, fields) in ids {
            for (name, id) in fields {
                // New ones are as they should be; kinds never change under one number.
                guard stored.ids[type]?[name] == id, let after = definition(name, of: type, in: target),
                    let before = definition(name, of: type, in: stored.schema), before != after
                else { continue }
                try connection.execute(
                    "UPDATE schema_field SET indexes = $5 WHERE container = $1 AND environment = $2 AND type = $3 AND name = $4",
                    key + [.text(type), .text(name), .integer(Int64(after.indexes.rawValue))])
                change.add(id, name, of: type, from: before, to: after)
            }
        }
        try writeGrants(target, over: stored, key, connection)
        try writeRoles(target, over: stored, key, connection)
        let history = stored.hasHistory || marksHistory
        let version = try writeState(key, history, connection)
        return (
            StoredSchema(
                container: stored.container, environment: stored.environment, version: version, hasHistory: history,
                schema: target, ids: ids), change
        )
    }

    /// A field as the schema has it; of the system's, those without an index too.
    private static func definition(_ name: String, of type: String, in schema: Schema) -> RecordType.Field? {
        guard let type = schema.types[type] else { return nil }
        return type.fields[name] ?? SystemField(rawValue: name).map { RecordType.Field($0.type) }
    }

    /// Fields that go, and those whose kind changes: index rows of the old kind must not be read as the new one, so the
    /// field comes back under another number.
    private static func drop(
        from ids: inout [String: [String: Int64]], _ target: Schema, _ stored: StoredSchema,
        _ change: inout SchemaChange,
        _ connection: any SQLConnection
    ) throws {
        for (type, fields) in stored.ids {
            for (name, id) in fields {
                let before = definition(name, of: type, in: stored.schema)
                if let before, let after = definition(name, of: type, in: target), before.type == after.type,
                    before.isEncrypted == after.isEncrypted
                {
                    continue
                }
                try connection.execute("DELETE FROM schema_field WHERE id = $1", [.integer(id)])
                ids[type]?[name] = nil
                change.add(id, name, of: type, from: before, to: nil)
            }
            if target.types[type] == nil { ids[type] = nil }
        }
    }

    /// Fields without a row, the system's indexable ones included.
    private static func insert(
        into ids: inout [String: [String: Int64]], _ target: Schema, _ change: inout SchemaChange,
        _ connection: any SQLConnection
    ) throws {
        var missing: [(type: String, name: String, field: RecordType.Field)] = []
        for type in target.types.values {
            let known = ids[type.name] ?? [:]
            for name in Set(type.fields.keys).union(SystemField.indexable.map(\.rawValue)) where known[name] == nil {
                guard let field = definition(name, of: type.name, in: target) else { continue }
                missing.append((type.name, name, field))
            }
        }
        guard !missing.isEmpty else { return }
        var next = try takeIDs(missing.count, in: connection)
        for (type, name, field) in missing.sorted(by: { ($0.type, $0.name) < ($1.type, $1.name) }) {
            try connection.execute(
                """
                INSERT INTO schema_field (container, environment, type, name, id, kind, encrypted, indexes)
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
                """,
                key(change.container, change.environment) + [.text(type), .text(name), .integer(next)] + columns(field))
            ids[type, default: [:]][name] = next
            change.add(next, name, of: type, from: nil, to: field)
            next += 1
        }
    }

    private static func columns(_ field: RecordType.Field) -> [SQLValue] {
        [.integer(Int64(field.type.tag)), .bool(field.isEncrypted), .integer(Int64(field.indexes.rawValue))]
    }

    /// Returns the first of `count` new numbers.
    private static func takeIDs(_ count: Int, in connection: any SQLConnection) throws -> Int64 {
        let last = try connection.first(
            "UPDATE schema_field_id SET last = last + $1 WHERE singleton = 1 RETURNING last", [.integer(Int64(count))]
        ) { try $0.int64("last") }
        guard let last else { throw StorageError.failed(code: 0, message: "the row of field numbers is gone") }
        return last - Int64(count) + 1
    }

    private static func writeGrants(
        _ target: Schema, over stored: StoredSchema, _ key: [SQLValue], _ connection: any SQLConnection
    ) throws {
        for name in Set(stored.ids.keys).union(target.types.keys) {
            let isStored = stored.ids[name] != nil
            let before = isStored ? stored.schema.types[name]?.grants ?? [] : []
            let after = target.types[name]?.grants ?? []
            guard before != after else { continue }
            try connection.execute(
                "DELETE FROM schema_grant WHERE container = $1 AND environment = $2 AND type = $3", key + [.text(name)])
            for grant in RecordType.Grant.merged(after) {
                try connection.execute(
                    "INSERT INTO schema_grant (container, environment, type, role, rights) VALUES ($1, $2, $3, $4, $5)",
                    key + [.text(name), .text(grant.role), .integer(grant.bits)])
            }
        }
    }

    private static func writeRoles(
        _ target: Schema, over stored: StoredSchema, _ key: [SQLValue], _ connection: any SQLConnection
    ) throws {
        for role in stored.schema.roles.subtracting(target.roles) {
            for table in ["schema_role WHERE name", "role_assignment WHERE role"] {
                try connection.execute(
                    "DELETE FROM \(table) = $3 AND container = $1 AND environment = $2", key + [.text(role)])
            }
        }
        for role in target.roles.subtracting(stored.schema.roles) {
            try connection.execute(
                "INSERT INTO schema_role (container, environment, name) VALUES ($1, $2, $3)", key + [.text(role)])
        }
    }

    private static func writeState(_ key: [SQLValue], _ history: Bool, _ connection: any SQLConnection) throws -> Int64
    {
        // Above the numbers that mean something else: never written, written before schemas were kept.
        let version = Int64.random(in: 2...Int64.max)
        try connection.execute(
            """
            INSERT INTO schema_state (container, environment, version, history) VALUES ($1, $2, $3, $4)
            ON CONFLICT (container, environment) DO UPDATE SET version = excluded.version, history = excluded.history
            """, key + [.integer(version), .bool(history)])
        return version
    }
}
