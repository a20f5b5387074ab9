import Foundation

/// Dates as ISO 8601 in UTC, to the microsecond where there is one.
enum Timestamp {
    static func text(_ date: Date) -> String {
        let seconds = date.timeIntervalSince1970.rounded(.down)
        let micros = Int(((date.timeIntervalSince1970 - seconds) * 1_000_000).rounded())
        let whole = Date(timeIntervalSince1970: seconds).formatted(.iso8601)
        return micros == 0 || micros > 999_999 ? whole : whole.dropLast() + String(format: ".%06dZ", micros)
    }

    static func parse(_ text: String) -> Date? {
        if let date = try? Date(text, strategy: .iso8601) { return date }
        if let date = try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)) { return date }
        return try? Date(text, strategy: Date.ISO8601FormatStyle().year().month().day())
    }
}
