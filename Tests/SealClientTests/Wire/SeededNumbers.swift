/// SplitMix64: the same numbers for the same seed.
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }

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
