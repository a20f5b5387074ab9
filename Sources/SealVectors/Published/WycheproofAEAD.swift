import SealPrimitives
import SealVectorChecks

/// The form of Wycheproof's tests of AEADs: both directions are tried, by our own face where it can say the test, and
/// by the libsodium function behind it.
protocol WycheproofAEADFamily: WycheproofFamily {
    static var bare: BareAEAD { get }
    static func verdicts(_ test: AEADTest) -> [PublishedVerdict]
    /// Of a test whose nonce has another length.
    static func otherNonce(_ test: AEADTest) -> WycheproofOutcome
}

struct AEADTest {
    let key, nonce, associatedData, plaintext, sealed: [UInt8]
    let isValid: Bool
}

extension WycheproofAEADFamily {
    static var schema: String { "aead_test_schema_v1.json" }
    static var groupType: String { "AeadTest" }

    static func outcome(of test: Fields, in group: Fields) throws -> WycheproofOutcome {
        let test = AEADTest(
            key: try test.bytes("key"), nonce: try test.bytes("iv"), associatedData: try test.bytes("aad"),
            plaintext: try test.bytes("msg"), sealed: try test.bytes("ct") + test.bytes("tag"),
            isValid: try test.string("result") == "valid")
        // A key of fixed length is what libsodium reads, whatever it is given.
        guard test.key.count == AEAD.keyBytes else { return .inexpressible("a key of another length") }
        guard test.nonce.count == bare.nonceBytes else { return otherNonce(test) }
        let opened = bare.open(test.sealed, key: test.key, nonce: test.nonce, associatedData: test.associatedData)
        let sealed = bare.seal(test.plaintext, key: test.key, nonce: test.nonce, associatedData: test.associatedData)
        let both = [
            PublishedVerdict("libsodium's opening", opened == test.plaintext),
            PublishedVerdict("libsodium's sealing", sealed == test.sealed),
        ]
        return .verdicts(both + verdicts(test))
    }
}

/// Of records, keys and boxes: `AEAD`, whose nonce stands before the ciphertext.
enum WycheproofXChaCha20Poly1305: WycheproofAEADFamily {
    static let name = "Wycheproof xchacha20-poly1305"
    static let algorithm = "XCHACHA20-POLY1305"
    static let bare = BareAEAD.xChaCha20Poly1305

    static func verdicts(_ test: AEADTest) -> [PublishedVerdict] {
        let key = SecretBytes(copying: test.key)
        let opened = try? AEAD.open(test.nonce + test.sealed, under: key, associatedData: test.associatedData)
        let opening = PublishedVerdict("AEAD.open", opened == test.plaintext)
        guard test.isValid else { return [opening] }
        // Our sealing ends its nonces with a counter from 0, which no published nonce does: it is held against
        // libsodium, under the published nonce's beginning.
        var random = ReplayedRandom([UInt8](test.nonce.prefix(16)))
        let sealed = AEAD.seal(test.plaintext, under: key, associatedData: test.associatedData, random: &random)
        let nonce = [UInt8](test.nonce.prefix(16)) + [UInt8](repeating: 0, count: 8)
        let expected = bare.seal(test.plaintext, key: test.key, nonce: nonce, associatedData: test.associatedData)
        return [opening, PublishedVerdict("AEAD.seal", expected.map { nonce + $0 } == sealed)]
    }

    static func otherNonce(_ test: AEADTest) -> WycheproofOutcome { .inexpressible("a nonce of another length") }
}

/// Of asset chunks: `ChunkAEAD`, which has no associated data.
enum WycheproofChaCha20Poly1305: WycheproofAEADFamily {
    static let name = "Wycheproof chacha20-poly1305"
    static let algorithm = "CHACHA20-POLY1305"
    static let bare = BareAEAD.chaCha20Poly1305

    static func verdicts(_ test: AEADTest) -> [PublishedVerdict] {
        guard test.associatedData.isEmpty else { return [] }
        return [
            PublishedVerdict("ChunkAEAD.open", open(test) == test.plaintext),
            PublishedVerdict("ChunkAEAD.seal", seal(test) == test.sealed),
        ]
    }

    static func otherNonce(_ test: AEADTest) -> WycheproofOutcome {
        .verdicts([
            PublishedVerdict("ChunkAEAD.open", open(test) != nil),
            PublishedVerdict("ChunkAEAD.seal", seal(test) != nil),
        ])
    }

    private static func seal(_ test: AEADTest) -> [UInt8]? {
        var sealed = [UInt8](repeating: 0, count: test.plaintext.count + ChunkAEAD.tagBytes)
        let done: Void? = try? test.plaintext.withUnsafeBytes { plaintext in
            try sealed.withUnsafeMutableBytes { sealed in
                try ChunkAEAD.seal(plaintext, into: sealed, nonce: test.nonce, under: SecretBytes(copying: test.key))
            }
        }
        return done.map { sealed }
    }

    private static func open(_ test: AEADTest) -> [UInt8]? {
        var plaintext = [UInt8](repeating: 0, count: max(test.sealed.count - ChunkAEAD.tagBytes, 0))
        let done: Void? = try? test.sealed.withUnsafeBytes { sealed in
            try plaintext.withUnsafeMutableBytes { plaintext in
                try ChunkAEAD.open(sealed, into: plaintext, nonce: test.nonce, under: SecretBytes(copying: test.key))
            }
        }
        return done.map { plaintext }
    }
}
