/// Decimal numbers with leading zeros.
public enum Decimal {
    /// ASCII digits, as many as `count`: the number's lowest.
    public static func digits(_ number: UInt64, count: Int) -> [UInt8] {
        var digits = [UInt8](repeating: 0x30, count: count)
        var rest = number
        for index in digits.indices.reversed() {
            digits[index] += UInt8(rest % 10)
            rest /= 10
        }
        return digits
    }
}
