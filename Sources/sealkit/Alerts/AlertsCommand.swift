import ArgumentParser
import Foundation
import SealKit

struct AlertsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "alerts",
        abstract: "Have the server tell you by mail or webhook before something breaks.",
        discussion: """
            It asks a running server on its operator's listener, as sealkit admin does. Once a minute the server looks \
            at each alert: at a measure of its last minutes, against a value or against the average of the day before. \
            Who is to know is told once when it fires, and once when it has recovered; what nobody takes is sent again \
            for a day.

              sealkit alerts add errors --measure server-errors --above 5 --mail me@example.org --data /var/lib/sealkit
              sealkit alerts add slow --measure latency95 --above-average 3 --minutes 10 --least 100 \
            --webhook https://hooks.example.org/sealkit --data /var/lib/sealkit
              sealkit alerts add disk --measure free-bytes --below 5e9 --mail me@example.org --data /var/lib/sealkit
              sealkit alerts add backups --measure backup-age --above 26 --mail me@example.org --data /var/lib/sealkit
              sealkit alerts test errors --data /var/lib/sealkit
            """,
        subcommands: [AlertsAdd.self, AlertsList.self, AlertsTest.self, AlertsHistory.self, AlertsRemove.self])
}

struct AlertsAdd: AdministeringCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Watch something. One of the same name is replaced.",
        discussion: """
            Measures: \(ServerOperator.Alert.Measure.allCases.map(\.rawValue).joined(separator: ", ")). Counts and bytes \
            are those of a minute on average, failure-share is in percent, latencies are milliseconds. Of the server at the \
            moment: free-bytes where its data is, backup-age in hours since the last whole backup, certificate-days \
            until its certificate ends, stuck-messages are codes that were not taken, failing-jobs those whose last run \
            failed. The average is of the day before, since there was anything.

              sealkit alerts add failing --measure failure-share --above 5 --least 50 --container org.example.notes \
            --mail me@example.org --data /var/lib/sealkit
            """)

    @Argument(help: "Its name: printable text, up to 64 bytes.")
    var name: String

    @Option(help: ArgumentHelp("What to look at.", valueName: "measure"))
    var measure: ServerOperator.Alert.Measure

    @Option(help: ArgumentHelp("Fire above this value.", valueName: "number"))
    var above: Double?

    @Option(help: ArgumentHelp("Fire below this value.", valueName: "number"))
    var below: Double?

    @Option(help: ArgumentHelp("Fire above so many times the average.", valueName: "number"))
    var aboveAverage: Double?

    @Option(help: ArgumentHelp("Fire below so many times the average: 0.5 is half of it.", valueName: "number"))
    var belowAverage: Double?

    @Option(help: ArgumentHelp("Look at so many minutes together: 1 to 180. Default: 5.", valueName: "number"))
    var minutes = 5

    @Option(
        help: ArgumentHelp("Say nothing with fewer requests in these minutes. Default: 0.", valueName: "number"))
    var least = 0

    @Option(help: ArgumentHelp("Tell this address. May be repeated.", valueName: "address"))
    var mail: [String] = []

    @Option(
        help: ArgumentHelp(
            "Tell this URL, of an origin that the server's --webhook-allow has. May be repeated.", valueName: "url"))
    var webhook: [String] = []

    @OptionGroup var requests: DimensionOptions
    @OptionGroup var options: OperatorOptions

    func validate() throws {
        let given = [above, below, aboveAverage, belowAverage].compactMap { $0 }
        guard given.count == 1 else {
            throw ValidationError("Give one of --above, --below, --above-average and --below-average.")
        }
        guard given.allSatisfy({ $0.isFinite && $0 >= 0 }) else {
            throw ValidationError("A threshold is a number from 0 on.")
        }
        guard minutes > 0 else { throw ValidationError("--minutes takes a number from 1 on.") }
        guard least >= 0 else { throw ValidationError("--least takes a number from 0 on.") }
        guard !mail.isEmpty || !webhook.isEmpty else { throw ValidationError("Give --mail or --webhook.") }
    }

    func run(_ server: ServerOperator) async throws {
        let threshold: ServerOperator.Alert.Threshold =
            if let value = above ?? below { .value(value) } else {
                .timesAverage(aboveAverage ?? belowAverage ?? 1)
            }
        let status = try await server.addAlert(
            ServerOperator.Alert(
                name: name, measure: measure, threshold: threshold, isBelow: below ?? belowAverage != nil,
                minutes: minutes, filters: requests.filters, leastRequests: least,
                mailAddresses: mail, webhooks: webhook))
        try output.result(AlertText.lines(status), bare: name, json: AlertText.json(status))
    }
}

