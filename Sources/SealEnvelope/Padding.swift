public import SealPrimitives
public import SealStatements

/// Padmé (PURBs, section 4): lengths keep only as many significant bits as their magnitude has, so that at most
/// O(log log n) bits of a length leak, for at most 12 % more bytes.
public enum Padding {
    public static let minimum = 32

    /// The length that `count` bytes are padded to.
    public static func paddedLength(_ count: UInt64) -> UInt64 {
        let count = max(count, UInt64(minimum))
        let exponent = UInt64(63 - count.leadingZeroBitCount)
        let significant = UInt64(64 - exponent.leadingZeroBitCount)
        let mask = (UInt64(1) << (exponent - significant)) - 1
        let (sum, overflow) = count.addingReportingOverflow(mask)
        return overflow ? UInt64.max & ~mask : sum & ~mask
    }

    static func pad(_ bytes: consuming [UInt8]) -> [UInt8] {
        let missing = Int(paddedLength(UInt64(bytes.count))) - bytes.count
        if missing > 0 { bytes.append(contentsOf: repeatElement(0, count: missing)) }
        return bytes
    }
}

extension CanonicalReader {
    /// What is left is the padding of what was read: zeros, and exactly as many as the padding asks for.
    /// - Parameter total: of all bytes, padding included.
    /// - Throws: `malformed`.
    mutating func finishPadded(total: Int) throws(SealError) {
        guard UInt64(total) == Padding.paddedLength(UInt64(total - remaining)) else { throw .malformed }
        try zeros()
    }
}

extension Value {
    /// A padded canonical encoding: one value, then its padding.
    /// - Throws: `malformed`.
    public init(padded bytes: [UInt8]) throws(SealError) {
        var reader = CanonicalReader(bytes)
        self = try Value(reading: &reader)
        try reader.finishPadded(total: bytes.count)
    }
}
