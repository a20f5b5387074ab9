import Foundation
import Hummingbird
import Logging
import SealPrimitives
import SealService
import SealStatements
import SealStorage
import SealWire

/// The server itself, and its largest zones.
extension Console {
    func addServerRoutes(to routes: inout RouteTable) {
        get("/server", &routes) { _, session in try await server(session) }
        post("/server/rotate", &routes) { _, _ in
            // The command's own; the server finds the file as it finds that of the command.
            let rotation = try TokenKeyRotation(secretsFolder: services.configuration.secretsFolder)
            let (made, removed) = try rotation.rotate()
            journal.note(.rotateKeys, ["made": "\(made.id)", "removed": "\(removed.count)"])
            return ConsolePage.see("/server")
        }
    }

    private func server(_ session: ConsoleSessions.Session) async throws -> Response {
        let configuration = services.configuration
        let (states, condition) = (services.outbox.states, services.condition)
        let facts: [(String, String)] = [
            ("Version", ServerVersion.current), ("Origin", services.origin.value),
            ("Clients listen at", "\(configuration.listen)"), ("Registration", configuration.registration.rawValue),
            ("Telemetry", "\(configuration.telemetry.rawValue), \(services.telemetry.state.rawValue)"),
            ("Mail", "\(states[.email])"), ("Text messages", "\(states[.phone])"),
            ("Messages waiting", "\(services.outbox.count), \(try await condition.stuckMessages()) tried in vain"),
            ("Event streams open", "\(services.streams.count)"),
            ("Assets", (try? configuration.blobs?.place().name) ?? "files, where the data is"),
            ("Free where the data is", condition.freeBytes.map { Self.bytes($0) } ?? "unknown"),
            ("Last whole backup", lastBackup), ("Certificate ends", certificate),
            ("Jobs that fail", condition.failingJobs.isEmpty ? "none" : condition.failingJobs.joined(separator: ", ")),
            ("Web client", services.webBundle.map { $0.hash.hex } ?? "not built in"),
        ]
        let list = facts.map { name, value -> Markup in "<dt>\(name)</dt><dd>\(value)</dd>\n" }
        let keys = [("tokens", services.tokenKeys), ("webhooks", services.webhookKeys)].flatMap { name, keys in
            keys.all.reversed().map { key -> Markup in
                """
                <tr><th scope="row"><code>\(key.id)</code></th><td>\(name)</td><td>\(Chart.time(key.made))</td>\
                <td class="n">\((now - key.made) / 86_400)</td><td>\(key.id == keys.newest.id ? "signs" : "verifies")</td></tr>

                """
            }
        }
        let limits = LimitTable.all(configuration, services.rates.limits).map { limit -> Markup in
            """
            <tr><th scope="row">\(limit.name)</th><td class="n">\(limit.value)</td><td>\(limit.unit)</td>\
            <td>\(limit.code)</td></tr>

            """
        }
        let body: Markup = """
            <dl>
            \(Markup(list))</dl>
            <h2>Keys</h2>
            <p>The newest of each sort signs, and all verify. Another one of tokens takes nothing from anybody: those before it go a \
            day after their time. With several servers, copy it to the others' secrets folders.</p>
            <form method="post" action="/server/rotate">\(ConsolePage.formToken(session, "/server/rotate"))\
            <button>Make another key of tokens</button></form>
            \(Self.table("Keys", ["key", "of", "made", "days ago", "does"], keys, numbers: [3], empty: "None."))
            <h2>Limits</h2>
            \(Self.table("Limits", ["limit", "value", "unit", "beyond it"], limits, numbers: [1], empty: "None."))
            """
        return ConsolePage(title: "Server", body: body, session: session).response()
    }

    private var lastBackup: String {
        guard let note = services.condition.lastBackup else { return "unknown" }
        let time = Chart.time(note.time)
        return note.name.isEmpty
            ? "none by sealkit backup; watched since, or touched on, \(time)" : "\(note.name), \(time)"
    }

    private var certificate: String {
        guard let ends = services.condition.certificateEnds else { return "none of its own" }
        return "\(Chart.time(ends)), in \((ends - now) / 86_400) days"
    }

    func zones(_ fields: FormFields, _ session: ConsoleSessions.Session) async throws -> Response {
        let (container, environment) = (fields["container"], try Self.environment(fields))
        let largest = try await services.transactions.read {
            try LargestZones.list(of: container, environment, limit: 100, in: $0)
        }
        let rows = largest.map { zone -> Markup in
            """
            <tr><th scope="row">\(zone.name)</th><td>\(zone.container)</td><td>\(zone.environment)</td>\
            <td><code>\(zone.owner)</code></td><td class="n">\(zone.records)</td><td class="n">\(Self.bytes(zone.bytes))</td></tr>

            """
        }
        let body: Markup = """
            <form class="fields" method="get" action="/zones">
            \(containerField(fields, session))\
            \(Self.choice("Environment", "environment", Self.environments, fields["environment"]))<button>Show</button>
            </form>
            <p>The hundred largest. What is sealed in them the server cannot read.</p>
            \(Self.table(
                "Zones",
                ["zone", "container", "environment", "owner", "records", "bytes"], rows, numbers: [4, 5],
                empty: "There are no zones yet."))
            """
        return ConsolePage(title: "Zones", body: body, session: session).response()
    }
}
