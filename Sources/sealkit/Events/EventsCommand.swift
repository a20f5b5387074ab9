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

    @Option(
        help: ArgumentHelp(
            "So long before the end: minutes, hours or days. Default: all.", valueName: "number with m, h or d"))
    var last: TelemetryLength?

    @Option(help: ArgumentHelp("From this date on, in the place of --last.", valueName: "date"))
    var from: String?

    @Option(help: ArgumentHelp("Before this date. Default: now.", valueName: "date"))
    var until: String?

    @Option(help: ArgumentHelp("Show at most so many. Default: 100.", valueName: "number"))
    var limit: Int?

    @Flag(help: "Print a table of comma-separated values.")
    var csv = false

    @OptionGroup var options: OperatorOptions

    /// In one answer.
    private static let page = 1_000
    private static let usualLimit = 100

    func validate() throws {
        if last != nil, from != nil { throw ValidationError("Give --last or --from, not both.") }
        for (name, text) in [("--from", from), ("--until", until)] {
            if let text, Timestamp.parse(text) == nil {
                throw ValidationError("\(name) takes a date, as 2026-11-27 or 2026-11-27T12:00:00Z.")
            }
        }
        if let limit, limit < 1 { throw ValidationError("--limit takes a number from 1 on.") }
        if csv, options.json { throw ValidationError("Give --csv or --json, not both.") }
    }

    func run(_ server: ServerOperator) async throws {
        let until = until.flatMap { Timestamp.parse($0) }
        let from =
            from.flatMap { Timestamp.parse($0) } ?? last.map { (until ?? Date()).addingTimeInterval(-$0.seconds) }
        if csv { try Output.standardOutput("time,kind,container,environment,account,detail") }
        var (left, cursor) = (limit ?? Self.usualLimit, Data?.none)
        repeat {
            let page = try await server.events(
                of: Set(kind), containerIdentifier: container, account: account, from: from, until: until,
                after: cursor, limit: min(left, Self.page))
            for event in page.events {
                if csv {
                    try Output.standardOutput(Self.csv(event))
                } else {
                    try output.result(
                        Self.line(event), bare: "\(Timestamp.text(event.date)) \(event.name.escaped)",
                        json: Self.json(event))
                }
            }
            left -= page.events.count
            cursor = page.cursor
        } while cursor != nil && left > 0
        if cursor != nil { output.note("there are more") }
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
