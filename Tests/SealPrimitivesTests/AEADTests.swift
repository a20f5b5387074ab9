import SealPrimitives
import Testing

@Suite(.timeLimit(.minutes(60))) struct AEADTests {
    let key = secret(7)
    let context: [UInt8] = [1, 2, 3]

    @Test func `What is sealed opens under the same key and context`() throws {
        var random = FixedRandom()
        for count in [0, 1, 15, 16, 17, 64, 1000] {
            let plaintext = random.bytes(count)
            let sealed = AEAD.seal(plaintext, under: key, associatedData: context, random: &random)
            #expect(sealed.count == count + AEAD.overhead)
            #expect(try AEAD.open(sealed, under: key, associatedData: context) == plaintext)
        }
    }

    /// draft-irtf-cfrg-xchacha-03, A.3.1: a published ciphertext opens, so ours are plain XChaCha20-Poly1305.
    @Test func `It is XChaCha20-Poly1305 as published`() throws {
        let key = SecretBytes(
            copying: try Hex.decode("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f"))
        let sealed = try Hex.decode(
            "404142434445464748494a4b4c4d4e4f5051525354555657"
                + "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6708c54c216cb96b72e1213b4522f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff921f9664c97637da9768812f615c68b13b52e"
                + "c0875924c1c7987947deafd8780acf49")
        let plaintext = try AEAD.open(sealed, under: key, associatedData: Hex.decode("50515253c0c1c2c3c4c5c6c7"))
        #expect(String(decoding: plaintext, as: UTF8.self).hasPrefix("Ladies and Gentlemen of the class of '99"))
    }

    @Test func `What a draw seals opens as plain XChaCha20-Poly1305`() throws {
        var random = FixedRandom()
        var draw = NonceDraw(random: &random)
        let first = SealingKey(key, draw: draw)
        let second = SealingKey(secret(8), draw: draw)
        for number in 0..<50 as Range<UInt8> {
            let one = first.seal([number], associatedData: [number], draw: &draw)
            let other = second.seal([number], associatedData: [number], draw: &draw)
            #expect(try AEAD.open(one, under: key, associatedData: [number]) == [number])
            #expect(try AEAD.open(other, under: secret(8), associatedData: [number]) == [number])
        }
    }

    @Test func `No nonce comes twice in a call, whatever keys share its draw`() {
        var random = FixedRandom()
        var draw = NonceDraw(random: &random)
        let first = SealingKey(key, draw: draw)
        let second = SealingKey(secret(8), draw: draw)
        var nonces: Set<[UInt8]> = []
        for _ in 0..<300 {
            nonces.insert([UInt8](first.seal([], associatedData: [], draw: &draw).prefix(AEAD.nonceBytes)))
            nonces.insert([UInt8](second.seal([], associatedData: [], draw: &draw).prefix(AEAD.nonceBytes)))
        }
        #expect(nonces.count == 600)
        #expect(Set(nonces.map { [UInt8]($0.prefix(16)) }).count == 1, "16 random bytes, drawn once")
        #expect(
            Set(nonces.map { $0[16..<24].reversed().reduce(0) { $0 << 8 | Int($1) } }) == Set(0..<600),
            "then LE64 of a counter")
    }

    @Test func `Two calls draw two nonces`() {
        var random = SystemRandom()
        let one = AEAD.seal([1], under: key, associatedData: [], random: &random)
        let other = AEAD.seal([1], under: key, associatedData: [], random: &random)
        #expect(one.prefix(16) != other.prefix(16))
    }

    @Test func `Anything altered, cut or extended is refused`() {
        var random = FixedRandom()
        let sealed = AEAD.seal([1, 2, 3, 4], under: key, associatedData: context, random: &random)
        for altered in alterations(of: sealed) {
            #expect(throws: SealError.authenticationFailed) {
                try AEAD.open(altered, under: key, associatedData: context)
            }
        }
    }

    @Test func `Another key, context, or key length looks the same from outside`() {
        var random = FixedRandom()
        let sealed = AEAD.seal([1, 2, 3, 4], under: key, associatedData: context, random: &random)
        for (key, context) in [(secret(8), context), (key, [1, 2]), (key, []), (secret(7, count: 31), context)] {
            #expect(throws: SealError.authenticationFailed) {
                try AEAD.open(sealed, under: key, associatedData: context)
            }
        }
    }
}
