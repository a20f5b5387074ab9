package import Foundation
package import SealPrimitives
package import SealStatements
package import SealStorage
import SealWire

/// What a link is to one caller.
package enum Seat {
    /// The caller is a member already.
    case taken
    /// The caller may take the seat of this invitation, or the public one.
    case free(ID16, Proof)

    /// Why the caller may take it.
    package enum Proof {
        /// The roster names the caller.
        case named
        /// Whoever has the URL may: the first with a one-time one that was made for no address, everybody while the
        /// share is public.
        case bearer
        /// The placeholder's address is linked to the caller's account.
        case linkedAddress([UInt8])
        /// A token has to show that the caller has the placeholder's address.
        case token([UInt8])
    }

    package static let unknown = ServerError(
        .unknownItem, "There is no such share, or the caller is not invited.",
        remedy: "Ask who sent the link for a new one.")

    static let takenAlready = ServerError(
        .invalidArguments, "The caller is a participant already.", remedy: "Fetch the shared database.")

    static let mayNeedVerification = ServerError(
        .participantMayNeedVerification, "The caller may have been invited by an address that it has not proven yet.",
        remedy: "Verify the invited address, then try again.")

    /// - Parameter offersToken: the caller sent a verification token, to be checked and spent by whoever asks.
    /// - Throws: `unknownItem`, `participantMayNeedVerification`, `permissionFailure`.
    package static func find(
        of caller: Caller, by link: StoredLinks.Row, roster: Roster, offersToken: Bool, now: Int64,
        in connection: any SQLConnection
    ) throws -> Seat {
        if roster.members[caller.userID] != nil { return .taken }
        guard let id = link.invitationID else {
            return try shareWide(caller, link.scope, roster, now: now, in: connection)
        }
        guard let invitation = roster.invitations[id], invitation.isOpen(at: now) else { throw unknown }
        if let invitee = invitation.invitee {
            guard invitee.userID == caller.userID else { throw unknown }
            return .free(id, .named)
        }
        guard !roster.blocked.contains(caller.userID) else { throw unknown }
        guard let hash = try StoredLinks.addressHash(of: id, scope: link.scope, in: connection) else {
            return .free(id, .bearer)
        }
        if try LinkedAddresses.isLinked(hash, to: caller.accountID, in: connection) {
            return .free(id, .linkedAddress(hash))
        }
        guard offersToken else {
            // Whoever is a participant already, though a pending one, has nothing to prove: this URL is somebody
            // else's.
            if let own = roster.invitation(for: caller.userID), own.isOpen(at: now) { throw needsOwnURL }
            if case .own = try placeholder(for: caller, link.scope, roster, now: now, in: connection) {
                throw needsOwnURL
            }
            throw mayNeedVerification
        }
        return .free(id, .token(hash))
    }

    /// With the share-wide link come those whom the roster names, and everybody while the share is public. No grant
    /// rests on that link alone otherwise.
    private static func shareWide(
        _ caller: Caller, _ scope: ScopeRow, _ roster: Roster, now: Int64, in connection: any SQLConnection
    ) throws -> Seat {
        guard !roster.blocked.contains(caller.userID) else { throw unknown }
        if let seat = roster.publicSeat { return .free(seat.id, .bearer) }
        if let invitation = roster.invitation(for: caller.userID) {
            guard invitation.isOpen(at: now) else { throw unknown }
            guard try !StoredLinks.hasOwn(invitation.id, scope: scope, in: connection) else { throw needsOwnURL }
            return .free(invitation.id, .named)
        }
        switch try placeholder(for: caller, scope, roster, now: now, in: connection) {
        case .none: throw unknown
        case .others: throw mayNeedVerification
        case .own: throw needsOwnURL
        }
    }

    /// That somebody whom the server does not know could take a seat by the link: whoever made an account for one that
    /// is taken would have made it for nothing.
    /// - Throws: `unknownItem`, also for a seat that is somebody's who has an account, and for the share-wide link of a
    ///   share that is not public.
    package static func requireForNewcomer(
        by routingID: Data, _ rosters: RosterCache, now: Int64, in connection: any SQLConnection
    ) throws {
        guard let link = try StoredLinks.find(routingID, in: connection) else { throw unknown }
        let roster = try rosters.roster(of: link.scope, in: connection)
        if let id = link.invitationID {
            guard let invitation = roster.invitations[id], invitation.isOpen(at: now), invitation.invitee == nil else {
                throw unknown
            }
            return
        }
        // A placeholder is accepted by its own URL only.
        guard roster.publicSeat != nil else { throw unknown }
    }

    package enum Placeholder {
        case none
        /// For addresses that are not known to be the caller's.
        case others
        case own
    }

    /// The open placeholders that wait for an address.
    package static func placeholder(
        for caller: Caller, _ scope: ScopeRow, _ roster: Roster, now: Int64, in connection: any SQLConnection
    ) throws -> Placeholder {
        let open = roster.invitations.values.filter { $0.invitee == nil && $0.isOpen(at: now) }
        guard !open.isEmpty else { return .none }
        let hashes = try StoredLinks.addressHashes(scope: scope, in: connection)
        let waitedFor = open.compactMap { hashes[$0.id] }
        guard !waitedFor.isEmpty else { return .none }
        let linked = Set(try LinkedAddresses.hashes(of: caller.accountID, in: connection))
        return waitedFor.contains(where: linked.contains) ? .own : .others
    }

    private static let needsOwnURL = ServerError(
        .permissionFailure, "The invitation to this address is accepted with its own one-time URL only.",
        remedy: "Ask for your own one-time URL.")
}

extension Invitation {
    package func isOpen(at now: Int64) -> Bool { expires == 0 || expires > now }
}
