import SealPrimitives

@testable import SealStatements

/// Who came, who went, and who lost a right.
extension RosterStep {
    func checkMembers() {
        for user in Set(before.members.keys).union(after.members.keys) {
            let (was, now) = (before.members[user], after.members[user])
            guard let was else {
                now.map(checkJoined)
                continue
            }
            if let now {
                let line = (was.identity.signed.map(\.bytes), now.identity.signed.map(\.bytes))
                require(line.1.starts(with: line.0), "generations were lost")
                require(was.since == now.since && was.invitation == now.invitation, "another membership")
                if line.0 != line.1 {
                    guard case .identity? = only, user == author else {
                        violated("keys that somebody else has changed")
                    }
                }
                if was.role == now.role && was.permission == now.permission { continue }
                // Nobody raises itself.
                require(user != author, "an author has changed its own rights")
            } else if user == author {
                require(only == .leave && was.role != .owner, "an author has removed itself otherwise than by leaving")
                continue
            }
            require(isAdministrator(author), "a membership that no administrator has changed")
            require(was.role != .owner, "the owner's membership has changed")
            if author == before.scope.owner { continue }
            require(was.role != .administrator, "an administrator has touched another")
            require(now == nil || now?.role == was.role, "an administrator has given a role")
        }
    }

    private func checkJoined(_ member: Roster.Member) {
        guard case .accept(let acceptance)? = only, member.userID == author, !isRotated else {
            violated("somebody is a member that did not accept")
        }
        require(!before.blocked.contains(author), "a blocked name has joined")
        require(member.since == entry.sequence && member.identity == acceptance.acceptor, "another membership")
        if let known = before.knownIdentity(of: author) {
            require(
                member.identity.signed.map(\.bytes).starts(with: known.signed.map(\.bytes)),
                "somebody is back with older keys")
        }
        let key: VerificationKey
        if let invitation = before.invitations[acceptance.invitationID] {
            key = invitation.signingKey
            require(
                member.role == .privateUser && member.permission == invitation.permission,
                "another right than was offered")
            require(
                member.invitation == invitation && after.invitations[invitation.id] == nil, "an invitation stays open")
            if let invitee = invitation.invitee {
                require(invitee.userID == author, "somebody else's invitation is taken")
                require(
                    member.identity.signed.map(\.bytes).starts(with: invitee.signed.map(\.bytes)),
                    "other keys than were invited")
            }
        } else {
            guard let seat = before.publicSeat, seat.id == acceptance.invitationID else {
                violated("a seat that is none")
            }
            key = seat.signingKey
            require(
                member.role == .publicUser && member.permission == seat.permission, "another right than the public's")
            require(after.publicSeat == seat && member.invitation == nil, "a public seat that is gone")
        }
        let message = RosterChange.Acceptance.signedBytes(
            scopeID: before.scopeID, invitationID: acceptance.invitationID, acceptor: member.identity, head: before.head
        )
        certain("an acceptance that was taken") { try key.verify(acceptance.signature, over: message) }
    }

    /// Whoever loses something holds no key for what comes: an epoch now, or before anybody writes again.
    func checkLosses() {
        let isLeaving = only == .leave
        if isLeaving {
            let isPublic = before.members[author]?.role == .publicUser
            require(
                (after.rotationDue || isPublic) && after.members[author] == nil && !isRotated,
                "somebody left with the key")
        }
        require(
            isRotated || isLeaving || !RosterStep.takesAway(from: before, to: after),
            "a right was taken without an epoch")
        // Once the link lets people join, whoever was put out needs another one to be out.
        let isPutOut = entry.changes.contains {
            switch $0 {
            case .remove, .block: true
            default: false
            }
        }
        if isPutOut {
            require(isRotated, "somebody was put out without an epoch")
            require(after.publicSeat == nil || after.linkID != before.linkID, "who was put out has the URL")
        }
    }

    /// Whether anybody may or knows less than before.
    static func takesAway(from before: Roster, to after: Roster) -> Bool {
        for (user, was) in before.members {
            guard let now = after.members[user] else { return true }
            if now.permission < was.permission || (was.role == .administrator && now.role != .administrator) {
                return true
            }
        }
        for (id, invitation) in before.invitations where after.invitations[id] == nil {
            let isTaken = after.members.values.contains {
                before.members[$0.userID] == nil
                    && ($0.invitation == invitation || $0.userID == invitation.invitee?.userID)
            }
            if !isTaken { return true }
        }
        if let seat = before.publicSeat {
            guard let now = after.publicSeat, after.linkID == before.linkID else { return true }
            if now.permission < seat.permission { return true }
        }
        return !after.blocked.isSubset(of: before.blocked)
    }

    // MARK: Seats

    func checkSeats() {
        let isOwner = author == before.scope.owner
        let made = after.invitations.filter { before.invitations[$0.key] == nil }
        for (id, invitation) in made {
            require(
                isAdministrator(author) && after.inviters[id] == author, "an invitation that no administrator has made")
            require(before.usedInvitations[id] == nil, "an id that was used before")
            guard let invitee = invitation.invitee else { continue }
            require(after.members[invitee.userID] == nil, "a member is invited")
            let known = before.knownIdentity(of: invitee.userID)?.signed.map(\.bytes) ?? []
            require(invitee.signed.map(\.bytes).starts(with: known), "somebody is invited under older keys")
        }
        for (id, invitation) in before.invitations {
            if let now = after.invitations[id] {
                require(now == invitation && after.inviters[id] == before.inviters[id], "an invitation has changed")
                continue
            }
            // One that it was invited by otherwise closes as well.
            let isTaken =
                before.members[author] == nil
                && (after.members[author]?.invitation == invitation || invitation.invitee?.userID == author)
            let isLeft =
                only == .leave && isAdministrator(author) && invitation.invitee == nil && before.inviters[id] == author
            require(isTaken || isLeft || isAdministrator(author), "an invitation that no administrator has ended")
        }
        if after.blocked != before.blocked { require(isAdministrator(author), "blocked by no administrator") }
        guard after.linkID != before.linkID || after.publicSeat != before.publicSeat else { return }
        require(isAdministrator(author), "settings that no administrator has changed")
        require(isOwner || before.isShared, "shared by somebody else than the owner")
        require(
            isOwner || after.publicSeat?.permission == before.publicSeat?.permission,
            "an administrator decides who may join")
        require(after.linkID != nil, "what was shared is not any more")
        if let seat = after.publicSeat, seat != before.publicSeat {
            require(before.usedInvitations[seat.id] == nil, "an id that was used before")
        }
    }
}
