import Foundation
import SealCoding
import SealStatements
import Testing

@testable import SealKit

/// A date's text gives back the very date.
@Suite(.timeLimit(.minutes(60))) struct DateTextTests {
    private static func date(_ seconds: Double) -> Date { Date(timeIntervalSinceReferenceDate: seconds) }

    @Test(
        arguments: [
            (0, "2001-01-01T00:00:00Z"), (-0.0, "2001-01-01T00:00:00Z"), (0.1, "2001-01-01T00:00:00.1Z"),
            (-0.1, "2000-12-31T23:59:59.9Z"),
            (-0.75, "2000-12-31T23:59:59.25Z"), (1.5, "2001-01-01T00:00:01.5Z"), (-1.5, "2000-12-31T23:59:58.5Z"),
            (-1, "2000-12-31T23:59:59Z"), (785_457_600.123456, "2025-11-21T22:40:00.123456Z"),
            (-978_307_200, "1970-01-01T00:00:00Z"),
            (-978_307_200.5, "1969-12-31T23:59:59.5Z"), (1e-7, "2001-01-01T00:00:00.0000001Z"),
            (-1e-7, "2000-12-31T23:59:59.9999999Z"),
            (63_113_904_000, "4001-01-01T00:00:00Z"), (252_423_993_599, "9999-12-31T23:59:59Z"),
            (252_423_993_600, "@252423993600"),
            (-63_113_904_000, "0001-01-01T00:00:00Z"), (-63_113_904_001, "@-63113904001"),
            (-63_113_904_000.5, "@-63113904000.5"),
            (1e20, "@100000000000000000000"), (1e21, "@1e+21"), (1e300, "@1e+300"), (-1.5e300, "@-1.5e+300"),
            (.greatestFiniteMagnitude, "@1.7976931348623157e+308"),
        ] as [(Double, String)])
    func textIsAsShortAsItCanBe(_ seconds: Double, _ text: String) throws {
        #expect(DateText.text(Self.date(seconds)) == text)
        #expect(try #require(DateText.date(text)) == Self.date(seconds))
    }

    @Test func everyDateComesBack() throws {
        var numbers: [Double] = [.leastNonzeroMagnitude, .leastNormalMagnitude, .ulpOfOne, 0.3, 1 / 3, 978_307_200]
        for year in [Double(-63_113_904_000), 252_423_993_600] { numbers += [year.nextUp, year.nextDown] }
        for _ in 0..<20_000 {
            numbers += [.random(in: -1...1), .random(in: -1e9...1e9), .random(in: -7e10...3e11)]
            let any = Double(bitPattern: .random(in: 0...(.max)))
            if any.isFinite { numbers.append(any) }
        }
        for number in numbers.flatMap({ [$0, -$0] }) {
            let text = DateText.text(Self.date(number))
            #expect(DateText.date(text) == Self.date(number), "\(number) \(text)")
        }
        // A system date has no more digits than its microseconds.
        for _ in 0..<10_000 {
            let time = Int64.random(in: 0...4_000_000_000_000_000)
            #expect(DateText.text(Date(microseconds: time)).utf8.count <= 27, "\(time)")
        }
    }

    @Test(arguments: [
        "", "@", "@-", "@nan", "@inf", "@0x10", "@1e400", "@0", "@1.5", "@1e300", "@252423993600.0", "2025-11-21",
        "2025-02-30T00:00:00Z",
        "2025-11-21T22:40:00.Z", "2025-11-21T22:40:00.10Z", "2025-11-21T22:40:00.12345xZ", "0000-01-01T00:00:00Z",
        "10000-01-01T00:00:00Z",
        "2025-11-21 22:40:00Z", "2025-11-21T22:40:00", "2025-11-21T22:40:00+00:00", "+123-01-01T00:00:00Z",
        "2025-11-21T24:00:00Z",
        "2001-01-01T00:00:00.10000000000000000001Z", "2001-01-01T00:00:00.\(String(repeating: "1", count: 500))Z",
    ])
    func whatIsNotWrittenIsNotRead(_ text: String) { #expect(DateText.date(text) == nil) }

    @Test(
        arguments: [
            ("2001-01-02", 86_400), ("2001-01-01T02:00:00+02:00", 0), ("2000-12-31T22:30:00.250-01:30", 0.25),
            ("2000-12-31T23:59:59.900Z", -0.1),
            ("@1.50", 1.5), ("2001-01-01T00:00:00.100000000000000000000000001Z", 0.1),
        ] as [(String, Double)])
    func peopleMayWriteMore(_ text: String, _ seconds: Double) {
        #expect(DateText.date(typed: text) == Self.date(seconds))
    }

    @Test(arguments: [
        "soon", "@", "@nan", "@1e999", "2001-01-01T00:00:00+24:00", "2001-01-01T00:00:00+2:00", "+123-01-01",
        "2001-01-01T00:00:00ZZ", "é001-01-01",
    ])
    func whatIsNoDateIsNotTakenForOne(_ text: String) { #expect(DateText.date(typed: text) == nil) }
}
