import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements

/// - Parameter view: of the scope whose share is changed.
func editing<T>(
    _ view: ZoneView?, _ body: () throws(ShareEditRefusal) -> T
) throws(SealKitError) -> T {
    do { return try body() } catch { throw SealKitError(error, view) }
}

extension SealKitError {
    fileprivate init(_ refusal: ShareEditRefusal, _ view: ZoneView?) {
        switch refusal {
        case .publicIsOwners: self.init(asOwner: "only the owner opens a share to the public, or closes it")
        case .ownerStays: self.init(asOwner: "nobody changes, removes or blocks the owner")
        case .administratorsAreOwners:
            self.init(asOwner: "only the owner changes, removes or blocks an administrator")
        case .rolesAreOwners: self.init(asOwner: "only the owner changes roles, and none of its own")
        case .noURL:
            self.init(
                .permissionFailure, "this account was not given the share's URL",
                remedy: "ask the owner to save the share")
        case .othersInvitation:
            self.init(
                .permissionFailure, "the invitation was made by somebody else, who alone has its URL",
                remedy: "remove it, and invite anew")
        case .noPermission:
            self.init(.invalidArguments, "a participant may read at least", remedy: "remove it instead")
        case .inviteeWithoutPermission:
            self.init(.invalidArguments, "a participant may read at least", remedy: "give readOnly or readWrite")
        case .permissionIsRoles:
            self.init(
                .invalidArguments, "administrators may write, and public users have the public permission",
                remedy: "change the role, or publicPermission")
        case .noSuchRole:
            self.init(
                .invalidArguments, "only private users become administrators, and administrators private users",
                remedy: "invite the person by name")
        case .administratorsWrite:
            self.init(.invalidArguments, "an administrator has readWrite", remedy: "give that permission, too")
        case .roleBeforeAccepting:
            self.init(
                .invalidArguments, "only who has accepted becomes an administrator",
                remedy: "invite it, and change the role afterwards")
        case .isPublic:
            self.init(
                .invalidArguments, "nobody is invited to a share that anybody with its URL may join",
                remedy: "set publicPermission to none, or send the URL")
        case .noKeys:
            self.init(
                .invalidArguments, "the keys of somebody to invite are not at hand",
                remedy: "fetch the participant again, and add it")
        case .isBlocked:
            self.init(
                .invalidArguments, "somebody who is blocked cannot be invited", remedy: "unblock the identity first")
        case .noSuchEnd:
            self.init(
                .invalidArguments, "an invitation's end is over, or no date that it can hold",
                remedy: "set a date to come, or nil for an invitation that stays open")
        case .usedInvitation:
            self.init(
                .invalidArguments, "the participant is one of an earlier invitation",
                remedy: "fetch the share again, and change or remove that one; whom it lacks, fetch and add")
        case .previewTooLong:
            self.init(
                .limitExceeded, "title, type and thumbnail of the share are too long for what its URL shows",
                remedy: "keep them under \(Limits.previewBytes) bytes in all: take a smaller thumbnail")
        case .encryptedPerZone:
            self.init(
                .invalidArguments,
                "the zone \(view?.scope.zoneName ?? "") is encrypted per zone: nothing in it is shared by itself",
                remedy: "share the zone as a whole, or put the records into a zone whose encryption scope is perRecord")
        case .alreadyShared(let name):
            self.init(
                .alreadyShared, "there is a share \(name) in the zone \(view?.scope.zoneName ?? "")",
                remedy: "fetch it with share(withID:) and change that, or choose another record name")
        case .notOpenable:
            self.init(
                .invalidArguments, "the share cannot be opened again", remedy: "choose another record name")
        case .noKey: self = view?.lacksKey ?? .integrity(.missingKey, "the share")
        case .share(let reason): self = .integrity(reason, "the share")
        case .invitation(let reason): self = .integrity(reason, "the invitation")
        case .link(let reason): self = .integrity(reason, "the share-wide URL")
        }
    }

    private init(asOwner reason: String) { self.init(.permissionFailure, reason, remedy: "ask the owner") }
}
