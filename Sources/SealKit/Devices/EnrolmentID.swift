import SealPrimitives

/// What the new device shows and the other one is given: to copy, to scan, or to type.
enum EnrolmentID {
    private static let prefix = "sealkit-enrol:"

    /// `sealkit-enrol:` and 32 hexadecimal digits in groups of four.
    static func text(_ id: ID16) -> String {
        let digits = Array(id.hex)
        return prefix
            + stride(from: 0, to: digits.count, by: 4).map { String(digits[$0..<$0 + 4]) }.joined(separator: "-")
    }

    /// Case, spaces and hyphens do not matter, nor whether the beginning is there.
    static func parse(_ text: String) throws(SealKitError) -> ID16 {
        var typed = text.lowercased().filter { !$0.isWhitespace && $0 != "-" }
        let start = prefix.filter { $0 != "-" }
        if typed.hasPrefix(start) { typed.removeFirst(start.count) }
        guard let bytes = try? Hex.decode(typed), let id = try? ID16(bytes) else {
            throw SealKitError(
                .invalidArguments, "this is not what a device shows that is to be enrolled",
                remedy: "copy the whole of it: 32 digits and letters from a to f, in groups of four")
        }
        return id
    }
}
