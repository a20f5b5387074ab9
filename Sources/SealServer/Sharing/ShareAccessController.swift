import Foundation
import Hummingbird
import SealPrimitives
import SealService
import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

/// Asking for access to a share: `share/owner` and `share/request` for strangers with its URL, `share/access/fetch` and
/// `share/access/update` for those who answer.
///
/// Where the share takes no requests, and for whoever is blocked, a stranger is told what it is told of a share that
/// does not exist.
struct ShareAccessController: Sendable {
    let transactions: Transactions
    let rates: RequestRates
    let clock: @Sendable () -> Int64
    let quotas: Quotas
    let rosters: RosterCache

    static let mostContactBytes = Limits.sealedAddressBytes

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.sharing.owner) { try await owner($0, $1) }
        router.on(Endpoints.sharing.requestAccess) { try await ask($0, $1) }
        router.on(Endpoints.sharing.fetchAccess) { try await fetch($0, $1) }
        router.on(Endpoints.sharing.updateAccess) { try await update($0, $1) }
    }

    // MARK: Strangers

    private func owner(
        _ message: Sealkit_V1_ShareOwnerRequest, _ call: SessionCall
    ) async throws -> Sealkit_V1_ShareOwnerResponse {
        let session = call.session
        let (now, rosters) = (clock(), self.rosters)
        let response = try await transactions.read { connection -> Sealkit_V1_ShareOwnerResponse in
            let (zone, _, _) = try Self.open(message.routingID, to: session, rosters, now: now, in: connection)
            var response = Sealkit_V1_ShareOwnerResponse()
            response.container = zone.container
            response.environment = zone.environment.name
            response.zone = zone.wireID
            response.shareRecordName = zone.share?.recordName ?? ""
            if let chain = try Identities.wireChain(user: zone.ownerName, container: zone.container, in: connection) {
                response.owner = chain
            }
            return response
        }
        return response
    }

    private func ask(
        _ message: Sealkit_V1_RequestShareAccessRequest, _ call: SessionCall
    ) async throws -> Sealkit_V1_RequestShareAccessResponse {
        let session = call.session
        guard message.requestID.count == ID16.byteCount,
            (1...Self.mostContactBytes).contains(message.sealedContact.count)
        else {
            throw ServerError(
                .invalidArguments, "The request's id or contact is not well formed.",
                remedy: "Make 16 random bytes as id; seal at most \(Self.mostContactBytes) bytes of contact.")
        }
        let (now, rosters) = (clock(), self.rosters)
        let (rule, quotas) = (rates.limits.accessRequest, self.quotas)
        let counted = CountedCall(rates.limiter)
        try await transactions.write(as: session, at: .everything) { connection in
            let counting = counted.run()
            let (zone, caller, roster) = try Self.open(
                message.routingID, to: session, rosters, now: now, in: connection)
            let bill = try StorageUsage.Bill(zone, caller: caller, in: connection)
            let isNew = try StorageUsage.within(quotas, of: bill, connection) {
                try AccessRequests.add(message, by: caller, zone: zone, now: now, in: connection)
            }
            if isNew {
                let answerers = roster.members.values.filter(\.mayAdminister).map(\.userID)
                try DatabaseFeed.touch(zone, for: answerers, in: connection)
                try Notifier(zone: zone, caller: caller, now: now, connection: connection).accessRequested(
                    of: answerers)
            }
            // Last, as with epochs. Asking again wakes nobody, but writes.
            try counting.count(.accessRequest, .account(session.accountID), rule: rule, now: now)
        }
        return Sealkit_V1_RequestShareAccessResponse()
    }

    /// The share behind a URL, to somebody who may ask for access to it.
    /// - Throws: `unknownItem`; `participantAlreadyInvited` for who need not ask; `invalidArguments` for a participant.
    private static func open(
        _ routingID: Data, to session: Session, _ rosters: RosterCache, now: Int64, in connection: any SQLConnection
    ) throws -> (zone: ZoneRow, caller: Caller, roster: Roster) {
        guard let link = try StoredLinks.find(routingID, in: connection) else { throw Seat.unknown }
        let caller = try Caller(session, container: link.zone.container, in: connection)
        let roster = try rosters.roster(of: link.zone, in: connection)
        guard roster.members[caller.userID] == nil else {
            throw ServerError(
                .invalidArguments, "The caller is a participant already.", remedy: "Fetch the shared database.")
        }
        guard !roster.blocked.contains(caller.userID) else { throw Seat.unknown }
        var mayJoin = roster.publicSeat != nil || roster.invitation(for: caller.userID)?.isOpen(at: now) == true
        if !mayJoin, case .own = try Seat.placeholder(for: caller, link.zone, roster, now: now, in: connection) {
            mayJoin = true
        }
        guard !mayJoin else {
            throw ServerError(
                .participantAlreadyInvited, "The caller may join without asking.",
                remedy: "Accept the share with the URL that the invitation came with.")
        }
        guard try AccessRequests.areAllowed(link.zone, in: connection) else { throw Seat.unknown }
        return (link.zone, caller, roster)
    }

    // MARK: Owner and administrators

    private func fetch(
        _ message: Sealkit_V1_FetchShareAccessRequest, _ call: DatabaseCall
    ) async throws -> Sealkit_V1_FetchShareAccessResponse {
        let (session, path) = (call.session, call.path)
        let rosters = self.rosters
        let response = try await transactions.read { connection -> Sealkit_V1_FetchShareAccessResponse in
            let caller = try Caller(session, container: path.container, in: connection)
            let zone = try Shares.scope(
                message.shareRecordName, in: message.zone, to: caller, path, in: connection)
            _ = try RostersController.administrated(zone, by: caller, rosters, in: connection)
            var response = Sealkit_V1_FetchShareAccessResponse()
            response.allowsRequests = try AccessRequests.areAllowed(zone, in: connection)
            response.requesters = try AccessRequests.waiting(zone, in: connection)
            response.approved = try AccessRequests.approved(zone, in: connection)
            return response
        }
        return response
    }

    private func update(
        _ message: Sealkit_V1_UpdateShareAccessRequest, _ call: DatabaseCall
    ) async throws -> Sealkit_V1_UpdateShareAccessResponse {
        let (session, path) = (call.session, call.path)
        guard message.denied.count <= AccessRequests.mostPerShare else {
            throw ServerError(
                .limitExceeded, "Too many requests to deny at once.",
                remedy: "Send at most \(AccessRequests.mostPerShare).")
        }
        let denied = try message.denied.map { name throws(ServerError) in
            do { return try UserID(recordName: name) } catch {
                throw ServerError(
                    .invalidArguments, "Somebody who is denied is named by no user record name.",
                    remedy: "Send the names as the server gave them.")
            }
        }
        let rosters = self.rosters
        try await transactions.write(as: session, at: .everything) { [denied] connection in
            let caller = try Caller(session, container: path.container, in: connection)
            let zone = try Shares.scope(
                message.shareRecordName, in: message.zone, to: caller, path, in: connection)
            let roster = try RostersController.administrated(zone, by: caller, rosters, in: connection)
            guard roster.isShared else {
                throw ServerError(.unknownItem, "The zone is not shared.", remedy: "Save its share first.")
            }
            for user in denied { try AccessRequests.removeUnanswered(of: user, zone: zone, in: connection) }
            if message.hasAllowsRequests {
                try AccessRequests.allow(message.allowsRequests, zone: zone, in: connection)
            }
        }
        return Sealkit_V1_UpdateShareAccessResponse()
    }
}
