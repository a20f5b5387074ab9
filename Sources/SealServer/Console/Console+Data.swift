import Foundation
import Hummingbird
import Logging
import SealCoding
import SealPrimitives
import SealSchema
import SealService
import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

/// Records of public databases, found by type and query, as everybody or as a server-to-server key of the operator's.
extension Console {
    /// What says which database is looked at, and as whom.
    static let placeNames = ["container", "environment", "key"]
    static let searchNames = placeNames + ["type", "where", "sort"]
    private static let pageSize = 50
    private static let mostRows = 1_000
    /// A record alone may have a mebibyte.
    private static let mostTableBytes = 16 << 20
    /// Of answers that a table is made of: each looks at as many records as a query's page does, whatever it finds.
    private static let mostPages = 25
    private static let mostColumns = 6

    func addDataRoutes(to routes: inout RouteTable) {
        get("/data", &routes) { fields, session in try await dataPage(fields, session) }
        get("/data.csv", &routes) { fields, _ in try await dataTable(fields) }
        addRecordRoutes(to: &routes)
    }

    // MARK: Where, and as whom

    private static func path(_ fields: FormFields) throws(ServerError) -> DatabasePath {
        let container = try Names.requireContainer(fields["container"])
        return DatabasePath(
            container: container, environment: try environment(fields) ?? .development, database: .public)
    }

    /// Nil where none was named.
    static func environment(_ fields: FormFields) throws(ServerError) -> SealStatements.Environment? {
        let name = fields["environment"]
        guard !name.isEmpty else { return nil }
        guard let environment = SealStatements.Environment(name: name) else {
            throw ServerError(
                .invalidArguments, "There is no such environment.", remedy: "Use development or production.")
        }
        return environment
    }

    func dataCaller(_ fields: FormFields) async throws -> ConsoleRecords.Caller {
        try await records.caller(fields["key"], in: try Self.path(fields))
    }

    func recordTypes(in path: DatabasePath) async throws -> [String: RecordType] {
        try await services.transactions.read { [schemas = services.schemas] in
            try schemas.schema(path.container, path.environment, in: $0).schema.types
        }
    }

    /// - Throws: `unknownItem`.
    static func recordType(_ name: String, of types: [String: RecordType]) throws(ServerError) -> RecordType {
        guard let type = types[name] else { throw QueryRules.unknownType }
        return type
    }

    private func placeForm(
        _ fields: FormFields, _ session: ConsoleSessions.Session, keys: @autoclosure () throws -> [String]
    ) rethrows -> Markup {
        // Keys are the operator's.
        let keys = session.container == nil ? try keys() : []
        let names = [("", "everybody")] + keys.map { ($0, $0) }
        let environments = Self.environments.dropFirst()
        return """
            <form class="fields" method="get" action="/data">
            \(containerField(fields, session))\
            \(Self.choice("Environment", "environment", Array(environments), fields["environment"]))\
            \(session.container == nil ? Self.choice("As", "key", names, fields["key"]) : .none)<button>Show</button>
            </form>
            """
    }

    // MARK: Records

    private func dataPage(_ fields: FormFields, _ session: ConsoleSessions.Session) async throws -> Response {
        guard !fields["container"].isEmpty else { return try await containers(fields, session) }
        let caller = try await dataCaller(fields)
        let path = caller.path
        let types = try await recordTypes(in: path)
        let links = types.keys.filter { $0 != Names.shareType }.sorted().map { type -> Markup in
            let link = fields.query(Self.placeNames, [("type", type)])
            return "<li><a href=\"/data?\(link)\">\(type)</a></li>\n"
        }
        let zones = FormFields.query([("container", path.container), ("environment", path.environment.name)])
        let found: Markup? =
            fields["type"].isEmpty
            ? nil : try await found(fields, try Self.recordType(fields["type"], of: types), caller)
        let body: Markup = """
            \(try placeForm(fields, session, keys: try records.keys.all(in: path)))
            <p>The public database, as \(caller.keyName.isEmpty ? "everybody reads it" : "the key reads and writes it"). \
            Of private and shared ones there are <a href="/zones?\(zones)">zones by size</a>: the server cannot read \
            what is sealed in them.</p>
            <h2>Record types</h2>
            <ul>\(Markup(links))</ul>
            \(found)
            """
        journal.note(.data, ["container": "\(path.container)"])
        return ConsolePage(title: "Data", body: body, session: session).response()
    }

    private func containers(_ fields: FormFields, _ session: ConsoleSessions.Session) async throws -> Response {
        let keys = try records.keys.all().map { named -> Markup in
            switch named.credential {
            case .success(let credential):
                """
                <li>\(named.name): <code>\(credential.chain.userID.recordName)</code> of \(credential.container), \
                \(credential.environment.name)</li>

                """
            case .failure(let error): "<li class=\"bad\">\(named.name): \(error.reason) \(error.remedy)</li>\n"
            }
        }
        let noKeys: Markup = """
            <p>None: records can be read as everybody reads them. A key is the credential of \
            <code>sealkit server-key create</code>, as a file in <code>\(ConsoleKeys.folderName)</code> of the secrets \
            folder.</p>
            """
        let containers = try await containerLinks("/data", fields, empty: "No container has records yet.")
        let body: Markup = """
            \(placeForm(fields, session, keys: []))
            \(containers)
            <h2>Keys of the console</h2>
            \(keys.isEmpty ? noKeys : "<ul>\(Markup(keys))</ul>")
            """
        return ConsolePage(title: "Data", body: body, session: session).response()
    }

