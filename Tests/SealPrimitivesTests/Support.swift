import SealPrimitives

/// Bytes that are the same in every run: SHA-256 of a counter, one block after the other.
struct FixedRandom: RandomSource {
    private var counter: UInt64
    private var left: [UInt8] = []

    init(_ seed: UInt64 = 0) { counter = seed << 32 }

    mutating func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        for index in buffer.indices {
            if left.isEmpty {
                var pae = PAE(pieces: 1)
                pae.add(counter)
                left = Hash.sha256(pae).bytes
                counter += 1
            }
            buffer[index] = left.removeFirst()
        }
    }
}

func secret(_ byte: UInt8, count: Int = 32) -> SecretBytes {
    SecretBytes(copying: [UInt8](repeating: byte, count: count))
}

/// Every way to flip one bit of some bytes, and every way to cut them short.
func alterations(of bytes: [UInt8]) -> [[UInt8]] {
    var all = bytes.indices.map { index in
        var altered = bytes
        altered[index] ^= 1 << UInt8(index % 8)
        return altered
    }
    all += (0..<bytes.count).map { [UInt8](bytes.prefix($0)) }
    all.append(bytes + [0])
    return all
}
