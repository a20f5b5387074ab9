import Foundation
import SealCoding
package import SealPrimitives
package import SealStatements
package import SealStorage
package import SealWire

/// An entry with all that comes with it, checked as far as that is possible without the database.
package struct RosterAppend: Sendable {
    static let foreign = ServerError(
        .permissionFailure, "The entry's author is somebody else.", remedy: "Send only entries that you signed.")

    package let signed: SignedRosterEntry
    package let entry: RosterEntry
    package let grants: [Sealkit_V1_Grant]
    package let links: [Sealkit_V1_Link]
    package let sealedLinks: SealedLinkSet
    package let addresses: [(invitation: ID16, hash: [UInt8])]

    /// - Throws: `invalidArguments`, `permissionFailure`, `limitExceeded`.
    package init(_ message: Sealkit_V1_AppendRosterRequest, container: String, hasher: AddressHasher) throws {
        let signed = SignedRosterEntry(message.entry)
        let entry = try ServerError.checking("The roster entry") { () throws(SealError) in
            try RosterEntry(canonicalBytes: signed.bytes, container: container)
        }
        for change in entry.changes {
            switch change {
            case .open, .close:
                throw ServerError(
                    .invalidArguments, "Zones are opened and closed by zones/modify.", remedy: "Send the entry there.")
            case .accept:
                throw ServerError(
                    .invalidArguments, "Invitations are accepted by share/accept.", remedy: "Send the entry there.")
            default: break
            }
        }
        // More than a roster can have seats is never right, and bounds the work below.
        guard message.links.count <= Limits.participantsPerScope + 1,
            message.addresses.count <= Limits.participantsPerScope,
            message.grants.count <= 2 * Limits.participantsPerScope + 1
        else {
            throw ServerError(
                .limitExceeded, "Too many grants, links or addresses for one entry.",
                remedy: "Send no more than a zone has seats.")
        }
        for link in message.links { try StoredLinks.check(link) }
        var seen: Set<ID16> = []
        addresses = try message.addresses.map { address in
            guard let invitation = try? ID16(address.invitationID), seen.insert(invitation).inserted else {
                throw ServerError(
                    .invalidArguments, "An address names no invitation, or one that another address names.",
                    remedy: "Send one address for each placeholder.")
            }
            return (invitation, try hasher.hash(address.address))
        }
        sealedLinks = try SealedLinkSet(message.sealedLinks)
        self.signed = signed
        self.entry = entry
        grants = message.grants
        links = message.links
    }

    /// Appends under the rules, compare-and-append, with everything that follows from it, in the caller's transaction.
    /// - Returns: the scope as it is now.
    package func run(
        on scope: ScopeRow, by caller: Caller, rosters: RosterCache, quotas: Quotas, now: Int64,
        in connection: any SQLConnection
    ) throws -> ScopeRow {
        guard entry.author == caller.userID else { throw Self.foreign }
        let before = try rosters.roster(of: scope, in: connection)
        guard before.members[caller.userID] != nil else { throw Zones.notFound }
        var after = before
        try ServerError.checking("The roster entry") { () throws(SealError) in try after.append(signed) }
        try Self.checkSeats(after)
        try checkExtras(before: before, after: after, caller: caller)
        try checkSharing(of: scope, connection)
        let grants = try StoredGrants.check(
            grants, required: required(after), epoch: after.currentEpoch.number)

        guard !RosterRoom.isAlwaysTaken(entry, after: before) else {
            return try store(grants, on: scope, by: caller, before: before, after: after, now: now, in: connection)
        }
        try RosterRoom.check(entry: after.sequence, quotas)
        return try StorageUsage.within(
            quotas, of: StorageUsage.Bill(scope.zone, caller: caller, in: connection), connection
        ) {
            try store(grants, on: scope, by: caller, before: before, after: after, now: now, in: connection)
        }
    }

    private func store(
        _ grants: [(subject: GrantSubject, sealed: Data)], on scope: ScopeRow, by caller: Caller, before: Roster,
        after: Roster, now: Int64,
        in connection: any SQLConnection
    ) throws -> ScopeRow {
        let enclosures = RosterEnclosures(grants: grants, links: links, sealedLinks: sealedLinks, addresses: addresses)
        var rosters = Rosters(by: caller, room: .ofRequest, now: now, in: connection)
        return try rosters.append(
            NextEntry(
                signed, before: before, after: after, enclosures: enclosures, reason: .deleted, news: .withEntry,
                roots: .withEntry),
            to: scope)
    }

    /// A zone is shared as a whole, or some hierarchies in it are.
    private func checkSharing(of scope: ScopeRow, _ connection: any SQLConnection) throws {
        guard scope.share == nil else { return }
        let shares = entry.changes.contains { change in
            switch change {
            case .settings, .invite: true
            default: false
            }
        }
        guard shares else { return }
        guard scope.zone.name != Names.defaultZone else {
            throw ServerError(
                .invalidArguments, "The default zone is not shared as a whole.",
                remedy: "Share single hierarchies in it, or put the records into a custom zone.")
        }
        guard try !Shares.hasOpen(in: scope.zone, connection) else { throw Shares.hierarchiesAreShared }
    }

    /// The grants that have to come: a new epoch's for everybody, else those of the entry's own invitations.
    private func required(_ after: Roster) -> [GrantSubject: SealPrimitives.Digest] {
        if let epoch = entry.epoch {
            return Dictionary(epoch.coverage.map { ($0.subject, $0.grantHash) }) { first, _ in first }
        }
        var required: [GrantSubject: SealPrimitives.Digest] = [:]
        for case .invite(let invitation) in entry.changes where after.invitations[invitation.id] != nil {
            required[.invitation(invitation.id)] = invitation.grantHash
        }
        for case .settings(let settings) in entry.changes {
            guard let seat = settings.publicSeat else { continue }
            required[.invitation(seat.id)] = seat.grantHash
        }
        return required
    }

    /// As with CloudKit: while anybody with the URL may join, nobody is invited by name.
    private static func checkSeats(_ after: Roster) throws(ServerError) {
        guard after.publicSeat == nil || after.invitations.isEmpty else {
            throw ServerError(
                .invalidArguments, "A share that anybody with its URL may join has no invitations.",
                remedy: "Revoke the open invitations in the same entry, or set the public permission to none first.")
        }
    }

    /// Links and addresses come from those who invite, and for seats that are open.
    private func checkExtras(before: Roster, after: Roster, caller: Caller) throws(ServerError) {
        guard !links.isEmpty || !addresses.isEmpty || !sealedLinks.isEmpty else { return }
        guard let author = before.members[caller.userID], author.mayAdminister else {
            throw ServerError(
                .permissionFailure, "Only the owner and administrators make links.",
                remedy: "Send the entry without links and addresses.")
        }
        for link in links where !link.invitationID.isEmpty {
            guard let id = try? ID16(link.invitationID), after.invitations[id] != nil else {
                throw ServerError(
                    .invalidArguments, "A link is for no open invitation.",
                    remedy: "Invite in the same entry or before; leave the invitation id empty for the share-wide link."
                )
            }
        }
        guard links.count(where: { $0.invitationID.isEmpty }) <= 1 else {
            throw ServerError(
                .invalidArguments, "A zone has one share-wide link at most.",
                remedy: "Send one; it replaces the one before.")
        }
        // The owner may lose its URL's server half by its own hand only, or by the renewal that the rules ask for.
        guard
            author.role == .owner || before.linkID != after.linkID
                || !links.contains(where: { $0.invitationID.isEmpty })
        else {
            throw ServerError(
                .permissionFailure, "An administrator replaces the share-wide link only where it renews the link id.",
                remedy: "Send new settings in the same entry.")
        }
        try sealedLinks.check(after)
        for address in addresses {
            guard let invitation = after.invitations[address.invitation], invitation.invitee == nil else {
                throw ServerError(
                    .invalidArguments, "An address is for no open placeholder invitation.",
                    remedy: "Send addresses for invitations that name nobody.")
            }
        }
    }
}
