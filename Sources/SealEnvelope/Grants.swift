public import SealPrimitives
public import SealStatements

/// Epoch keys on their way to people.
public enum Grants<H: HybridEncryption> {
    /// For a member: sealed to its X-Wing key.
    public static func seal(_ key: EpochKey, to member: IdentityChain) throws(SealError) -> [UInt8] {
        try seal(key, subject: .member(member.userID), to: member.current.grantKey)
    }

    /// For an open invitation: sealed to the invitation's own key; for a known invitee that, sealed once more to the
    /// invitee's key, so that neither the URL alone nor a key that the server made up opens it.
    public static func seal(_ key: EpochKey, to invitation: Invitation) throws(SealError) -> [UInt8] {
        try seal(key, invitationID: invitation.id, invitationKey: invitation.grantKey, invitee: invitation.invitee)
    }

    /// The same before the invitation exists: the invitation names its grant's hash.
    public static func seal(
        _ key: EpochKey, invitationID: ID16, invitationKey: [UInt8], invitee: IdentityChain?
    ) throws(SealError) -> [UInt8] {
        let subject = GrantSubject.invitation(invitationID)
        let inner = try seal(key, subject: subject, to: invitationKey)
        guard let invitee else { return inner }
        return try H.seal(
            inner, to: invitee.current.grantKey, info: info(.grantOuter, key.context, keyID: key.keyID, subject: subject))
    }

    /// - Throws: `authenticationFailed`; `keyMismatch` when the key is not the epoch's.
    public static func open(_ sealed: [UInt8], epoch: Roster.Epoch, as user: UserID, keys: IdentityKeys) throws(SealError) -> EpochKey {
        try open(sealed, epoch: epoch, subject: .member(user), seed: keys.grantSeed)
    }

    /// - Parameter keys: the acceptor's own when the invitation names it, nil for a placeholder's.
    public static func open(
        _ sealed: [UInt8], epoch: Roster.Epoch, invitation: InvitationKeys, keys: IdentityKeys?
    ) throws(SealError) -> EpochKey {
        let subject = GrantSubject.invitation(invitation.id)
        var inner = sealed
        if let keys {
            let info = info(.grantOuter, epoch.context, keyID: epoch.keyID, subject: subject)
            inner = try H.open(sealed, seed: keys.grantSeed, info: info)
        }
        return try open(inner, epoch: epoch, subject: subject, seed: invitation.grantSeed)
    }

    private static func seal(_ key: EpochKey, subject: GrantSubject, to publicKey: [UInt8]) throws(SealError) -> [UInt8] {
        var plaintext = key.key.copyBytes()
        defer { wipe(&plaintext) }
        return try H.seal(plaintext, to: publicKey, info: info(.grant, key.context, keyID: key.keyID, subject: subject))
    }

    private static func open(
        _ sealed: [UInt8], epoch: Roster.Epoch, subject: GrantSubject, seed: SecretBytes
    ) throws(SealError) -> EpochKey {
        let info = info(.grant, epoch.context, keyID: epoch.keyID, subject: subject)
        var plaintext = try H.open(sealed, seed: seed, info: info)
        return try EpochKey(SecretBytes(taking: &plaintext), context: epoch.context, keyID: epoch.keyID)
    }

    private static func info(_ label: Label, _ context: EpochContext, keyID: Digest, subject: GrantSubject) -> [UInt8] {
        var pae = PAE(label, pieces: EpochContext.pieces + 3)
        context.add(to: &pae)
        pae.add(keyID)
        pae.add(subject.kind)
        pae.add(subject.id)
        return pae.finish()
    }
}

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
        let plaintext = try H.open(sealed.sealed, seed: keys.grantSeed, info: info(scopeID, invitation.id, user))
        guard case .string(let address) = try Value(padded: plaintext) else { throw .malformed }
        return address
    }

    private static func info(_ scopeID: Digest, _ invitationID: ID16, _ reader: UserID) -> [UInt8] {
        var pae = PAE(.sealedAddress, pieces: 3)
        pae.add(scopeID)
        pae.add(invitationID)
        pae.add(reader.id)
        return pae.finish()
    }
}
