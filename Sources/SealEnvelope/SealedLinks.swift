public import SealPrimitives
public import SealStatements

/// The share-wide link secret on its way to the owner and administrators: HPKE to each, kept by the server.
public enum SealedLinks<H: HybridEncryption> {
    public static func seal(_ secret: LinkSecret, scopeID: Digest, to reader: IdentityChain) throws(SealError)
        -> [UInt8]
    {
        var plaintext = secret.bytes.copyBytes()
        defer { wipe(&plaintext) }
        return try H.seal(
            plaintext, to: reader.current.grantKey, info: info(scopeID, secret.id(in: scopeID), reader.userID))
    }

    /// - Parameter linkID: from the roster's settings.
    /// - Throws: `authenticationFailed`; `keyMismatch` for another secret than the roster commits to.
    public static func open(
        _ sealed: [UInt8], scopeID: Digest, linkID: Digest, as user: UserID, keys: IdentityKeys
    ) throws(SealError) -> LinkSecret {
        var plaintext = try H.open(sealed, seed: keys.grantSeed, info: info(scopeID, linkID, user))
        let secret = try LinkSecret(SecretBytes(taking: &plaintext))
        try secret.check(linkID: linkID, scopeID: scopeID)
        return secret
    }

    private static func info(_ scopeID: Digest, _ linkID: Digest, _ reader: UserID) -> [UInt8] {
        var pae = PAE(.sealedLink, pieces: 3)
        pae.add(scopeID)
        pae.add(linkID)
        pae.add(reader.id)
        return pae.finish()
    }
}
