/// Random choices that can be made again: SplitMix64. Not for secrets.
public struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A generator of its own for somebody who makes choices beside this one.
    public mutating func fork() -> SeededRandom { SeededRandom(seed: next()) }

    public mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(1, bound))) }

    /// True that many times in a hundred.
    public mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    public mutating func one<T>(of all: [T]) -> T? { all.isEmpty ? nil : all[below(all.count)] }
}
