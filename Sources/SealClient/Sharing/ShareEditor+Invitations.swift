import SealEnvelope
import SealPrimitives
import SealStatements

extension ShareEditor {
    /// - Parameter dropsPending: the public permission changes, which takes the open invitations back.
    func planInvitations(
        _ plan: inout Plan, isPublic: Bool, dropsPending: Bool, random: inout some RandomSource
    ) throws(ShareEditRefusal) {
        for person in plan.people {
            switch person.place {
            case .member?: break
            case .invited(let open)?: try update(open, as: person, in: &plan, random: &random)
            case nil:
                // The settings take it back, whatever else was wanted of it.
                if person.before != nil, person.goes, dropsPending { continue }
                // What is to be changed of somebody who is there no more is not done for somebody else.
                guard person.before == nil else { throw .usedInvitation }
                guard !isPublic else { throw .isPublic }
                try invite(person.now, in: &plan, random: &random)
            }
        }
    }

    /// Permission and expiry of an open invitation cannot change: another one takes its place, behind the same URL.
    private func update(
        _ open: Invitation, as person: Placed, in plan: inout Plan, random: inout some RandomSource
    ) throws(ShareEditRefusal) {
        guard !person.changesRole else { throw .roleBeforeAccepting }
        // Only what was changed here is sent.
        var successor = person.now
        if !person.changesPermission { successor.permission = open.permission }
        if !person.changesExpiry { successor.expires = open.expires }
        guard isToCome(successor.expires) else { throw .noSuchEnd }
        guard open.permission != successor.permission || open.expires != successor.expires else { return }
        successor.invitationID = ID16(random: &random)
        successor.chain = successor.chain ?? open.invitee
        successor.role = .privateUser
        let link = links.links.first { $0.invitationID == open.id }
        guard link != nil || (open.invitee != nil && successor.address == nil) else { throw .othersInvitation }
        plan.revoked.insert(open.id)
        try invite(successor, behind: link, in: &plan, random: &random)
    }

    /// An invitation that is over already would be taken back as it is made.
    private func isToCome(_ expires: Int64?) -> Bool { expires.map { $0 == 0 || $0 > time } ?? false }

    /// Whoever was invited by name behind a share-wide URL that is replaced would find no seat behind either: another
    /// invitation takes the place of each, behind the new one.
    func planRenewal(_ plan: inout Plan, random: inout some RandomSource) throws(ShareEditRefusal) {
        for open in roster.invitations.values.sorted(by: { $0.id < $1.id }) {
            guard let invitee = open.invitee, open.sealedAddresses.isEmpty, !plan.revoked.contains(open.id),
                !links.links.contains(where: { $0.invitationID == open.id })
            else { continue }
            let successor = ShareWish.Person(
                invitationID: ID16(random: &random), user: invitee.userID, chain: invitee, address: nil,
                permission: open.permission, expires: open.expires)
            plan.revoked.insert(open.id)
            try invite(successor, in: &plan, random: &random)
        }
    }

    /// Whoever is invited by name accepts with the share-wide URL; by address, or by nothing, with a URL of its own,
    /// whose secret nobody else ever had.
    private func invite(
        _ person: ShareWish.Person, behind existing: ShareLinks.Link? = nil, in plan: inout Plan,
        random: inout some RandomSource
    ) throws(ShareEditRefusal) {
        guard person.role == .privateUser else { throw .roleBeforeAccepting }
        // Invited as somebody whom nobody knows, whoever has the URL would have the seat.
        guard person.chain != nil || person.user == nil else { throw .noKeys }
        guard let permission = person.permission else { throw .inviteeWithoutPermission }
        let blocked = roster.blocked.subtracting(wish.unblocked).union(wish.blocked)
        if let chain = person.chain, blocked.contains(chain.userID) { throw .isBlocked }
        // Somebody who was in the share before is asked for anew: no invitation's id is used twice.
        guard let id = person.invitationID, roster.sequence(ofInvitation: id) == nil else { throw .usedInvitation }
        let secret: LinkSecret
        if person.chain != nil, person.address == nil, existing == nil {
            guard let shareWide = plan.shareWide else { throw .noURL }
            secret = shareWide.secret
        } else {
            let link = ShareLinks.Link(
                routingID: existing?.routingID ?? ID16(random: &random),
                secret: existing?.secret ?? LinkSecret(random: &random), invitationID: id)
            secret = link.secret
            plan.links.append(try kept(link, in: plan, random: &random))
            // The server asks a placeholder to prove its address; of somebody known it has the name.
            if person.chain == nil, let address = person.address {
                var placeholder = Wire.PlaceholderAddress()
                placeholder.invitationID = id.bytes
                placeholder.address = address
                plan.addresses.append(placeholder)
            }
        }
        guard let expires = person.expires, isToCome(expires) else { throw .noSuchEnd }
        do throws(SealError) {
            var addresses: [SealedAddress] = []
            if let address = person.address {
                var readers: [IdentityChain] = []
                for member in roster.members.values where member.mayAdminister { readers.append(member.identity) }
                addresses = try SealedAddresses<H>.seal(
                    address, scopeID: roster.scopeID, invitationID: id, to: readers)
            }
            plan.invitations.append(
                try InvitationDraft(
                    keys: secret.invitationKeys(scopeID: roster.scopeID, invitationID: id), permission: permission,
                    invitee: person.chain, expires: expires, sealedAddresses: addresses, using: H.self))
        } catch {
            throw .invitation(error)
        }
    }
}
