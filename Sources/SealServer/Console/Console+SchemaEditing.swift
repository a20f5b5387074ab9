import SealSchema
import SealService
import SealStatements
import SealWire

/// The forms that change development's schema. None of them knows a rule: they make another schema of the one that
/// there is, which is imported.
extension Console {
    /// Of a schema's text in a form, percent-encoded.
    static let mostSchemaBytes = 1 << 20

    private static let options: [(word: String, shown: String)] = [
        ("encrypted", "Encrypted"), ("queryable", "Queryable"), ("sortable", "Sortable"), ("searchable", "Searchable"),
    ]

    /// Types of values by the language's words.
    private static let kinds: [String: ValueType] = Dictionary(
        uniqueKeysWithValues: ValueKind.allCases.flatMap { kind in
            [false, true].map { isList in
                let type = ValueType(kind, isList: isList)
                return (type.schemaName, type)
            }
        })

    func editing(
        _ development: Schema, _ version: Int64, _ container: String, _ session: ConsoleSessions.Session, typed: String?
    ) -> Markup {
        func form(_ path: String, _ fields: Markup) -> Markup {
            """
            <form class="fields" method="post" action="\(path)">\(ConsolePage.formToken(session, path))\
            <input type="hidden" name="container" value="\(container)">\
            <input type="hidden" name="shown" value="\("\(version)")">\(fields)</form>

            """
        }
        let boxes = Self.options.map { word, shown -> Markup in
            "<label class=\"check\"><input type=\"checkbox\" name=\"\(word)\" value=\"yes\"> \(shown)</label>\n"
        }
        let kinds = Self.kinds.keys.sorted().map { ($0, $0) }
        let parts = Self.parts(of: development).map { ($0, $0) }
        let removal: Markup =
            parts.isEmpty
            ? .none
            : form(
                "/schema/edit",
                """
                <input type="hidden" name="what" value="remove">\(Self.choice("What goes", "part", parts, ""))\
                <button>Remove</button>
                """)
        return """
            <h2>Change development</h2>
            <p>What production has stays as it is there. Records stay; those of types or fields that went can still be read. A type \
            that is named for the first time is made, and grants what new types do.</p>
            \(form(
                "/schema/edit",
                """
                <input type="hidden" name="what" value="field">\(Self.field("Record type", "type"))\(Self.field("Field", "field"))\
                \(Self.choice("Values", "kind", kinds, "STRING"))\(Markup(boxes))<button>Save the field</button>
                """))\
            \(form(
                "/schema/edit",
                """
                <input type="hidden" name="what" value="role">\(Self.field("Role", "role"))<button>Add the role</button>
                """))\(removal)
            <h2>Replace development by a file</h2>
            \(form(
                "/schema/import",
                """
                <label>A schema, as files with .ckdb have it <textarea name="schema" rows="12" cols="60" spellcheck="false" required>
                \(typed ?? development.text)</textarea></label><button name="do" value="preview">Look what it would change</button>
                <button name="do" value="import">Replace development</button>
                """))
            <h2>Reset development</h2>
            <p>It has what production has then. Records stay.</p>
            \(form(
                "/schema/reset",
                """
                \(Self.field("Type the container's name to reset", "confirmation"))<button>Reset development</button>
                """))
            """
    }

    /// What can be taken away, each as the page names it: built-in types and fields cannot.
    private static func parts(of schema: Schema) -> [String] {
        let builtIn = Schema.builtIn
        let types = schema.types.values.sorted { $0.name < $1.name }.flatMap { type -> [String] in
            let fields = type.fields.keys.filter { builtIn.types[type.name]?.fields[$0] == nil }.sorted()
            return (builtIn.types[type.name] == nil ? [type.name] : []) + fields.map { "\(type.name).\($0)" }
        }
        return types + schema.roles.sorted().map { "role \($0)" }
    }

    /// - Throws: `invalidArguments` for what is no form of the page's; what makes no schema, the import refuses.
    static func edit(_ schema: inout Schema, _ fields: FormFields) throws(ServerError) {
        switch fields["what"] {
        case "field":
            guard let kind = kinds[fields["kind"]] else { throw unknownPart }
            var indexes: RecordType.Indexes = []
            for (word, index) in [
                ("queryable", RecordType.Indexes.queryable), ("sortable", .sortable), ("searchable", .searchable),
            ] where fields[word] == "yes" { indexes.insert(index) }
            let field = RecordType.Field(kind, isEncrypted: fields["encrypted"] == "yes", indexes: indexes)
            let type = fields["type"]
            // One that is there keeps its kind: apps that save it so would be refused, and its values lie there.
            if let known = schema.types[type]?.fields[fields["field"]],
                known.type != field.type || known.isEncrypted != field.isEncrypted
            {
                throw ServerError(
                    .invalidArguments,
                    "The field is there with other values: \(known.type.schemaName)\(known.isEncrypted ? ", encrypted" : "").",
                    remedy: "Choose these to change what it is searched by, or remove the field first.")
            }
            schema.types[type, default: RecordType(name: type)].fields[fields["field"]] = field
        case "role": schema.roles.insert(fields["role"])
        case "remove":
            let part = fields["part"]
            guard parts(of: schema).contains(part) else { throw unknownPart }
            if part.hasPrefix("role ") {
                schema.roles.remove(String(part.dropFirst(5)))
            } else if schema.types[part] != nil {
                schema.types[part] = nil
            } else if let dot = part.lastIndex(of: ".") {
                // The last one: a type's name may have some, and no field's has.
                schema.types[String(part[..<dot])]?.fields[String(part[part.index(after: dot)...])] = nil
            }
        default: throw unknownPart
        }
    }

    private static let unknownPart = ServerError(
        .invalidArguments, "The schema has nothing of that kind.", remedy: "Load the page again, and choose there.")
}
