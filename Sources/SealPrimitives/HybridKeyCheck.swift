import CSodium

/// Whether an X-Wing public key can be sealed to (draft-connolly-cfrg-xwing-kem: ML-KEM-768 key, 1,184 bytes, then
/// X25519 key, 32 bytes).
///
/// A member whose key cannot be sealed to would stop every rotation, so such a key never gets into a roster.
public enum HybridKeyCheck {
    public static let keyBytes = 1216
    private static let coefficientBytes = 1152
    private static let modulus: UInt16 = 3329

    /// FIPS 203's modulus check of the encapsulation key, and no X25519 point of small order.
    public static func isValid(_ key: [UInt8]) -> Bool {
        guard key.count == keyBytes else { return false }
        for start in stride(from: 0, to: coefficientBytes, by: 3) {
            let first = UInt16(key[start]) | UInt16(key[start + 1] & 0x0F) << 8
            let second = UInt16(key[start + 1] >> 4) | UInt16(key[start + 2]) << 4
            guard first < modulus, second < modulus else { return false }
        }
        let point = [UInt8](key.suffix(32))
        let scalar = [UInt8](repeating: 1, count: 32)
        var product = [UInt8](repeating: 0, count: 32)
        // libsodium answers -1 where the product is zero, which clamping makes so for every point of small order.
        return unsafe crypto_scalarmult(&product, scalar, point) == 0
    }
}
