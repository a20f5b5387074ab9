public import SealEnvelope
public import SealPrimitives

/// Why a share is not changed as it was wanted: flat, and without anything secret, as `SealError` is.
public enum ShareEditRefusal: Error, Sendable, Equatable {
    // Of who may do what
    /// Only the owner opens a share to the public, or closes it.
    case publicIsOwners
    /// Nobody changes, removes or blocks the owner.
    case ownerStays
    /// Only the owner changes, removes or blocks an administrator.
    case administratorsAreOwners
    /// Only the owner changes roles, and none of its own.
    case rolesAreOwners
    /// The account was not given the share-wide URL.
    case noURL
    /// The invitation was made by somebody else, who alone has its URL.
    case othersInvitation

    // Of what there is
    /// A participant may read at least.
    case noPermission
    /// Somebody who is invited may read at least.
    case inviteeWithoutPermission
    /// Administrators may write, and public users have the public permission.
    case permissionIsRoles
    /// Only private users become administrators, and administrators private users.
    case noSuchRole
    /// An administrator may write.
    case administratorsWrite
    /// Only who has accepted becomes an administrator.
    case roleBeforeAccepting
    /// Nobody is invited to a share that anybody with its URL may join.
    case isPublic
    /// The keys of somebody to invite are not at hand.
    case noKeys
    /// Somebody who is blocked cannot be invited.
    case isBlocked
    /// No invitation can hold its end.
    case noSuchEnd
    /// The invitation has ended since the share was read, or another one has taken its place: whom it was for has to be
    /// read again.
    case usedInvitation
    /// Title, type and thumbnail are too long for what a URL shows.
    case previewTooLong

    // Of a share of some records
    /// The zone is encrypted per zone: nothing in it is shared by itself.
    case encryptedPerZone
    /// There is a share of that name, which is its record's.
    case alreadyShared(name: String)
    /// It cannot be opened again.
    case notOpenable

    // Of keys and rules
    /// No key was granted to whoever changes the share.
    case noKey
    /// The rules refuse it, or it does not seal.
    case share(SealError)
    case invitation(SealError)
    case link(SealError)
}

extension SharePreview {
    /// For whoever stores it, before anything is stored: others may have stored more, of which URLs show a part.
    /// - Throws: `previewTooLong`.
    public func requireShowable() throws(ShareEditRefusal) { if !isShowable { throw .previewTooLong } }
}
