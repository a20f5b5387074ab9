import Hummingbird
import SealService
import SealStorage
import SealWire
import SwiftProtobuf

/// The first page: how the server does, in one look.
extension Console {
    private static let mostContainers = 20

    func overview(_ session: ConsoleSessions.Session) async throws -> Response {
        let alerts = services.alertWatch.alerts
        let (stored, latest, usage) = try await services.transactions.read {
            connection -> ([Alerts.Stored], [Sealkit_V1_ManagementEvent], Sealkit_V1_ServerUsageResponse) in
            var usage = try ServerUsage.totals(in: connection)
            usage.containers = try StorageUsage.containers(of: nil, largest: Self.mostContainers, in: connection)
            let events = try ManagementEvents.list(.with { $0.limit = 5 }, of: nil, in: connection)
            return (try alerts.all(in: connection), events.events, usage)
        }
        let firing = stored.filter(\.isFiring).map { alert -> Markup in
            "<li class=\"bad\"><a href=\"/alerts\">\(alert.rule.name)</a> fires</li>\n"
        }
        let quiet: Markup =
            stored.isEmpty
            ? "<p>Nothing is watched yet: <a href=\"/alerts\">add an alert</a>.</p>"
            : "<p>\(stored.count) watched, none of them fires.</p>"
        let containers = usage.containers.map { one -> Markup in
            """
            <tr><th scope="row"><a href="/telemetry?\(FormFields.query([
                ("container", one.container), ("environment", one.environment),
            ]))">\(one.container)</a></th><td>\(one.environment)</td><td class="n">\(one.zones)</td>\
            <td class="n">\(one.records)</td><td class="n">\(Self.bytes(one.bytes))</td></tr>

            """
        }
        let counted = try await counted(ChartTime(hours: 24, now: now), by: .container)
        let body: Markup = """
            <h2>Alerts</h2>
            \(firing.isEmpty ? quiet : "<ul>\(Markup(firing))</ul>")
            <h2>The last day</h2>
            \(Self.charts(counted) { "/telemetry?" + FormFields.query($0.fields + [("by", "container")]) })
            \(Self.sums(counted, limit: 10) { word in
                "/telemetry?" + FormFields.query([("container", word)])
            })
            <h2>Stored</h2>
            <p>\(usage.accounts) accounts, \(usage.suspended) of them suspended; \(Self.bytes(usage.bytes)). The \(Self.mostContainers) largest of \
            the containers' environments:</p>
            \(Self.table(
                "Stored",
                ["container", "environment", "zones", "records", "bytes"], containers, numbers: [2, 3, 4],
                empty: "Nothing is stored yet."))
            <h2>Latest events</h2>
            \(Self.eventTable(latest))
            """
        return ConsolePage(title: "Overview", body: body, session: session).response()
    }

    /// Of whoever manages one container: what is counted and stored there, and what was done to it.
    func overview(of container: String, _ session: ConsoleSessions.Session) async throws -> Response {
        let (latest, stored) = try await services.transactions.read { connection in
            let events = try ManagementEvents.list(
                .with { ($0.container, $0.limit) = (container, 5) }, of: nil, in: connection)
            let stored = try StorageUsage.containers(of: nil, only: container, in: connection)
            return (events.events, stored)
        }
        let rows = stored.map { one -> Markup in
            """
            <tr><th scope="row">\(one.environment)</th><td class="n">\(one.zones)</td><td class="n">\(one.records)</td>\
            <td class="n">\(Self.bytes(one.bytes))</td></tr>

            """
        }
        let counted = try await counted(
            ChartTime(hours: 24, now: now), filters: [.container: container], by: .operation)
        let body: Markup = """
            <h2>The last day</h2>
            \(Self.charts(counted) { "/telemetry?" + FormFields.query($0.fields + [("by", "operation")]) })
            \(Self.sums(counted, limit: 10) { word in "/telemetry?" + FormFields.query([("operation", word)]) })
            <h2>Stored</h2>
            \(Self.table(
                "Stored", ["environment", "zones", "records", "bytes"], rows, numbers: [1, 2, 3],
                empty: "Nothing is stored yet."))
            <h2>Latest events</h2>
            \(Self.eventTable(Self.withoutAccounts(latest)))
            """
        return ConsolePage(title: "Overview", body: body, session: session).response()
    }
}
