import Foundation
import SealCoding

/// Dates as this command writes and reads them.
enum Timestamp {
    /// The very date, for scripts and for what somebody has stored.
    static func text(_ date: Date) -> String { DateText.text(date) }

    /// To the second, for people.
    static func shown(_ date: Date) -> String {
        text(Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.rounded(.down)))
    }

    static func parse(_ text: String) -> Date? { DateText.date(typed: text) }
}
