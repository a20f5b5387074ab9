public import SealPrimitives
public import SealStatements

/// A user's root: one random 32-byte seed, from which everything else comes.
public struct AccountSeed: Sendable {
    public let bytes: SecretBytes

    /// - Throws: `invalidLength` unless there are 32 bytes.
    public init(_ bytes: SecretBytes) throws(SealError) {
        guard bytes.count == 32 else { throw .invalidLength }
        self.bytes = bytes
    }

    public init(random: inout some RandomSource) {
        bytes = SecretBytes(random: &random)
    }

    /// The seeds of all generations as a bundle or a key file holds them, oldest first.
    /// - Throws: `malformed` unless there is a whole number of them, 1 to 64.
    public static func all(in bytes: SecretBytes) throws(SealError) -> [AccountSeed] {
        guard bytes.count > 0, bytes.count % 32 == 0, bytes.count / 32 <= Limits.identityGenerations else {
            throw .malformed
        }
        var seeds: [AccountSeed] = []
        for start in stride(from: 0, to: bytes.count, by: 32) {
            guard let part = bytes.part(start..<start + 32) else { throw .malformed }
            seeds.append(try AccountSeed(part))
        }
        return seeds
    }

    /// Logs in to servers: per account, the same in every container, never used towards other people.
    public func loginKey() throws(SealError) -> SigningKey {
        try SigningKey(seed: Hash.derive(bytes, .loginSeed, []))
    }

    /// Seals what one's own devices keep on the server.
    public func storageKey() -> SecretBytes { Hash.derive(bytes, .storageKey, []) }

    /// The keys of one container: different in each, so that nobody links a person across containers by them.
    public func identityKeys<H: HybridEncryption>(container: String, using: H.Type) throws(SealError) -> IdentityKeys {
        let name = [UInt8](container.utf8)
        let grantSeed = Hash.derive(bytes, .grantSeed, name)
        return IdentityKeys(
            container: container, signingKey: try SigningKey(seed: Hash.derive(bytes, .signingSeed, name)),
            grantSeed: grantSeed, grantKey: try H.publicKey(seed: grantSeed))
    }
}

/// A person's own keys in one container.
public struct IdentityKeys: Sendable {
    public let container: String
    public let signingKey: SigningKey
    /// The X-Wing seed: opens grants.
    public let grantSeed: SecretBytes
    /// The X-Wing public key.
    public let grantKey: [UInt8]

    /// The statement of generation 0, signed.
    public func firstIdentity(time: Int64) throws(SealError) -> IdentityChain {
        let identity = Identity(
            container: container, generation: 0, signingKey: signingKey.verificationKey, grantKey: grantKey, time: time,
            previous: .zero)
        let bytes = identity.canonicalBytes()
        let signed = SignedIdentity(bytes: bytes, signature: signingKey.sign(Identity.signedBytes(bytes)))
        return try IdentityChain(verifying: [signed], container: container)
    }

    /// The chain with these keys as its next generation, signed by them and by the generation before.
    /// - Parameters:
    ///   - previous: the keys of the chain's newest generation.
    /// - Throws: `invalidIdentity` when `previous` are not those keys; `invalidLength` for one generation too many.
    public func nextIdentity(after chain: IdentityChain, signedBy previous: IdentityKeys, time: Int64) throws(SealError)
        -> IdentityChain
    {
        guard previous.signingKey.verificationKey == chain.current.signingKey, chain.current.container == container
        else {
            throw .invalidIdentity
        }
        let identity = Identity(
            container: container, generation: chain.current.generation + 1, signingKey: signingKey.verificationKey,
            grantKey: grantKey, time: time, previous: chain.hash)
        let bytes = identity.canonicalBytes()
        let signed = SignedIdentity(
            bytes: bytes, signature: signingKey.sign(Identity.signedBytes(bytes)),
            previousSignature: previous.signingKey.sign(Identity.signedBytes(bytes)))
        return try chain.extended(by: [signed])
    }
}

extension IdentityKeys: CustomStringConvertible {
    public var description: String { "IdentityKeys" }
}

extension AccountSeed: CustomStringConvertible {
    public var description: String { "AccountSeed" }
}
