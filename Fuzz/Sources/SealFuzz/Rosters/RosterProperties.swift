import SealPrimitives

@testable import SealStatements

/// What holds in every roster, whatever was appended. Written from PROTOCOL.md, "Rosters", and not from the core.
enum RosterProperties {
    static func check(_ roster: Roster) {
        let owners = roster.members.values.filter { $0.role == .owner }
        if roster.isClosed {
            require(roster.members.isEmpty && roster.invitations.isEmpty, "somebody is left in a closed scope")
            require(
                roster.linkID == nil && roster.publicSeat == nil && roster.blocked.isEmpty && !roster.rotationDue,
                "settings are left in a closed scope")
        } else {
            require(owners.map(\.userID) == [roster.scope.owner], "a scope without its one owner")
            require(owners.first?.permission == .readWrite, "an owner who may only read")
        }
        require(roster.members.count + roster.invitations.count <= 101, "too many participants")
        require(roster.blocked.count <= 1_000, "too many are blocked")
        require(roster.isShared == (roster.linkID != nil), "shared without a link, or a link without")
        require(
            roster.isShared || (roster.members.count <= 1 && roster.invitations.isEmpty),
            "seats where nothing is shared")
        checkSeats(roster)
        checkStandings(roster)
    }

    private static func checkSeats(_ roster: Roster) {
        let invitees = roster.invitations.values.compactMap { $0.invitee?.userID }
        require(Set(invitees).count == invitees.count, "somebody is invited twice")
        require(roster.blocked.isDisjoint(with: roster.members.keys), "a member is blocked")
        require(roster.blocked.isDisjoint(with: invitees), "an invitee is blocked")
        // Its grant is good for the invitee: whoever is removed as a member would keep it.
        require(!invitees.contains { roster.members[$0] != nil }, "a member is invited")
        require(!roster.blocked.contains(roster.scope.owner), "the owner is blocked")
        if let seat = roster.publicSeat {
            require(roster.isShared, "a public seat where nothing is shared")
            require(roster.invitations[seat.id] == nil, "a public seat that is an invitation too")
            require(roster.usedInvitations[seat.id] != nil, "a public seat's id may come again")
        }
        for (user, member) in roster.members {
            require(user == member.identity.userID, "a member under another name")
            require(
                member.role != .administrator || member.permission == .readWrite, "an administrator who may only read")
            guard member.role == .publicUser else { continue }
            require(member.permission == roster.publicSeat?.permission, "a public user with another permission")
        }
        // Whoever made a placeholder knows its URL: as long as it is open that is an administrator.
        require(Set(roster.inviters.keys) == Set(roster.invitations.keys), "an invitation that nobody made")
        for (id, invitation) in roster.invitations {
            require(id == invitation.id && roster.usedInvitations[id] != nil, "an invitation's id may come again")
            let maker = roster.inviters[id].flatMap { roster.members[$0] }
            guard invitation.invitee == nil else { continue }
            require(maker?.role == .owner || maker?.role == .administrator, "a one-time invitation outlives its maker")
        }
        let subjects =
            roster.members.keys.map { GrantSubject.member($0) } + roster.invitations.keys.map { .invitation($0) }
            + (roster.publicSeat.map { [.invitation($0.id)] } ?? [])
        require(roster.subjects == subjects.sorted(), "other subjects than are there")
        for subject in roster.subjects where subject.kind == 2 {
            require(roster.currentEpoch.grantHashes[subject] != nil, "a seat without a grant")
        }
    }

    private static func checkStandings(_ roster: Roster) {
        for (user, standings) in roster.history {
            require(standings.last?.permission == roster.members[user]?.permission, "a right that is not the member's")
            let standing = roster.standing(of: user, at: roster.sequence)
            require((standing != nil) == (roster.members[user] != nil), "a standing without a membership")
            if let standing, let member = roster.members[user] {
                require(standing.role == member.role && standing.identity == member.identity, "another standing")
                require(
                    standing.mayAdminister == (member.role == .owner || member.role == .administrator),
                    "an administrator")
            }
            require(roster.knownIdentity(of: user)?.userID == user, "a chain under another name")
            // Of each name this log has one line of generations.
            for (was, now) in zip(standings, standings.dropFirst()) {
                require(was.from <= now.from, "a history out of order")
                require(
                    now.identity.signed.map(\.bytes).starts(with: was.identity.signed.map(\.bytes)),
                    "generations were lost")
            }
        }
        require(roster.members.keys.allSatisfy { roster.history[$0] != nil }, "a member without a history")
    }
}
