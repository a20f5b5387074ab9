import SealPrimitives
import SealStatements

/// A string sealed to one reader, bound to its purpose, its scope and the seat or request that it belongs to.
struct SealedText {
    let label: Label
    let scopeID: Digest
    /// Of the invitation, or of the request for one.
    let id: ID16
    let reader: UserID

    func seal<H: HybridEncryption>(
        _ text: String, to reader: IdentityChain, using hybrid: H.Type
    ) throws(SealError) -> [UInt8] {
        // Padded to Padmé lengths like any value: the length of an address says something about it.
        try H.seal(Padding.pad(try Value.string(text).canonicalBytes()), to: reader.current.grantKey, info: info)
    }

    func open<H: HybridEncryption>(
        _ sealed: [UInt8], keys: IdentityKeys, using hybrid: H.Type
    ) throws(SealError) -> String {
        guard case .string(let text) = try Value(padded: try H.open(sealed, seed: keys.grantSeed, info: info)) else {
            throw .malformed
        }
        return text
    }

    private var info: [UInt8] {
        var pae = PAE(label, pieces: 3)
        pae.add(scopeID)
        pae.add(id)
        pae.add(reader.id)
        return pae.finish()
    }
}
