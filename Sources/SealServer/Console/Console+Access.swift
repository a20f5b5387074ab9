import Hummingbird
import Logging
import SealService
import SealStorage
import SealWire
import SwiftProtobuf

/// Who may manage containers and write to public databases without a person, and which pages may call: made, shown and
/// taken away.
extension Console {
    private static let mostServerKeys = 1_000
    private static let accessEvents = ["token-made", "token-revoked", "server-key-made", "server-key-revoked"]

    private var tokens: ContainerTokens {
        ContainerTokens(
            transactions: services.transactions, clock: services.clock, randomBytes: services.randomBytes)
    }

    func addAccessRoutes(to routes: inout RouteTable) {
        get("/access", &routes) { fields, session in try await access(fields, session, made: nil) }
        post("/access/tokens/create", &routes) { fields, session in
            // The operator's token manages no container, and so makes none that does.
            try await requireManagement(fields["management-token"])
            let days = try Self.days(fields["days"])
            let made = try await tokens.create(
                .with { ($0.container, $0.name, $0.lifetime) = (fields["container"], fields["name"], days * 86_400) })
            journal.note(.makeToken, ["container": "\(made.token.container)", "id": "\(made.token.id)"])
            return try await access(.init(), session, made: made)
        }
        post("/access/tokens/revoke", &routes) { fields, _ in
            try await tokens.revoke(.with { $0.id = fields["id"] })
            journal.note(.revokeToken, ["id": "\(fields["id"])"])
            return ConsolePage.see("/access?" + fields.query(["container"]))
        }
        post("/access/keys/revoke", &routes) { fields, _ in
            let (user, now) = (fields["user"], services.clock())
            try await services.transactions.write(at: .everything) { try ServerKeys.revoke(user, now: now, in: $0) }
            journal.note(.revokeKey, ["key": "\(user)"])
            return ConsolePage.see("/access?" + fields.query(["container"]))
        }
    }

    /// - Throws: `notAuthenticated`, `permissionFailure`; `requestRateLimited` for whoever tries again and again.
    private func requireManagement(_ token: String) async throws {
        do { try await services.door.requireOperator(managementToken: token) } catch let refusal as ServerError {
            try services.rates.count(.operatorTry, .client([]))
            throw refusal
        }
    }

    private static func days(_ text: String) throws(ServerError) -> UInt64 {
        guard !text.isEmpty else { return 0 }
        guard let days = UInt64(text), days > 0, days <= ContainerTokens.longestLifetime / 86_400 else {
            throw ServerError(
                .invalidArguments, "That is no number of days.",
                remedy: "Give a whole one, or none for a token that is good until it is revoked.")
        }
        return days
    }

    private func access(
        _ fields: FormFields, _ session: ConsoleSessions.Session, made: Sealkit_V1_CreateManagementTokenResponse?
    ) async throws -> Response {
        let container = fields["container"]
        let listed = try await tokens.list(.with { $0.container = container })
        let (keys, events) = try await services.transactions.read { connection in
            (
                try OperatedServerKeys.list(of: container, limit: Self.mostServerKeys + 1, in: connection),
                try ManagementEvents.list(
                    .with { ($0.container, $0.kinds, $0.limit) = (container, Self.accessEvents, 20) }, of: nil,
                    in: connection
                ).events
            )
        }
        journal.note(.access, ["count": "\(listed.tokens.count)"])
        let isOperator = session.container == nil
        let choice: Markup = """
            <form class="fields" method="get" action="/access">
            \(Self.field("Container", "container", container))<button>Show</button>
            </form>

            """
        let body: Markup = """
            \(made.map(Self.made))
            \(isOperator ? choice : .none)<h2>Management tokens</h2>
            <p>Each manages the schema and the roles of one container.\(listed.moreComing ? " There are more: choose a container." : "")</p>
            \(Self.table(
                "Management tokens", ["token", "container", "name", "made", "ends", "actions"],
                listed.tokens.map { row($0, container, session) }, empty: "There is none but the operator's."))
            \(isOperator ? creation(container, session) : .none)
            <h2>Server-to-server keys</h2>
            <p>An account makes its keys itself, with <code>sealkit server-key create</code>: nobody else has their private \
            halves.\(keys.count > Self.mostServerKeys ? " There are more: choose a container." : "")</p>
            \(Self.table(
                "Server-to-server keys", ["key", "name", "container", "environment", "account", "made", "actions"],
                keys.prefix(Self.mostServerKeys).map { row($0, container, session) }, empty: "There is none."))
            \(settings(session.container))
            <h2>Events</h2>
            \(Self.eventTable(isOperator ? events : Self.withoutAccounts(events)))
            """
        return ConsolePage(title: "Access", body: body, session: session).response()
    }

