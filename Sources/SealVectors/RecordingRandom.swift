import SealPrimitives

/// Deterministic randomness for generating: SHA-256 of a PAE of seed and block number. It records what it hands out, so
/// that a vector states the very bytes that a sealing function drew.
struct RecordingRandom: RandomSource {
    let seed: String
    private var block: UInt64 = 0
    private var left: [UInt8] = []
    private(set) var drawn: [UInt8] = []

    init(_ seed: String) { self.seed = seed }

    mutating func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        for index in buffer.indices {
            if left.isEmpty {
                var pae = PAE(pieces: 2)
                pae.add(seed)
                pae.add(block)
                left = Hash.sha256(pae).bytes.reversed()
                block += 1
            }
            let byte = left.removeLast()
            drawn.append(byte)
            buffer[index] = byte
        }
    }
}
