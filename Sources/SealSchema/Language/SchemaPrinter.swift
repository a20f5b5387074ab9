import SealStatements

extension Schema {
    /// The schema in CloudKit's language, in one way only: roles, types and fields by name. `Schema(parsing:)` of it is
    /// this schema again.
    public var text: String {
        var out = "DEFINE SCHEMA\n"
        for role in roles.sorted() { out += "\n    CREATE ROLE \(Schema.name(role));\n" }
        for type in types.values.sorted(by: { $0.name < $1.name }) { out += "\n" + type.text }
        return out
    }

    /// In quotes where the language asks for them.
    static func name(_ name: String) -> String {
        let isReserved = SchemaKeyword(name).map(SchemaKeyword.reserved.contains) ?? false
        return Names.isIdentifier(name) && !isReserved ? name : "\"\(name)\""
    }
}

extension RecordType {
    var text: String {
        let names = fields.keys.sorted()
        let width = names.map { Schema.name($0).utf8.count }.max() ?? 0
        var items: [String] = []
        for name in names {
            guard let field = fields[name] else { continue }
            let quoted = Schema.name(name)
            items.append(quoted + String(repeating: " ", count: width - quoted.utf8.count) + " " + field.text)
        }
        items += grants.map(\.text)
        let body = items.isEmpty ? "" : items.map { "        " + $0 }.joined(separator: ",\n") + "\n"
        return "    RECORD TYPE \(Schema.name(name)) (\n\(body)    );\n"
    }
}

extension RecordType.Field {
    /// Data type and options, as the language writes them: `ENCRYPTED STRING`, `LIST<INT64> QUERYABLE`.
    public var text: String {
        let kind = (isEncrypted ? "ENCRYPTED " : "") + type.kind.schemaName
        let options = indexes.names.map { " " + $0 }.joined()
        return (type.isList ? "LIST<\(kind)>" : kind) + options
    }
}

extension RecordType.Indexes {
    /// `QUERYABLE`, `SORTABLE`, `SEARCHABLE`, in this order.
    public var names: [String] {
        [(Self.queryable, "QUERYABLE"), (.sortable, "SORTABLE"), (.searchable, "SEARCHABLE")]
            .filter { contains($0.0) }.map(\.1)
    }
}

extension RecordType.Grant {
    /// `GRANT READ, WRITE TO "_creator"`.
    public var text: String {
        let names = Right.allCases.filter(rights.contains).map { "\($0)".uppercased() }
        return "GRANT \(names.joined(separator: ", ")) TO \(Schema.name(role))"
    }
}
