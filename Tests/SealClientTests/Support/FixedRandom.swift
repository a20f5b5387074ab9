import SealPrimitives

/// Bytes that are the same in every run.
struct FixedRandom: RandomSource {
    private var counter: UInt64
    private var left: [UInt8] = []

    init(_ seed: UInt64) { counter = seed << 32 }

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
