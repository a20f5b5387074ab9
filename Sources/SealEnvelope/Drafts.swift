public import SealPrimitives
public import SealStatements

/// An invitation before its grant is sealed.
public struct InvitationDraft: Sendable {
    public let id: ID16
    public let permission: Permission
    public let invitee: IdentityChain?
    public let signingKey: VerificationKey
    public let grantKey: [UInt8]
    public let expires: Int64
    public let sealedAddresses: [SealedAddress]

    public init<H: HybridEncryption>(
        keys: InvitationKeys, permission: Permission, invitee: IdentityChain?, expires: Int64 = 0,
        sealedAddresses: [SealedAddress] = [], using: H.Type
    ) throws(SealError) {
        id = keys.id
        self.permission = permission
        self.invitee = invitee
        signingKey = keys.signingKey.verificationKey
        grantKey = try H.publicKey(seed: keys.grantSeed)
        self.expires = expires
        self.sealedAddresses = sealedAddresses
    }

    func invitation(grantHash: Digest) -> Invitation {
        Invitation(
            id: id, permission: permission, invitee: invitee, signingKey: signingKey, grantKey: grantKey,
            grantHash: grantHash, expires: expires, sealedAddresses: sealedAddresses)
    }
}

/// A scope's settings before the public seat's grant is sealed.
public struct SettingsDraft: Sendable {
    /// Of the share-wide URL.
    public let secret: LinkSecret
    /// nil for the public permission none; otherwise a fresh seat's id and what it gives.
    public let publicAccess: (seatID: ID16, permission: Permission)?

    public init(secret: LinkSecret, publicAccess: (seatID: ID16, permission: Permission)? = nil) {
        self.secret = secret
        self.publicAccess = publicAccess
    }

    /// - Parameter seal: seals the seat's grant to the key it gets, and gives the grant's hash.
    func publicSeat<H: HybridEncryption>(
        scopeID: Digest, using: H.Type, seal: (InvitationKeys, [UInt8]) throws(SealError) -> Digest
    ) throws(SealError) -> PublicSeat? {
        guard let publicAccess else { return nil }
        let keys = try secret.invitationKeys(scopeID: scopeID, invitationID: publicAccess.seatID)
        let grantKey = try H.publicKey(seed: keys.grantSeed)
        return PublicSeat(
            id: keys.id, permission: publicAccess.permission, signingKey: keys.signingKey.verificationKey,
            grantKey: grantKey, grantHash: try seal(keys, grantKey))
    }
}
