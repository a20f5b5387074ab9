import CSodium
import SealPrimitives

/// HPKE's key and nonce of one message (RFC 9180, 5.1) by HKDF-SHA256, for mode base, whose PSK and its id are empty.
struct KeySchedule {
    private let key: SecretBytes
    private let nonce: SecretBytes

    /// "HPKE-v1", before each label.
    private static let version: [UInt8] = [0x48, 0x50, 0x4B, 0x45, 0x2D, 0x76, 0x31]
    /// "HPKE", then KEM 0x647A (X-Wing), KDF 0x0001 (HKDF-SHA256), AEAD 0x0003 (ChaCha20-Poly1305).
    private static let suite: [UInt8] = [0x48, 0x50, 0x4B, 0x45, 0x64, 0x7A, 0x00, 0x01, 0x00, 0x03]
    private static let modeBase: UInt8 = 0

    init(sharedSecret: SecretBytes, info: [UInt8]) {
        let nothing = SecretBytes(copying: [])
        let context =
            [Self.modeBase] + Self.extract(salt: nothing, "psk_id_hash", []).copyBytes()
            + Self.extract(salt: nothing, "info_hash", info).copyBytes()
        let secret = Self.extract(salt: sharedSecret, "secret", [])
        key = Self.expand(secret, "key", context, count: 32)
        nonce = Self.expand(secret, "base_nonce", context, count: 12)
    }

    func withPointers<R>(_ body: (_ key: UnsafePointer<UInt8>, _ nonce: UnsafePointer<UInt8>) -> R) -> R {
        unsafe key.withPointer { key in unsafe nonce.withPointer { nonce in unsafe body(key, nonce) } }
    }

    /// `LabeledExtract` of an input that is public.
    private static func extract(salt: SecretBytes, _ label: StaticString, _ input: [UInt8]) -> SecretBytes {
        hmac(key: salt, version + suite + bytes(label) + input)
    }

    /// `LabeledExpand` to at most one block of 32 bytes.
    private static func expand(_ secret: SecretBytes, _ label: StaticString, _ info: [UInt8], count: UInt8)
        -> SecretBytes
    {
        let block = hmac(key: secret, [0, count] + version + suite + bytes(label) + info + [1])
        return block.part(0..<Int(count)) ?? block
    }

    private static func bytes(_ label: StaticString) -> [UInt8] { label.withUTF8Buffer { unsafe [UInt8]($0) } }

    /// HMAC-SHA256, whose key may have any length.
    private static func hmac(key: SecretBytes, _ message: [UInt8]) -> SecretBytes {
        unsafe SecretBytes(count: 32) { output in
            var state = crypto_auth_hmacsha256_state()
            unsafe key.withPointer { _ = unsafe crypto_auth_hmacsha256_init(&state, $0, key.count) }
            _ = unsafe crypto_auth_hmacsha256_update(&state, message, UInt64(message.count))
            _ = unsafe crypto_auth_hmacsha256_final(&state, output)
            unsafe sodium_memzero(&state, MemoryLayout<crypto_auth_hmacsha256_state>.size)
        }
    }
}
