import SealClient
import SealEnvelope
import SealHPKE
import SealPrimitives
import SealStatements

/// A share with the URLs that the visitor has of it: what its people are shown, and changed, by.
final class ManagedShare {
    let zone: SharedZone
    let links: ShareLinks
    /// Keeps the secrets of new URLs.
    private let seed: AccountSeed

    init(_ zone: SharedZone, _ links: ShareLinks, keptBy seed: AccountSeed) {
        (self.zone, self.links, self.seed) = (zone, links, seed)
    }

    /// - Throws: `notMember` for whoever is in it no more.
    static func view(of zone: SharedZone) throws(Refusal) -> ZoneView {
        guard let view = zone.ground[zone.scope.id], view.isMember else { throw Refusal("notMember") }
        return view
    }

    /// The name of the share's record.
    static func recordName(in zone: SharedZone) -> String {
        zone.scope.shareRecordName.isEmpty ? Names.zoneWideShare : zone.scope.shareRecordName
    }

    /// What the share says of itself; nil without a record, or where that does not open.
    static func preview(of zone: SharedZone) -> SharePreview? {
        guard let shown = zone.shown(recordName(in: zone)) else { return nil }
        var preview = SharePreview(title: "")
        let key = try? zone.open(shown) { name, field in
            guard case .encrypted(let value) = field else { return }
            switch (name, value) {
            case ("title", .string(let title)): preview.title = title
            case ("shareType", .string(let type)): preview.shareType = type
            case ("thumbnailImageData", .data(let thumbnail)): preview.thumbnail = thumbnail
            default: break
            }
        }
        return key == nil ? nil : preview
    }

    // MARK: Changes

    /// - Parameter time: of the visitor's clock, microseconds since 1970.
    /// - Returns: nil where there is nothing to change.
    func entry(
        _ wish: ShareWish, at time: Int64, random: inout SystemRandom
    ) throws(Refusal) -> ShareEntry<SodiumHPKE>? {
        let editor = ShareEditor<SodiumHPKE>(
            wish, in: try Self.view(of: zone), links: links, as: zone.own, keptBy: seed, time: time)
        return try edit { () throws(ShareEditRefusal) in try editor.entry(random: &random) }
    }

    /// Somebody of the share as its roster has them.
    /// - Parameter id: of an invitation, or a user's name.
    func person(_ id: String) throws(Refusal) -> ShareWish.Person {
        let roster = try Self.view(of: zone).roster
        if let user = try? UserID(recordName: id) {
            guard let member = roster.members[user] else { throw Refusal("unknownItem") }
            return ShareWish.Person(
                invitationID: member.invitationID, user: user, chain: member.identity, address: nil, role: member.role,
                permission: member.permission)
        }
        guard let bytes = try? Hex.decode(id), let invitationID = try? ID16(bytes),
            let invitation = roster.invitations[invitationID]
        else { throw Refusal("unknownItem") }
        return ShareWish.Person(
            invitationID: invitationID, user: invitation.invitee?.userID, chain: invitation.invitee,
            address: address(of: invitation, in: roster), permission: invitation.permission,
            expires: invitation.expires)
    }

    func address(of invitation: Invitation, in roster: Roster) -> String? {
        Self.address(of: invitation, in: roster, for: zone.own)
    }

    /// The address that somebody was invited by, where it was sealed to the visitor.
    static func address(of invitation: Invitation, in roster: Roster, for own: OwnIdentity) -> String? {
        try? own.open { keys throws(SealError) in
            try SealedAddresses<SodiumHPKE>.open(
                invitation, scopeID: roster.scopeID, as: own.chain.userID, keys: keys)
        }
    }
}

/// What is refused of a wish.
func edit<T>(_ body: () throws(ShareEditRefusal) -> T) throws(Refusal) -> T {
    do { return try body() } catch { throw Refusal(error) }
}

extension Refusal {
    fileprivate init(_ refusal: ShareEditRefusal) {
        switch refusal {
        case .publicIsOwners, .ownerStays, .administratorsAreOwners, .rolesAreOwners: self.init("permissionFailure")
        case .noURL: self.init("noShareURL")
        case .othersInvitation: self.init("othersInvitation")
        case .noPermission, .inviteeWithoutPermission, .permissionIsRoles, .noSuchRole, .administratorsWrite,
            .roleBeforeAccepting, .noSuchEnd, .usedInvitation, .notOpenable, .encryptedPerZone:
            self.init("invalidArguments")
        case .isPublic: self.init("shareIsPublic")
        case .noKeys: self.init("noKeys")
        case .isBlocked: self.init("isBlocked")
        case .previewTooLong: self.init("limitExceeded")
        case .alreadyShared: self.init("alreadyShared")
        case .noKey: self.init(SealError.missingKey)
        case .share(let reason), .invitation(let reason), .link(let reason): self.init(reason)
        }
    }
}
