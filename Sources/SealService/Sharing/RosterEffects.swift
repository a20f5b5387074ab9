import SealPrimitives
import SealStatements
import SealStorage

/// What a roster entry does to the rest of the database, whichever change it made: found by comparing the roster before
/// and after it.
enum RosterEffects {
    static func apply(before: Roster, after: Roster, scope: ScopeRow, in connection: any SQLConnection) throws {
        // A new epoch takes no grant away from those who stay: if its own are bad, the older ones still open the past.
        // The owner of a share that ends is its zone's owner still, and moves the records that were in it.
        for (user, member) in before.members where after.members[user] == nil && user != scope.zone.ownerName {
            try StoredGrants.remove(.member(user), scope: scope, in: connection)
            try DatabaseFeed.hide(scope, from: user, until: after.sequence, in: connection)
            try AccessRequests.remove(of: user, scope: scope, in: connection)
            if let seat = member.invitationID { try StoredLinks.remove(seat, scope: scope, in: connection) }
        }
        try endSeats(before: before, after: after, scope: scope, in: connection)
        try keepSealedLinks(before: before, after: after, scope: scope, in: connection)
        try settleRequests(before: before, after: after, scope: scope, in: connection)
    }

    private static func endSeats(before: Roster, after: Roster, scope: ScopeRow, in connection: any SQLConnection)
        throws
    {
        for id in before.invitations.keys where after.invitations[id] == nil {
            try StoredGrants.remove(.invitation(id), scope: scope, in: connection)
            // Whoever took the seat finds the share by its URL as long as it is a member.
            if after.members.values.contains(where: { $0.invitationID == id }) {
                try StoredLinks.removeAddress(of: id, scope: scope, in: connection)
            } else {
                try StoredLinks.remove(id, scope: scope, in: connection)
            }
        }
        if let seat = before.publicSeat, after.publicSeat?.id != seat.id {
            try StoredGrants.remove(.invitation(seat.id), scope: scope, in: connection)
        }
    }

    /// Copies of a secret that is replaced open nothing any more; those of former administrators are not kept for them.
    private static func keepSealedLinks(
        before: Roster, after: Roster, scope: ScopeRow, in connection: any SQLConnection
    ) throws {
        guard before.linkID == after.linkID else { return try SealedLinkSet.removeAll(of: scope, in: connection) }
        for member in before.members.values where member.role == .administrator {
            guard after.members[member.userID]?.role != .administrator else { continue }
            try SealedLinkSet.remove(member.userID, scope: scope, in: connection)
        }
    }

    /// Who asked for access is approved by an invitation, answered by a block, and has no need to ask as a member.
    private static func settleRequests(
        before: Roster, after: Roster, scope: ScopeRow, in connection: any SQLConnection
    ) throws {
        for (id, invitation) in after.invitations where before.invitations[id] == nil {
            guard let user = invitation.invitee?.userID else { continue }
            try AccessRequests.approve(user, scope: scope, in: connection)
        }
        for (id, invitation) in before.invitations where after.invitations[id] == nil {
            guard let user = invitation.invitee?.userID, after.members[user] == nil, after.invitation(for: user) == nil
            else {
                continue
            }
            try AccessRequests.remove(of: user, scope: scope, in: connection)
        }
        for user in after.blocked.subtracting(before.blocked) {
            try AccessRequests.remove(of: user, scope: scope, in: connection)
        }
        for user in after.members.keys where before.members[user] == nil {
            try AccessRequests.removeUnanswered(of: user, scope: scope, in: connection)
        }
    }
}