    private func page(
        _ fields: FormFields, after cursor: Data, limit: Int, _ caller: ConsoleRecords.Caller
    ) async throws -> Sealkit_V1_QueryRecordsResponse {
        try await records.find(
            fields["type"], where: fields["where"], sort: fields["sort"], after: cursor, limit: limit, as: caller)
    }

    private func found(
        _ fields: FormFields, _ type: RecordType, _ caller: ConsoleRecords.Caller
    ) async throws -> Markup {
        let answer = try await page(fields, after: try Self.cursor(fields), limit: Self.pageSize, caller)
        let columns = Self.plainFields(type)
        let shown = columns.prefix(Self.mostColumns)
        let rows = try answer.matches.map { match -> Markup in
            let link = fields.query(Self.searchNames, [("name", match.record.recordName)])
            let values = try Self.fieldValues(match.record)
            let cells = shown.map { name -> Markup in "<td>\(values[name].map(Self.short) ?? "")</td>" }
            return """
                <tr><th scope="row"><a href="/data/record?\(link)">\(match.record.recordName)</a></th>\
                <td>\(Self.time(microseconds: match.record.modificationDate))</td>\(Markup(cells))</tr>

                """
        }
        let link = fields.query(Self.searchNames)
        let sealed = type.fields.filter(\.value.isEncrypted).keys.sorted()
        let isComplete = answer.cursor.isEmpty
        let empty =
            isComplete
            ? "No record is found that may be read\(caller.keyName.isEmpty ? " by everybody" : "")."
            : "None is found so far. There are records that were not looked at yet: go on."
        let note: Markup? =
            sealed.isEmpty
            ? nil
            : """
            <p>Sealed where the type has them, \(sealed.joined(separator: ", ")): the server cannot read those, and a \
            public database has none.</p>
            """
        return """
            <h2>\(type.name)</h2>
            <form class="fields" method="get" action="/data">
            \(Self.hidden(fields, Self.placeNames + ["type"]))\
            \(Self.field("Where", "where", fields["where"]))\
            \(Self.field("Sort by, with - descending", "sort", fields["sort"]))<button>Search</button>
            </form>
            \(note)
            \(Self.table(
                "Records", ["record", "modified"] + shown, rows, empty: empty))
            \(Self.more("/data", link, after: answer.cursor, "More"))
            <p><a href="/data.csv?\(link)">The first thousand as CSV</a></p>
            """
    }

    /// Plain fields, by name.
    static func plainFields(_ type: RecordType) -> [String] {
        type.fields.filter { !$0.value.isEncrypted && !$0.key.hasPrefix("___") }.keys.sorted()
    }

    static func fieldValues(_ record: Sealkit_V1_Record) throws -> [String: WireField] {
        try ServerError.checking("The record") { () throws(SealError) in
            var values: [String: WireField] = [:]
            for field in record.fields { values[field.name] = try WireField(field) }
            return values
        }
    }

    private static func short(_ field: WireField) -> String {
        if case .stored(.plain(let value), _) = field { FieldText.short(value) } else { fieldText(field) }
    }

    static func fieldText(_ field: WireField) -> String {
        switch field {
        case .stored(.plain(let value), _): FieldText.text(value)
        case .publicAsset(let asset, _): "an asset of \(bytes(asset.size))"
        case .stored, .digest: "sealed: the server cannot read it"
        }
    }

    private func dataTable(_ fields: FormFields) async throws -> Response {
        let caller = try await dataCaller(fields)
        let types = try await recordTypes(in: caller.path)
        let columns = Self.plainFields(try Self.recordType(fields["type"], of: types))
        var (lines, cursor, size, pages) = ([String](), Data(), 0, 0)
        repeat {
            guard pages < Self.mostPages else {
                throw ServerError(
                    .limitExceeded, "The table takes more reading than one request may.",
                    remedy: "Ask for fewer records by a condition on a queryable field, or go through the pages.")
            }
            pages += 1
            let answer = try await page(fields, after: cursor, limit: 200, caller)
            for match in answer.matches {
                let (record, values) = (match.record, try Self.fieldValues(match.record))
                let cells =
                    [
                        record.recordName, Self.time(microseconds: record.creationDate),
                        Self.time(microseconds: record.modificationDate),
                    ] + columns.map { name in values[name].map(Self.fieldText) ?? "" }
                let line = SpreadsheetCell.line(cells)
                size += line.utf8.count
                guard size <= Self.mostTableBytes else {
                    throw ServerError(
                        .limitExceeded, "The table would have more than \(Self.bytes(Self.mostTableBytes)).",
                        remedy: "Ask for fewer records by a condition.")
                }
                lines.append(line)
            }
            cursor = answer.cursor
        } while !cursor.isEmpty && lines.count < Self.mostRows
        journal.note(.data, ["container": "\(caller.path.container)"])
        return ConsolePage.spreadsheet(
            ["record", "created", "modified"] + columns, lines.prefix(Self.mostRows), fileName: "sealkit-records.csv")
    }
}
