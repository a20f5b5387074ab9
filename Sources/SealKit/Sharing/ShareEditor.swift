import Foundation
import SealClient
import SealCoding
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

/// Turns the difference between a share as it was fetched and as it is saved into one roster entry, with the grants,
/// links and addresses that belong to it.
struct ShareEditor {
    let database: Database
    let share: Share
    let view: ZoneView
    let links: OwnerLinks

    struct Plan {
        var revoked: Set<ID16> = []
        var removed: Set<UserID> = []
        /// After revoking and removing, in this order.
        var changes: [RosterChange] = []
        var settings: SettingsDraft?
        var invitations: [InvitationDraft] = []
        var links: [Sealkit_V1_Link] = []
        var addresses: [Sealkit_V1_PlaceholderAddress] = []
        var takesRightAway = false
        /// What new URLs show.
        let preview: SignedPreview
        /// The share-wide link after the entry.
        var shareWide: OwnerLinks.Link?
        var renewsLink = false

        var allChanges: [RosterChange] {
            revoked.sorted().map { .revoke($0) } + removed.sorted().map { .remove($0) } + changes
        }
        var isEmpty: Bool { allChanges.isEmpty && invitations.isEmpty && settings == nil }
    }

    var roster: Roster { view.roster }
    var isOwner: Bool { roster.owner == view.user }

    /// An entry with what goes to the server beside it.
    struct Entry: Sendable {
        let draft: RosterAuthor<XWingHPKE>.Draft
        var links: [Sealkit_V1_Link] = []
        var sealedLinks: [Sealkit_V1_SealedLink] = []
        var addresses: [Sealkit_V1_PlaceholderAddress] = []

        /// Without zone and operation.
        var onWire: Sealkit_V1_AppendRosterRequest {
            .with {
                $0.entry = draft.entry.wire
                $0.grants = draft.grants.map(\.wire)
                $0.links = links
                $0.sealedLinks = sealedLinks
                $0.addresses = addresses
            }
        }
    }

    /// Appends the entry, if there is anything to change, and gives the zone as it is then.
    func apply(_ keeper: ZoneKeeper) async throws(SealKitError) -> ZoneView {
        guard let entry = try entry(of: try plan()) else { return view }
        try await database.append(entry, view: view)
        return try await keeper.adopt(entry.draft)
    }

    /// What follows the opening of a share in the same request; nil for nothing, and for what takes a right away: that
    /// opens another key than the records of the request are sealed under.
    func entry() throws(SealKitError) -> Entry? {
        let plan = try plan()
        return plan.takesRightAway ? nil : try entry(of: plan)
    }

    private func entry(of plan: Plan) throws(SealKitError) -> Entry? {
        guard !plan.isEmpty else { return nil }
        let key = plan.takesRightAway ? try view.newestKey() : try view.currentKey()
        var random = SystemRandom()
        let draft = try verifying("the share") { () throws(SealError) in
            try database.core.author(on: roster).next(
                on: roster, changes: plan.allChanges, settings: plan.settings, invitations: plan.invitations,
                rotating: plan.takesRightAway, current: key, time: currentTime(), random: &random)
        }
        // What the rules refuse is refused here, before the server hears of it.
        var checked = roster
        try verifying("the share") { () throws(SealError) in try checked.append(draft.entry) }
        return Entry(
            draft: draft, links: plan.links, sealedLinks: try sealedLinks(plan, after: checked),
            addresses: plan.addresses)
    }

    private func plan() throws(SealKitError) -> Plan {
        var plan = Plan(preview: links.sign(share.preview, database, view: view), shareWide: links.shareWide)
        let wanted = try wantedPublicPermission()
        let changesPublic = wanted != roster.publicSeat?.permission
        if changesPublic { plan.revoked.formUnion(roster.invitations.keys) }
        try planRemovals(&plan, joinersGo: changesPublic && wanted == nil)
        try planMembers(&plan)
        try planSettings(&plan, wanted: wanted, changesPublic: changesPublic)
        try planInvitations(&plan, isPublic: wanted != nil, dropsPending: changesPublic)
        if plan.renewsLink, wanted == nil { try planRenewal(&plan) }
        if !plan.revoked.isEmpty || !plan.removed.isEmpty { plan.takesRightAway = true }
        return plan
    }

