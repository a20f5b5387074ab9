/// Writes the protocol's canonical encoding: fixed-width little-endian numbers, byte strings behind their LE32 length,
/// flags as one byte 0 or 1.
public struct CanonicalWriter: Sendable {
    public private(set) var bytes: [UInt8] = []

    public init(capacity: Int = 256) { bytes.reserveCapacity(capacity) }

    @inlinable
    public mutating func number<N: FixedWidthInteger>(_ value: N) {
        append(word: UInt64(truncatingIfNeeded: value), count: N.bitWidth / 8)
    }

    @usableFromInline
    mutating func append(word: UInt64, count: Int) {
        var word = word.littleEndian
        unsafe withUnsafeBytes(of: &word) {
            unsafe bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[..<count]))
        }
    }

    public mutating func flag(_ value: Bool) { bytes.append(value ? 1 : 0) }
    public mutating func digest(_ value: Digest) { value.append(to: &bytes) }
    public mutating func id(_ value: ID16) { value.append(to: &bytes) }
    public mutating func raw(_ value: [UInt8]) { bytes.append(contentsOf: value) }

    public mutating func blob(_ value: [UInt8]) {
        bytes.appendLittleEndian(UInt32(value.count))
        bytes.append(contentsOf: value)
    }

    public mutating func string(_ value: String) {
        bytes.appendLittleEndian(UInt32(value.utf8.count))
        bytes.append(contentsOf: value.utf8)
    }

    public mutating func optionalString(_ value: String?) {
        flag(value != nil)
        if let value { string(value) }
    }
}

/// Reads the canonical encoding and accepts nothing else: every length is checked before anything is allocated, and
/// `finish` refuses trailing bytes.
public struct CanonicalReader: Sendable {
    private let bytes: [UInt8]
    private var offset: Int

    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
        offset = 0
    }

    public var remaining: Int { bytes.count - offset }

    private mutating func take(_ count: Int) throws(SealError) -> Range<Int> {
        guard count >= 0, count <= remaining else { throw .malformed }
        defer { offset += count }
        return offset..<(offset + count)
    }

    @inlinable
    public mutating func number<N: FixedWidthInteger>(_ type: N.Type = N.self) throws(SealError) -> N {
        N(truncatingIfNeeded: try word(N.bitWidth / 8))
    }

    /// Up to eight bytes.
    @usableFromInline
    mutating func word(_ count: Int) throws(SealError) -> UInt64 {
        var value: UInt64 = 0
        for index in try take(count).reversed() { value = value << 8 | UInt64(bytes[index]) }
        return value
    }

    public mutating func byte() throws(SealError) -> UInt8 { bytes[try take(1).lowerBound] }

    public mutating func flag() throws(SealError) -> Bool {
        switch try byte() {
        case 0: false
        case 1: true
        default: throw .malformed
        }
    }

    public mutating func digest() throws(SealError) -> Digest { try Digest(bytes[take(32)]) }
    public mutating func id() throws(SealError) -> ID16 { try ID16(bytes[take(16)]) }
    public mutating func raw(_ count: Int) throws(SealError) -> [UInt8] { [UInt8](bytes[try take(count)]) }

    /// Compared before it becomes an `Int`, which has 32 bits in a browser.
    private mutating func length(atMost limit: Int) throws(SealError) -> Int {
        let count = try number(UInt32.self)
        guard count <= limit else { throw .invalidLength }
        return Int(count)
    }

    public mutating func blob(atMost limit: Int) throws(SealError) -> [UInt8] {
        let count = try length(atMost: limit)
        return try raw(count)
    }

    public mutating func string(atMost limit: Int) throws(SealError) -> String {
        let count = try length(atMost: limit)
        let range = try take(count)
        guard let text = String(wellFormed: bytes[range]) else { throw .malformed }
        return text
    }

    public mutating func optionalString(atMost limit: Int) throws(SealError) -> String? {
        try flag() ? try string(atMost: limit) : nil
    }

    /// A count of things that take at least `size` bytes each: more than can follow is refused before allocation.
    public mutating func count<N: FixedWidthInteger>(_ type: N.Type, ofAtLeast size: Int) throws(SealError) -> Int {
        let value = try number(type)
        guard let count = Int(exactly: value), count <= remaining / size else { throw .malformed }
        return count
    }

    /// Everything that is left must be zero (padding).
    public mutating func zeros() throws(SealError) {
        var accumulated: UInt8 = 0
        for index in try take(remaining) { accumulated |= bytes[index] }
        guard accumulated == 0 else { throw .malformed }
    }

    /// - Throws: `malformed` when bytes are left over.
    public func finish() throws(SealError) {
        guard remaining == 0 else { throw .malformed }
    }
}