struct AlertsList: AdministeringCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the alerts, and how each stands.",
        discussion: "  sealkit alerts list --data /var/lib/sealkit")

    @OptionGroup var options: OperatorOptions

    func run(_ server: ServerOperator) async throws {
        for status in try await server.alerts() {
            try output.result(AlertText.lines(status), bare: status.alert.name, json: AlertText.json(status))
        }
    }
}

struct AlertsTest: AdministeringCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Show what an alert reads now, and send everybody whom it tells a test.",
        discussion: """
            It fails where somebody did not take it.

              sealkit alerts test errors --data /var/lib/sealkit
            """)

    @Argument(help: "The alert's name.")
    var name: String

    @OptionGroup var options: OperatorOptions

    func run(_ server: ServerOperator) async throws {
        let test = try await server.testAlert(named: name)
        var lines = [AlertText.lines(test.status), test.wouldFire ? "  it would fire" : "  it would not fire"]
        lines += test.deliveries.map { delivery in
            "  \(delivery.target.escaped): \(delivery.failure.map { "not taken, \($0.escaped)" } ?? "taken")"
        }
        var fields = AlertText.json(test.status)
        fields["wouldFire"] = .bool(test.wouldFire)
        fields["deliveries"] = .array(
            test.deliveries.map {
                .object([
                    "target": .string($0.target), "taken": .bool($0.failure == nil), "answer": JSONValue($0.failure),
                ])
            })
        try output.result(lines.joined(separator: "\n"), bare: test.wouldFire ? "fires" : "quiet", json: fields)
        guard test.deliveries.allSatisfy({ $0.failure == nil }) else {
            throw SealKitError(
                .serverRejectedRequest, "a message was not taken",
                remedy:
                    "see sealkit admin mail-test for mail; a webhook has to answer with 200 to 299 within 15 seconds")
        }
    }
}

struct AlertsHistory: AdministeringCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Show when alerts fired and recovered, newest first.",
        discussion: """
              sealkit alerts history --data /var/lib/sealkit
              sealkit alerts history errors --limit 10 --csv --data /var/lib/sealkit
            """)

    @Argument(help: "The name of one alert. Default: all.")
    var name: String?

    @OptionGroup var pages: PageOptions
    @OptionGroup var options: OperatorOptions

    func validate() throws { try pages.check(options) }

    func run(_ server: ServerOperator) async throws {
        let form = PageOptions.Form<ServerOperator.AlertChange>(
            csvHeader: "time,name,state,value,threshold", csv: { AlertText.csv($0) }, line: { AlertText.line($0) },
            bare: { "\($0.name.escaped) \(AlertText.state($0))" }, json: { AlertText.json($0) })
        try await pages.list(output, in: form) { cursor, limit in
            let page = try await server.alertHistory(of: name, after: cursor, limit: limit)
            return (page.changes, page.cursor)
        }
    }
}

struct AlertsRemove: AdministeringCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Watch something no more.",
        discussion: "  sealkit alerts remove errors --data /var/lib/sealkit")

    @Argument(help: "The alert's name.")
    var name: String

    @OptionGroup var options: OperatorOptions

    func run(_ server: ServerOperator) async throws {
        try await server.removeAlert(named: name)
        try output.result("\(name.escaped) was removed", json: ["removed": .string(name)])
    }
}
