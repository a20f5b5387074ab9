import Foundation
import SealKit

/// Requests of the log, and queries for them, as `sealkit logs` shows them.
enum LogText {
    static func line(_ entry: ServerOperator.LogEntry) -> String {
        var parts = [Timestamp.text(entry.date), entry.operation.escaped]
        let place = [entry.container, entry.environment, entry.database].filter { !$0.isEmpty }
        if !place.isEmpty { parts.append(place.map(\.escaped).joined(separator: " ")) }
        parts.append(entry.hasFailed ? entry.code.escaped : "ok")
        if entry.refusedItems > 0 { parts.append("\(entry.refusedItems) of its records refused") }
        parts += [
            TelemetryText.time(entry.duration), "in \(OperatedAccountText.text(entry.bytesIn))",
            "out \(OperatedAccountText.text(entry.bytesOut))",
        ]
        for (name, word) in [
            ("", entry.client), ("group", entry.group), ("user", entry.user), ("request", entry.request),
        ] where !word.isEmpty {
            parts.append(name.isEmpty ? word.escaped : "\(name) \(word.escaped)")
        }
        return parts.joined(separator: "  ")
    }

    static func bare(_ entry: ServerOperator.LogEntry) -> String {
        [Timestamp.text(entry.date), entry.operation.escaped, entry.hasFailed ? entry.code.escaped : "ok"].joined(
            separator: " ")
    }

    static func json(_ entry: ServerOperator.LogEntry) -> [String: JSONValue] {
        var fields: [String: JSONValue] = [
            "time": .string(Timestamp.text(entry.date)),
            "microseconds": OperatedAccountText.number(entry.duration.clampedMicroseconds),
            "bytesIn": OperatedAccountText.number(entry.bytesIn),
            "bytesOut": OperatedAccountText.number(entry.bytesOut), "refusedItems": .integer(Int64(entry.refusedItems)),
        ]
        for (name, word) in words(entry) { fields[name] = .string(word) }
        return fields
    }

    static let csvHeader =
        "time,operation,container,environment,database,client,group,groupID,code,user,request,microseconds,bytesIn,bytesOut,refusedItems"

    static func csv(_ entry: ServerOperator.LogEntry) -> String {
        ([Timestamp.text(entry.date)] + words(entry).map { TelemetryText.cell($0.word) } + [
            "\(entry.duration.clampedMicroseconds)", "\(entry.bytesIn)", "\(entry.bytesOut)",
            "\(entry.refusedItems)",
        ]).joined(separator: ",")
    }

    private static func words(_ entry: ServerOperator.LogEntry) -> [(name: String, word: String)] {
        [
            ("operation", entry.operation), ("container", entry.container), ("environment", entry.environment),
            ("database", entry.database), ("client", entry.client), ("group", entry.group),
            ("groupID", entry.groupID), ("code", entry.code), ("user", entry.user), ("request", entry.request),
        ]
    }

    // MARK: Queries

    /// As somebody would type it.
    static func words(_ query: ServerOperator.LogQuery) -> String {
        let words = fields(query).map { name, value in value.isEmpty ? "--\(name)" : "--\(name) \(value.escaped)" }
        return words.isEmpty ? "everything" : words.joined(separator: " ")
    }

    static func json(_ query: ServerOperator.LogQuery, name: String) -> [String: JSONValue] {
        [
            "name": .string(name),
            "query": .object(
                Dictionary(
                    uniqueKeysWithValues: fields(query).map { name, value in
                        (name, value.isEmpty ? .bool(true) : .string(value))
                    })),
        ]
    }

    private static func fields(_ query: ServerOperator.LogQuery) -> [(name: String, value: String)] {
        var fields: [(String, String)] = []
        if let from = query.from { fields.append(("from", Timestamp.text(from))) }
        if let until = query.until { fields.append(("until", Timestamp.text(until))) }
        if let last = query.last { fields.append(("last", "\(last.components.seconds / 60)m")) }
        if let outcome = query.outcome { fields.append((outcome.rawValue, "")) }
        fields += query.filters.sorted { $0.key.rawValue < $1.key.rawValue }.map { ($0.key.rawValue, $0.value) }
        let rest = [
            ("text", query.text), ("user", query.user), ("request", query.request), ("group-id", query.groupID),
        ]
        fields += rest.filter { !$0.1.isEmpty }
        if let (seconds, attoseconds) = query.leastDuration?.components {
            fields.append(("slower-than", "\(seconds * 1_000 + attoseconds / 1_000_000_000_000_000)"))
        }
        return fields
    }
}
