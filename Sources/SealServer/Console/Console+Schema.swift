import Foundation
import Hummingbird
import Logging
import SealSchema
import SealService
import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

/// A container's schema: what it is, in both environments; development's is changed, production's deployed. What is
/// changed goes as a schema through the rules of an import.
extension Console {
    func addSchemaRoutes(to routes: inout RouteTable) {
        get("/schema", &routes) { fields, session in try await schemaPage(fields, session) }
        get("/schema.ckdb", &routes) { fields, _ in
            let container = try Names.requireContainer(fields["container"])
            let environment = try Self.environment(fields) ?? .development
            let text = try await schema.schema(container, environment).text
            return ConsolePage.response(
                text, type: "text/plain; charset=utf-8", fileName: "\(container)-\(environment.name).ckdb")
        }
        post("/schema/import", atMost: Self.mostSchemaBytes, &routes) { fields, session in
            try await importSchema(fields, session)
        }
        post("/schema/edit", &routes) { fields, _ in
            let container = try Names.requireContainer(fields["container"])
            var (edited, version) = try await schema.version(container, .development)
            try Self.edit(&edited, fields)
            _ = try await schema.importing(
                .with { $0.schema = edited.text }, container, .development,
                over: Self.shown(fields) == version ? version : -1)
            return noted(.importSchema, container)
        }
        post("/schema/deploy", &routes) { fields, _ in
            let container = try Self.confirmed(fields, to: "deploy: what goes to production stays there")
            _ = try await schema.deploy(.init(), container, .production, over: Self.shown(fields))
            return noted(.deploy, container)
        }
        post("/schema/reset", &routes) { fields, _ in
            let container = try Self.confirmed(fields, to: "reset: what development alone has goes")
            _ = try await schema.reset(.init(), container, .development, over: Self.shown(fields))
            return noted(.resetSchema, container)
        }
    }

    /// Somebody who means another container than the one that they look at has to type it all the same.
    private static func confirmed(_ fields: FormFields, to purpose: String) throws -> String {
        let container = try Names.requireContainer(fields["container"])
        guard fields["confirmation"] == container else {
            throw ServerError(
                .invalidArguments, "The name that was typed is not the container's.",
                remedy: "Type the container's name to \(purpose).")
        }
        return container
    }

    /// The version of development's that the page was of: a form changes nothing over what somebody else has done
    /// since, and brings nothing to production that nobody was shown. None has the number of a form without one.
    private static func shown(_ fields: FormFields) -> Int64 { Int64(fields["shown"]) ?? -1 }

    private func noted(_ action: OperatorJournal.Action, _ container: String) -> Response {
        journal.note(action, ["container": "\(container)"])
        return ConsolePage.see("/schema?" + FormFields.query([("container", container)]))
    }

    /// A file's text in the place of all that development has; looked at first where that is asked for.
    private func importSchema(_ fields: FormFields, _ session: ConsoleSessions.Session) async throws -> Response {
        let container = try Names.requireContainer(fields["container"])
        let text = fields["schema"].replacing("\r\n", with: "\n")
        let isPreview = fields["do"] == "preview"
        let answer = try await schema.importing(
            .with { ($0.schema, $0.validateOnly) = (text, isPreview) }, container, .development,
            over: Self.shown(fields))
        guard isPreview else { return noted(.importSchema, container) }
        let changes = answer.differences.map { change -> Markup in
            change.loses
                ? "<li class=\"bad\">\(change.description_p)</li>\n" : "<li>\(change.description_p)</li>\n"
        }
        let said: Markup =
            changes.isEmpty
            ? "<p role=\"status\">Nothing would change.</p>"
            : "<div role=\"status\"><p>Nothing was changed yet. It would change:</p><ul>\(Markup(changes))</ul></div>"
        return try await schemaPage(fields, session, said: said, typed: text)
    }

    /// - Parameters:
    ///   - said: what has come of a form.
    ///   - typed: of a schema that is not imported yet.
    private func schemaPage(
        _ fields: FormFields, _ session: ConsoleSessions.Session, said: Markup = .none, typed: String? = nil
    ) async throws -> Response {
        let form: Markup =
            session.container == nil
            ? """
            <form class="fields" method="get" action="/schema">
            \(Self.field("Container", "container", fields["container"]))<button>Show</button>
            </form>
            """ : .none
        guard !fields["container"].isEmpty else {
            let list = try await containerLinks("/schema", fields, empty: "No container has a schema yet.")
            return ConsolePage(title: "Schema", body: form + list, session: session).response()
        }
        let container = try Names.requireContainer(fields["container"])
        let (development, version) = try await schema.version(container, .development)
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
                <input type="hidden" name="shown" value="\("\(version)")">\
                \(Self.field("Type the container's name to deploy", "confirmation"))<button>Deploy to production</button>
                </form>
                """
        }
        let history = try await services.transactions.read { connection in
            try ManagementEvents.list(
                .with {
                    $0.container = container
                    $0.kinds = ["schema-imported", "schema-deployed", "schema-reset"]
                    $0.limit = 20
                }, of: nil, in: connection)
        }
        func file(_ environment: SealStatements.Environment) -> Markup {
            let query = FormFields.query([("container", container), ("environment", environment.name)])
            return "<p><a href=\"/schema.ckdb?\(query)\">\(environment.name.capitalized) as a file</a></p>"
        }
        let body: Markup = """
            \(said)\(form)
            <h2>What a deployment changes</h2>
            \(deploy)
            <h2>Development</h2>
            <pre tabindex="0">\(development.text)</pre>
            \(file(.development))
            <h2>Production</h2>
            <pre tabindex="0">\(production.text)</pre>
            \(file(.production))
            \(editing(development, version, container, session, typed: typed))
            <h2>History</h2>
            \(Self.eventTable(history.events))
            """
        return ConsolePage(title: "Schema", body: body, session: session).response()
    }
}
