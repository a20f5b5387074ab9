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
            inner, to: invitee.current.grantKey,
            info: info(.grantOuter, key.context, keyID: key.keyID, subject: subject))
    }

    /// For whoever has the share-wide URL, while that lets people join.
    public static func seal(_ key: EpochKey, to seat: PublicSeat) throws(SealError) -> [UInt8] {
        try seal(key, invitationID: seat.id, invitationKey: seat.grantKey, invitee: nil)
    }

    /// For a subject of the next epoch.
    /// - Throws: `missingKey` when the roster knows nobody of that name.
    public static func seal(_ key: EpochKey, to subject: GrantSubject, of roster: Roster) throws(SealError) -> [UInt8] {
        switch subject {
        case .member(let user):
            guard let member = roster.members[user] else { throw .missingKey }
            return try seal(key, to: member.identity)
        case .invitation(let id):
            if let invitation = roster.invitations[id] { return try seal(key, to: invitation) }
            guard let seat = roster.publicSeat, seat.id == id else { throw .missingKey }
            return try seal(key, to: seat)
        }
    }

    /// - Throws: `authenticationFailed`; `keyMismatch` when the key is not the epoch's.
    public static func open(_ sealed: [UInt8], epoch: Roster.Epoch, as user: UserID, keys: IdentityKeys)
        throws(SealError) -> EpochKey
    {
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

    private static func seal(_ key: EpochKey, subject: GrantSubject, to publicKey: [UInt8]) throws(SealError) -> [UInt8]
    {
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
