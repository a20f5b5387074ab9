import Hummingbird
import Logging
import SealService
import SealWire
import SwiftProtobuf

/// What happened to accounts, schemas, tokens and keys.
extension Console {
    static func eventTable(_ events: [Sealkit_V1_ManagementEvent]) -> Markup {
        let rows = events.map { event -> Markup in
            """
            <tr><th scope="row">\(time(microseconds: event.time))</th><td>\(event.kind)</td><td>\(event.container)</td>\
            <td>\(event.environment)</td><td>\(event.account)</td><td>\(event.detail)</td></tr>

            """
        }
        return table(
            "Events", ["time", "event", "container", "environment", "account", "detail"], rows,
            empty: "Nothing has happened.")
    }

    func events(_ fields: FormFields, _ session: ConsoleSessions.Session) async throws -> Response {
        var message = Sealkit_V1_ListEventsRequest()
        if !fields["kind"].isEmpty { message.kinds = [fields["kind"]] }
        (message.container, message.account) = (fields["container"], fields["account"])
        message.cursor = try Self.cursor(fields)
        let (asked, now) = (message, services.clock())
        let answer = try await services.transactions.read { [accounts = services.operatedAccounts] connection in
            try ManagementEvents.list(
                asked, of: try accounts.find(asked.account, in: connection), now: now, in: connection)
        }
        journal.note(.events, ["count": "\(answer.events.count)"])
        let kinds = [("", "all")] + ManagementEvent.Kind.allCases.map { ($0.rawValue, $0.rawValue) }
        let link = fields.query(["kind", "container", "account"])
        let body: Markup = """
            <form class="fields" method="get" action="/events">
            \(Self.choice("Event", "kind", kinds, fields["kind"]))\(Self.field("Container", "container", fields["container"]))\
            \(Self.field("Account", "account", fields["account"]))<button>Show</button>
            </form>
            \(Self.eventTable(answer.events))
            \(Self.more("/events", link, after: answer.cursor, "Older"))
            """
        return ConsolePage(title: "Events", body: body, session: session).response()
    }
}
