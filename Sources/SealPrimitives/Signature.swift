import CSodium

/// An Ed25519 public key (RFC 8032), checked when made: canonical, on the curve, in the main subgroup.
public struct VerificationKey: Sendable, Hashable {
    private let digest: Digest

    /// - Throws: `invalidKey` for anything that libsodium does not accept as a valid point, small orders included.
    public init(_ bytes: some Collection<UInt8>) throws(SealError) {
        guard let digest = try? Digest(bytes) else { throw .invalidKey }
        let raw = digest.bytes
        guard unsafe crypto_core_ed25519_is_valid_point(raw) == 1 else { throw .invalidKey }
        self.digest = digest
    }

    public var bytes: [UInt8] { digest.bytes }

    /// - Throws: `invalidSignature`.
    public func verify(_ signature: [UInt8], over pae: PAE) throws(SealError) {
        try verify(signature, message: pae.finish())
    }

    /// Over bytes that are no PAE of ours: PASETO, and the published vectors.
    public func verify(_ signature: [UInt8], message: [UInt8]) throws(SealError) {
        guard signature.count == SigningKey.signatureBytes else { throw .invalidSignature }
        let key = bytes
        let code = unsafe crypto_sign_verify_detached(signature, message, UInt64(message.count), key)
        guard code == 0 else { throw .invalidSignature }
    }
}

/// An Ed25519 key pair from a 32-byte seed.
public struct SigningKey: Sendable {
    public static let signatureBytes = 64
    private let secret: SecretBytes
    public let verificationKey: VerificationKey

    /// - Throws: `invalidLength` unless the seed has 32 bytes.
    public init(seed: SecretBytes) throws(SealError) {
        guard seed.count == 32 else { throw .invalidLength }
        var publicKey = [UInt8](repeating: 0, count: 32)
        secret = unsafe SecretBytes(count: 64) { output in
            unsafe seed.withPointer { _ = unsafe crypto_sign_seed_keypair(&publicKey, output, $0) }
        }
        verificationKey = try VerificationKey(publicKey)
    }

    public func sign(_ pae: PAE) -> [UInt8] { sign(message: pae.finish()) }

    public func sign(message: [UInt8]) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: SigningKey.signatureBytes)
        unsafe secret.withPointer { key in
            _ = unsafe crypto_sign_detached(&signature, nil, message, UInt64(message.count), key)
        }
        return signature
    }
}

extension SigningKey: CustomStringConvertible {
    public var description: String { "SigningKey" }
}
