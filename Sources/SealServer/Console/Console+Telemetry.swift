import Hummingbird
import SealService
import SealStorage
import SealWire

/// What was counted, as charts.
extension Console {
    /// Sums by stretches, a line for each word: read once for a page, which shows them together and each by itself.
    struct Counted: Sendable {
        fileprivate let series: [TelemetrySeries]
        fileprivate let starts: [Int64]
        fileprivate let step: TelemetryFile.Step
        let by: TelemetryDimension
    }

    private static func step(_ hours: Int64) -> TelemetryFile.Step {
        hours <= 3 ? .minute : hours <= 336 ? .hour : .day
    }

    /// Nil where nothing is counted, or the file has just been put aside.
    func counted(
        hours: Int64, filters: [TelemetryDimension: String], by: TelemetryDimension
    ) async throws -> Counted? {
        guard services.telemetry.recorder != nil else { return nil }
        let step = Self.step(hours)
        let (from, until) = (step.start(of: now - hours * 3_600), now + 1)
        let query = TelemetryQuery(from: from, until: until, step: step, kind: .request, filters: filters, by: by)
        do {
            let series = try await services.telemetry.reading { try await $0.series(query) }
            return Counted(
                series: series, starts: Array(stride(from: from, to: until, by: Int64.Stride(step.rawValue))),
                step: step, by: by)
        } catch TelemetryFileError.tooMuch {
            throw ServerError(
                .limitExceeded, "Telemetry has too many rows for one page.",
                remedy: "Choose a shorter time, or one container.")
        } catch is TelemetryFileError {
            return nil
        }
    }

    private static func together(_ series: some Sequence<TelemetrySeries>, named name: String) -> TelemetrySeries {
        var all = TelemetrySeries(name: name)
        for one in series { all.add(one) }
        return all
    }

    private static func failures(_ part: TelemetrySeries.Part) -> Int64 { part.codes.values.reduce(0, +) }

    /// Requests, latency and bytes, of everything or of what was chosen.
    static func charts(_ counted: Counted?) -> Markup {
        guard let counted else { return nothing }
        let all = together(counted.series, named: "")
        func chart(
            _ title: String, stacked: Bool, _ lines: [(String, (TelemetrySeries.Part) -> Double)],
            _ text: @escaping (Double) -> String
        ) -> Markup {
            Chart(
                title: title,
                lines: lines.map { name, value in Chart.Line(name: name, values: all.parts.mapValues(value)) },
                starts: counted.starts, step: counted.step.rawValue, isStacked: stacked, text: text
            ).markup
        }
        func milliseconds(_ share: Double) -> (TelemetrySeries.Part) -> Double {
            { Double($0.sum.latency.quantile(share)) / 1_000 }
        }
        let stretch = counted.step == .minute ? "a minute" : counted.step == .hour ? "an hour" : "a day"
        return chart(
            "Requests \(stretch)", stacked: true,
            [
                ("answered", { Double($0.sum.count - failures($0)) }), ("failed", { Double(failures($0)) }),
            ], whole)
            + chart(
                "Milliseconds until the answer", stacked: false,
                [("p50", milliseconds(0.5)), ("p95", milliseconds(0.95)), ("p99", milliseconds(0.99))],
                { "\(($0 * 10).rounded() / 10)" })
            + chart(
                "Bytes \(stretch)", stacked: true,
                [("in", { Double($0.sum.bytesIn) }), ("out", { Double($0.sum.bytesOut) })],
                bytes)
    }

    static let nothing: Markup = "<p>This server counts nothing: it runs with <code>--telemetry off</code>.</p>"

    /// - Parameter link: of a word.
    static func sums(_ counted: Counted?, limit: Int, link: (String) -> String) -> Markup {
        guard let counted else { return .none }
        var shown = Array(counted.series.prefix(limit))
        if counted.series.count > limit {
            shown.append(together(counted.series.dropFirst(limit), named: "(the rest)"))
        }
        let rows = shown.enumerated().map { index, series -> Markup in
            let (sum, failures) = (series.total.sum, failures(series.total))
            let share = sum.count > 0 ? (Double(failures) / Double(sum.count) * 1_000).rounded() / 10 : 0
            let name: Markup =
                index == limit || series.name.isEmpty
                ? "\(series.name.isEmpty ? "(none)" : series.name)"
                : "<a href=\"\(link(series.name))\">\(series.name)</a>"
            return """
                <tr><th scope="row">\(name)</th><td class="n">\(sum.count)</td><td class="n">\(failures)</td>\
                <td class="n">\("\(share) %")</td><td class="n">\("\(Double(sum.latency.quantile(0.5)) / 1_000)")</td>\
                <td class="n">\("\(Double(sum.latency.quantile(0.95)) / 1_000)")</td>\
                <td class="n">\(bytes(sum.bytesIn))</td><td class="n">\(bytes(sum.bytesOut))</td></tr>

                """
        }
        return table(
            "Requests by \(counted.by.rawValue)",
            [counted.by.rawValue, "requests", "failed", "share", "p50 ms", "p95 ms", "in", "out"], rows,
            numbers: [1, 2, 3, 4, 5, 6, 7], empty: "Nothing was asked in this time.")
    }

    func telemetry(_ fields: FormFields, _ session: ConsoleSessions.Session) async throws -> Response {
        let hours = try Self.hours(fields["hours"])
        let wanted = fields["by"].isEmpty ? .operation : TelemetryDimension(rawValue: fields["by"])
        guard let by = wanted else {
            throw ServerError(
                .invalidArguments, "There are no lines by that.",
                remedy: "Use \(TelemetryDimension.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        let filters = Self.filters(fields)
        let chosen = filters.map { ($0.key.rawValue, $0.value) }.sorted { $0.0 < $1.0 }
        let form: Markup = """
            <form class="fields" method="get" action="/telemetry">
            \(Self.lengthChoice(hours))\
            \(Self.choice("Lines by", "by", TelemetryDimension.allCases.map { ($0.rawValue, $0.rawValue) }, by.rawValue))\
            \(Self.filterFields(fields))<button>Show</button>
            </form>
            """
        let counted = try await counted(hours: hours, filters: filters, by: by)
        let body =
            form + Self.charts(counted)
            + Self.sums(counted, limit: 50) { word in
                "/telemetry?"
                    + FormFields.query(
                        [("hours", "\(hours)"), ("by", by.rawValue)]
                            + chosen.filter { $0.0 != by.rawValue } + [(by.rawValue, word)])
            }
        let logs = "/logs?" + FormFields.query([("hours", "\(hours)")] + chosen)
        journal.note(.telemetry)
        return ConsolePage(
            title: "Telemetry", body: body + "<p><a href=\"\(logs)\">The same in the log</a></p>", session: session
        ).response()
    }

    /// Those that a query names and that are not empty.
    static func filters(_ fields: FormFields) -> [TelemetryDimension: String] {
        TelemetryDimension.allCases.reduce(into: [:]) { filters, dimension in
            let word = fields[dimension.rawValue]
            if !word.isEmpty { filters[dimension] = word }
        }
    }

    static func filterFields(_ fields: FormFields) -> Markup {
        Markup(
            TelemetryDimension.allCases.map { dimension in
                let value = fields[dimension.rawValue]
                if dimension == .environment {
                    return choice("environment", dimension.rawValue, environments, value)
                }
                return field(dimension.rawValue, dimension.rawValue, value)
            })
    }
}
