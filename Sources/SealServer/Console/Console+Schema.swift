import Hummingbird
import Logging
import SealSchema
import SealService
import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

/// A container's schema: what it is, what a deployment would change, and the deployment.
extension Console {
    func addSchemaRoutes(to routes: inout RouteTable) {
        get("/schema", &routes) { fields, session in try await schemaPage(fields, session) }
        post("/schema/deploy", &routes) { fields, _ in
            let container = try Names.requireContainer(fields["container"])
            // Somebody who deploys to another container than the one that they look at has to type it all the same.
            guard fields["confirmation"] == container else {
                throw ServerError(
                    .invalidArguments, "The name that was typed is not the container's.",
                    remedy: "Type the container's name to deploy: what goes to production stays there.")
            }
            _ = try await schema.deploy(.init(), container, .production)
            journal.note(.deploy, ["container": "\(container)"])
            return ConsolePage.see("/schema?" + FormFields.query([("container", container)]))
        }
    }

    private func schemaPage(_ fields: FormFields, _ session: ConsoleSessions.Session) async throws -> Response {
        let form: Markup = """
            <form class="fields" method="get" action="/schema">
            \(Self.field("Container", "container", fields["container"]))<button>Show</button>
            </form>
            """
        guard !fields["container"].isEmpty else {
            let list = try await containerLinks("/schema", fields, empty: "No container has a schema yet.")
            return ConsolePage(title: "Schema", body: form + list, session: session).response()
        }
        let container = try Names.requireContainer(fields["container"])
        let development = try await schema.schema(container, .development)
        let production = try await schema.schema(container, .production)
        let changes = SchemaDifference(from: production, to: development).changes
        let rows = changes.map { change -> Markup in
            change.isLoss ? "<li class=\"bad\">\(change.description)</li>\n" : "<li>\(change.description)</li>\n"
        }
        let isBlocked = changes.contains(where: \.isLoss)
        let deploy: Markup
        if changes.isEmpty {
            deploy = "<p>Production has what development has.</p>"
        } else if isBlocked {
            deploy = """
                <ul>\(Markup(rows))</ul>
                <p class="failure">Production would lose something: bring it back in development.</p>
                """
        } else {
            deploy = """
                <ul>\(Markup(rows))</ul>
                <form class="fields" method="post" action="/schema/deploy">
                \(ConsolePage.formToken(session, "/schema/deploy"))\
                <input type="hidden" name="container" value="\(container)">\
                \(Self.field("Type the container's name to deploy", "confirmation"))<button>Deploy to production</button>
                </form>
                """
        }
        let history = try await services.transactions.read { [now = services.clock()] connection in
            try ManagementEvents.list(
                .with {
                    $0.container = container
                    $0.kinds = ["schema-imported", "schema-deployed", "schema-reset"]
                    $0.limit = 20
                }, of: nil, now: now, in: connection)
        }
        let body: Markup = """
            \(form)
            <h2>What a deployment changes</h2>
            \(deploy)
            <h2>Development</h2>
            <pre tabindex="0">\(development.text)</pre>
            <h2>Production</h2>
            <pre tabindex="0">\(production.text)</pre>
            <h2>History</h2>
            \(Self.eventTable(history.events))
            """
        return ConsolePage(title: "Schema", body: body, session: session).response()
    }
}
