public import SealPrimitives

/// HPKE (RFC 9180, single-shot base mode) with X-Wing, HKDF-SHA256 and ChaCha20-Poly1305: the one construction by which
/// keys reach people. swift-crypto has it and is not Embedded Swift, so it enters the core through this requirement.
///
/// Sealed bytes are `encapsulated key (1120) ‖ ciphertext ‖ tag (16)`; the AEAD's associated data is empty, everything
/// is bound through `info`.
public protocol HybridEncryption {
    /// The X-Wing public key (1,216 bytes) of a 32-byte seed.
    static func publicKey(seed: SecretBytes) throws(SealError) -> [UInt8]
    /// - Throws: `invalidKey`.
    static func seal(_ plaintext: [UInt8], to publicKey: [UInt8], info: [UInt8]) throws(SealError) -> [UInt8]
    /// - Throws: `authenticationFailed`, whatever was wrong.
    static func open(_ sealed: [UInt8], seed: SecretBytes, info: [UInt8]) throws(SealError) -> [UInt8]
}

public enum HybridSizes {
    public static let encapsulatedKey = 1120
    public static let overhead = encapsulatedKey + 16
}
