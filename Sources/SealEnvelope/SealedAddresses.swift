public import SealPrimitives
public import SealStatements

/// An invitee's look-up address, readable by the owner and administrators that it was sealed to.
public enum SealedAddresses<H: HybridEncryption> {
    public static func seal(
        _ address: String, scopeID: Digest, invitationID: ID16, to readers: [IdentityChain]
    ) throws(SealError) -> [SealedAddress] {
        var sealed: [SealedAddress] = []
        for reader in readers.sorted(by: { $0.userID < $1.userID }) {
            let info = info(scopeID, invitationID, reader.userID)
            // Padded to Padmé lengths like any value: the length of an address says something about it.
            let plaintext = Padding.pad(try Value.string(address).canonicalBytes())
            sealed.append(SealedAddress(reader: reader.userID, sealed: try H.seal(plaintext, to: reader.current.grantKey, info: info)))
        }
        return sealed
    }

    /// - Throws: `missingKey` when nothing was sealed to this reader.
    public static func open(
        _ invitation: Invitation, scopeID: Digest, as user: UserID, keys: IdentityKeys
    ) throws(SealError) -> String {
        guard let sealed = invitation.sealedAddresses.first(where: { $0.reader == user }) else { throw .missingKey }
        return try open(sealed, scopeID: scopeID, invitationID: invitation.id, keys: keys)
    }

    /// - Parameter invitationID: of the invitation that it was sealed for, or of the request for one.
    public static func open(
        _ address: SealedAddress, scopeID: Digest, invitationID: ID16, keys: IdentityKeys
    ) throws(SealError) -> String {
        let plaintext = try H.open(
            address.sealed, seed: keys.grantSeed, info: info(scopeID, invitationID, address.reader))
        guard case .string(let text) = try Value(padded: plaintext) else { throw .malformed }
        return text
    }

    private static func info(_ scopeID: Digest, _ invitationID: ID16, _ reader: UserID) -> [UInt8] {
        var pae = PAE(.sealedAddress, pieces: 3)
        pae.add(scopeID)
        pae.add(invitationID)
        pae.add(reader.id)
        return pae.finish()
    }
}
