import SealStorage

/// The text format of Prometheus, version 0.0.4.
enum PrometheusText {
    static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    static func write(_ registry: MetricsRegistry) -> String {
        var text = ""
        var last: ServerMetric?
        for (metric, values, series) in registry.all() {
            if metric != last {
                text +=
                    "# HELP \(metric.rawValue) \(escapeHelp(metric.help))\n# TYPE \(metric.rawValue) \(metric.kind.rawValue)\n"
                last = metric
            }
            let labels = zip(metric.labels, values).map { "\($0)=\"\(escapeLabel($1))\"" }
            switch metric.kind {
            case .counter, .gauge: text += "\(metric.rawValue)\(braces(labels)) \(number(series.number))\n"
            case .histogram:
                var below: UInt64 = 0
                for (bound, count) in zip(series.bounds.map(number) + ["+Inf"], series.counts) {
                    // Each bucket holds those before it.
                    below += count
                    text += "\(metric.rawValue)_bucket\(braces(labels + ["le=\"\(bound)\""])) \(below)\n"
                }
                text += "\(metric.rawValue)_sum\(braces(labels)) \(number(series.sum))\n"
                text += "\(metric.rawValue)_count\(braces(labels)) \(below)\n"
            }
        }
        return text
    }

    static func escapeLabel(_ text: String) -> String { escape(text, quotes: true) }

    static func escapeHelp(_ text: String) -> String { escape(text, quotes: false) }

    /// By scalars: "\r\n" is one character, and its end of line would stay.
    private static func escape(_ text: String, quotes: Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Whole numbers without a point, as people write them.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map { "\($0)" } ?? "\(value)"
    }

    private static func braces(_ labels: [String]) -> String {
        labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}"
    }
}
