public import SealPrimitives

/// One generation of a person's public keys in one container, as the person states it.
public struct Identity: Sendable, Hashable {
    public static let grantKeyBytes = 1216

    public var container: String
    public var generation: UInt32
    public var signingKey: VerificationKey
    /// X-Wing (ML-KEM-768 + X25519): receives grants, never signs.
    public var grantKey: [UInt8]
    /// Microseconds since 1970.
    public var time: Int64
    /// The hash of the generation before; zero for generation 0.
    public var previous: Digest

    public init(
        container: String, generation: UInt32, signingKey: VerificationKey, grantKey: [UInt8], time: Int64,
        previous: Digest
    ) {
        self.container = container
        self.generation = generation
        self.signingKey = signingKey
        self.grantKey = grantKey
        self.time = time
        self.previous = previous
    }

    public func canonicalBytes() -> [UInt8] {
        var writer = CanonicalWriter(capacity: 1400)
        writer.string(container)
        writer.number(generation)
        writer.raw(signingKey.bytes)
        writer.raw(grantKey)
        writer.number(time)
        writer.digest(previous)
        return writer.bytes
    }

    public init(canonicalBytes bytes: [UInt8]) throws(SealError) {
        var reader = CanonicalReader(bytes)
        container = try reader.name()
        generation = try reader.number()
        signingKey = try VerificationKey(reader.raw(32))
        grantKey = try reader.grantKey()
        time = try reader.number()
        previous = try reader.digest()
        try reader.finish()
    }

    /// What the generation's own key signs, and for later generations also the key before.
    public static func signedBytes(_ canonicalBytes: [UInt8]) -> PAE {
        var pae = PAE(.identity, pieces: 1, capacity: canonicalBytes.count + 48)
        pae.add(canonicalBytes)
        return pae
    }

    static func hash(_ canonicalBytes: [UInt8]) -> Digest { Hash.digest(.identityHash, canonicalBytes) }

    /// The self-certifying name that a generation-0 key gives: no server can answer for it with another key.
    public static func userID(container: String, firstSigningKey: VerificationKey) -> UserID {
        UserID(ID16(prefixOf: Hash.digest(.userName, [UInt8](container.utf8), firstSigningKey.bytes)))
    }
}

extension CanonicalReader {
    /// An X-Wing public key that can be sealed to.
    mutating func grantKey() throws(SealError) -> [UInt8] {
        let key = try raw(Identity.grantKeyBytes)
        guard HybridKeyCheck.isValid(key) else { throw .invalidKey }
        return key
    }
}

/// An identity statement with its signatures.
public struct SignedIdentity: Sendable, Hashable {
    public let bytes: [UInt8]
    public let signature: [UInt8]
    /// By the key of the generation before; empty for generation 0.
    public let previousSignature: [UInt8]

    public init(bytes: [UInt8], signature: [UInt8], previousSignature: [UInt8] = []) {
        self.bytes = bytes
        self.signature = signature
        self.previousSignature = previousSignature
    }
}

/// A person's generations from 0 on, verified: the only way to come by somebody's keys.
public struct IdentityChain: Sendable, Hashable {
    public let signed: [SignedIdentity]
    public let userID: UserID
    /// The newest generation.
    public let current: Identity
    /// Of every generation, oldest first.
    public let signingKeys: [VerificationKey]

    /// - Throws: `invalidIdentity` when generations do not follow one another or are of another container;
    ///   `invalidSignature`, `invalidKey`, `malformed`.
    public init(verifying signed: [SignedIdentity], container: String) throws(SealError) {
        guard signed.count <= Limits.identityGenerations else { throw .invalidLength }
        var last: (identity: Identity, hash: Digest)?
        var userID: UserID?
        var signingKeys: [VerificationKey] = []
        for (index, link) in signed.enumerated() {
            let identity = try Identity(canonicalBytes: link.bytes)
            guard identity.container == container, identity.generation == UInt32(index),
                identity.previous == (last?.hash ?? .zero)
            else { throw .invalidIdentity }
            let message = Identity.signedBytes(link.bytes)
            try identity.signingKey.verify(link.signature, over: message)
            if let last {
                try last.identity.signingKey.verify(link.previousSignature, over: message)
            } else {
                guard link.previousSignature.isEmpty else { throw .malformed }
                userID = Identity.userID(container: container, firstSigningKey: identity.signingKey)
            }
            last = (identity, Identity.hash(link.bytes))
            signingKeys.append(identity.signingKey)
        }
        guard let userID, let last else { throw .invalidIdentity }
        self.signed = signed
        self.userID = userID
        self.signingKeys = signingKeys
        current = last.identity
    }

    /// The chain with more generations after its newest.
    /// - Throws: as `init(verifying:container:)`.
    public func extended(by generations: [SignedIdentity]) throws(SealError) -> IdentityChain {
        try IdentityChain(verifying: signed + generations, container: current.container)
    }

    /// Whether these are the other's generations, or those and newer ones: never an older key, nor a fork.
    public func continues(_ other: IdentityChain) -> Bool {
        signed.count >= other.signed.count && zip(signed, other.signed).allSatisfy { $0.bytes == $1.bytes }
    }

    /// The hash of the newest generation, which names every one before: what safety numbers are made of.
    public var hash: Digest { Identity.hash(signed[signed.count - 1].bytes) }

    func write(to writer: inout CanonicalWriter) { IdentityChain.write(signed, to: &writer) }

    init(reading reader: inout CanonicalReader, container: String) throws(SealError) {
        try self.init(verifying: IdentityChain.generations(reading: &reader), container: container)
    }

    static func write(_ signed: [SignedIdentity], to writer: inout CanonicalWriter) {
        writer.number(UInt16(signed.count))
        for link in signed {
            writer.blob(link.bytes)
            writer.blob(link.signature)
            writer.blob(link.previousSignature)
        }
    }

    /// Generations as they are written, unverified.
    static func generations(reading reader: inout CanonicalReader) throws(SealError) -> [SignedIdentity] {
        let count = try reader.count(UInt16.self, ofAtLeast: 12)
        guard count <= Limits.identityGenerations else { throw .invalidLength }
        var signed: [SignedIdentity] = []
        for _ in 0..<count {
            signed.append(
                SignedIdentity(
                    bytes: try reader.blob(atMost: Limits.identityBytes),
                    signature: try reader.blob(atMost: SigningKey.signatureBytes),
                    previousSignature: try reader.blob(atMost: SigningKey.signatureBytes)))
        }
        return signed
    }
}
