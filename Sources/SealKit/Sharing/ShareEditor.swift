import Foundation
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

    private struct Plan {
        var changes: [RosterChange] = []
        var settings: SettingsDraft?
        var invitations: [InvitationDraft] = []
        var links: [Sealkit_V1_Link] = []
        var addresses: [Sealkit_V1_PlaceholderAddress] = []
        var takesRightAway = false

        var isEmpty: Bool { changes.isEmpty && invitations.isEmpty && settings == nil }
    }

    /// Appends the entry, if there is anything to change, and gives the zone as it is then.
    func apply(_ keeper: ZoneKeeper) async throws(SealKitError) -> ZoneView {
        let plan = try plan()
        guard !plan.isEmpty else { return view }
        let key = plan.takesRightAway ? try view.newestKey() : try view.currentKey()
        var random = SystemRandom()
        let draft = try verifying("the share") { () throws(SealError) in
            try database.core.author.next(
                on: view.roster, changes: plan.changes, settings: plan.settings, invitations: plan.invitations,
                rotating: plan.takesRightAway, current: key, time: currentTime(), random: &random)
        }
        // What the rules refuse is refused here, before the server hears of it.
        var checked = view.roster
        try verifying("the share") { () throws(SealError) in try checked.append(draft.entry) }
        try await database.append(draft, view: view, links: plan.links, addresses: plan.addresses)
        return try await keeper.adopt(draft)
    }

    private func plan() throws(SealKitError) -> Plan {
        let roster = view.roster
        var plan = Plan()
        var shareWide = links.shareWide
        if shareWide == nil {
            let (link, wire) = try OwnerLinks.make(database, scopeID: roster.scopeID, invitationID: nil, preview: preview)
            shareWide = link
            plan.links.append(wire)
            plan.settings = SettingsDraft(secret: link.secret)
        }
        for participant in share.saved where !share.participants.contains(where: { $0.isSamePerson(as: participant) }) {
            try remove(participant, in: &plan)
        }
        for participant in share.participants {
            if let member = participant.chain.flatMap({ roster.members[$0.userID] }) {
                // Only what was changed here is sent: a permission that another device has changed since stays.
                let before = share.saved.first { $0.isSamePerson(as: participant) }
                guard before?.permission != participant.permission else { continue }
                try change(member, to: participant.permission.onRoster, in: &plan)
            } else if let invitation = openInvitation(of: participant) {
                guard invitation.permission == participant.permission.onRoster else {
                    throw SealKitError(
                        .invalidArguments, "the permission of an open invitation cannot be changed",
                        remedy: "remove the invitation, save, and invite again")
                }
            } else if let shareWide, !share.saved.contains(where: { $0.isSamePerson(as: participant) }) {
                try invite(participant, shareWide: shareWide, in: &plan)
            }
        }
        return plan
    }

    private var preview: SharePreview {
        SharePreview(title: share.title, shareType: share.shareType, thumbnail: [UInt8](share.thumbnailImageData ?? Data()))
    }

    private func openInvitation(of participant: Share.Participant) -> Invitation? {
        if let bytes = try? Hex.decode(participant.participantID), let id = try? ID16(bytes), let found = view.roster.invitations[id] {
            return found
        }
        return participant.chain.flatMap { view.roster.invitation(for: $0.userID) }
    }

    private func remove(_ participant: Share.Participant, in plan: inout Plan) throws(SealKitError) {
        if let chain = participant.chain, view.roster.members[chain.userID] != nil {
            plan.changes.append(.remove(chain.userID))
        } else if let invitation = openInvitation(of: participant) {
            plan.changes.append(.revoke(invitation.id))
        } else if let member = view.roster.members.values.first(where: { $0.invitationID?.hex == participant.participantID }) {
            // It was still pending when the share was fetched, and has accepted since.
            plan.changes.append(.remove(member.userID))
        } else {
            return
        }
        plan.takesRightAway = true
    }

    private func change(_ member: Roster.Member, to permission: Permission, in plan: inout Plan) throws(SealKitError) {
        guard member.permission != permission else { return }
        guard member.role != .owner else {
            throw SealKitError(.permissionFailure, "the owner's permission cannot be changed")
        }
        if permission < member.permission { plan.takesRightAway = true }
        plan.changes.append(.setPermission(member.userID, permission))
    }

    /// Known people accept with the share-wide URL; a placeholder gets a URL of its own, with its own secret.
    private func invite(_ participant: Share.Participant, shareWide: OwnerLinks.Link, in plan: inout Plan) throws(SealKitError) {
        var random = SystemRandom()
        let id: ID16
        if let bytes = try? Hex.decode(participant.participantID), let given = try? ID16(bytes) {
            id = given
        } else {
            id = ID16(random: &random)
        }
        var link = shareWide
        if participant.chain == nil {
            guard let address = participant.userIdentity.lookupInfo?.address else {
                throw SealKitError(.invalidArguments, "a participant without an account needs an e-mail address or phone number")
            }
            let (own, wire) = try OwnerLinks.make(database, scopeID: view.roster.scopeID, invitationID: id, preview: preview)
            link = own
            plan.links.append(wire)
            plan.addresses.append(
                .with {
                    $0.invitationID = Data(id.bytes)
                    $0.address = address
                })
        }
        let readers = view.roster.members.values.filter { $0.role == .owner || $0.role == .administrator }.map(\.identity)
        let draft = try verifying("the invitation") { () throws(SealError) in
            var addresses: [SealedAddress] = []
            if let address = participant.userIdentity.lookupInfo?.address {
                addresses = try SealedAddresses<XWingHPKE>.seal(
                    address, scopeID: view.roster.scopeID, invitationID: id, to: readers)
            }
            return try InvitationDraft(
                keys: link.secret.invitationKeys(scopeID: view.roster.scopeID, invitationID: id),
                permission: participant.permission.onRoster, invitee: participant.chain, sealedAddresses: addresses,
                using: XWingHPKE.self)
        }
        plan.invitations.append(draft)
    }
}
