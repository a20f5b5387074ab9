import ArgumentParser
import Foundation
import SealKit

struct EventsCommand: AdministeringCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "What happened to accounts, schemas, tokens and keys, newest first.",
        discussion: """
            It asks a running server on its operator's listener, as sealkit admin does. Events are kept for two years; \
            those of an account go with it.

            Kinds: \(ServerOperator.Event.Kind.allCases.map(\.rawValue).joined(separator: ", ")).

              sealkit events --data /var/lib/sealkit
              sealkit events --kind schema-deployed --kind token-made --container org.example.notes --data /var/lib/sealkit
              sealkit events --account ann@example.org --last 30d --csv --data /var/lib/sealkit
            """)

    @Option(help: ArgumentHelp("Those of this kind alone. May be repeated.", valueName: "kind"))
    var kind: [ServerOperator.Event.Kind] = []

    @Option(help: ArgumentHelp("Those of one container alone.", valueName: "name"))
    var container: String?

    @Option(help: ArgumentHelp("Those of one account alone, named as for sealkit admin usage.", valueName: "account"))
    var account: String?

    @OptionGroup var time: TimeOptions
    @OptionGroup var pages: PageOptions
    @OptionGroup var options: OperatorOptions

    func validate() throws { try pages.check(options) }

    func run(_ server: ServerOperator) async throws {
        let form = PageOptions.Form(
            csvHeader: "time,kind,container,environment,account,detail", csv: Self.csv, line: Self.line,
            bare: { "\(Timestamp.text($0.date)) \($0.name.escaped)" }, json: Self.json)
        try await pages.list(output, in: form) { cursor, limit in
            let page = try await server.events(
                of: Set(kind), containerIdentifier: container, account: account, from: time.beginning,
                until: time.end, after: cursor, limit: limit)
            return (page.events, page.cursor)
        }
    }

    private static func words(_ event: ServerOperator.Event) -> [(name: String, word: String)] {
        [
            ("kind", event.name), ("container", event.containerIdentifier), ("environment", event.environment),
            ("account", event.account), ("detail", event.detail),
        ]
    }

    private static func line(_ event: ServerOperator.Event) -> String {
        ([Timestamp.shown(event.date)] + words(event).map(\.word).filter { !$0.isEmpty }.map(\.escaped))
            .joined(separator: "  ")
    }

    private static func json(_ event: ServerOperator.Event) -> [String: JSONValue] {
        var fields: [String: JSONValue] = ["time": .string(Timestamp.text(event.date))]
        for (name, word) in words(event) { fields[name] = .string(word) }
        return fields
    }

    private static func csv(_ event: ServerOperator.Event) -> String {
        ([Timestamp.text(event.date)] + words(event).map { TelemetryText.cell($0.word) }).joined(separator: ",")
    }
}
