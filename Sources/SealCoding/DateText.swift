package import Foundation
import SealStatements

/// Dates as text that gives back the very date: ISO 8601 in UTC with as many digits of a second as that takes, of the
/// years 1 to 9999; other dates as `@` and the seconds since 2001-01-01T00:00:00Z.
///
/// The digits are those of the shortest decimal that reads back as the date's number of seconds since 2001, in decimal
/// arithmetic moved to the calendar; after `@` that decimal stands as ECMAScript and RFC 8785 write it.
package enum DateText {
    /// The years 1 to 9999, in seconds since 2001.
    private static let years: Range<Double> = -63_113_904_000..<252_423_993_600
    /// From 1970 to 2001.
    private static let referenceDate: Int64 = 978_307_200
    /// The calendar repeats after 400 years; this is five times as many.
    private static let cycle: Int64 = 5 * 146_097 * 86_400
    private static let cycleYears = 2_000
    /// More digits than any date's text has.
    private static let mostCharacters = 400

    // MARK: Writing

    /// - Parameter date: finite. Another one is told as what it is, in a text that `date` does not read.
    package static func text(_ date: Date) -> String {
        let seconds = date.timeIntervalSinceReferenceDate
        guard seconds.isFinite else { return "@\(seconds)" }
        let decimal = Decimal(seconds)
        guard years.contains(seconds) else { return "@" + decimal.text }
        var (whole, fraction) = decimal.parts
        if seconds < 0 {
            whole = -whole
            if !fraction.isEmpty { (whole, fraction) = (whole - 1, complement(fraction)) }
        }
        return calendar(whole) + (fraction.isEmpty ? "" : "." + fraction) + "Z"
    }

    /// `2001-01-01T00:00:00`, of the years 1 to 9999.
    private static func calendar(_ seconds: Int64) -> String {
        let time = seconds + referenceDate
        let isBefore = time < 0
        let text = ServerRequests.date(at: (isBefore ? time + cycle : time) * 1_000_000)
        let year = (Int(text.prefix(4)) ?? 0) - (isBefore ? cycleYears : 0)
        return padded(year) + text.dropFirst(4).dropLast()
    }

    // MARK: Reading

    /// - Returns: nil for anything that `text` does not give.
    package static func date(_ text: String) -> Date? {
        guard let date = date(typed: text), self.text(date) == text else { return nil }
        return date
    }

    /// As people write it: also with digits that it could do without, with a distance from UTC in the place of `Z`, or
    /// a day alone. The date is the nearest to what the text says.
    /// - Returns: nil for anything else.
    package static func date(typed text: String) -> Date? {
        guard text.utf8.count <= mostCharacters else { return nil }
        if text.hasPrefix("@") { return number(text.dropFirst()).map(Date.init(timeIntervalSinceReferenceDate:)) }
        var rest = text.utf8.count == 10 ? text + "T00:00:00Z" : text
        let moment = rest.prefix(19)
        rest = String(rest.dropFirst(19))
        var fraction = ""
        if rest.hasPrefix(".") {
            fraction = String(rest.dropFirst().prefix { $0.isASCII && $0.isNumber })
            guard !fraction.isEmpty else { return nil }
            rest = String(rest.dropFirst(1 + fraction.count))
        }
        guard let whole = seconds(moment), let offset = offset(rest) else { return nil }
        let time = whole - offset
        // Ends in a digit that counts, so that its complement has as many.
        while fraction.hasSuffix("0") { fraction.removeLast() }
        guard time < 0, !fraction.isEmpty else {
            return number("\(time).\(fraction)0").map(Date.init(timeIntervalSinceReferenceDate:))
        }
        return number("-\(-time - 1).\(complement(fraction))").map(Date.init(timeIntervalSinceReferenceDate:))
    }

    /// Since 2001, of `2001-01-01T00:00:00`.
    private static func seconds(_ text: some StringProtocol) -> Int64? {
        guard text.prefix(4).utf8.allSatisfy({ (0x30...0x39).contains($0) }), let year = Int(text.prefix(4)), year >= 1
        else { return nil }
        let isBefore = year < 1970
        guard let time = ServerRequests.time(of: padded(isBefore ? year + cycleYears : year) + text.dropFirst(4) + "Z")
        else { return nil }
        return time / 1_000_000 - (isBefore ? cycle : 0) - referenceDate
    }

    /// Seconds of `Z` or `+02:00`.
    private static func offset(_ text: String) -> Int64? {
        if text == "Z" { return 0 }
        let digits = Array(text.utf8)
        guard digits.count == 6, let sign = [0x2B: 1, 0x2D: -1][digits[0]] as Int64?, digits[3] == 0x3A,
            [1, 2, 4, 5].allSatisfy({ (0x30...0x39).contains(digits[$0]) })
        else { return nil }
        let number = digits.map { Int64($0) - 0x30 }
        let (hours, minutes) = (number[1] * 10 + number[2], number[4] * 10 + number[5])
        guard hours < 24, minutes < 60 else { return nil }
        return sign * (hours * 3_600 + minutes * 60)
    }

    /// A decimal number: nothing else that `Double` reads.
    private static func number(_ text: some StringProtocol) -> Double? {
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || [0x2B, 0x2D, 0x2E, 0x65].contains($0) }),
            let number = Double(text), number.isFinite
        else { return nil }
        return number
    }

    // MARK: Digits

    /// What is missing to one: of `25` (a quarter), `75`.
    private static func complement(_ fraction: String) -> String {
        var digits = fraction.utf8.map { 0x39 - $0 + 0x30 }
        // Nine less each, and one more at the end, whose digit is not zero: nothing is carried.
        if let last = digits.popLast() { digits.append(last + 1) }
        return String(decoding: digits, as: UTF8.self)
    }

    private static func padded(_ year: Int) -> String {
        let digits = String(year)
        return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }

    /// The shortest decimal that reads back as a number.
    private struct Decimal {
        let isNegative: Bool
        /// Without zeros at either end; none for zero.
        private let digits: Substring
        /// How many of them, or of zeros after them, stand before the point; below zero, zeros behind it.
        private let point: Int

        /// - Parameter number: finite.
        init(_ number: Double) {
            isNegative = number < 0
            let parts = abs(number).description.split(separator: "e")
            let mantissa = parts[0].split(separator: ".", omittingEmptySubsequences: false)
            let all = mantissa[0] + (mantissa.count > 1 ? mantissa[1] : "")
            let significant = all.drop { $0 == "0" }
            let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
            digits =
                significant[
                    ..<(significant.lastIndex { $0 != "0" }.map(significant.index(after:)) ?? significant.startIndex)]
            point = mantissa[0].count + exponent - (all.count - significant.count)
        }

        private static func zeros(_ count: Int) -> String { String(repeating: "0", count: max(0, count)) }

        /// Before the point (below 10¹⁸) and behind it.
        var parts: (whole: Int64, fraction: String) {
            let whole = digits.prefix(max(0, point)) + Self.zeros(point - digits.count)
            return (Int64(whole) ?? 0, digits.isEmpty ? "" : Self.zeros(-point) + digits.dropFirst(max(0, point)))
        }

        /// As ECMAScript writes a number.
        var text: String {
            let sign = isNegative ? "-" : ""
            if digits.isEmpty { return "0" }
            if (1...21).contains(point) {
                let fraction = digits.dropFirst(point)
                return sign + digits.prefix(point) + Self.zeros(point - digits.count)
                    + (fraction.isEmpty ? "" : "." + fraction)
            }
            if (-5...0).contains(point) { return sign + "0." + Self.zeros(-point) + digits }
            let rest = digits.dropFirst()
            return sign + digits.prefix(1) + (rest.isEmpty ? "" : "." + rest) + "e" + (point > 0 ? "+" : "-")
                + "\(abs(point - 1))"
        }
    }
}
