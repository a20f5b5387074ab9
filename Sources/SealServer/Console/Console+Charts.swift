import Foundation
import SealService
import SealStorage

/// What was counted, as charts and tables.
extension Console {
    /// - Parameters:
    ///   - made: accounts by the day that they were made on; nil where they are no part of what is shown.
    ///   - link: to another time; nil where charts lead nowhere.
    static func charts(
        _ counted: Counted?, made: [Int64: Double]? = nil, link: ((ChartTime) -> String)? = nil
    ) -> Markup {
        guard let counted else { return nothing }
        let time = counted.time
        func chart(
            _ title: String, isStacked: Bool, _ lines: [Chart.Line], _ text: @escaping (Double) -> String
        ) -> Markup {
            Chart(
                title: title, lines: lines, starts: time.starts, step: time.step.rawValue, isStacked: isStacked,
                text: text, link: { start in link.flatMap { link in time.zoomed(to: start).map(link) } }
            ).markup
        }
        func line(_ name: String, _ value: (TelemetrySeries.Part) -> Double) -> Chart.Line {
            Chart.Line(name: name, values: counted.all.parts.mapValues(value))
        }
        let lines = counted.lines(atMost: Counted.mostCharted)
        func byLines(_ value: (TelemetrySeries.Part) -> Double) -> [Chart.Line] {
            lines.map { Chart.Line(name: $0.name, values: $0.series.parts.mapValues(value)) }
        }
        let (stretch, by) = (time.stretch, counted.by.rawValue)
        let pace = Pace(counted.kind, time)
        let counts = chart(
            "\(Counted.word(counted.kind)) \(pace.word) by \(by)", isStacked: true,
            byLines { Double($0.sum.count) / pace.length }, pace.text)
        // What is no request has neither sizes nor times.
        guard counted.kind == .request else { return counts }
        let failures = chart(
            "Failures \(stretch)", isStacked: true,
            [
                line("the client's") { Double($0.failures - $0.serverErrors) },
                line("the server's") { Double($0.serverErrors) },
            ], whole)
        let latency = chart(
            "Milliseconds until the answer", isStacked: false,
            [
                line("p50") { milliseconds(0.5, $0) }, line("p95") { milliseconds(0.95, $0) },
                line("p99") { milliseconds(0.99, $0) },
            ], tenths)
        let latencies = chart(
            "Milliseconds until the answer by \(by), p95", isStacked: false, byLines { milliseconds(0.95, $0) }, tenths)
        func sizes(_ title: String, _ total: (TelemetrySum) -> Int64, _ spread: (TelemetrySum) -> LogHistogram)
            -> Markup
        {
            chart(
                title, isStacked: false,
                [
                    line("average") { $0.sum.count > 0 ? Double(total($0.sum)) / Double($0.sum.count) : 0 },
                    line("p50") { Double(spread($0.sum).quantile(0.5)) },
                    line("p95") { Double(spread($0.sum).quantile(0.95)) },
                ], bytes)
        }
        let bandwidth = chart(
            "Bytes \(stretch)", isStacked: true,
            [line("in") { Double($0.sum.bytesIn) }, line("out") { Double($0.sum.bytesOut) }], bytes)
        return Markup([
            counts, failures, latency, lines.count > 1 ? latencies : .none,
            sizes("Size of a request", { $0.bytesIn }, { $0.sizesIn }),
            sizes("Size of an answer", { $0.bytesOut }, { $0.sizesOut }), bandwidth, accounts(counted, made: made),
        ])
    }

    /// Of how long counts are told: of a second for requests; what is open is counted once a minute, and told as it is.
    private struct Pace {
        let word: String
        /// Counts that make one.
        let length: Double
        let text: (Double) -> String

        init(_ kind: TelemetryKey.Kind, _ time: ChartTime) {
            let seconds = Double(time.step.rawValue)
            switch kind {
            case .request: (word, length, text) = ("a second", seconds, Console.digits)
            case .stream: (word, length, text) = ("at once", seconds / 60, Console.digits)
            case .item, .notification, .sharing, .coalesced: (word, length, text) = (time.stretch, 1, Console.whole)
            }
        }
    }

    /// Three of them.
    static func digits(_ value: Double) -> String {
        value >= 100 ? whole(value.rounded()) : String(format: "%.3g", value)
    }

    // MARK: Notifications and shares

    private static func chart(_ title: String, _ time: ChartTime, _ lines: [Chart.Line]) -> Markup {
        Chart(
            title: title, lines: lines, starts: time.starts, step: time.step.rawValue, isStacked: true, text: whole,
            link: { _ in nil }
        ).markup
    }

    /// What became of notifications, and what was not told by itself.
    static func outcomes(_ sent: Counted, _ coalesced: Counted) -> Markup {
        let (all, merged) = (sent.all.parts, coalesced.all.parts)
        return chart(
            "Notifications \(sent.time.stretch), sent, coalesced and refused", sent.time,
            [
                Chart.Line(name: "sent", values: all.mapValues { Double($0.sum.count - $0.failures) }),
                Chart.Line(name: "coalesced", values: merged.mapValues { Double($0.sum.count) }),
                Chart.Line(name: "refused by webhooks", values: all.mapValues { Double($0.failures) }),
            ])
    }

    /// Ways by which somebody accepts.
    private static let (byApp, byPage) = ("in an app", "in a browser")

    /// - Parameter client: of whoever accepts.
    static func way(_ client: String) -> String { SharingNews.isPage(client) ? byPage : byApp }

