import CSodium

/// A key sealed to whoever has one X25519 key, by anybody (libsodium's `crypto_box_seal`: an ephemeral key, then
/// XSalsa20-Poly1305). It does not say who sealed it. For what an operator keeps: what people keep is sealed to hybrid
/// keys.
public enum SealedBox {
    public static let keyBytes = 32
    /// What sealing adds.
    public static let overhead = 48

    /// - Throws: `invalidLength`.
    public static func publicKey(of secretKey: SecretBytes) throws(SealError) -> [UInt8] {
        guard secretKey.count == keyBytes else { throw .invalidLength }
        return unsafe [UInt8].filled(count: keyBytes) { output in
            unsafe secretKey.withPointer { _ = unsafe crypto_scalarmult_base(output, $0) }
        }
    }

    /// - Throws: `invalidKey` for a public key of another length or of small order.
    public static func seal(_ secret: SecretBytes, to publicKey: [UInt8]) throws(SealError) -> [UInt8] {
        guard publicKey.count == keyBytes else { throw .invalidKey }
        var code: Int32 = -1
        let sealed = unsafe [UInt8].filled(count: secret.count + overhead) { output in
            unsafe secret.withPointer { bytes in
                code = unsafe crypto_box_seal(output, bytes, UInt64(secret.count), publicKey)
            }
        }
        guard code == 0 else { throw .invalidKey }
        return sealed
    }

    /// - Throws: `authenticationFailed`, for another key, altered or short bytes.
    public static func open(_ sealed: [UInt8], with secretKey: SecretBytes) throws(SealError) -> SecretBytes {
        guard sealed.count >= overhead, secretKey.count == keyBytes else { throw .authenticationFailed }
        let publicKey = try publicKey(of: secretKey)
        var code: Int32 = -1
        let secret = unsafe SecretBytes(count: sealed.count - overhead) { output in
            unsafe secretKey.withPointer { key in
                code = unsafe crypto_box_seal_open(output, sealed, UInt64(sealed.count), publicKey, key)
            }
        }
        guard code == 0 else { throw .authenticationFailed }
        return secret
    }
}
