import Foundation
import Hummingbird
import SealService
import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

/// `rosters/fetch`, `rosters/append`, `rosters/restore`, `links/fetch`, `links/update`.
struct RostersController: Sendable {
    let transactions: Transactions
    let rates: RequestRates
    let addresses: AddressHasher
    let clock: @Sendable () -> Int64
    let jobs: Jobs
    let quotas: Quotas
    let rosters: RosterCache

    static let rostersPerRequest = 100

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.sharing.fetchRosters) { try await fetch($0, $1) }
        router.on(Endpoints.sharing.appendRoster) { try await append($0, $1) }
        router.on(Endpoints.sharing.restoreRoster) { try await restore($0, $1) }
        router.on(Endpoints.sharing.fetchLinks) { try await links($0, $1) }
        router.on(Endpoints.sharing.updateLinks) { try await updateLinks($0, $1) }
    }

    private func fetch(
        _ message: Sealkit_V1_FetchRostersRequest, _ call: DatabaseCall
    ) async throws -> Sealkit_V1_FetchRostersResponse {
        let (session, path) = (call.session, call.path)
        guard message.rosters.count <= Self.rostersPerRequest else {
            throw ServerError(
                .limitExceeded, "A request takes at most \(Self.rostersPerRequest) rosters.",
                remedy: "Send fewer at once.")
        }
        let rosters = self.rosters
        let response = try await transactions.read { connection -> Sealkit_V1_FetchRostersResponse in
            let caller = try Caller(session, container: path.container, in: connection)
            try Self.checkDistinct(message.rosters, caller)
            var response = Sealkit_V1_FetchRostersResponse()
            var page = RosterPage()
            for wanted in message.rosters {
                var tail = Sealkit_V1_RosterTail()
                tail.zone = wanted.zone
                tail.shareRecordName = wanted.shareRecordName
                do {
                    try Self.fill(&tail, wanted, &page, caller, path, rosters, connection)
                } catch let error as ServerError {
                    tail.failure = error.failure
                }
                response.rosters.append(tail)
            }
            return response
        }
        return response
    }

    /// Every roster once: a small request must not make the server copy one log a hundred times.
    private static func checkDistinct(_ wanted: [Sealkit_V1_RosterRequest], _ caller: Caller) throws(ServerError) {
        var seen: Set<[String]> = []
        for roster in wanted {
            let owner = roster.zone.ownerName.isEmpty ? caller.userID.recordName : roster.zone.ownerName
            guard seen.insert([owner, roster.zone.zoneName, roster.shareRecordName]).inserted else {
                throw ServerError(
                    .invalidArguments, "A roster comes twice in one request.", remedy: "Ask for each roster once.")
            }
        }
    }

    private static func fill(
        _ tail: inout Sealkit_V1_RosterTail, _ wanted: Sealkit_V1_RosterRequest, _ page: inout RosterPage,
        _ caller: Caller,
        _ path: DatabasePath, _ rosters: RosterCache, _ connection: any SQLConnection
    ) throws {
        guard let seen = try Zones.seen(wanted.zone, by: caller, path, in: connection) else { throw Zones.notFound }
        var (zone, goneSince) = seen
        if !wanted.shareRecordName.isEmpty {
            (zone, goneSince) = try Shares.readable(wanted.shareRecordName, in: zone, by: caller, connection)
        } else if zone.visibleShares != nil {
            // Who took part in the zone as a whole once may read how that has ended, as whoever sees nothing of it may.
            guard let end = try rosters.roster(of: zone, in: connection).end(of: caller.userID) else {
                throw Zones.notFound
            }
            goneSince = end
        }
        let first = wanted.fromStart ? 0 : wanted.after < UInt64.max ? wanted.after + 1 : UInt64.max
        // Former members read on to the entry that ended them; the owner reads its closed rosters, to open them again.
        let last = min(goneSince ?? zone.sequence, zone.sequence)
        tail.zone = zone.wireID
        (tail.entries, tail.moreComing) = try page.entries(of: zone, from: first, through: last, in: connection)
        try RosterRestore.describe(&tail, wanted, endingAt: last, of: zone, &page, rosters, connection)
        // A share that has ended has records until its owner's devices have moved them.
        guard !tail.moreComing, goneSince == nil, !zone.isClosed || zone.share != nil else { return }
        (tail.grants, tail.moreGrants) = try page.grants(
            of: .member(caller.userID), before: wanted.grantsBefore, zone: zone, in: connection)
        tail.ungranted = try RosterRestore.lacksGrants(zone, for: caller, rosters, connection)
    }

    private func roomCounts(_ counting: CountedCall.Run) -> RosterCounts {
        RosterCounts(limits: rates.limits, counting: counting, quotas: quotas)
    }

    private func restore(
        _ message: Sealkit_V1_RestoreRosterRequest, _ call: DatabaseCall
    ) async throws -> Sealkit_V1_RestoreRosterResponse {
        let (session, path) = (call.session, call.path)
        let restore = try RosterRestore(message, container: path.container)
        let now = clock()
        let counted = CountedCall(rates.limiter)
        let response = try await transactions.write(as: session, at: .everything) {
            connection -> Sealkit_V1_RestoreRosterResponse in
            let counts = roomCounts(counted.run())
            let caller = try Caller(session, container: path.container, in: connection)
            let stored = try restore.run(
                by: caller, path, rosters, counts, now: now, in: connection)
            return .with { $0.scope = stored.scopeHead }
        }
        // Of a zone that has ended.
        jobs.wake(.garbage)
        return response
    }

    private func append(
        _ message: Sealkit_V1_AppendRosterRequest, _ call: DatabaseCall
    ) async throws -> Sealkit_V1_AppendRosterResponse {
        let (session, path) = (call.session, call.path)
        let operation = try RepeatableOperation(
            message, of: Endpoints.sharing.appendRoster, path, try message.serializedBytes())
        let append = try RosterAppend(message, container: path.container, hasher: addresses)
        let now = clock()
        let (rosters, counted) = (self.rosters, CountedCall(rates.limiter))
        let response = try await transactions.write(as: session, at: .everything) {
            connection -> Sealkit_V1_AppendRosterResponse in
            let counting = counted.run()
            let caller = try Caller(session, container: path.container, in: connection)
            if let answer = try operation.answer(of: caller.accountID, in: connection) {
                return try Sealkit_V1_AppendRosterResponse(serializedBytes: answer)
            }
            let zone = try Shares.scope(
                message.shareRecordName, in: message.zone, to: caller, path, in: connection)
            let stored = try append.run(
                on: zone, by: caller, rosters: rosters, quotas: quotas, now: now, in: connection)
            try RosterRoom.count(1, endingAt: stored, roomCounts(counting), now: now)
            // An epoch by itself is refused for no quota, and its grants are kept for ever: the owner's are counted
            // where nobody is put out.
            if append.entry.epoch != nil, zone.owner != caller.id || append.entry.changes.isEmpty {
                // Last: what is refused for another reason, a lost race say, does not count. Throwing takes all back.
                try counting.count(
                    .epochOpening, .author(owner: zone.owner, zone: zone.zone, caller: caller.id),
                    rule: rates.limits.epochOpening, now: now)
            }
            var response = Sealkit_V1_AppendRosterResponse()
            response.position = UInt64(stored.position)
            response.scope = stored.scopeHead
            try operation.keep(try response.serializedData(), of: caller.accountID, now: now, in: connection)
            return response
        }
        return response
    }

    private func links(_ message: Sealkit_V1_LinksRequest, _ call: DatabaseCall) async throws
        -> Sealkit_V1_LinksResponse
    {
        let (session, path) = (call.session, call.path)
        let rosters = self.rosters
        let response = try await transactions.read { connection -> Sealkit_V1_LinksResponse in
            let caller = try Caller(session, container: path.container, in: connection)
            let zone = try Shares.scope(
                message.shareRecordName, in: message.zone, to: caller, path, in: connection)
            _ = try Self.administrated(zone, by: caller, rosters, in: connection)
            var response = Sealkit_V1_LinksResponse()
            response.links = try StoredLinks.all(of: zone, for: caller, in: connection)
            response.sealedLink = try SealedLinkSet.sealed(to: caller.userID, zone: zone, in: connection)
            return response
        }
        return response
    }

    /// Previews that are sealed anew, and the share-wide secret for administrators who lack it.
    private func updateLinks(
        _ message: Sealkit_V1_UpdateLinksRequest, _ call: DatabaseCall
    ) async throws -> Sealkit_V1_UpdateLinksResponse {
        let (session, path) = (call.session, call.path)
        guard message.links.count <= Limits.participantsPerScope + 1 else {
            throw ServerError(.limitExceeded, "Too many links.", remedy: "Send no more than a share has.")
        }
        for link in message.links { try StoredLinks.check(link) }
        let sealedLinks = try SealedLinkSet(message.sealedLinks)
        let (rosters, quotas) = (self.rosters, self.quotas)
        try await transactions.write(as: session, at: .everything) { connection in
            let caller = try Caller(session, container: path.container, in: connection)
            let zone = try Shares.scope(
                message.shareRecordName, in: message.zone, to: caller, path, in: connection)
            let roster = try Self.administrated(zone, by: caller, rosters, in: connection)
            try sealedLinks.check(roster)
            let bill = try StorageUsage.Bill(zone, caller: caller, in: connection)
            try StorageUsage.within(quotas, of: bill, connection) {
                for link in message.links { try StoredLinks.update(link, by: caller, zone: zone, in: connection) }
                try sealedLinks.store(zone: zone, in: connection)
            }
        }
        return Sealkit_V1_UpdateLinksResponse()
    }

    /// The roster of a zone whose owner or administrator the caller is.
    static func administrated(
        _ zone: ZoneRow, by caller: Caller, _ rosters: RosterCache, in connection: any SQLConnection
    ) throws -> Roster {
        let roster = try rosters.roster(of: zone, in: connection)
        guard roster.members[caller.userID]?.mayAdminister == true else {
            throw ServerError(
                .permissionFailure, "Only the owner and administrators see a share's links and requests.",
                remedy: "Ask the owner for the link, or to be made an administrator.")
        }
        return roster
    }
}
