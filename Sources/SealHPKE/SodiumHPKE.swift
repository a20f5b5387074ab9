import CSodium
public import SealEnvelope
public import SealPrimitives

/// The core's `HybridEncryption` by libsodium, of which 1.0.22 is the first with X-Wing: what the browser's module has
/// in swift-crypto's place.
public enum SodiumHPKE: HybridEncryption {
    private static let seedBytes = 32
    private static let keyBytes = 32
    private static let tagBytes = 16

    public static func publicKey(seed: SecretBytes) throws(SealError) -> [UInt8] {
        guard seed.count == seedBytes else { throw .invalidKey }
        var key = [UInt8](repeating: 0, count: HybridKeyCheck.keyBytes)
        var code: Int32 = -1
        // An X-Wing private key is its seed: libsodium writes it out once more.
        _ = unsafe SecretBytes(count: seedBytes) { copy in
            unsafe seed.withPointer { code = unsafe crypto_kem_xwing_seed_keypair(&key, copy, $0) }
        }
        guard code == 0 else { throw .invalidKey }
        return key
    }

    public static func seal(_ plaintext: [UInt8], to publicKey: [UInt8], info: [UInt8]) throws(SealError) -> [UInt8] {
        guard publicKey.count == HybridKeyCheck.keyBytes else { throw .invalidKey }
        var encapsulated = [UInt8](repeating: 0, count: HybridSizes.encapsulatedKey)
        var code: Int32 = -1
        let shared = unsafe SecretBytes(count: keyBytes) { output in
            code = unsafe crypto_kem_xwing_enc(&encapsulated, output, publicKey)
        }
        guard code == 0 else { throw .invalidKey }
        let schedule = KeySchedule(sharedSecret: shared, info: info)
        var sealed = [UInt8](repeating: 0, count: plaintext.count + tagBytes)
        _ = unsafe schedule.withPointers { key, nonce in
            unsafe crypto_aead_chacha20poly1305_ietf_encrypt(
                &sealed, nil, plaintext, UInt64(plaintext.count), nil, 0, nil, nonce, key)
        }
        return encapsulated + sealed
    }

    public static func open(_ sealed: [UInt8], seed: SecretBytes, info: [UInt8]) throws(SealError) -> [UInt8] {
        guard sealed.count >= HybridSizes.overhead, seed.count == seedBytes else { throw .authenticationFailed }
        var code: Int32 = -1
        let shared = unsafe SecretBytes(count: keyBytes) { output in
            unsafe seed.withPointer { code = unsafe crypto_kem_xwing_dec(output, sealed, $0) }
        }
        guard code == 0 else { throw .authenticationFailed }
        let schedule = KeySchedule(sharedSecret: shared, info: info)
        let ciphertext = [UInt8](sealed.dropFirst(HybridSizes.encapsulatedKey))
        // Never empty: C is given the address of its first byte.
        var plaintext = [UInt8](repeating: 0, count: max(ciphertext.count - tagBytes, 1))
        code = unsafe schedule.withPointers { key, nonce in
            unsafe crypto_aead_chacha20poly1305_ietf_decrypt(
                &plaintext, nil, nil, ciphertext, UInt64(ciphertext.count), nil, 0, nonce, key)
        }
        guard code == 0 else { throw .authenticationFailed }
        if ciphertext.count == tagBytes { plaintext.removeAll() }
        return plaintext
    }
}
