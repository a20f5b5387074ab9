public import SealPrimitives

/// What a device shows that is to be enrolled, and the other one is given: to copy, to scan, or to type.
public enum EnrolmentInvitation {
    private static let prefix = "sealkit-enrol:"

    /// `sealkit-enrol:` and 32 hexadecimal digits in groups of four.
    public static func text(_ id: ID16) -> String {
        var text = prefix
        for (index, digit) in id.hex.unicodeScalars.enumerated() {
            if index > 0, index % 4 == 0 { text.append("-") }
            text.unicodeScalars.append(digit)
        }
        return text
    }

    /// Case, spaces and hyphens do not matter, nor whether the beginning is there.
    /// - Throws: `malformed`.
    public static func parse(_ text: String) throws(SealError) -> ID16 {
        var typed: [UInt8] = []
        for scalar in text.unicodeScalars where scalar != "-" && !scalar.isWhiteSpace {
            guard let ascii = UInt8(exactly: scalar.value), ascii < 0x80 else { throw .malformed }
            typed.append((0x41...0x5A).contains(ascii) ? ascii | 0x20 : ascii)
        }
        let start = prefix.utf8.filter { $0 != 0x2D }
        if typed.starts(with: start) { typed.removeFirst(start.count) }
        do throws(SealError) {
            return try ID16(try Hex.decode(String(decoding: typed, as: UTF8.self)))
        } catch {
            throw .malformed
        }
    }
}
