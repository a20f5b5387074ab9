import Hummingbird
import Logging
import SealService
import SealWire
import SwiftProtobuf

/// What happened to accounts, schemas, tokens and keys.
extension Console {
    private static let eventColumns = ["time", "event", "container", "environment", "account", "detail"]

    func addEventRoutes(to routes: inout RouteTable) {
        get("/events", &routes) { fields, session in try await events(fields, session) }
        get("/events.csv", &routes) { fields, session in
            let lines = try await list(fields, session, limit: 1_000).events.map { event in
                SpreadsheetCell.line([
                    Self.time(microseconds: event.time), event.kind, event.container, event.environment, event.account,
                    event.detail,
                ])
            }
            return ConsolePage.spreadsheet(Self.eventColumns, lines, fileName: "sealkit-events.csv")
        }
    }

    static func eventTable(_ events: [Sealkit_V1_ManagementEvent]) -> Markup {
        let rows = events.map { event -> Markup in
            """
            <tr><th scope="row">\(time(microseconds: event.time))</th><td>\(event.kind)</td><td>\(event.container)</td>\
            <td>\(event.environment)</td><td>\(event.account)</td><td class="long">\(event.detail)</td></tr>

            """
        }
        return table(
            "Events", eventColumns, rows, empty: "Nothing has happened.")
    }

    /// - Parameter limit: 0 for a page's.
    private func list(
        _ fields: FormFields, _ session: ConsoleSessions.Session, limit: UInt32 = 0
    ) async throws -> Sealkit_V1_ListEventsResponse {
        var message = Sealkit_V1_ListEventsRequest()
        if !fields["kind"].isEmpty { message.kinds = [fields["kind"]] }
        (message.container, message.account, message.limit) = (fields["container"], fields["account"], limit)
        message.cursor = try Self.cursor(fields)
        if !fields["hours"].isEmpty {
            message.from = services.clock() - (try Self.hours(fields["hours"])) * 3_600_000_000
        }
        let asked = message
        var answer = try await services.transactions.read { [accounts = services.operatedAccounts] connection in
            try ManagementEvents.list(
                asked, of: try accounts.find(asked.account, in: connection), in: connection)
        }
        journal.note(.events, ["count": "\(answer.events.count)"])
        if session.container != nil { answer.events = Self.withoutAccounts(answer.events) }
        return answer
    }

    /// Accounts are the server's: whoever manages one container is not to find somebody of it in another.
    static func withoutAccounts(_ events: [Sealkit_V1_ManagementEvent]) -> [Sealkit_V1_ManagementEvent] {
        events.map { event in
            var event = event
            event.account = ""
            return event
        }
    }

    private func events(_ fields: FormFields, _ session: ConsoleSessions.Session) async throws -> Response {
        let answer = try await list(fields, session)
        let kinds = [("", "all")] + ManagementEvent.Kind.allCases.map { ($0.rawValue, $0.rawValue) }
        let link = fields.query(["hours", "kind", "container", "account"])
        let hours = fields["hours"]
        let isOther = !hours.isEmpty && !Self.lengths.contains { $0.value == hours }
        let lengths = [("", "all")] + (isOther ? [(hours, "\(hours) hours")] : []) + Self.lengths
        let body: Markup = """
            <form class="fields" method="get" action="/events">
            \(Self.choice("Time", "hours", lengths, hours))\(Self.choice("Event", "kind", kinds, fields["kind"]))\
            \(containerField(fields, session))\
            \(session.container == nil ? Self.field("Account", "account", fields["account"]) : .none)<button>Show</button>
            </form>
            \(Self.eventTable(answer.events))
            \(Self.more("/events", link, after: answer.cursor, "Older"))
            <p><a href="/events.csv?\(link)">The first thousand as CSV</a></p>
            """
        return ConsolePage(title: "Events", body: body, session: session).response()
    }
}