    private func creation(_ container: String, _ session: ConsoleSessions.Session) -> Markup {
        """
        <form class="fields" method="post" action="/access/tokens/create">
        \(ConsolePage.formToken(session, "/access/tokens/create"))\(Self.field("Of the container", "container", container))\
        \(Self.field("Name", "name"))\(Self.field("Days, or none", "days"))\
        <label>The operator's management token <input name="management-token" type="password" autocomplete="off" required></label>
        <button>Make a token</button>
        </form>
        <p>The operator's management token is the line of <code>\(ManagementTokens.fileName)</code> in the secrets folder: \
        what one has signed in with makes none.</p>
        """
    }

    /// In this answer and nowhere else.
    private static func made(_ made: Sealkit_V1_CreateManagementTokenResponse) -> Markup {
        """
        <div role="status"><p>The token \(made.token.name) of \(made.token.container), shown this once:</p>
        <pre tabindex="0">\(made.secret)</pre></div>
        """
    }

    private func row(
        _ token: Sealkit_V1_ManagementToken, _ container: String, _ session: ConsoleSessions.Session
    ) -> Markup {
        """
        <tr><th scope="row"><code>\(token.id)</code></th><td>\(token.container)</td><td>\(token.name)</td>\
        <td>\(Self.time(microseconds: token.created))</td>\
        <td>\(token.expires > 0 ? Self.time(microseconds: token.expires) : "when it is revoked")</td>\
        <td>\(revocation("/access/tokens/revoke", ("id", token.id), container, session))</td></tr>

        """
    }

    private func row(
        _ key: OperatedServerKeys.Key, _ container: String, _ session: ConsoleSessions.Session
    ) -> Markup {
        let suspended: Markup? = key.isSuspended ? " <span class=\"bad\">suspended</span>" : nil
        return """
            <tr><th scope="row"><code>\(key.userRecordName)</code></th><td>\(key.name)</td><td>\(key.container)</td>\
            <td>\(key.environment)</td><td><code>\(session.container == nil ? key.account : "")</code>\(suspended)</td>\
            <td>\(Self.time(microseconds: key.created))</td>\
            <td>\(revocation("/access/keys/revoke", ("user", key.userRecordName), container, session))</td></tr>

            """
    }

    private func revocation(
        _ path: String, _ what: (name: String, value: String), _ container: String, _ session: ConsoleSessions.Session
    ) -> Markup {
        guard session.container == nil else { return .none }
        return """
            <form method="post" action="\(path)">\(ConsolePage.formToken(session, path))\
            <input type="hidden" name="\(what.name)" value="\(what.value)">\
            <input type="hidden" name="container" value="\(container)"><button>Revoke</button></form>
            """
    }

    /// What the settings say, and no page changes: of one container, or of all.
    private func settings(_ container: String?) -> Markup {
        let configuration = services.configuration
        func list(_ title: String, _ setting: String, _ values: [String], _ none: String) -> Markup {
            let items = values.map { value -> Markup in "<li>\(value)</li>\n" }
            let all: Markup = values.isEmpty ? "<p>\(none)</p>" : "<ul>\(Markup(items))</ul>"
            return """
                <h2>\(title)</h2>
                \(all)
                <p>Set by <code>\(setting)</code>.</p>

                """
        }
        let fallbacks = configuration.fallbackURLs.filter { container == nil || $0.key == container }
            .sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return list("Web origins", "web-origin", configuration.webOrigins, "No page of another origin may call.")
            + list("Fallback URLs", "fallback-url", fallbacks, "No container has one.")
            + list("Webhook origins", "webhook-allow", configuration.webhookOrigins, "Webhooks go nowhere.")
    }
}
