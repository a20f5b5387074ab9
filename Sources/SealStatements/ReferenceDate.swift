/// 2001-01-01T00:00:00Z, from which date values count their seconds, as Foundation's `Date` does.
public enum ReferenceDate {
    /// Of the reference date, since 1970.
    private static let microseconds: Int64 = 978_307_200_000_000

    /// A system date as a date value: what apps see of it, what it is compared and sorted by.
    ///
    /// The nearest double to every time within 270 years of 2001; there no two microseconds give the same one.
    /// - Parameter time: microseconds since 1970.
    public static func seconds(ofMicroseconds time: Int64) -> Double {
        let (since, isBeyond) = time.subtractingReportingOverflow(microseconds)
        return (isBeyond ? Double(time) - Double(microseconds) : Double(since)) / 1_000_000
    }

    /// The whole microsecond that is nearest to a date value: what `seconds(ofMicroseconds:)` was given, within 270
    /// years of 2001.
    /// - Returns: microseconds since 1970; nil for what no 64 bits of them reach.
    public static func microseconds(ofSeconds seconds: Double) -> Int64? {
        guard let since = Int64(exactly: (seconds * 1_000_000).rounded()) else { return nil }
        let (time, isBeyond) = since.addingReportingOverflow(microseconds)
        guard !isBeyond else { return nil }
        // A century and more away the product is rounded too, and may end beside the microsecond that was meant.
        for beside in [time, time &- 1, time &+ 1] where self.seconds(ofMicroseconds: beside) == seconds {
            return beside
        }
        return time
    }
}
