import SealPrimitives
import SealStatements

/// Public keys as they come: signing keys, grant keys, and signatures under them.
enum PublicKeyTarget: FuzzTarget {
    static let name = "public-key"
    static let maximumLength = 1_400
    static let seeds = [
        Seed.hex("identity", "signingKey"), .hex("identity", "grantKey"), .hex("identity", "loginKey"),
        .made([UInt8](repeating: 0, count: 32)), .made(StandInHPKE.publicKey(seed: secret(1))),
    ]

    static func run(_ input: [UInt8]) {
        require(HybridKeyCheck.isValid(input) == isGrantKey(input), "a grant key taken or refused wrongly")
        let signer = World.people[0].signingKey
        let signature = signer.sign(message: input)
        certain("an own signature") { try signer.verificationKey.verify(signature, message: input) }
        refuses("a hostile signature", with: .invalidSignature) {
            try signer.verificationKey.verify([UInt8](input.prefix(64)), message: [UInt8](input.dropFirst(64)))
        }
        guard let key = try? VerificationKey(input.prefix(32)) else { return }
        require(key.bytes == [UInt8](input.prefix(32)), "a key with other bytes")
        refuses("somebody else's signature", with: .invalidSignature) {
            // The seeds are public: the fuzzer's key may be the signer's own.
            if key == signer.verificationKey { throw SealError.invalidSignature }
            try key.verify(signature, message: input)
        }
    }

    /// 768 coefficients of twelve bits, read bit by bit.
    private static func isGrantKey(_ bytes: [UInt8]) -> Bool {
        guard bytes.count == 1_216 else { return false }
        for coefficient in 0..<768 {
            var value = 0
            for bit in 0..<12 {
                let position = coefficient * 12 + bit
                value |= Int(bytes[position / 8] >> UInt8(position % 8) & 1) << bit
            }
            if value >= 3_329 { return false }
        }
        return !isSmallOrder([UInt8](bytes.suffix(32)))
    }

    /// The points whose order divides 8 on curve and twist (RFC 7748, section 6.1), with the spellings that are not
    /// canonical.
    private static func isSmallOrder(_ point: [UInt8]) -> Bool {
        var point = point
        point[31] &= 0x7F
        return smallOrders.contains(point)
    }

    private static let smallOrders: [[UInt8]] = {
        func number(_ low: UInt8) -> [UInt8] { [low] + [UInt8](repeating: 0xFF, count: 30) + [0x7F] }
        let zeros = [UInt8](repeating: 0, count: 31)
        let eighth = certain("a point") {
            try Hex.decode("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800")
        }
        let other = certain("a point") {
            try Hex.decode("5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157")
        }
        return [[0] + zeros, [1] + zeros, eighth, other, number(0xEC), number(0xED), number(0xEE)]
    }()
}
