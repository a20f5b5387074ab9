public import SealPrimitives

/// The printed recovery key: 256 random bits that yield the id of a bundle on the server and the key that seals all
/// seed generations in it.
///
/// Printed as 13 groups of five characters of Crockford's base 32: four characters of data (20 bits, big-endian bit
/// order; the last four bits of all are zero) and a check character, Σ αⁱ⁺¹·cᵢ + group number in GF(32). A single wrong
/// character or two swapped ones are always noticed, and in the right group.
public struct RecoveryKey: Sendable {
    public let bytes: SecretBytes

    public init(_ bytes: SecretBytes) throws(SealError) {
        guard bytes.count == 32 else { throw .invalidLength }
        self.bytes = bytes
    }

    public init(random: inout some RandomSource) { bytes = SecretBytes(random: &random) }

    /// Under which the server keeps the bundle, for whoever names it.
    public var bundleID: ID16 { ID16(prefixOf: Hash.identifier(bytes, .recoveryID)) }

    // MARK: Bundles

    /// Seals the seeds of all generations, oldest first.
    public func seal(_ seeds: [AccountSeed], random: inout some RandomSource) -> [UInt8] {
        let secret = SecretBytes(joining: seeds.map { $0.bytes })
        return AEAD.seal(
            secret, under: Hash.derive(bytes, .recoveryKey, []), associatedData: associatedData, random: &random)
    }

    /// - Throws: `authenticationFailed`; `malformed`.
    public func open(_ sealed: [UInt8]) throws(SealError) -> [AccountSeed] {
        let secret = try AEAD.openSecret(
            sealed, under: Hash.derive(bytes, .recoveryKey, []), associatedData: associatedData)
        return try AccountSeed.all(in: secret)
    }

    private var associatedData: [UInt8] {
        var pae = PAE(.recoveryBundle, pieces: 1)
        pae.add(bundleID)
        return pae.finish()
    }
}

extension RecoveryKey: CustomStringConvertible {
    public var description: String { "RecoveryKey" }
}
