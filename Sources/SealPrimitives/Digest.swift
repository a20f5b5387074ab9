import CSodium

/// A 32-byte hash or other public value of that size, held inline: no allocation, cheap to compare and to hash.
public struct Digest: Sendable, Hashable, Comparable {
    private let a, b, c, d: UInt64

    public static let zero = Digest(0, 0, 0, 0)
    public static let byteCount = 32

    private init(_ a: UInt64, _ b: UInt64, _ c: UInt64, _ d: UInt64) {
        (self.a, self.b, self.c, self.d) = (a, b, c, d)
    }

    /// - Throws: `invalidLength` unless there are exactly 32 bytes.
    public init(_ bytes: some Collection<UInt8>) throws(SealError) {
        guard bytes.count == Digest.byteCount else { throw .invalidLength }
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        unsafe withUnsafeMutableBytes(of: &words) { buffer in
            unsafe buffer.copyBytes(from: bytes)
        }
        self.init(words.0, words.1, words.2, words.3)
    }

    public init(random: inout some RandomSource) {
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        unsafe withUnsafeMutableBytes(of: &words) { unsafe random.fill($0) }
        self.init(words.0, words.1, words.2, words.3)
    }

    /// Filled by a C function that writes 32 bytes.
    init(filling body: (UnsafeMutablePointer<UInt8>) -> Void) {
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        unsafe withUnsafeMutableBytes(of: &words) { buffer in
            // A local of 32 bytes always has a base address.
            if let base = buffer.baseAddress { unsafe body(base.assumingMemoryBound(to: UInt8.self)) }
        }
        self.init(words.0, words.1, words.2, words.3)
    }

    public var bytes: [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(32)
        append(to: &out)
        return out
    }

    public func append(to bytes: inout [UInt8]) {
        // The words were filled in memory order, so memory order it is again, on any machine.
        var words = (a, b, c, d)
        unsafe withUnsafeBytes(of: &words) { unsafe bytes.append(contentsOf: $0) }
    }

    public var hex: String { Hex.encode(bytes) }

    fileprivate var firstWords: (UInt64, UInt64) { (a, b) }

    /// The order of the bytes: `bigEndian` of a word filled in memory order is the number that sorts like them.
    public static func < (left: Digest, right: Digest) -> Bool {
        (left.a.bigEndian, left.b.bigEndian, left.c.bigEndian, left.d.bigEndian)
            < (right.a.bigEndian, right.b.bigEndian, right.c.bigEndian, right.d.bigEndian)
    }
}

/// A 16-byte public identifier: routing ids, invitation ids, operation ids, and the body of a user record name.
public struct ID16: Sendable, Hashable, Comparable {
    private let a, b: UInt64

    public static let byteCount = 16
    public static let zero = ID16()

    private init() { (a, b) = (0, 0) }

    /// - Throws: `invalidLength` unless there are exactly 16 bytes.
    public init(_ bytes: some Collection<UInt8>) throws(SealError) {
        guard bytes.count == ID16.byteCount else { throw .invalidLength }
        var words: (UInt64, UInt64) = (0, 0)
        unsafe withUnsafeMutableBytes(of: &words) { buffer in
            unsafe buffer.copyBytes(from: bytes)
        }
        (a, b) = words
    }

    public init(random: inout some RandomSource) {
        var words: (UInt64, UInt64) = (0, 0)
        unsafe withUnsafeMutableBytes(of: &words) { unsafe random.fill($0) }
        (a, b) = words
    }

    /// The first half of a digest.
    public init(prefixOf digest: Digest) {
        (a, b) = digest.firstWords
    }

    public var bytes: [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(16)
        append(to: &out)
        return out
    }

    public func append(to bytes: inout [UInt8]) {
        var words = (a, b)
        unsafe withUnsafeBytes(of: &words) { unsafe bytes.append(contentsOf: $0) }
    }

    public var hex: String { Hex.encode(bytes) }

    /// As for digests.
    public static func < (left: ID16, right: ID16) -> Bool {
        (left.a.bigEndian, left.b.bigEndian) < (right.a.bigEndian, right.b.bigEndian)
    }
}
