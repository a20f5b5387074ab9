import Foundation
import SealKit

/// Accounts as `sealkit admin` shows them.
enum OperatedAccountText {
    static func line(_ account: ServerOperator.Account) -> String {
        var parts = [
            account.name, "made \(day(account.creationDate))",
            account.lastSeen.map { "seen \(day($0))" } ?? "never seen",
            account.devices.counted("device"), "\(text(account.bytes)) of \(quota(account))",
        ]
        if account.suspension != nil { parts.append("suspended") }
        return parts.joined(separator: "  ")
    }

    static func lines(_ account: ServerOperator.Account) -> String {
        var lines = [line(account)]
        if let suspension = account.suspension {
            // The operator's own words, not an error's.
            let words = suspension.reason
            let reason = words.isEmpty ? "" : ": \(words.escaped)"
            lines.append("  suspended since \(Timestamp.shown(suspension.since))\(reason)")
        }
        lines += account.identities.map { "  \($0.escaped)" }
        return lines.joined(separator: "\n")
    }

    static func json(_ account: ServerOperator.Account) -> [String: JSONValue] {
        [
            "account": .string(account.name), "created": .string(Timestamp.text(account.creationDate)),
            "lastSeen": JSONValue(account.lastSeen.map(day)), "devices": .integer(Int64(account.devices)),
            "bytes": number(account.bytes), "quota": account.quota.map(number) ?? .null,
            "hasOwnQuota": .bool(account.hasOwnQuota), "suspended": .bool(account.suspension != nil),
            "suspendedSince": JSONValue(account.suspension.map { Timestamp.text($0.since) }),
            "suspensionReason": JSONValue(account.suspension?.reason),
            "identities": .array(account.identities.map { .string($0) }),
        ]
    }

    static func number(_ value: UInt64) -> JSONValue { .integer(Int64(clamping: value)) }

    static func text(_ bytes: UInt64) -> String { ByteCount.text(Int64(clamping: bytes)) }

    private static func quota(_ account: ServerOperator.Account) -> String {
        (account.quota.map(text) ?? "no limit") + (account.hasOwnQuota ? " (its own)" : "")
    }

    /// The server tells no more of when an account was seen.
    private static func day(_ date: Date) -> String { String(Timestamp.shown(date).prefix(10)) }
}
