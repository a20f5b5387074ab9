import SealPrimitives

/// What two people compare, by voice or on paper, to know that no server stands between them: 60 digits over the
/// identities of both, the same on both sides.
///
/// It covers every generation of both, so that it changes with either's keys. Thirty digits a person, as in Signal's
/// safety numbers: about 2⁹⁹ for a second identity that gives the same half.
public enum SafetyNumber {
    public static let digits = 60

    /// Sixty digits, without spaces. `groups(of:_:)` shows them.
    public static func of(_ one: IdentityChain, _ other: IdentityChain) -> String {
        let (first, second) = one.userID < other.userID ? (one, other) : (other, one)
        return half(first) + half(second)
    }

    /// Twelve groups of five digits.
    public static func groups(of one: IdentityChain, _ other: IdentityChain) -> [String] {
        let digits = Array(of(one, other).utf8)
        return stride(from: 0, to: digits.count, by: 5).map { String(decoding: digits[$0..<$0 + 5], as: UTF8.self) }
    }

    /// Six times five bytes of the hash, little-endian, modulo 100,000.
    private static func half(_ identity: IdentityChain) -> String {
        var pae = PAE(.safetyNumber, pieces: 3)
        pae.add(identity.current.container)
        pae.add(identity.userID.id)
        pae.add(identity.hash)
        let hash = Hash.digest(pae).bytes
        var text: [UInt8] = []
        for group in 0..<6 {
            var number: UInt64 = 0
            for index in (0..<5).reversed() { number = number << 8 | UInt64(hash[group * 5 + index]) }
            text += Decimal.digits(number % 100_000, count: 5)
        }
        return String(decoding: text, as: UTF8.self)
    }
}
