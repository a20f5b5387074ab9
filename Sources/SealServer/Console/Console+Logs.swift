import Hummingbird
import Logging
import SealService
import SealStorage
import SealWire
import SwiftProtobuf

/// The log of requests, and the queries that are kept for it.
extension Console {
    private var logs: LogController {
        LogController(
            telemetry: services.telemetry, transactions: services.transactions, clock: services.clock, journal: journal)
    }

    private static let columns = [
        "time", "operation", "container", "environment", "database", "code", "ms", "in", "out", "client", "group",
        "user", "request", "group id",
    ]
    /// Of a time that is none of the form's, as a kept query may have it: of so many seconds, or between two dates.
    private static let timeNames = ["last", "from", "until"]
    private static let queryNames =
        ["hours"] + timeNames + ["outcome", "text", "user", "request", "group-id", "slower"]

    func addLogRoutes(to routes: inout RouteTable) {
        get("/logs", &routes) { fields, session in try await logPage(fields, session) }
        get("/logs.csv", &routes) { fields, _ in try await logTable(fields) }
        get("/logs.json", &routes) { fields, _ in
            ConsolePage.response(
                try await longAnswer(fields).jsonString(), type: "application/json", fileName: "sealkit-logs.json")
        }
        post("/logs/save", &routes) { fields, _ in
            try await logs.save(
                Sealkit_V1_SavedLogQuery.with {
                    $0.name = fields["name"]
                    $0.query = try Self.query(fields)
                })
            return ConsolePage.see("/logs?" + Self.link(fields))
        }
        post("/logs/forget", &routes) { fields, _ in
            try await logs.remove(fields["name"])
            return ConsolePage.see("/logs")
        }
    }

    private static func query(_ fields: FormFields) throws(ServerError) -> Sealkit_V1_LogRequest {
        var message = Sealkit_V1_LogRequest()
        if hasOtherTime(fields) {
            message.last = try number(fields["last"])
            message.from = Int64(clamping: try number(fields["from"]))
            message.until = Int64(clamping: try number(fields["until"]))
            // A day before its end, as the command line has it.
            if message.from == 0, message.last == 0 { message.last = 86_400 }
        } else {
            message.last = UInt64(try hours(fields["hours"])) * 3_600
        }
        (message.outcome, message.text, message.user) = (fields["outcome"], fields["text"], fields["user"])
        (message.request, message.groupID) = (fields["request"], fields["group-id"])
        message.filters = [Sealkit_V1_TelemetryFilter](filters(fields))
        if !fields["slower"].isEmpty {
            guard let milliseconds = Double(fields["slower"]), (0...longestMilliseconds).contains(milliseconds) else {
                throw ServerError(
                    .invalidArguments, "That is no number of milliseconds.", remedy: "Give one from 0 on.")
            }
            message.microseconds = UInt64((milliseconds * 1_000).rounded())
        }
        return message
    }

    /// As many microseconds are numbers still, each by itself.
    private static let longestMilliseconds = 1e12

    private static func milliseconds(_ microseconds: UInt64) -> String {
        microseconds % 1_000 == 0 ? "\(microseconds / 1_000)" : "\(Double(microseconds) / 1_000)"
    }

    /// Hours go before: whoever looks at a kept query may choose them.
    private static func hasOtherTime(_ fields: FormFields) -> Bool {
        fields["hours"].isEmpty && timeNames.contains { !fields[$0].isEmpty }
    }

    private static func number(_ text: String) throws(ServerError) -> UInt64 {
        guard !text.isEmpty else { return 0 }
        guard let number = UInt64(text) else {
            throw ServerError(.invalidArguments, "The link goes nowhere.", remedy: "Begin again without it.")
        }
        return number
    }

    /// The query that the fields are, for a link.
    private static func link(_ fields: FormFields) -> String {
        let names = queryNames + TelemetryDimension.allCases.map(\.rawValue)
        return fields.query(names)
    }

    private func logPage(_ fields: FormFields, _ session: ConsoleSessions.Session) async throws -> Response {
        var message = try Self.query(fields)
        message.cursor = try Self.cursor(fields)
        let answer = try await logs.entries(message)
        let link = Self.link(fields)
        let kept = session.container == nil ? try await keptQueries(fields, session) : .none
        let time: Markup =
            Self.hasOtherTime(fields)
            ? Self.choice("Time", "hours", [("", "as kept")] + Self.lengths, "")
                + Self.hidden(fields, Self.timeNames) : Self.lengthChoice(try Self.hours(fields["hours"]))
        let outcomes = [("", "both"), ("failed", "failed"), ("answered", "answered")]
        let body: Markup = """
            <form class="fields" method="get" action="/logs">
            \(time)\
            \(Self.choice("Outcome", "outcome", outcomes, fields["outcome"]))\
            \(Self.field("Text", "text", fields["text"]))\(Self.filterFields(fields))\
            \(Self.field("Slower than, ms", "slower", fields["slower"]))\(Self.field("User", "user", fields["user"]))\
            \(Self.field("Request", "request", fields["request"]))\
            \(Self.field("Group id", "group-id", fields["group-id"]))<button>Search</button>
            </form>
            \(Self.state(answer))
            \(Self.table("Requests", Self.columns, answer.entries.map(row), numbers: [6, 7, 8], empty: "No request fits."))
            \(Self.more("/logs", link, after: answer.cursor, "Older"))
            <p><a href="/logs.csv?\(link)">The first thousand as CSV</a>, <a href="/logs.json?\(link)">or as JSON</a></p>
            \(kept)
            """
        return ConsolePage(title: "Logs", body: body, session: session).response()
    }

