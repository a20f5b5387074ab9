import Foundation
import SealStorage
package import SealWire
import SwiftProtobuf

/// What alerts say.
package enum AlertText {
    package enum State: String, Sendable { case fired, recovered, test }

    /// - Parameters:
    ///   - reading: nil where nothing can be said, as of a test.
    ///   - time: microseconds since 1970.
    package static func notice(
        _ rule: AlertRule, _ state: State, _ reading: AlertReading?, origin: String, id: String, time: Int64
    ) -> Sealkit_V1_AlertNotice {
        .with {
            ($0.deliveryID, $0.server, $0.alert) = (id, origin, rule.name)
            ($0.state, $0.measure, $0.minutes) = (state.rawValue, rule.measure.rawValue, rule.message.minutes)
            ($0.value, $0.threshold, $0.time) = (reading?.value ?? 0, reading?.threshold ?? 0, time)
            $0.text = text(rule, state, reading, origin: origin, time: time)
        }
    }

    package static func mail(_ notice: Sealkit_V1_AlertNotice, to address: String) -> OutgoingMessage {
        OutgoingMessage(
            id: notice.deliveryID, recipient: address, subject: "\(notice.alert): \(notice.state) (\(notice.server))",
            body: notice.text, html: "", language: "en")
    }

    private static func text(
        _ rule: AlertRule, _ state: State, _ reading: AlertReading?, origin: String, time: Int64
    ) -> String {
        let date = Date(timeIntervalSince1970: Double(time / 1_000_000)).formatted(.iso8601)
        let what =
            switch state {
            case .fired: "fired at \(date)"
            case .recovered: "recovered at \(date): it does not hold any more"
            case .test: "is tested at \(date): nothing has to be done"
            }
        var lines = ["The alert “\(rule.name)” of \(origin) \(what).", "", condition(rule)]
        if let reading {
            lines.append("Now: \(number(reading.value)) \(rule.measure.unit)\(compared(rule, reading)).")
        }
        lines += rule.filters.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            "Only: \($0.key.rawValue) \($0.value)"
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// In one line.
    private static func condition(_ rule: AlertRule) -> String {
        let side = rule.message.below ? "below" : "above"
        let when =
            rule.measure.isOfRequests
            ? "in the last \(rule.message.minutes == 1 ? "minute" : "\(rule.message.minutes) minutes")"
            : "at the moment"
        switch rule.threshold {
        case .value(let value):
            return "It fires when \(rule.measure.rawValue) \(when) is \(side) \(number(value)) \(rule.measure.unit)."
        case .factor(let factor):
            return """
                It fires when \(rule.measure.rawValue) \(when) is \(side) \(number(factor)) times the average of the \
                day before.
                """
        }
    }

    private static func compared(_ rule: AlertRule, _ reading: AlertReading) -> String {
        guard case .factor = rule.threshold else { return "" }
        return ", compared with \(number(reading.threshold))"
    }

    package static func number(_ value: Double) -> String {
        if value.magnitude >= 100 || value == value.rounded() { return String(format: "%.0f", value) }
        return String(format: "%.2f", value)
    }
}
