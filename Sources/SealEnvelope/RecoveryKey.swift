public import SealPrimitives

/// The printed recovery key: 256 random bits that yield the id of a bundle on the server and the key that seals all
/// seed generations in it.
///
/// Printed as 13 groups of five characters of Crockford's base 32: four characters of data (20 bits, big-endian bit
/// order; the last four bits of all are zero) and a check character, Σ αⁱ⁺¹·cᵢ + group number in GF(32). A single wrong
/// character or two swapped ones are always noticed, and in the right group.
public struct RecoveryKey: Sendable {
    public let bytes: SecretBytes

    public init(_ bytes: SecretBytes) throws(SealError) {
        guard bytes.count == 32 else { throw .invalidLength }
        self.bytes = bytes
    }

    public init(random: inout some RandomSource) { bytes = SecretBytes(random: &random) }

    /// Under which the server keeps the bundle, for whoever names it.
    public var bundleID: ID16 { ID16(prefixOf: Hash.identifier(bytes, .recoveryID)) }

    // MARK: Bundles

    /// Seals the seeds of all generations, oldest first.
    public func seal(_ seeds: [AccountSeed], random: inout some RandomSource) -> [UInt8] {
        var plaintext: [UInt8] = []
        for seed in seeds {
            var bytes = seed.bytes.copyBytes()
            plaintext += bytes
            wipe(&bytes)
        }
        let secret = SecretBytes(taking: &plaintext)
        return AEAD.seal(secret, under: Hash.derive(bytes, .recoveryKey, []), associatedData: associatedData, random: &random)
    }

    /// - Throws: `authenticationFailed`; `malformed`.
    public func open(_ sealed: [UInt8]) throws(SealError) -> [AccountSeed] {
        var plaintext = try AEAD.open(sealed, under: Hash.derive(bytes, .recoveryKey, []), associatedData: associatedData)
        defer { wipe(&plaintext) }
        guard !plaintext.isEmpty, plaintext.count % 32 == 0 else { throw .malformed }
        var seeds: [AccountSeed] = []
        for start in stride(from: 0, to: plaintext.count, by: 32) {
            seeds.append(try AccountSeed(SecretBytes(copying: plaintext[start..<start + 32])))
        }
        return seeds
    }

    private var associatedData: [UInt8] {
        var pae = PAE(.recoveryBundle, pieces: 1)
        pae.add(bundleID)
        return pae.finish()
    }
}

// MARK: The printed form

extension RecoveryKey {
    private static let alphabet = [UInt8]("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
    private static let groups = 13

    /// The text to print. It is the secret itself: show it once, keep it nowhere.
    public func text() -> String {
        var data = bytes.copyBytes()
        defer { wipe(&data) }
        var symbols: [UInt8] = []
        var accumulator: UInt32 = 0
        var bits = 0
        for byte in data + [0] {
            accumulator = (accumulator << 8 | UInt32(byte)) & 0xFFFF
            bits += 8
            while bits >= 5, symbols.count < RecoveryKey.groups * 4 {
                bits -= 5
                symbols.append(UInt8(truncatingIfNeeded: accumulator >> UInt32(bits)) & 31)
            }
        }
        var text: [UInt8] = []
        for group in 0..<RecoveryKey.groups {
            let part = Array(symbols[group * 4..<group * 4 + 4])
            if group > 0 { text.append(0x2D) }
            for symbol in part + [RecoveryKey.check(part, group: group)] { text.append(RecoveryKey.alphabet[Int(symbol)]) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads a typed key; case, spaces and hyphens do not matter, and O, I and L are read as 0 and 1.
    /// - Throws: `mistypedRecoveryKey`; `mistypedGroups(in:)` tells which groups to look at.
    public init(text: String) throws(SealError) {
        guard let symbols = RecoveryKey.symbols(text), RecoveryKey.mistyped(symbols).isEmpty else {
            throw .mistypedRecoveryKey
        }
        var data: [UInt8] = []
        var accumulator: UInt32 = 0
        var bits = 0
        for (index, symbol) in symbols.enumerated() where index % 5 != 4 {
            accumulator = (accumulator << 5 | UInt32(symbol)) & 0xFFFF
            bits += 5
            if bits >= 8, data.count < 32 {
                bits -= 8
                data.append(UInt8(truncatingIfNeeded: accumulator >> UInt32(bits)))
            }
        }
        guard accumulator & 0xF == 0 else { throw .mistypedRecoveryKey }
        bytes = SecretBytes(taking: &data)
    }

    /// The groups (from 1) whose check character does not fit; nil when there are not 13 groups of valid characters.
    public static func mistypedGroups(in text: String) -> [Int]? {
        symbols(text).map { mistyped($0).map { $0 + 1 } }
    }

    private static func mistyped(_ symbols: [UInt8]) -> [Int] {
        (0..<groups).filter { group in
            let part = Array(symbols[group * 5..<group * 5 + 4])
            return check(part, group: group) != symbols[group * 5 + 4]
        }
    }

    private static func symbols(_ text: String) -> [UInt8]? {
        var symbols: [UInt8] = []
        for character in text.utf8 {
            let upper = character >= 0x61 && character <= 0x7A ? character - 32 : character
            switch upper {
            case 0x20, 0x2D, 0x0A, 0x0D, 0x09: continue
            case 0x4F: symbols.append(0)
            case 0x49, 0x4C: symbols.append(1)
            default:
                guard let value = alphabet.firstIndex(of: upper) else { return nil }
                symbols.append(UInt8(value))
            }
        }
        return symbols.count == groups * 5 ? symbols : nil
    }

    /// In GF(32) = GF(2)[x]/(x⁵ + x² + 1), α = x.
    private static func check(_ symbols: [UInt8], group: Int) -> UInt8 {
        var sum = UInt8(group)
        for (index, symbol) in symbols.enumerated() {
            var value = symbol
            for _ in 0...index {
                value <<= 1
                if value & 32 != 0 { value ^= 0b100101 }
            }
            sum ^= value
        }
        return sum
    }
}

extension RecoveryKey: CustomStringConvertible {
    public var description: String { "RecoveryKey" }
}