    /// Of everybody who operates the server.
    private func keptQueries(_ fields: FormFields, _ session: ConsoleSessions.Session) async throws -> Markup {
        let saved = try await logs.saved().map { query in savedQuery(query, session) }
        let names = Self.queryNames + TelemetryDimension.allCases.map(\.rawValue)
        let kept: Markup = saved.isEmpty ? "<p>None.</p>" : "<ul>\(Markup(saved))</ul>"
        return """
            <h2>Kept queries</h2>
            \(kept)
            <form class="fields" method="post" action="/logs/save">
            \(ConsolePage.formToken(session, "/logs/save"))\(Self.hidden(fields, names))\(Self.field("Keep this one as", "name"))\
            <button>Keep</button>
            </form>
            """
    }

    private static func state(_ answer: Sealkit_V1_LogResponse) -> Markup {
        if answer.state == Telemetry.State.off.rawValue || answer.state == Telemetry.State.counts.rawValue {
            return "<p>This server has no log of requests: it runs with <code>--telemetry \(answer.state)</code>.</p>"
        }
        guard answer.unlogged > 0 else { return .none }
        return "<p>\(answer.unlogged) requests since the server's start are not in it: there were too many at once.</p>"
    }

    private func savedQuery(_ saved: Sealkit_V1_SavedLogQuery, _ session: ConsoleSessions.Session) -> Markup {
        let query = saved.query
        let isHours =
            query.from == 0 && query.until == 0 && query.last % 3_600 == 0
            && Self.knownHours.contains(Int64(clamping: query.last / 3_600))
        var fields = [
            ("hours", isHours ? "\(query.last / 3_600)" : ""),
            ("last", isHours || query.last == 0 ? "" : "\(query.last)"),
            ("from", query.from == 0 ? "" : "\(query.from)"), ("until", query.until == 0 ? "" : "\(query.until)"),
            ("outcome", query.outcome),
            ("text", query.text), ("user", query.user), ("request", query.request), ("group-id", query.groupID),
            ("slower", query.microseconds > 0 ? Self.milliseconds(query.microseconds) : ""),
        ]
        fields += query.filters.map { ($0.dimension, $0.word) }
        return """
            <li><a href="/logs?\(FormFields.query(fields))">\(saved.name)</a>
            <form method="post" action="/logs/forget">\(ConsolePage.formToken(session, "/logs/forget"))\
            <input type="hidden" name="name" value="\(saved.name)"><button>Forget</button></form></li>

            """
    }

    private func row(_ entry: Sealkit_V1_LogEntry) -> Markup {
        let items = entry.refusedItems > 0 ? " (\(entry.refusedItems) records refused)" : ""
        let code: Markup = entry.code.isEmpty ? "ok\(items)" : "<span class=\"bad\">\(entry.code)</span>"
        let user: Markup =
            entry.user.isEmpty
            ? "" : "<a href=\"/logs?\(FormFields.query([("user", entry.user)]))\">\(entry.user)</a>"
        return """
            <tr><th scope="row">\(Self.time(microseconds: entry.time))</th><td>\(entry.operation)</td>\
            <td>\(entry.container)</td><td>\(entry.environment)</td><td>\(entry.database)</td><td>\(code)</td>\
            <td class="n">\("\(Double(entry.microseconds) / 1_000)")</td><td class="n">\(Self.bytes(entry.bytesIn))</td>\
            <td class="n">\(Self.bytes(entry.bytesOut))</td><td>\(entry.client)</td><td>\(entry.group)</td>\
            <td>\(user)</td><td><code>\(entry.request)</code></td><td><code>\(entry.groupID)</code></td></tr>

            """
    }

    /// For files.
    private func longAnswer(_ fields: FormFields) async throws -> Sealkit_V1_LogResponse {
        var message = try Self.query(fields)
        message.limit = 1_000
        return try await logs.entries(message)
    }

    private func logTable(_ fields: FormFields) async throws -> Response {
        let lines = try await longAnswer(fields).entries.map { entry in
            SpreadsheetCell.line([
                Self.time(microseconds: entry.time), entry.operation, entry.container, entry.environment,
                entry.database, entry.code, "\(Double(entry.microseconds) / 1_000)", "\(entry.bytesIn)",
                "\(entry.bytesOut)", entry.client, entry.group, entry.user, entry.request, entry.groupID,
            ])
        }
        return ConsolePage.spreadsheet(Self.columns, lines, fileName: "sealkit-logs.csv")
    }
}
