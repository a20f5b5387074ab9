package import Foundation
import SealPrimitives
import SealStatements
package import SealStorage
package import SealWire

/// Strangers with a share's URL who ask for access to it.
///
/// Where the share takes no requests, and for whoever is blocked, a stranger is told what it is told of a share that
/// does not exist.
package struct AccessAsking {
    package static let mostContactBytes = Limits.sealedAddressBytes

    private let caller: Caller
    private let scope: ScopeRow
    private let roster: Roster
    private let connection: any SQLConnection

    /// The share behind a URL, to somebody who may ask for access to it.
    /// - Throws: `unknownItem`; `participantAlreadyInvited` for who need not ask; `invalidArguments` for a participant.
    package init(
        _ routingID: Data, by session: Session, _ rosters: RosterCache, now: Int64, in connection: any SQLConnection
    ) throws {
        guard let link = try StoredLinks.find(routingID, in: connection) else { throw Seat.unknown }
        scope = link.scope
        caller = try Caller(session, container: scope.zone.container, in: connection)
        roster = try rosters.roster(of: scope, in: connection)
        self.connection = connection
        guard roster.members[caller.userID] == nil else { throw Seat.takenAlready }
        guard !roster.blocked.contains(caller.userID) else { throw Seat.unknown }
        var mayJoin = roster.publicSeat != nil || roster.invitation(for: caller.userID)?.isOpen(at: now) == true
        if !mayJoin, case .own = try Seat.placeholder(for: caller, scope, roster, now: now, in: connection) {
            mayJoin = true
        }
        guard !mayJoin else {
            throw ServerError(
                .participantAlreadyInvited, "The caller may join without asking.",
                remedy: "Accept the share with the URL that the invitation came with.")
        }
        guard try AccessRequests.areAllowed(scope, in: connection) else { throw Seat.unknown }
    }

    /// Whom the request is sealed to.
    package func owner() throws -> Sealkit_V1_ShareOwnerResponse {
        let zone = scope.zone
        var response = Sealkit_V1_ShareOwnerResponse()
        response.container = zone.container
        response.environment = zone.environment.name
        response.zone = zone.wireID
        response.shareRecordName = scope.share?.recordName ?? ""
        if let chain = try Identities.wireChain(user: zone.ownerName, container: zone.container, in: connection) {
            response.owner = chain
        }
        return response
    }

    /// - Throws: `invalidArguments`.
    package static func check(_ message: Sealkit_V1_RequestShareAccessRequest) throws(ServerError) {
        guard message.requestID.count == ID16.byteCount,
            (1...mostContactBytes).contains(message.sealedContact.count)
        else {
            throw ServerError(
                .invalidArguments, "The request's id or contact is not well formed.",
                remedy: "Make 16 random bytes as id; seal at most \(mostContactBytes) bytes of contact.")
        }
    }

    /// Keeps the request, and tells whoever may answer it.
    /// - Parameter home: where it is at home; nil: it has everything.
    package func ask(
        _ message: Sealkit_V1_RequestShareAccessRequest, _ quotas: Quotas, at home: ZoneHome?, now: Int64
    ) throws {
        let zone = scope.zone
        try home?.check(zone)
        let bill = try StorageUsage.Bill(zone, caller: caller, in: connection)
        let isNew = try StorageUsage.within(quotas, of: bill, connection) {
            try AccessRequests.add(message, by: caller, scope: scope, now: now, in: connection)
        }
        // Asking again wakes nobody, but writes.
        guard isNew else { return }
        let answerers = roster.members.values.filter(\.mayAdminister).map(\.userID)
        try DatabaseFeed.touch(zone, for: answerers, in: connection)
        try Notifier(zone: zone, caller: caller, now: now, connection: connection).accessRequested(of: answerers)
    }
}
