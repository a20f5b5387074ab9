import SealService
import SealStorage
import SealWire

/// The time that charts are of: so many hours until now, or from one moment to another, as the links of charts have it.
struct ChartTime: Sendable {
    /// Seconds since 1970: from the one on, and before the other.
    let from, until: Int64
    /// Until now; nil between two moments.
    let hours: Int64?
    /// The shortest stretches that are still kept of it, and not too many for a chart.
    let step: TelemetryFile.Step
    private let now: Int64

    static let names = ["from", "until"]
    private static let longest: Int64 = 17_520 * 3_600

    /// - Parameter now: seconds since 1970.
    init(hours: Int64, now: Int64) {
        self.init(from: now - hours * 3_600, until: now + 1, hours: hours, now: now)
    }

    /// Hours go before: whoever looks at a link's time may choose them.
    /// - Throws: `invalidArguments`.
    init(_ fields: FormFields, now: Int64) throws(ServerError) {
        guard fields["hours"].isEmpty, Self.names.contains(where: { !fields[$0].isEmpty }) else {
            self.init(hours: try Console.hours(fields["hours"]), now: now)
            return
        }
        guard let from = Int64(fields["from"]), let until = Int64(fields["until"]), from > 0, from < until,
            until <= now + Self.longest, until - from <= Self.longest
        else {
            throw ServerError(.invalidArguments, "The link goes nowhere.", remedy: "Begin again without it.")
        }
        self.init(from: from, until: until, hours: nil, now: now)
    }

    private init(from: Int64, until: Int64, hours: Int64?, now: Int64) {
        (self.from, self.until, self.hours, self.now) = (from, until, hours, now)
        let length = (until - from) / 3_600
        switch now - from {
        case ...TelemetryFile.Step.minute.keptFor where length <= 3: step = .minute
        case ...TelemetryFile.Step.hour.keptFor where length <= 336: step = .hour
        default: step = .day
        }
    }

    /// Of all stretches, oldest first.
    var starts: [Int64] { Self.starts(step, from, until) }
    var days: [Int64] { Self.starts(.day, from, until) }

    private static func starts(_ step: TelemetryFile.Step, _ from: Int64, _ until: Int64) -> [Int64] {
        Array(stride(from: step.start(of: from), to: until, by: Int64.Stride(step.rawValue)))
    }

    var stretch: String {
        switch step {
        case .minute: "a minute"
        case .hour: "an hour"
        case .day: "a day"
        }
    }

    /// For a link to the same time.
    var fields: [(name: String, value: String)] {
        hours.map { [("hours", "\($0)")] } ?? [("from", "\(from)"), ("until", "\(until)")]
    }

    // MARK: Other times

    /// One of its stretches by itself; nil where that would show no more of it.
    func zoomed(to start: Int64) -> ChartTime? {
        let zoomed = ChartTime(from: start, until: start + step.rawValue, hours: nil, now: now)
        return zoomed.step.rawValue < step.rawValue ? zoomed : nil
    }

    /// Before and after it, and with as much around it.
    var others: [(name: String, time: ChartTime)] {
        let length = until - from
        var others: [(String, ChartTime)] = []
        func add(_ name: String, _ from: Int64, _ until: Int64) {
            guard from > 0, until - from <= Self.longest else { return }
            others.append((name, ChartTime(from: from, until: until, hours: nil, now: now)))
        }
        add("Earlier", from - length, from)
        if until <= now { add("Later", until, min(until + length, now + 1)) }
        add("Longer", from - length / 2, min(until + length / 2, max(until, now + 1)))
        return others
    }
}
