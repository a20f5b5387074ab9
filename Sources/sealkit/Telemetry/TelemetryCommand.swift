import ArgumentParser
import Foundation
import SealKit

struct TelemetryCommand: AdministeringCommand {
    static let configuration = CommandConfiguration(
        commandName: "telemetry",
        abstract: "What the server has counted: requests, refusals, times, bytes, active accounts.",
        discussion: """
            It asks a running server on its operator's listener, as sealkit admin does. Minutes are kept for two days, \
            hours for sixty, days for two years. Nobody's name, address or value is in it; active accounts are counted \
            without being known again.

              sealkit telemetry --data /var/lib/sealkit
              sealkit telemetry --last 7d --by code --container org.example.notes --data /var/lib/sealkit
              sealkit telemetry --by group --group "launch sync" --csv --data /var/lib/sealkit
              sealkit telemetry --of notifications --last 60m --json --data /var/lib/sealkit
              sealkit telemetry --of sharing --operation acceptance --by client --data /var/lib/sealkit
              sealkit telemetry --of keys --data /var/lib/sealkit
            """)

    @OptionGroup var time: TimeOptions

    @Option(help: "minute, hour or day. Default: what suits the time.")
    var step: TelemetryStep?

    @Option(
        help: """
            requests, items (records refused in a request that was answered), notifications, coalesced (changes that \
            were told together with a later one), streams (open, each once a minute), sharing (invitations, \
            acceptances, codes, new keys) or keys (how those of zones and shares stand).
            """)
    var of: TelemetryKind = .requests

    @Option(help: "A line for each operation, container, environment, database, client, group or code.")
    var by: ServerOperator.Telemetry.Dimension = .operation

    @OptionGroup var requests: DimensionOptions

    @Option(help: ArgumentHelp("Show at most so many lines, and the rest as one. Default: 20.", valueName: "number"))
    var limit: Int?

    @Flag(help: "Print a table of comma-separated values: a line for each stretch of time.")
    var csv = false

    @OptionGroup var options: OperatorOptions

    func validate() throws {
        try PageOptions.check(limit)
        try PageOptions.check(csv: csv, options)
    }

    func run(_ server: ServerOperator) async throws {
        let telemetry = try await server.telemetry(
            from: time.beginning(usual: .day), until: time.end, step: step?.step, of: of.kind, by: by,
            filters: requests.filters, limit: limit)
        if of == .keys {
            try show(telemetry)
        } else if csv {
            for line in TelemetryText.csv(telemetry, by: by.rawValue) { try Output.standardOutput(line) }
        } else if options.json {
            for line in TelemetryText.json(telemetry) { try output.result("", json: line) }
        } else {
            try output.result(
                TelemetryText.table(telemetry, kind: of.rawValue, by: by.rawValue),
                bare: "\(telemetry.all.total.count)", json: [:])
        }
        if telemetry.state == .off { output.note("this server counts nothing: it runs with --telemetry off") }
        if telemetry.state == .failing {
            output.note("the server cannot write its telemetry at present: its log says why")
        }
        if telemetry.lost > 0 {
            output.note("\(telemetry.lost) requests were counted and lost before they could be written")
        }
    }
}

extension TelemetryCommand {
    /// How keys stand: of no time but now.
    private func show(_ telemetry: ServerOperator.Telemetry) throws {
        if csv {
            for line in KeysText.csv(telemetry.keys) { try Output.standardOutput(line) }
        } else {
            for keys in telemetry.keys {
                try output.result(KeysText.line(keys), bare: "\(keys.due)", json: KeysText.json(keys))
            }
        }
        guard telemetry.state != .off else { return }
        guard let read = telemetry.keysRead else {
            return output.note(
                "the server has not looked at all zones yet: that takes a minute, or more with many zones")
        }
        output.note("as of \(Timestamp.shown(read))")
    }
}

/// `90m`, `24h`, `7d`.
struct TelemetryLength: ExpressibleByArgument {
    let seconds: Double

    static let day = TelemetryLength(seconds: 86_400)

    private init(seconds: Double) { self.seconds = seconds }

    init?(argument: String) {
        let units: [Character: Double] = ["m": 60, "h": 3_600, "d": 86_400]
        guard let unit = argument.last.flatMap({ units[$0] }), let number = UInt16(argument.dropLast()), number > 0
        else {
            return nil
        }
        seconds = Double(number) * unit
    }
}

enum TelemetryStep: String, ExpressibleByArgument, CaseIterable {
    case minute, hour, day

    var step: ServerOperator.Telemetry.Step {
        switch self {
        case .minute: .minute
        case .hour: .hour
        case .day: .day
        }
    }
}

enum TelemetryKind: String, ExpressibleByArgument, CaseIterable {
    case requests, items, notifications, coalesced, streams, sharing, keys

    var kind: ServerOperator.Telemetry.Kind {
        switch self {
        case .requests: .requests
        case .items: .items
        case .notifications: .notifications
        case .coalesced: .coalesced
        case .streams: .streams
        case .sharing, .keys: .sharing
        }
    }
}
