public import SealPrimitives
public import SealStatements

/// An invitee's look-up address, readable by the owner and administrators that it was sealed to.
public enum SealedAddresses<H: HybridEncryption> {
    public static func seal(
        _ address: String, scopeID: Digest, invitationID: ID16, to readers: [IdentityChain]
    ) throws(SealError) -> [SealedAddress] {
        var sealed: [SealedAddress] = []
        for reader in readers.sorted(by: { $0.userID < $1.userID }) {
            let text = SealedText(label: .sealedAddress, scopeID: scopeID, id: invitationID, reader: reader.userID)
            sealed.append(
                SealedAddress(reader: reader.userID, sealed: try text.seal(address, to: reader, using: H.self)))
        }
        return sealed
    }

    /// - Throws: `missingKey` when nothing was sealed to this reader.
    public static func open(
        _ invitation: Invitation, scopeID: Digest, as user: UserID, keys: IdentityKeys
    ) throws(SealError) -> String {
        guard let address = invitation.sealedAddresses.first(where: { $0.reader == user }) else { throw .missingKey }
        return try SealedText(label: .sealedAddress, scopeID: scopeID, id: invitation.id, reader: user)
            .open(address.sealed, keys: keys, using: H.self)
    }
}
