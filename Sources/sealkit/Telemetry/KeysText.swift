import Foundation
import SealKit

/// How keys of zones and shares stand, as `sealkit telemetry --of keys` shows it.
enum KeysText {
    private typealias Keys = ServerOperator.Telemetry.Keys

    static func line(_ keys: ServerOperator.Telemetry.Keys) -> String {
        var parts = ["\(Int(clamping: keys.scopes).counted("zone or share", "zones and shares"))"]
        let since = keys.dueSince.map { ", the first since \(Timestamp.shown($0))" } ?? ""
        parts.append(keys.due == 0 ? "no key due" : "\(Int(clamping: keys.due).counted("new key")) due\(since)")
        parts.append(
            keys.outdated == 0
                ? "none with an older key in use"
                : "\(keys.outdated) with an older key in use, by \(Int(clamping: keys.behind).counted("key")) at most")
        if keys.unread > 0 { parts.append("\(keys.unread) too long to be read") }
        return "\(keys.container.escaped) \(keys.environment.escaped)  " + parts.joined(separator: "; ")
    }

    private static func fields(_ keys: Keys) -> [(name: String, value: JSONValue, text: String)] {
        func number(_ name: String, _ value: UInt64) -> (String, JSONValue, String) {
            (name, OperatedAccountText.number(value), "\(value)")
        }
        let since = keys.dueSince.map(Timestamp.text) ?? ""
        return [
            ("container", .string(keys.container), TelemetryText.cell(keys.container)),
            ("environment", .string(keys.environment), TelemetryText.cell(keys.environment)),
            number("scopes", keys.scopes), number("due", keys.due), ("dueSince", .string(since), since),
            number("outdated", keys.outdated), number("behind", keys.behind), number("unread", keys.unread),
        ]
    }

    static func json(_ keys: ServerOperator.Telemetry.Keys) -> [String: JSONValue] {
        Dictionary(uniqueKeysWithValues: fields(keys).map { ($0.name, $0.value) })
    }

    static func csv(_ keys: [ServerOperator.Telemetry.Keys]) -> [String] {
        let names = ["container", "environment", "scopes", "due", "dueSince", "outdated", "behind", "unread"]
        return [names.joined(separator: ",")] + keys.map { fields($0).map(\.text).joined(separator: ",") }
    }
}
