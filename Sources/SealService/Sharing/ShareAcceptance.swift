import Foundation
import SealCoding
import SealPrimitives
import SealStatements
package import SealStorage
package import SealWire
import SwiftProtobuf

/// Takes a seat of a share that the caller has the URL of: an entry of the share's roster.
package struct ShareAcceptance: Sendable {
    private let message: Sealkit_V1_AcceptShareRequest
    private let operation: RepeatableOperation

    /// - Throws: `invalidArguments` for an id of another length.
    package init(_ message: Sealkit_V1_AcceptShareRequest) throws {
        self.message = message
        operation = try RepeatableOperation(
            message, of: Endpoints.sharing.accept, nil, try message.serializedBytes())
    }

    /// - Throws: `unknownItem`, `participantMayNeedVerification`, `permissionFailure`; `invalidArguments` for a
    ///   participant; what the rules and the quotas refuse.
    /// - Parameter home: where it is at home; nil: it has everything.
    /// - Returns: the answer, and what was done; nil for one that is repeated.
    package func run(
        by session: Session, _ rosters: RosterCache, _ verifier: TokenVerifier, _ quotas: Quotas, at home: ZoneHome?,
        now: Int64, in connection: any SQLConnection
    ) throws -> (response: Sealkit_V1_AcceptShareResponse, news: SharingNews?) {
        if let answer = try operation.answer(of: session.accountID, in: connection) {
            return (try Sealkit_V1_AcceptShareResponse(serializedBytes: answer), nil)
        }
        guard let link = try StoredLinks.find(message.routingID, in: connection) else { throw Seat.unknown }
        let (scope, container) = (link.scope, link.scope.zone.container)
        try home?.check(scope.zone)
        let caller = try Caller(session, container: container, in: connection)
        let before = try rosters.roster(of: scope, in: connection)
        let seat = try Seat.find(
            of: caller, by: link, roster: before, offersToken: !message.token.isEmpty, now: now, in: connection)
        guard case .free(let id, let proof) = seat else { throw Seat.takenAlready }
        let signed = SignedRosterEntry(message.entry)
        try Self.check(signed, takes: id, by: caller, after: before.head, container: container)
        var after = before
        try ServerError.checking("The roster entry") { () throws(SealError) in try after.append(signed) }
        let grant = try ownGrant(of: caller, after)

        switch proof {
        case .named, .bearer: break
        case .linkedAddress(let hash), .token(let hash):
            // Once proven, an address is not asked for again; a token that comes has to hold all the same.
            if !message.token.isEmpty {
                try verifier.spend(
                    message.token, container: container, user: caller.userID,
                    routingID: [UInt8](message.routingID), invitationID: id, addressHash: hash, now: now,
                    in: connection)
            }
        }
        try RosterRoom.check(entry: after.sequence, quotas)
        let bill = try StorageUsage.Bill(scope.zone, caller: caller, in: connection)
        let next = NextEntry(
            signed, before: before, after: after, enclosures: .init(grants: [(.member(caller.userID), grant)]),
            reason: .deleted, news: .withEntry, roots: .withEntry)
        let stored = try StorageUsage.within(quotas, of: bill, connection) {
            var rosters = Rosters(by: caller, room: .ofRequest, now: now, in: connection)
            return try rosters.append(next, to: scope)
        }
        var response = Sealkit_V1_AcceptShareResponse()
        response.position = UInt64(stored.zone.position)
        response.scope = stored.scopeHead
        try operation.keep(try response.serializedData(), of: caller.accountID, now: now, in: connection)
        var news = SharingNews(container: container, environment: scope.zone.environment)
        news.acceptances = 1
        return (response, news)
    }

    private static func check(
        _ signed: SignedRosterEntry, takes seat: ID16, by caller: Caller, after head: Digest, container: String
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
            throw RosterAppend.foreign
        }
        // The seat may be another one since the entry was made: then it is to be made again.
        guard entry.previous == head else { throw ServerError.rosterChanged }
        guard acceptance.invitationID == seat else {
            throw ServerError(
                .permissionFailure, "The entry takes another seat than the one that the caller may take.",
                remedy: "Fetch the share's metadata and accept the invitation that it names.")
        }
    }

    /// The acceptor seals the current epoch's key to itself.
    private func ownGrant(of caller: Caller, _ roster: Roster) throws(ServerError) -> Data {
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
