import Foundation
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire
import SwiftProtobuf

extension ShareEditor {
    /// - Parameter dropsPending: the public permission changes, which takes the open invitations back.
    func planInvitations(_ plan: inout Plan, isPublic: Bool, dropsPending: Bool) throws(SealKitError) {
        for participant in share.participants where participant.userID.flatMap({ roster.members[$0] }) == nil {
            let isNew = !share.saved.contains { $0.isSamePerson(as: participant) }
            if let open = openInvitation(of: participant) {
                guard !dropsPending, !plan.revoked.contains(open.id) else { continue }
                try update(open, as: participant, in: &plan)
            } else if isNew, member(participant) == nil {
                guard !isPublic else {
                    throw SealKitError(
                        .invalidArguments, "nobody is invited to a share that anybody with its URL may join",
                        remedy: "set publicPermission to none, or send the URL")
                }
                try invite(participant, in: &plan)
            }
        }
    }

    /// Permission and expiry of an open invitation cannot change: another one takes its place, behind the same URL.
    private func update(_ open: Invitation, as participant: Share.Participant, in plan: inout Plan) throws(SealKitError)
    {
        let before = share.saved.first { $0.isSamePerson(as: participant) }
        // Only what was changed here is sent.
        guard before?.permission != participant.permission || before?.expirationDate != participant.expirationDate
        else {
            guard before?.role == participant.role else { throw notBeforeAccepting }
            return
        }
        let expires = try expires(participant)
        guard open.permission != participant.permission.onRoster || open.expires != expires else { return }
        var successor = participant
        successor.participantID = Share.Participant.newID()
        successor.chain = participant.chain ?? open.invitee
        let link = links.links.first { $0.invitationID == open.id }
        guard link != nil || (open.invitee != nil && participant.userIdentity.lookupInfo?.address == nil) else {
            throw SealKitError(
                .permissionFailure, "the invitation was made by somebody else, who alone has its URL",
                remedy: "remove it, and invite anew")
        }
        plan.revoked.insert(open.id)
        try invite(successor, behind: link, in: &plan)
    }

    /// Whoever was invited by name behind a share-wide URL that is replaced would find no seat behind either: another
    /// invitation takes the place of each, behind the new one.
    func planRenewal(_ plan: inout Plan) throws(SealKitError) {
        for open in roster.invitations.values.sorted(by: { $0.id < $1.id }) {
            guard let invitee = open.invitee, open.sealedAddresses.isEmpty, !plan.revoked.contains(open.id),
                !links.links.contains(where: { $0.invitationID == open.id })
            else { continue }
            let successor = Share.Participant(
                participantID: Share.Participant.newID(),
                userIdentity: Share.UserIdentity(userRecordID: Record.ID(recordName: invitee.userID.recordName)),
                role: .privateUser,
                permission: .init(open.permission), acceptanceStatus: .pending,
                expirationDate: open.expires == 0 ? nil : Date(microseconds: open.expires), chain: invitee)
            plan.revoked.insert(open.id)
            try invite(successor, in: &plan)
        }
    }

    /// Whoever is invited by name accepts with the share-wide URL; by address, or by nothing, with a URL of its own,
    /// whose secret nobody else ever had.
    private func invite(
        _ participant: Share.Participant, behind existing: OwnerLinks.Link? = nil, in plan: inout Plan
    ) throws(SealKitError) {
        guard participant.role == .privateUser else { throw notBeforeAccepting }
        // Invited as somebody whom nobody knows, whoever has the URL would have the seat.
        guard participant.chain != nil || participant.userIdentity.userRecordID == nil else {
            throw SealKitError(
                .invalidArguments, "the keys of somebody to invite are not at hand",
                remedy: "fetch the participant again, and add it")
        }
        guard let permission = participant.permission.onRoster else {
            throw SealKitError(
                .invalidArguments, "a participant may read at least", remedy: "give readOnly or readWrite")
        }
        let blocked = roster.blocked.subtracting(share.edits.unblocked).union(share.edits.blocked)
        if let chain = participant.chain, blocked.contains(chain.userID) {
            throw SealKitError(
                .invalidArguments, "somebody who is blocked cannot be invited", remedy: "unblock the identity first")
        }
        let id = try invitationID(of: participant)
        let address = participant.userIdentity.lookupInfo?.address
        let secret: LinkSecret
        if participant.chain != nil, address == nil, existing == nil {
            guard let shareWide = plan.shareWide else {
                throw SealKitError(
                    .permissionFailure, "this account was not given the share's URL",
                    remedy: "ask the owner to save the share")
            }
            secret = shareWide.secret
        } else {
            var random = SystemRandom()
            let link = OwnerLinks.Link(
                routingID: existing?.routingID ?? ID16(random: &random),
                secret: existing?.secret ?? LinkSecret(random: &random),
                invitationID: id)
            secret = link.secret
            plan.links.append(
                try OwnerLinks.keep(link, database, scopeID: roster.scopeID, preview: plan.preview))
            // The server asks a placeholder to prove its address; of somebody known it has the name.
            if participant.chain == nil, let address {
                plan.addresses.append(
                    .with {
                        $0.invitationID = Data(id.bytes)
                        $0.address = address
                    })
            }
        }
        let expires = try expires(participant)
        let readers = roster.members.values.filter(\.mayAdminister).map(\.identity)
        let draft = try verifying("the invitation") { () throws(SealError) in
            var addresses: [SealedAddress] = []
            if let address {
                addresses = try SealedAddresses<XWingHPKE>.seal(
                    address, scopeID: roster.scopeID, invitationID: id, to: readers)
            }
            return try InvitationDraft(
                keys: secret.invitationKeys(scopeID: roster.scopeID, invitationID: id), permission: permission,
                invitee: participant.chain, expires: expires,
                sealedAddresses: addresses, using: XWingHPKE.self)
        }
        plan.invitations.append(draft)
    }

    /// Microseconds since 1970; 0, which only no date may give, for never.
    private func expires(_ participant: Share.Participant) throws(SealKitError) -> Int64 {
        guard let date = participant.expirationDate else { return 0 }
        guard let time = ReferenceDate.microseconds(ofSeconds: date.timeIntervalSinceReferenceDate), time > 0 else {
            throw SealKitError(
                .invalidArguments, "an invitation's end is no date after 1970 that it can hold",
                remedy: "set a date to come, or nil for an invitation that stays open")
        }
        return time
    }

    private func invitationID(of participant: Share.Participant) throws(SealKitError) -> ID16 {
        guard let bytes = try? Hex.decode(participant.participantID), let id = try? ID16(bytes),
            roster.sequence(ofInvitation: id) == nil
        else {
            // Somebody who was in the share before is fetched anew: no invitation's id is used twice.
            throw SealKitError(
                .invalidArguments, "the participant is one of an earlier invitation",
                remedy: "fetch the participant again, and add it")
        }
        return id
    }

    private var notBeforeAccepting: SealKitError {
        SealKitError(
            .invalidArguments, "only who has accepted becomes an administrator",
            remedy: "invite it, and change the role afterwards")
    }
}