    /// What the owner wants; what another device has set since stays where this one changed nothing.
    private func wantedPublicPermission() throws(SealKitError) -> Permission? {
        guard share.publicPermission != share.edits.publicPermission else { return roster.publicSeat?.permission }
        guard isOwner else { throw refused("only the owner opens a share to the public, or closes it") }
        return share.publicPermission.onRoster
    }

    // MARK: Who goes

    /// - Parameter joinersGo: everybody who joined by the public URL is put out by the settings.
    private func planRemovals(_ plan: inout Plan, joinersGo: Bool) throws(SealKitError) {
        for user in share.edits.blocked.subtracting(roster.blocked) {
            if let member = roster.members[user] { try checkSubordinate(member) }
            if let invitation = roster.invitation(for: user) { plan.revoked.insert(invitation.id) }
            plan.changes.append(.block(user))
            plan.takesRightAway = true
        }
        for user in share.edits.unblocked.intersection(roster.blocked) { plan.changes.append(.unblock(user)) }
        for participant in share.saved where !share.participants.contains(where: { $0.isSamePerson(as: participant) }) {
            if let member = member(participant) {
                guard !share.edits.blocked.contains(member.userID), !(joinersGo && member.role == .publicUser) else {
                    continue
                }
                try checkSubordinate(member)
                plan.removed.insert(member.userID)
            } else if let invitation = openInvitation(of: participant) {
                plan.revoked.insert(invitation.id)
            }
        }
        plan.revoked.formUnion(roster.expiredInvitations(at: currentTime()))
    }

    // MARK: What members may do

    private func planMembers(_ plan: inout Plan) throws(SealKitError) {
        for participant in share.participants {
            guard let member = participant.userID.flatMap({ roster.members[$0] }) else { continue }
            // Only what was changed here is sent: a permission that another device has changed since stays.
            let before = share.saved.first { $0.isSamePerson(as: participant) }
            let role = before?.role == participant.role ? nil : participant.role
            let permission = before?.permission == participant.permission ? nil : participant.permission
            if let role, before != nil, role != Share.Participant.Role(member.role) {
                try change(member, to: role, permission, in: &plan)
            } else if let permission {
                try change(member, to: permission, in: &plan)
            }
        }
    }

    private func change(
        _ member: Roster.Member, to permission: Share.Participant.Permission, in plan: inout Plan
    ) throws(SealKitError) {
        guard let wanted = permission.onRoster else {
            throw SealKitError(.invalidArguments, "a participant may read at least", remedy: "remove it instead")
        }
        guard member.permission != wanted else { return }
        try checkSubordinate(member)
        guard member.role == .privateUser else {
            throw SealKitError(
                .invalidArguments, "administrators may write, and public users have the public permission",
                remedy: "change the role, or publicPermission")
        }
        if wanted < member.permission { plan.takesRightAway = true }
        plan.changes.append(.setPermission(member.userID, wanted))
    }

    /// A permission is given before the role that needs it, and taken after it.
    private func change(
        _ member: Roster.Member, to role: Share.Participant.Role, _ permission: Share.Participant.Permission?,
        in plan: inout Plan
    ) throws(SealKitError) {
        guard isOwner, member.role != .owner else { throw refused("only the owner changes roles, and none of its own") }
        guard member.role != .publicUser, role == .administrator || role == .privateUser else {
            throw SealKitError(
                .invalidArguments, "only private users become administrators, and administrators private users",
                remedy: "invite the person by name")
        }
        if role == .administrator {
            if let permission { try change(member, to: permission, in: &plan) }
            guard permission.map({ $0 == .readWrite }) ?? (member.permission == .readWrite) else {
                throw SealKitError(
                    .invalidArguments, "an administrator has readWrite", remedy: "give that permission, too")
            }
            plan.changes.append(.setRole(member.userID, .administrator))
        } else {
            plan.takesRightAway = true
            plan.changes.append(.setRole(member.userID, .privateUser))
            if let wanted = permission?.onRoster, wanted != member.permission {
                plan.changes.append(.setPermission(member.userID, wanted))
            }
        }
    }

