import SealStatements

/// Times in an archive: ISO 8601 in UTC with microseconds, of the years 1 to 9999; other times, which a date field can hold as
/// well, as `@` and microseconds since 1970.
enum ArchiveDate {
    /// The calendar repeats after 400 years; this is five times as many.
    private static let cycle: Int64 = 5 * 146_097 * 86_400_000_000
    private static let cycleYears = 2_000
    /// The years 1 to 9999.
    private static let years: Range<Int64> = -62_135_596_800_000_000..<253_402_300_800_000_000

    static func text(_ time: Int64) -> String {
        guard years.contains(time) else { return "@\(time)" }
        let isBefore = time < 0
        let shifted = isBefore ? time + cycle : time
        let text = ServerRequests.date(at: shifted)
        let year = (Int(text.prefix(4)) ?? 0) - (isBefore ? cycleYears : 0)
        return padded(year, 4) + text.dropFirst(4).dropLast() + "." + padded(Int(shifted % 1_000_000), 6) + "Z"
    }

    /// Nil for anything that `text` does not give; the fraction may be left out.
    static func time(_ text: String) -> Int64? {
        if text.hasPrefix("@") { return Int64(text.dropFirst()) }
        let utf8 = [UInt8](text.utf8)
        guard utf8.count == 20 || (utf8.count == 27 && utf8[19] == UInt8(ascii: ".")), text.hasSuffix("Z"),
            let year = Int(text.prefix(4)), year >= 1
        else { return nil }
        var fraction: Int64 = 0
        if utf8.count == 27 {
            for digit in utf8[20..<26] {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
                fraction = fraction * 10 + Int64(digit - UInt8(ascii: "0"))
            }
        }
        let isBefore = year < 1970
        let whole = padded(isBefore ? year + cycleYears : year, 4) + text.dropFirst(4).prefix(15) + "Z"
        guard let time = ServerRequests.time(of: whole) else { return nil }
        return time - (isBefore ? cycle : 0) + fraction
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
