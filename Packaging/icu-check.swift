// What the command has from ICU by way of Foundation, as text: the same with all of ICU's data and with what
// Packaging/icu.py leaves of it.
import Foundation

func line(_ name: String, _ text: String) { print("\(name)\t\(text)") }

let everything: String.CompareOptions = [.caseInsensitive, .diacriticInsensitive, .widthInsensitive]
for value in UInt32(0x20)...0x2FFFF {
    guard let scalar = Unicode.Scalar(value) else { continue }
    let text = String(Character(scalar))
    // Queries, and what Yams and GRDB ask for by regular expressions.
    let parts = [
        text.folding(options: everything, locale: nil), text.precomposedStringWithCompatibilityMapping,
        text.decomposedStringWithCanonicalMapping, text.uppercased(), text.capitalized,
        text.range(of: #"^\w$"#, options: .regularExpression) == nil ? "" : "w",
        text.range(of: #"^\p{Alphabetic}$"#, options: [.regularExpression, .caseInsensitive]) == nil ? "" : "a",
        text.compare("ä", options: everything) == .orderedAscending ? "<" : "",
    ]
    line(String(value, radix: 16), parts.joined(separator: "\t"))
}

let formatter = DateFormatter()
formatter.locale = Locale(identifier: "en_US_POSIX")
formatter.timeZone = TimeZone(secondsFromGMT: 0)
for format in ["EEE, dd MMM yyyy HH:mm:ss Z", "EEEE, d MMMM y G, h:mm a zzzz"] {
    formatter.dateFormat = format
    for month in 0..<24 {
        let date = Date(timeIntervalSince1970: 1_700_000_000 + Double(month) * 2_700_000)
        line("date", formatter.string(from: date))
        line("iso", date.formatted(.iso8601.year().month().day().time(includingFractionalSeconds: true)))
    }
}
for name in ["Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Pacific/Apia"] {
    let zone = TimeZone(identifier: name)
    line("zone", "\(zone?.secondsFromGMT(for: Date(timeIntervalSince1970: 1_700_000_000)) ?? -1)")
    line("zone", "\(zone?.isDaylightSavingTime(for: Date(timeIntervalSince1970: 1_720_000_000)) ?? false)")
}
let date = Date(timeIntervalSince1970: 1_700_000_000)
line("calendar", "\(Calendar(identifier: .gregorian).dateComponents(in: .gmt, from: date).weekday ?? 0)")
for host in ["bücher.example", "例え.テスト", "faß.example", "ŉ.example", "xn--bcher-kva.example", "a\u{200D}b.example"] {
    line("host", URL(string: "https://\(host)/")?.absoluteString ?? "none")
}
for number in [0, 1.5, 1_234_567.891, .infinity] {
    line("number", String(format: "%.3f ", number) + NSNumber(value: number).stringValue)
}
for locale in ["de_DE", "ja_JP", "tr_TR", "en_GB", "xx", ""] {
    // Not what they say in their languages, but that they say something.
    let style = Date.FormatStyle(locale: Locale(identifier: locale))
    line("locale", "\(Locale(identifier: locale).identifier) \(!date.formatted(style).isEmpty)")
}
let sorted = ["b", "a", "Z", "ä", "10", "9"].sorted { $0.localizedStandardCompare($1) == .orderedAscending }
line("sorted", sorted.joined())
