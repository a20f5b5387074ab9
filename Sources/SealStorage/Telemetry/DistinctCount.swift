import Foundation

/// About how many different values there were, without any of them: HyperLogLog with 4,096 registers of a byte. Few are
/// counted almost exactly, many to 2 % of their number. Two are united register by register.
package struct DistinctCount: Sendable, Equatable {
    private static let bits = 12
    private static let registerCount = 1 << bits

    package private(set) var registers: [UInt8]

    package init() { registers = Array(repeating: 0, count: Self.registerCount) }

    /// Nil for bytes that are none.
    package init?(registers: [UInt8]) {
        guard registers.count == Self.registerCount, registers.allSatisfy({ $0 <= 64 - Self.bits + 1 })
        else { return nil }
        self.registers = registers
    }

    /// - Parameter hash: of the value: alike for the same one, and evenly spread.
    package mutating func add(_ hash: UInt64) {
        let register = Int(hash >> UInt64(64 - Self.bits))
        let rest = hash << UInt64(Self.bits) | 1 << UInt64(Self.bits - 1)
        registers[register] = max(registers[register], UInt8(rest.leadingZeroBitCount + 1))
    }

    package mutating func add(_ other: DistinctCount) {
        for register in registers.indices { registers[register] = max(registers[register], other.registers[register]) }
    }

    package var estimate: Int64 {
        let count = Double(Self.registerCount)
        let sum = registers.reduce(0.0) { $0 + 1 / Double(UInt64(1) << UInt64($1)) }
        let raw = 0.7213 / (1 + 1.079 / count) * count * count / sum
        let empty = registers.count { $0 == 0 }
        // What the first formula is bad at.
        guard raw <= 2.5 * count, empty > 0 else { return Int64(raw.rounded()) }
        return Int64((count * log(count / Double(empty))).rounded())
    }
}
