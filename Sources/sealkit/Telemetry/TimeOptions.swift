import ArgumentParser
import Foundation

/// Of which time something is shown.
struct TimeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "So long before the end: minutes, hours or days. Default: 24h, and all of events.",
            valueName: "number with m, h or d"))
    var last: TelemetryLength?

    @Option(help: ArgumentHelp("From this date on, in the place of --last.", valueName: "date"))
    var from: String?

    @Option(help: ArgumentHelp("Before this date. Default: now.", valueName: "date"))
    var until: String?

    func validate() throws {
        if last != nil, from != nil { throw ValidationError("Give --last or --from, not both.") }
        for (name, text) in [("--from", from), ("--until", until)] {
            if let text, Timestamp.parse(text) == nil {
                throw ValidationError("\(name) takes a date, as 2026-11-27 or 2026-11-27T12:00:00Z.")
            }
        }
    }

    var start: Date? { from.flatMap { Timestamp.parse($0) } }
    var end: Date? { until.flatMap { Timestamp.parse($0) } }

    /// Where it begins, however that was said; nil where nothing was.
    var beginning: Date? { start ?? last.map { end(less: $0) } }

    /// - Parameter usual: how long it is where nothing was said.
    func beginning(usual: TelemetryLength) -> Date { beginning ?? end(less: usual) }

    private func end(less length: TelemetryLength) -> Date { (end ?? Date()).addingTimeInterval(-length.seconds) }
}
