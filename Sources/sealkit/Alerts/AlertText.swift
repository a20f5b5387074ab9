import Foundation
import SealKit

/// Alerts as `sealkit alerts` shows them.
enum AlertText {
    static func lines(_ status: ServerOperator.AlertStatus) -> String {
        let alert = status.alert
        var lines = ["\(alert.name.escaped)  \(state(status))", "  \(condition(alert))"]
        lines += alert.filters.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            "  only \($0.key.rawValue) \($0.value.escaped)"
        }
        if let reading = status.reading {
            var line = "  now \(number(reading.value))"
            if case .timesAverage = alert.threshold { line += ", compared with \(number(reading.threshold))" }
            lines.append(line)
        } else if status.checked != nil {
            lines.append("  nothing to be said: too few requests, or no average")
        }
        lines.append("  tells \((alert.mailAddresses + alert.webhooks).map(\.escaped).joined(separator: ", "))")
        if status.waiting > 0 { lines.append("  \(status.waiting.counted("message")) waiting") }
        return lines.joined(separator: "\n")
    }

    private static func state(_ status: ServerOperator.AlertStatus) -> String {
        let since = status.since.map { " since \(Timestamp.shown($0))" } ?? ""
        return (status.isFiring ? "fires" : "quiet") + since
    }

    private static func condition(_ alert: ServerOperator.Alert) -> String {
        let side = alert.isBelow ? "below" : "above"
        let threshold =
            switch alert.threshold {
            case .value(let value): number(value)
            case .timesAverage(let factor): "\(number(factor)) times the average"
            }
        let least = alert.leastRequests > 0 ? ", from \(alert.leastRequests.counted("request")) on" : ""
        let when = alert.measure.isOfRequests ? " in \(alert.minutes.counted("minute"))" : ""
        return "\(alert.measure.rawValue) \(side) \(threshold)\(when)\(least)"
    }

    static func number(_ value: Double) -> String {
        value.magnitude >= 100 || value == value.rounded()
            ? String(format: "%.0f", value) : String(format: "%.2f", value)
    }

    static func json(_ status: ServerOperator.AlertStatus) -> [String: JSONValue] {
        let alert = status.alert
        var fields: [String: JSONValue] = [
            "name": .string(alert.name), "measure": .string(alert.measure.rawValue), "below": .bool(alert.isBelow),
            "minutes": .integer(Int64(alert.minutes)), "leastRequests": .integer(Int64(alert.leastRequests)),
            "filters": .object(
                Dictionary(uniqueKeysWithValues: alert.filters.map { ($0.key.rawValue, JSONValue.string($0.value)) })),
            "mail": .array(alert.mailAddresses.map { .string($0) }),
            "webhooks": .array(alert.webhooks.map { .string($0) }), "firing": .bool(status.isFiring),
            "since": JSONValue(status.since.map(Timestamp.text)),
            "checked": JSONValue(status.checked.map(Timestamp.text)), "waiting": .integer(Int64(status.waiting)),
        ]
        switch alert.threshold {
        case .value(let value): fields["value"] = .double(value)
        case .timesAverage(let factor): fields["timesAverage"] = .double(factor)
        }
        for (name, value) in json(status.reading) { fields[name] = value }
        return fields
    }

    private static func json(_ reading: ServerOperator.AlertReading?) -> [String: JSONValue] {
        [
            "reads": reading.map { .double($0.value) } ?? .null,
            "comparedWith": reading.map { .double($0.threshold) } ?? .null,
        ]
    }

    // MARK: What was

    static func state(_ change: ServerOperator.AlertChange) -> String { change.hasFired ? "fired" : "recovered" }

    static func line(_ change: ServerOperator.AlertChange) -> String {
        let reading = change.reading.map { "  \(number($0.value)), compared with \(number($0.threshold))" } ?? ""
        return "\(Timestamp.shown(change.date))  \(change.name.escaped)  \(state(change))\(reading)"
    }

    static func json(_ change: ServerOperator.AlertChange) -> [String: JSONValue] {
        [
            "time": .string(Timestamp.text(change.date)), "name": .string(change.name), "state": .string(state(change)),
        ].merging(json(change.reading)) { first, _ in first }
    }

    static func csv(_ change: ServerOperator.AlertChange) -> String {
        [
            Timestamp.text(change.date), TelemetryText.cell(change.name), state(change),
            change.reading.map { "\($0.value)" } ?? "", change.reading.map { "\($0.threshold)" } ?? "",
        ].joined(separator: ",")
    }
}
