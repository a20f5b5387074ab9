import Foundation
import SealKit

/// Dates as this command writes and reads them.
enum Timestamp {
    static func text(_ date: Date) -> String { DateText.text(date) }

    static func parse(_ text: String) -> Date? { DateText.date(typed: text) }
}
