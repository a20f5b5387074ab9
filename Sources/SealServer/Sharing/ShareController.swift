import Foundation
import Hummingbird
import SealCoding
import SealPrimitives
import SealService
import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

/// `share/metadata` and `share/accept`: what somebody with a link may see and do. The container is the link's.
struct ShareController: Sendable {
    let transactions: Transactions
    let clock: @Sendable () -> Int64
    let quotas: Quotas
    let rosters: RosterCache
    let tokenVerifier: TokenVerifier

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.sharing.metadata) { try await metadata($0, $1) }
        router.on(Endpoints.sharing.accept) { try await accept($0, $1) }
    }

    private func metadata(
        _ message: Sealkit_V1_ShareMetadataRequest, _ call: SessionCall
    ) async throws -> Sealkit_V1_ShareMetadataResponse {
        let session = call.session
        let now = clock()
        let rosters = self.rosters
        let response = try await transactions.read { connection -> Sealkit_V1_ShareMetadataResponse in
            guard let link = try StoredLinks.find(message.routingID, in: connection) else { throw Seat.unknown }
            let zone = link.zone
            let caller = try Caller(session, container: zone.container, in: connection)
            let roster = try rosters.roster(of: zone, in: connection)
            let seat = try Seat.find(
                of: caller, by: link, roster: roster, offersToken: false, now: now, in: connection)
            var response = Sealkit_V1_ShareMetadataResponse()
            response.container = zone.container
            response.environment = zone.environment.name
            response.zone = zone.wireID
            response.shareRecordName = zone.share?.recordName ?? ""
            var page = RosterPage()
            (response.entries, response.moreComing) = try page.entries(
                of: zone, from: message.firstSequence, through: zone.sequence, in: connection)
            // With what the last entries say it is judged.
            guard !response.moreComing else { return response }
            response.preview = link.preview
            switch seat {
            case .taken: response.alreadyMember = true
            case .free(let id, _):
                response.invitationID = Data(id.bytes)
                if let grant = try StoredGrants.all(of: .invitation(id), zone: zone, in: connection).last {
                    response.grant = grant
                }
            }
            return response
        }
        return response
    }

    private func accept(
        _ message: Sealkit_V1_AcceptShareRequest, _ call: SessionCall
    ) async throws -> Sealkit_V1_AcceptShareResponse {
        let session = call.session
        let operation = try RepeatableOperation(
            message, of: Endpoints.sharing.accept, nil, try message.serializedBytes())
        let now = clock()
        let rosters = self.rosters
        let (verifier, quotas) = (tokenVerifier, self.quotas)
        let response = try await transactions.write(as: session, at: .everything) {
            connection -> Sealkit_V1_AcceptShareResponse in
            if let answer = try operation.answer(of: session.accountID, in: connection) {
                return try Sealkit_V1_AcceptShareResponse(serializedBytes: answer)
            }
            guard let link = try StoredLinks.find(message.routingID, in: connection) else { throw Seat.unknown }
            let caller = try Caller(session, container: link.zone.container, in: connection)
            let before = try rosters.roster(of: link.zone, in: connection)
            let seat = try Seat.find(
                of: caller, by: link, roster: before, offersToken: !message.token.isEmpty, now: now, in: connection)
            guard case .free(let id, let proof) = seat else {
                throw ServerError(
                    .invalidArguments, "The caller is a participant already.", remedy: "Fetch the shared database.")
            }
            let signed = SignedRosterEntry(message.entry)
            try Self.check(signed, takes: id, by: caller, container: link.zone.container)
            var after = before
            try ServerError.checking("The roster entry") { () throws(SealError) in try after.append(signed) }
            let grant = try Self.ownGrant(message, caller: caller, roster: after)

            switch proof {
            case .named, .bearer: break
            case .linkedAddress(let hash), .token(let hash):
                // Once proven, an address is not asked for again; a token that comes has to hold all the same.
                if !message.token.isEmpty {
                    try verifier.spend(
                        message.token, container: link.zone.container, user: caller.userID,
                        routingID: [UInt8](message.routingID), invitationID: id, addressHash: hash, now: now,
                        in: connection)
                }
            }
            try RosterRoom.check(entry: after.sequence, quotas)
            let bill = try StorageUsage.Bill(link.zone, caller: caller, in: connection)
            let next = NextEntry(
                signed, before: before, after: after, enclosures: .init(grants: [(.member(caller.userID), grant)]),
                reason: .deleted, news: .withEntry, roots: .withEntry)
            let zone = try StorageUsage.within(quotas, of: bill, connection) {
                var rosters = Rosters(by: caller, room: .ofRequest, now: now, in: connection)
                return try rosters.append(next, to: link.zone)
            }
            var response = Sealkit_V1_AcceptShareResponse()
            response.position = UInt64(zone.position)
            response.scope = zone.scopeHead
            try operation.keep(try response.serializedData(), of: caller.accountID, now: now, in: connection)
            return response
        }
        return response
    }

    private static func check(
        _ signed: SignedRosterEntry, takes seat: ID16, by caller: Caller, container: String
    ) throws(ServerError) {
        let entry = try ServerError.checking("The roster entry") { () throws(SealError) in
            try RosterEntry(canonicalBytes: signed.bytes, container: container)
        }
        guard entry.changes.count == 1, case .accept(let acceptance) = entry.changes[0] else {
            throw ServerError(
                .invalidArguments, "The entry is not a single acceptance.",
                remedy: "Send other entries to rosters/append.")
        }
        guard entry.author == caller.userID, acceptance.acceptor.userID == caller.userID else {
            throw ServerError(
                .permissionFailure, "The entry's author is somebody else.", remedy: "Send only entries that you signed."
            )
        }
        guard acceptance.invitationID == seat else {
            throw ServerError(
                .permissionFailure, "The entry takes another seat than the one that the caller may take.",
                remedy: "Fetch the share's metadata and accept the invitation that it names.")
        }
    }

    /// The acceptor seals the current epoch's key to itself.
    private static func ownGrant(
        _ message: Sealkit_V1_AcceptShareRequest, caller: Caller, roster: Roster
    ) throws(ServerError) -> Data {
        guard message.hasGrant, let subject = try? message.grant.grantSubject(), subject == .member(caller.userID),
            message.grant.epoch == roster.currentEpoch.number,
            (1...Limits.grantBytes).contains(message.grant.sealed.count)
        else {
            throw ServerError(
                .invalidArguments, "The grant is not the acceptor's own for the current epoch.",
                remedy: "Seal the epoch's key to yourself and send it with the acceptance.")
        }
        return message.grant.sealed
    }
}
