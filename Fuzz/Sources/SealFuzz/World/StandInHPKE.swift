import SealEnvelope
import SealPrimitives

/// In place of X-Wing, which lives in the SDK: no secrecy, since the public key gives everything away, but the real
/// sizes, and every bit of key, `info` and encapsulated key is bound. What lies behind an HPKE can so be reached.
enum StandInHPKE: HybridEncryption {
    static func publicKey(seed: SecretBytes) -> [UInt8] {
        // Bytes below 13 make twelve-bit coefficients below the modulus. The end is no point of small order.
        expand(Hash.derive(seed, PAE(pieces: 0)).copyBytes().map { $0 % 13 }, to: HybridKeyCheck.keyBytes)
    }

    static func seal(_ plaintext: [UInt8], to publicKey: [UInt8], info: [UInt8]) throws(SealError) -> [UInt8] {
        guard publicKey.count == HybridKeyCheck.keyBytes else { throw .invalidKey }
        // Deterministic: an input does the same in every run.
        let encapsulated = expand(digest([publicKey, info, plaintext]).bytes, to: HybridSizes.encapsulatedKey)
        var sealed = [UInt8](repeating: 0, count: plaintext.count + ChunkAEAD.tagBytes)
        let key = key(publicKey, encapsulated, info)
        do {
            try plaintext.withStorage { source in
                try sealed.withUnsafeMutableBytes { try ChunkAEAD.seal(source, into: $0, nonce: nonce, under: key) }
            }
        } catch {
            throw .invalidKey
        }
        return encapsulated + sealed
    }

    static func open(_ sealed: [UInt8], seed: SecretBytes, info: [UInt8]) throws(SealError) -> [UInt8] {
        guard sealed.count >= HybridSizes.overhead else { throw .authenticationFailed }
        let key = key(publicKey(seed: seed), [UInt8](sealed.prefix(HybridSizes.encapsulatedKey)), info)
        var plaintext = [UInt8](repeating: 0, count: sealed.count - HybridSizes.overhead)
        do {
            try [UInt8](sealed.dropFirst(HybridSizes.encapsulatedKey)).withStorage { source in
                try plaintext.withMutableStorage { try ChunkAEAD.open(source, into: $0, nonce: nonce, under: key) }
            }
        } catch {
            throw .authenticationFailed
        }
        return plaintext
    }

    /// Every message has a key of its own.
    private static let nonce = [UInt8](repeating: 0, count: ChunkAEAD.nonceBytes)

    private static func key(_ publicKey: [UInt8], _ encapsulated: [UInt8], _ info: [UInt8]) -> SecretBytes {
        SecretBytes(copying: digest([publicKey, encapsulated, info]).bytes)
    }

    private static func digest(_ pieces: [[UInt8]]) -> Digest {
        var pae = PAE(pieces: pieces.count)
        for piece in pieces { pae.add(piece) }
        return Hash.digest(pae)
    }

    /// Over and over: what has to be bound is, and the sizes are the real ones.
    private static func expand(_ bytes: [UInt8], to count: Int) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(count)
        while out.count < count { out += bytes.prefix(count - out.count) }
        return out
    }
}

/// Bytes as the chunk cipher takes them: never null, also when there are none.
extension [UInt8] {
    func withStorage<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try (self + [0]).withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    mutating func withMutableStorage<R>(_ body: (UnsafeMutableRawBufferPointer) throws -> R) rethrows -> R {
        let count = count
        append(0)
        defer { removeLast() }
        return try withUnsafeMutableBytes { try body(UnsafeMutableRawBufferPointer(rebasing: $0[..<count])) }
    }
}
