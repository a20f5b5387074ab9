import SealPrimitives

/// An input read as choices. Where it ends every choice is 0: that is always the plain one.
struct Choices {
    private let input: [UInt8]
    private var offset = 0

    init(_ input: [UInt8]) { self.input = input }

    var isEmpty: Bool { offset >= input.count }

    mutating func byte() -> UInt8 {
        guard offset < input.count else { return 0 }
        defer { offset += 1 }
        return input[offset]
    }

    mutating func number<N: FixedWidthInteger>(_ type: N.Type = N.self) -> N {
        var value: N = 0
        for _ in 0..<N.bitWidth / 8 { value = value << (N.bitWidth > 8 ? 8 : 0) | N(truncatingIfNeeded: byte()) }
        return value
    }

    mutating func number(below limit: Int) -> Int {
        limit > 256 ? Int(number(UInt16.self)) % limit : Int(byte()) % limit
    }

    /// True once in sixteen.
    mutating func rarely() -> Bool { byte() & 15 == 15 }

    /// True once in four.
    mutating func often() -> Bool { byte() & 3 == 3 }

    mutating func flag() -> Bool { byte() & 1 == 1 }

    mutating func oneOf<T>(_ all: [T]) -> T { all[number(below: all.count)] }

    mutating func bytes(atMost limit: Int) -> [UInt8] {
        let count = min(number(below: limit + 1), input.count - offset)
        guard count > 0 else { return [] }
        defer { offset += count }
        return [UInt8](input[offset..<offset + count])
    }

    mutating func rest() -> [UInt8] {
        defer { offset = input.count }
        return offset < input.count ? [UInt8](input[offset...]) : []
    }

    /// 32 bytes that a single one stands for.
    mutating func digest() -> Digest { sampleDigest(byte()) }

    /// A name of printable ASCII, 1 to 16 bytes.
    mutating func name() -> String {
        let bytes = [byte()] + bytes(atMost: 15)
        return String(decoding: bytes.map { 0x20 + $0 % 0x5F }, as: UTF8.self)
    }
}

func sampleDigest(_ byte: UInt8) -> Digest { Hash.digest(.grantHash, [byte]) }
func secret(_ byte: UInt8) -> SecretBytes { SecretBytes(copying: [UInt8](repeating: byte, count: 32)) }

/// The same bytes in every run.
struct FixedRandom: RandomSource {
    private var counter: UInt64 = 0

    mutating func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        for index in buffer.indices {
            counter = counter &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            buffer[index] = UInt8(truncatingIfNeeded: counter >> 33)
        }
    }
}
