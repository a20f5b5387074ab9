import Hummingbird
import Logging
import SealCoding
import SealPrimitives
import SealSchema
import SealService
import SealStatements
import SealWire

/// One record of a public database: shown, and changed or deleted by a server-to-server key of the operator's.
extension Console {
    /// Of a form with a record's fields.
    private static let mostFormBytes = 1 << 20

    func addRecordRoutes(to routes: inout RouteTable) {
        get("/data/record", &routes) { fields, session in try await recordPage(fields, session) }
        post("/data/save", atMost: Self.mostFormBytes, &routes) { fields, _ in
            let caller = try await dataCaller(fields)
            let types = try await recordTypes(in: caller.path)
            try await records.change(fields["name"], shown: fields["tag"], as: caller) { record in
                .fields(try Self.changes(fields, to: record, try Self.recordType(record.recordType, of: types)))
            }
            note(.changeRecord, caller)
            return ConsolePage.see("/data/record?" + fields.query(Self.searchNames + ["name"]))
        }
        post("/data/delete", &routes) { fields, _ in
            guard fields["confirmation"] == fields["name"] else {
                throw ServerError(
                    .invalidArguments, "The name that was typed is not the record's.",
                    remedy: "Type the record's name to delete it: nothing brings it back.")
            }
            let caller = try await dataCaller(fields)
            try await records.change(fields["name"], shown: fields["tag"], as: caller) { _ in .deletion }
            note(.deleteRecord, caller)
            return ConsolePage.see("/data?" + fields.query(Self.searchNames))
        }
    }

    private func note(_ action: OperatorJournal.Action, _ caller: ConsoleRecords.Caller) {
        journal.note(
            action,
            [
                "container": "\(caller.path.container)", "environment": "\(caller.path.environment.name)",
                "key": "\(caller.user?.recordName ?? "none")",
            ])
    }

    private func recordPage(_ fields: FormFields, _ session: ConsoleSessions.Session) async throws -> Response {
        let caller = try await dataCaller(fields)
        let (record, _) = try await records.record(fields["name"], as: caller)
        let type = try Self.recordType(record.recordType, of: try await recordTypes(in: caller.path))
        let statement = try ServerError.checking("The record") { () throws(SealError) in
            try Statement(canonicalBytes: [UInt8](record.statement))
        }
        let facts: [(String, String)] = [
            ("Record", record.recordName), ("Type", record.recordType),
            ("Created", Self.time(microseconds: record.creationDate)),
            ("Modified", Self.time(microseconds: record.modificationDate)),
            ("Made by", statement.creator.recordName), ("Last signed by", statement.author.recordName),
            ("Revision", "\(statement.revision)"), ("Change tag", record.changeTag), ("Parent", statement.parent ?? ""),
        ]
        let list = facts.filter { !$0.1.isEmpty }.map { name, value -> Markup in
            "<dt>\(name)</dt><dd>\(value)</dd>\n"
        }
        let values = try Self.fieldValues(record)
        let rows = values.sorted { $0.key < $1.key }.map { name, field -> Markup in
            let kind = if case .stored(.plain(let value), _) = field { FieldText.kind(value) } else { "" }
            let text = Self.fieldText(field)
            let shown = text.utf8.count <= FieldText.mostBytes ? text : "\(text.prefix(FieldText.mostBytes / 4))…"
            return "<tr><th scope=\"row\">\(name)</th><td>\(kind)</td><td class=\"text\">\(shown)</td></tr>\n"
        }
        let back = fields.query(Self.searchNames)
        let forms: Markup =
            caller.keyName.isEmpty
            ? "<p>It is changed and deleted by a server-to-server key: choose one under <em>As</em>.</p>"
            : forms(record, type, values, caller, fields, session)
        let body: Markup = """
            <p><a href="/data?\(back)">Back to the records</a></p>
            <dl>
            \(Markup(list))</dl>
            <h2>Fields</h2>
            \(Self.table("Fields", ["field", "type", "value"], rows, empty: "It has none."))
            \(forms)
            """
        journal.note(.data, ["container": "\(caller.path.container)"])
        return ConsolePage(title: "Record", body: body, session: session).response()
    }

    private func forms(
        _ record: Sealkit_V1_Record, _ type: RecordType, _ values: [String: WireField], _ caller: ConsoleRecords.Caller,
        _ fields: FormFields, _ session: ConsoleSessions.Session
    ) -> Markup {
        let place = Self.hidden(fields, Self.placeNames + ["where", "sort"])
        let which: Markup = """
            \(place)<input type="hidden" name="type" value="\(record.recordType)">\
            <input type="hidden" name="name" value="\(record.recordName)">\
            <input type="hidden" name="tag" value="\(record.changeTag)">
            """
        let inputs = Self.plainFields(type).compactMap { name -> Markup? in
            type.fields[name].flatMap { Self.input(name, $0.type, values[name]) }
        }
        return """
            <h2>Change it</h2>
            <p>Signed by \(caller.keyName), <code>\(caller.user?.recordName ?? "")</code>. A list has an element a line; \
            what is not changed stays as it is, to the byte.</p>
            <form class="fields" method="post" action="/data/save">
            \(ConsolePage.formToken(session, "/data/save"))\(which)
            \(Markup(inputs))<button>Save</button>
            </form>
            <h2>Delete it</h2>
            <form class="fields" method="post" action="/data/delete">
            \(ConsolePage.formToken(session, "/data/delete"))\(which)
            \(Self.field("Type the record's name to delete it", "confirmation"))<button>Delete</button>
            </form>
            """
    }

    /// Nil for what no form can have.
    private static func input(_ name: String, _ type: ValueType, _ field: WireField?) -> Markup? {
        guard FieldText.isEditable(type) else { return nil }
        var (text, isThere) = ("", false)
        if let field {
            guard case .stored(.plain(let value), _) = field, FieldText.isEditable(value) else { return nil }
            (text, isThere) = (FieldText.text(value), true)
        }
        let label: Markup = "\(name), \(type.schemaName)\(isThere ? "" : ", not set")"
        // What follows the tag is a line end that browsers drop; the text's own first one stays.
        let input: Markup =
            type.isList || type.kind == .string
            ? "<textarea name=\"field.\(name)\" rows=\"2\" cols=\"40\">\n\(text)</textarea>"
            : "<input name=\"field.\(name)\" type=\"text\" value=\"\(text)\">"
        let removal: Markup? =
            isThere
            ? "<label class=\"check\"><input type=\"checkbox\" name=\"remove.\(name)\" value=\"yes\"> Remove \(name)</label>\n"
            : nil
        return "<div><label>\(label) \(input)</label>\n\(removal)</div>\n"
    }

    /// What a form says of a record's fields, of those alone that it had.
    private static func changes(
        _ fields: FormFields, to record: Sealkit_V1_Record, _ type: RecordType
    ) throws -> [String: Value?] {
        let values = try fieldValues(record)
        var changes: [String: Value?] = [:]
        for name in plainFields(type) {
            guard let kind = type.fields[name]?.type, input(name, kind, values[name]) != nil else { continue }
            if fields["remove.\(name)"] == "yes" {
                if values[name] != nil { changes.updateValue(nil, forKey: name) }
                continue
            }
            guard let sent = fields.value("field.\(name)")?.replacing("\r\n", with: "\n") else { continue }
            let text = values[name].map(fieldText) ?? ""
            guard sent != text else { continue }
            changes.updateValue(try FieldText.value(sent, of: kind, field: name), forKey: name)
        }
        return changes
    }
}
