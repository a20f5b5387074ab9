import Hummingbird
import Logging
import SealService
import SealStorage
import SealWire

/// Who is told of changes, and where webhooks stand.
extension Console {
    private static let subscriptionsPerPage = 100
    private static let listNames = ["container", "webhooks"]

    func addSubscriptionRoutes(to routes: inout RouteTable) {
        get("/subscriptions", &routes) { fields, session in
            try await subscriptions(fields, session, outcome: nil)
        }
        post("/subscriptions/test", &routes) { fields, session in
            let webhook = try await webhook(fields)
            // As mails of alerts and tests: a token that is in wrong hands is to bother nobody.
            try services.rates.count(.operatorMail, .client([]))
            let (isTaken, answer) = await services.webhooks.test(webhook)
            journal.note(.testWebhook, ["taken": "\(isTaken)"])
            let outcome =
                "The webhook of \(webhook.subscription) was tested: \(answer)\(isTaken ? ", and took it" : "")."
            return try await subscriptions(fields, session, outcome: outcome)
        }
        post("/subscriptions/hurry", &routes) { fields, _ in
            let (handle, now) = (fields["subscription"], services.clock())
            try await services.transactions.write(at: .everything) { connection in
                let webhook = try OperatedSubscriptions.webhook(named: handle, in: connection)
                try OperatedSubscriptions.hurry(webhook, now: now, in: connection)
            }
            journal.note(.hurryWebhook)
            return ConsolePage.see("/subscriptions?" + fields.query(Self.listNames))
        }
    }

    private func webhook(_ fields: FormFields) async throws -> WebhookRow {
        let handle = fields["subscription"]
        return try await services.transactions.read { try OperatedSubscriptions.webhook(named: handle, in: $0) }
    }

    private func subscriptions(
        _ fields: FormFields, _ session: ConsoleSessions.Session, outcome: String?
    ) async throws -> Response {
        let (container, isOnly, after) = (fields["container"], fields["webhooks"] == "only", fields["after"])
        // One more than a page holds tells whether there is another one.
        let found = try await services.transactions.read { connection in
            try OperatedSubscriptions.list(
                of: container, webhooksOnly: isOnly, after: after, limit: Self.subscriptionsPerPage + 1, in: connection)
        }
        let shown = found.prefix(Self.subscriptionsPerPage)
        journal.note(.subscriptions, ["count": "\(shown.count)"])
        let link = fields.query(Self.listNames)
        let last = found.count > shown.count ? shown.last?.handle ?? "" : ""
        let allowed = services.webhookTargets.origins.sorted()
        let body: Markup = """
            \(outcome.map { text -> Markup in "<p role=\"status\">\(text)</p>" })
            <form class="fields" method="get" action="/subscriptions">
            \(containerField(fields, session))\
            \(Self.choice("Which", "webhooks", [("", "all"), ("only", "with webhooks")], fields["webhooks"]))\
            <button>Show</button>
            </form>
            <p>Webhooks may go to: \(allowed.isEmpty ? "nowhere" : allowed.joined(separator: ", ")) \
            (<code>webhook-allow</code>).</p>
            \(Self.table(
                "Subscriptions",
                ["subscription", "container", "database", "subscriber", "kind", "webhook", "state", "actions"],
                shown.map { row($0, fields, session) }, empty: "Nobody has subscribed."))
            \(Self.more("/subscriptions", link, after: last, "More"))
            """
        return ConsolePage(title: "Subscriptions", body: body, session: session).response()
    }

    private func row(
        _ subscription: OperatedSubscriptions.Subscription, _ fields: FormFields, _ session: ConsoleSessions.Session
    ) -> Markup {
        let kind =
            switch subscription.kind {
            case .query: "query"
            case .zone: "zone"
            case .database: "database"
            case nil: ""
            }
        let type = subscription.recordType.isEmpty ? "" : " of \(subscription.recordType)"
        let forms = [("/subscriptions/test", "Test"), ("/subscriptions/hurry", "Send now")]
        let list = Self.hidden(fields, Self.listNames)
        let actions = forms.map { path, word -> Markup in
            """
            <form method="post" action="\(path)">\(ConsolePage.formToken(session, path))\(list)\
            <input type="hidden" name="subscription" value="\(subscription.handle)"><button>\(word)</button></form>
            """
        }
        return """
            <tr><th scope="row">\(subscription.id)</th><td>\(subscription.container)</td>\
            <td>\(subscription.environment), \(subscription.database)</td><td><code>\(subscription.user)</code></td>\
            <td>\(kind)\(type)</td><td>\(subscription.origin)</td>\
            <td>\(subscription.webhook.map(Self.state) ?? "")</td>\
            <td>\(subscription.webhook == nil || session.container != nil ? .none : Markup(actions))</td></tr>

            """
    }

    /// How far a webhook is, in words.
    private static func state(_ webhook: WebhookRow) -> Markup {
        guard webhook.due > 0 else { return webhook.delivered > 0 ? "took all there was" : "nothing to send yet" }
        guard webhook.attempts > 0 else { return "has something to send" }
        return """
            <span class="bad">failed \(webhook.attempts) times</span> since \(time(microseconds: webhook.since)); again at \
            \(time(microseconds: webhook.due))
            """
    }
}
