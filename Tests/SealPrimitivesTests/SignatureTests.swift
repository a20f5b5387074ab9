import SealPrimitives
import Testing

@Suite(.timeLimit(.minutes(60))) struct SignatureTests {
    /// RFC 8032, 7.1, test 3.
    @Test func `It is Ed25519 as published`() throws {
        let key = try SigningKey(
            seed: SecretBytes(copying: Hex.decode("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7")))
        #expect(
            Hex.encode(key.verificationKey.bytes) == "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025")
        let signature = key.sign(message: [0xAF, 0x82])
        #expect(
            Hex.encode(signature)
                == "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
        )
        try key.verificationKey.verify(signature, message: [0xAF, 0x82])
    }

    @Test func `A seed has 32 bytes`() {
        #expect(throws: SealError.invalidLength) { try SigningKey(seed: secret(1, count: 31)) }
    }

    @Test(arguments: [
        "0000000000000000000000000000000000000000000000000000000000000000",  // order 4
        "0100000000000000000000000000000000000000000000000000000000000000",  // the neutral element
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",  // order 2
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",  // order 8
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",  // p: not canonical
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",  // p + 1: not canonical
        "0200000000000000000000000000000000000000000000000000000000000000",  // not on the curve
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb9115489080",  // short
    ]) func `Keys of small order, not canonical or off the curve are refused`(hex: String) throws {
        let bytes = try Hex.decode(hex)
        #expect(throws: SealError.invalidKey) { try VerificationKey(bytes) }
    }

    @Test func `An altered signature, message or key does not verify`() throws {
        let key = try SigningKey(seed: secret(1))
        let signature = key.sign(message: [1, 2])
        for altered in alterations(of: signature) {
            #expect(throws: SealError.invalidSignature) { try key.verificationKey.verify(altered, message: [1, 2]) }
        }
        #expect(throws: SealError.invalidSignature) { try key.verificationKey.verify(signature, message: [1, 3]) }
        let other = try SigningKey(seed: secret(2)).verificationKey
        #expect(throws: SealError.invalidSignature) { try other.verify(signature, message: [1, 2]) }
    }

    @Test func `S plus the group's order is refused`() throws {
        let key = try SigningKey(seed: secret(1))
        var signature = key.sign(message: [1])
        let order = try Hex.decode("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
        var carry = 0
        for index in 0..<32 {
            carry += Int(signature[32 + index]) + Int(order[index])
            signature[32 + index] = UInt8(truncatingIfNeeded: carry)
            carry >>= 8
        }
        #expect(throws: SealError.invalidSignature) { try key.verificationKey.verify(signature, message: [1]) }
    }
}