    // MARK: Settings

    /// The public seat, and the share-wide URL: made once, and anew where somebody who is put out could come back by
    /// it.
    private func planSettings(_ plan: inout Plan, wanted: Permission?, changesPublic: Bool) throws(SealKitError) {
        let putsOut = !plan.removed.isEmpty || plan.changes.contains { if case .block = $0 { true } else { false } }
        plan.renewsLink = (wanted != nil && putsOut) || (plan.shareWide == nil && isOwner)
        if plan.renewsLink {
            let (link, wire) = try OwnerLinks.make(
                database, scopeID: roster.scopeID, invitationID: nil, preview: plan.preview)
            plan.shareWide = link
            plan.links.append(wire)
        }
        guard plan.renewsLink || changesPublic, let link = plan.shareWide else { return }
        var random = SystemRandom()
        plan.settings = SettingsDraft(
            secret: link.secret, publicAccess: wanted.map { (seatID: ID16(random: &random), permission: $0) })
        // Whoever has the old URL, or joined by it, may do less than before.
        guard let before = roster.publicSeat?.permission else { return }
        if plan.renewsLink || wanted.map({ $0 < before }) ?? true { plan.takesRightAway = true }
    }

    /// The share-wide secret for those who administer the share after the entry and do not have it.
    private func sealedLinks(_ plan: Plan, after: Roster) throws(SealKitError) -> [Sealkit_V1_SealedLink] {
        guard let link = plan.shareWide else { return [] }
        let administrators = after.members.values.filter(\.mayAdminister)
        return try verifying("the share-wide URL") { () throws(SealError) in
            var sealed: [Sealkit_V1_SealedLink] = []
            for member in administrators where plan.renewsLink || roster.members[member.userID]?.role != member.role {
                let copy = try SealedLinks<XWingHPKE>.seal(link.secret, scopeID: roster.scopeID, to: member.identity)
                sealed.append(
                    .with {
                        $0.reader = Data(member.userID.id.bytes)
                        $0.sealed = Data(copy)
                    })
            }
            return sealed
        }
    }

    // MARK: Who is meant

    /// Also somebody who was still pending when the share was fetched, and has accepted since.
    func member(_ participant: Share.Participant) -> Roster.Member? {
        if let user = participant.userID { return roster.members[user] }
        return roster.members.values.first { $0.invitationID?.hex == participant.participantID }
    }

    func openInvitation(of participant: Share.Participant) -> Invitation? {
        if let bytes = try? Hex.decode(participant.participantID), let id = try? ID16(bytes),
            let found = roster.invitations[id]
        {
            return found
        }
        return participant.userID.flatMap { roster.invitation(for: $0) }
    }

    /// - Throws: `permissionFailure` for the owner, and for one administrator in the hands of another.
    private func checkSubordinate(_ member: Roster.Member) throws(SealKitError) {
        guard member.role != .owner else { throw refused("nobody changes, removes or blocks the owner") }
        guard isOwner || member.role != .administrator else {
            throw refused("only the owner changes, removes or blocks an administrator")
        }
    }

    private func refused(_ reason: String) -> SealKitError {
        SealKitError(.permissionFailure, reason, remedy: "ask the owner")
    }
}

extension Share {
    /// What whoever has a URL sees.
    var preview: SharePreview {
        SharePreview(title: title, shareType: shareType, thumbnail: [UInt8](thumbnailImageData ?? Data()))
    }
}