    /// - Parameter counted: acceptances, by way.
    static func ways(_ counted: Counted) -> Markup {
        let lines = [byApp, byPage].map { way -> Chart.Line in
            let parts = counted.found.largest.first { $0.name == way }?.parts ?? [:]
            return Chart.Line(name: way, values: parts.mapValues { Double($0.sum.count) })
        }
        return chart("Acceptances \(counted.time.stretch) by way", counted.time, lines)
    }

    /// How the keys of zones and shares stand, as the last round found them.
    func keys(_ filters: [TelemetryDimension: String]) -> Markup {
        guard let round = services.keyWatch.round else {
            return
                "<h2>Keys</h2>\n<p>The server has not been round all zones yet: that takes a minute, or more with many.</p>"
        }
        let rows = round.lines(filters).map { place, sums -> Markup in
            let due: Markup = sums.due > 0 ? "<span class=\"bad\">\(sums.due)</span>" : "0"
            return """
                <tr><th scope="row">\(place.container)</th><td>\(place.environment)</td><td class="n">\(sums.scopes)</td>\
                <td class="n">\(due)</td><td>\(sums.dueSince > 0 ? Self.time(microseconds: sums.dueSince) : "")</td>\
                <td class="n">\(sums.outdated)</td><td class="n">\(sums.behind)</td><td class="n">\(sums.unread)</td></tr>

                """
        }
        return """
            <h2>Keys</h2>
            <p>Of zones and shares whose rosters say more than that somebody made them, as of \(Chart.time(round.ended)). A new \
            key is due where somebody left or has changed keys and nobody has written since; since when is by that person's \
            clock.</p>
            \(Self.table(
                "Keys",
                [
                    "container", "environment", "zones and shares", "new key due", "the first since",
                    "with an older key in use", "behind by at most", "not read",
                ], rows, numbers: [2, 3, 5, 6, 7], empty: "There is none."))
            """
    }

    /// By day, whatever the stretches of the others are.
    private static func accounts(_ counted: Counted, made: [Int64: Double]?) -> Markup {
        var lines = [Chart.Line(name: "active", values: counted.active)]
        if let made { lines.append(Chart.Line(name: "new", values: made)) }
        return Chart(
            title: "Accounts a day", lines: lines, starts: counted.time.days, step: TelemetryFile.Step.day.rawValue,
            isStacked: false, text: whole, link: { _ in nil }
        ).markup
    }

    static let nothing: Markup = "<p>This server counts nothing: it runs with <code>--telemetry off</code>.</p>"

    // MARK: Tables

    /// - Parameter link: of a word.
    static func sums(_ counted: Counted?, limit: Int, link: (String) -> String) -> Markup {
        guard let counted else { return .none }
        let isOfRequests = counted.kind == .request
        let rows = counted.lines(atMost: limit).map { line -> Markup in
            let (sum, failures) = (line.series.total.sum, line.series.total.failures)
            let name: Markup =
                line.isRest || line.series.name.isEmpty
                ? "\(line.name)" : "<a href=\"\(link(line.series.name))\">\(line.name)</a>"
            let rest: Markup = """
                <td class="n">\("\(share(of: failures, in: sum.count)) %")</td>\
                <td class="n">\(tenths(milliseconds(0.5, line.series.total)))</td>\
                <td class="n">\(tenths(milliseconds(0.95, line.series.total)))</td>\
                <td class="n">\(bytes(sum.bytesIn))</td><td class="n">\(bytes(sum.bytesOut))</td>
                """
            return """
                <tr><th scope="row">\(name)</th><td class="n">\(sum.count)</td><td class="n">\(failures)</td>\
                \(isOfRequests ? rest : .none)</tr>

                """
        }
        let (word, by) = (Counted.word(counted.kind), counted.by.rawValue)
        return table(
            "\(word) by \(by)",
            [by, word.lowercased(), "failed"] + (isOfRequests ? ["share", "p50 ms", "p95 ms", "in", "out"] : []), rows,
            numbers: Set(1...7), empty: "There was nothing in this time.")
    }

    /// What was answered instead, what each means, and what an app should do.
    static func codes(_ counted: Counted?) -> Markup {
        guard let counted else { return .none }
        let total = counted.all.total
        let codes = total.codes.sorted { $0.value == $1.value ? $0.key < $1.key : $0.value > $1.value }
        let rows = codes.map { code, count -> Markup in
            let entry = ErrorGuide.built[code]
            return """
                <tr><th scope="row">\(code)</th><td class="n">\(count)</td>\
                <td class="n">\("\(share(of: count, in: total.sum.count)) %")</td>\
                <td>\(TelemetrySeries.Part.isServerError(code) ? "the server's" : "the client's")</td>\
                <td>\(entry?.meaning ?? "")</td><td>\(entry?.remedy ?? "")</td></tr>

                """
        }
        return "<h2>Codes</h2>\n"
            + table(
                "Codes", ["code", "times", "share", "whose", "raised when", "what an app should do"], rows,
                numbers: [1, 2], empty: "Nothing was refused.")
    }

    // MARK: Numbers

    private static func milliseconds(_ share: Double, _ part: TelemetrySeries.Part) -> Double {
        Double(part.sum.latency.quantile(share)) / 1_000
    }

    private static func share(of part: Int64, in whole: Int64) -> Double {
        whole > 0 ? (Double(part) / Double(whole) * 1_000).rounded() / 10 : 0
    }

    private static func tenths(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}
