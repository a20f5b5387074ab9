import Foundation
import SealKit
import SealServer

/// Telemetry as `sealkit telemetry` shows it: a table with sparklines, JSON, or comma-separated values.
enum TelemetryText {
    // MARK: For people

    static func table(_ telemetry: ServerOperator.Telemetry, kind: String, by: String) -> String {
        let steps = ["minute": "minutes", "hour": "hours", "day": "days"]["\(telemetry.step)"] ?? ""
        var lines = [
            "\(kind) by \(by), \(Timestamp.shown(telemetry.from)) to \(Timestamp.shown(telemetry.until)), in \(steps)"
        ]
        var rows = [["", "count", "refused", "p50", "p95", "p99", "in", "out", ""]]
        rows.append(row("all", telemetry.all, telemetry))
        rows += telemetry.lines.map { row(name($0), $0, telemetry) }
        lines += aligned(rows)
        let codes = telemetry.all.total.codes.sorted { $0.value == $1.value ? $0.key < $1.key : $0.value > $1.value }
        if !codes.isEmpty {
            lines.append("refused with: " + codes.map { "\($0.key.escaped) \($0.value)" }.joined(separator: ", "))
        }
        lines += active(telemetry)
        return lines.joined(separator: "\n")
    }

    private static func name(_ line: ServerOperator.Telemetry.Line) -> String {
        line.isRest ? "(the rest)" : line.name.isEmpty ? "(none)" : line.name.escaped
    }

    private static func row(
        _ name: String, _ line: ServerOperator.Telemetry.Line, _ telemetry: ServerOperator.Telemetry
    ) -> [String] {
        let sums = line.total
        let share = sums.count == 0 ? 0 : Double(sums.refused) / Double(sums.count) * 100
        return [
            name, "\(sums.count)", sums.refused == 0 ? "" : String(format: "%.1f %%", share), time(sums.latency50),
            time(sums.latency95), time(sums.latency99), ByteCount.text(Int64(clamping: sums.bytesIn)),
            ByteCount.text(Int64(clamping: sums.bytesOut)), sparkline(line, telemetry),
        ]
    }

    /// The first column and the last to the left, numbers to the right.
    private static func aligned(_ rows: [[String]]) -> [String] {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = row.enumerated().map { column, text -> String in
                let padding = String(repeating: " ", count: widths[column] - text.count)
                return column == 0 || column == row.count - 1 ? text + padding : padding + text
            }
            let line = cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }

    static func time(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let milliseconds = Double(seconds) * 1_000 + Double(attoseconds) / 1e15
        switch milliseconds {
        case 0: return ""
        case ..<10: return String(format: "%.1f ms", milliseconds)
        case ..<1_000: return String(format: "%.0f ms", milliseconds)
        default: return String(format: "%.1f s", milliseconds / 1_000)
        }
    }

    private static let bars = Array(" ▁▂▃▄▅▆▇█")
    private static let widest = 48

    /// Counts over the time, from its beginning to its end.
    static func sparkline(_ line: ServerOperator.Telemetry.Line, _ telemetry: ServerOperator.Telemetry) -> String {
        let step = Double(telemetry.step.rawValue)
        let length = telemetry.until.timeIntervalSince(telemetry.from)
        let width = min(max(1, Int((length / step).rounded(.up))), widest)
        var counts = [UInt64](repeating: 0, count: width)
        for part in line.parts {
            let place = part.start.timeIntervalSince(telemetry.from) / max(length, step) * Double(width)
            counts[min(max(0, Int(place)), width - 1)] += part.sums.count
        }
        let most = counts.max() ?? 0
        guard most > 0 else { return "" }
        // What there was at all shows.
        let heights = counts.map { $0 == 0 ? 0 : max(1, Int((Double($0) / Double(most) * 8).rounded())) }
        return String(heights.map { bars[$0] })
    }

    private static func active(_ telemetry: ServerOperator.Telemetry) -> [String] {
        ServerOperator.Telemetry.Active.Stretch.allCases.compactMap { stretch in
            guard let last = telemetry.active.last(where: { $0.stretch == stretch }) else { return nil }
            let day = Timestamp.shown(last.start).prefix(stretch == .month ? 7 : 10)
            let when = stretch == .week ? "in the week since \(day)" : stretch == .day ? "on \(day)" : "in \(day)"
            return "about \(Int(clamping: last.accounts).counted("active account")) \(when)"
        }
    }

    // MARK: For programs

    static func json(_ telemetry: ServerOperator.Telemetry) -> [[String: JSONValue]] {
        let head: [String: JSONValue] = [
            "from": .string(Timestamp.text(telemetry.from)), "until": .string(Timestamp.text(telemetry.until)),
            "step": .integer(Int64(telemetry.step.rawValue)), "state": .string(telemetry.state.rawValue),
            "lost": OperatedAccountText.number(telemetry.lost), "total": .object(json(telemetry.all.total)),
            "parts": parts(telemetry.all),
            "active": .array(
                telemetry.active.map {
                    .object([
                        "stretch": .string($0.stretch.rawValue), "start": .string(Timestamp.text($0.start)),
                        "accounts": OperatedAccountText.number($0.accounts),
                    ])
                }),
        ]
        return [head]
            + telemetry.lines.map {
                [
                    "name": .string($0.name), "isRest": .bool($0.isRest), "total": .object(json($0.total)),
                    "parts": parts($0),
                ]
            }
    }

    private static func parts(_ line: ServerOperator.Telemetry.Line) -> JSONValue {
        .array(
            line.parts.map { part in
                .object(json(part.sums).merging(["start": .string(Timestamp.text(part.start))]) { first, _ in first })
            })
    }

    private static func json(_ sums: ServerOperator.Telemetry.Sums) -> [String: JSONValue] {
        var fields = Dictionary(
            uniqueKeysWithValues: numbers(sums).map { ($0.name, OperatedAccountText.number($0.value)) })
        fields["codes"] = .object(sums.codes.mapValues { OperatedAccountText.number($0) })
        return fields
    }

    /// Times in microseconds.
    private static func numbers(_ sums: ServerOperator.Telemetry.Sums) -> [(name: String, value: UInt64)] {
        [
            ("count", sums.count), ("refused", sums.refused), ("serverErrors", sums.serverErrors),
            ("bytesIn", sums.bytesIn), ("bytesOut", sums.bytesOut),
            ("latency", sums.averageLatency.clampedMicroseconds),
            ("latency50", sums.latency50.clampedMicroseconds), ("latency95", sums.latency95.clampedMicroseconds),
            ("latency99", sums.latency99.clampedMicroseconds), ("bytesIn50", sums.bytesIn50),
            ("bytesIn95", sums.bytesIn95),
            ("bytesOut50", sums.bytesOut50), ("bytesOut95", sums.bytesOut95),
        ]
    }

    static func csv(_ telemetry: ServerOperator.Telemetry, by: String) -> [String] {
        let names = numbers(telemetry.all.total).map(\.name)
        return [(["start", by] + names).joined(separator: ",")]
            + telemetry.lines.flatMap { line in
                line.parts.map { part in
                    ([Timestamp.text(part.start), cell(line.isRest ? "(the rest)" : line.name)]
                        + numbers(part.sums).map { "\($0.value)" }).joined(separator: ",")
                }
            }
    }

    /// Without a character that would move a terminal.
    static func cell(_ text: String) -> String { SpreadsheetCell.text(text.escaped) }
}
