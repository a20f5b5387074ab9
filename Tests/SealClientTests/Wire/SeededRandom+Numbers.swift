import SealLab

extension SeededRandom {
    /// Of every size, with the ends of what has one and several bytes.
    mutating func number() -> UInt64 {
        switch below(6) {
        case 0: UInt64(below(3))
        case 1: [127, 128, 16_383, 16_384, 1 << 31, 1 << 32, 1 << 63, .max][below(8)]
        default: next() >> UInt64(below(64))
        }
    }

    /// Mostly short; at times beyond what one byte can say.
    mutating func length() -> Int { below(12) == 0 ? 120 + below(20) : below(9) }
}
