import CSodium
import SealPrimitives

/// One ciphertext with one tag that XChaCha20-Poly1305 opens under two keys, to two plaintexts: Poly1305 commits to no
/// key ("invisible salamanders", Dodis et al. 2018). Two blocks: the first is free, the second is solved for equal
/// tags.
enum TwoKeyCiphertext {
    static func make(_ first: SecretBytes, _ second: SecretBytes, associatedData: [UInt8]) -> [UInt8] {
        var random = SystemRandom()
        while true {
            let nonce = random.bytes(AEAD.nonceBytes)
            let free = random.bytes(16)
            let (one, other) = (key(first, nonce), key(second, nonce))
            let blocks = Array(stride(from: 0, to: associatedData.count, by: 16)).map { start in
                let block = [UInt8](associatedData[start..<min(start + 16, associatedData.count)])
                return block + [UInt8](repeating: 0, count: 16 - block.count)
            }
            var lengths: [UInt8] = []
            lengths.appendLittleEndian(UInt64(associatedData.count))
            lengths.appendLittleEndian(UInt64(32))
            // All but the second block: its coefficient is r², since the block of lengths follows.
            func known(_ r: Field) -> Field {
                var sum = Field.zero
                for block in blocks + [free] { sum = (sum + Field(block: block)) * r }
                return sum * r * r + Field(block: lengths) * r
            }
            let (r1, r2) = (Field(one.r), Field(other.r))
            guard let inverse = (r1 * r1 - r2 * r2).inverse else { continue }
            let solved = (known(r2) - known(r1) + Field(other.s) - Field(one.s)) * inverse
            // A whole block has its 129th bit set.
            guard let block = solved.block else { continue }
            let ciphertext = free + block
            let message = blocks.flatMap { $0 } + ciphertext + lengths
            let tag = authenticate(message, one)
            if tag == authenticate(message, other) { return nonce + ciphertext + tag }
        }
    }

    private static func key(_ secret: SecretBytes, _ nonce: [UInt8]) -> (r: [UInt8], s: [UInt8], whole: [UInt8]) {
        var stream = [UInt8](repeating: 0, count: 32)
        _ = secret.withPointer { crypto_stream_xchacha20(&stream, 32, nonce, $0) }
        var r = [UInt8](stream[..<16])
        for index in [3, 7, 11, 15] { r[index] &= 15 }
        for index in [4, 8, 12] { r[index] &= 252 }
        return (r, [UInt8](stream[16...]), stream)
    }

    private static func authenticate(_ message: [UInt8], _ key: (r: [UInt8], s: [UInt8], whole: [UInt8])) -> [UInt8] {
        var tag = [UInt8](repeating: 0, count: 16)
        _ = crypto_onetimeauth(&tag, message, UInt64(message.count), key.whole)
        return tag
    }
}

/// Numbers modulo 2^130 − 5, in five limbs of 26 bits.
private struct Field {
    private var limbs: [UInt64]
    static let zero = Field(limbs: [0, 0, 0, 0, 0])

    private init(limbs: [UInt64]) { self.limbs = limbs }

    init(_ bytes: [UInt8]) {
        limbs = [0, 0, 0, 0, 0]
        for bit in 0..<bytes.count * 8 where bytes[bit / 8] >> UInt8(bit % 8) & 1 == 1 {
            limbs[bit / 26] |= 1 << UInt64(bit % 26)
        }
    }

    init(block: [UInt8]) { self.init(block + [1]) }

    private static func carried(_ wide: [UInt64]) -> Field {
        var limbs = wide
        for _ in 0..<3 {
            for index in 0..<5 {
                let carry = limbs[index] >> 26
                limbs[index] &= 0x3FF_FFFF
                if index < 4 { limbs[index + 1] += carry } else { limbs[0] += carry * 5 }
            }
        }
        let prime: [UInt64] = [0x3FF_FFFB, 0x3FF_FFFF, 0x3FF_FFFF, 0x3FF_FFFF, 0x3FF_FFFF]
        if !limbs.reversed().lexicographicallyPrecedes(prime.reversed()) { limbs = [limbs[0] - prime[0], 0, 0, 0, 0] }
        return Field(limbs: limbs)
    }

    static func + (left: Field, right: Field) -> Field { carried(zip(left.limbs, right.limbs).map { $0 + $1 }) }

    static func - (left: Field, right: Field) -> Field {
        // Twice the modulus, so that no limb falls below nothing.
        let twice: [UInt64] = [0x7FF_FFF6, 0x7FF_FFFE, 0x7FF_FFFE, 0x7FF_FFFE, 0x7FF_FFFE]
        return carried((0..<5).map { left.limbs[$0] + twice[$0] - right.limbs[$0] })
    }

    static func * (left: Field, right: Field) -> Field {
        var wide = [UInt64](repeating: 0, count: 5)
        for i in 0..<5 {
            for j in 0..<5 { wide[(i + j) % 5] += left.limbs[i] * right.limbs[j] * (i + j < 5 ? 1 : 5) }
        }
        return carried(wide)
    }

    /// By Fermat: to the power of 2^130 − 7. nil for zero.
    var inverse: Field? {
        guard limbs.contains(where: { $0 != 0 }) else { return nil }
        var result = Field(limbs: [1, 0, 0, 0, 0])
        // 2^130 − 7 in binary: 127 ones, then 001.
        for bit in (0..<130).reversed() {
            result = result * result
            if bit != 1 && bit != 2 { result = result * self }
        }
        return result
    }

    /// As a whole block of Poly1305; nil for numbers that none stands for.
    var block: [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 17)
        for bit in 0..<130 where limbs[bit / 26] >> UInt64(bit % 26) & 1 == 1 { bytes[bit / 8] |= 1 << UInt8(bit % 8) }
        return bytes[16] == 1 ? [UInt8](bytes[..<16]) : nil
    }
}
