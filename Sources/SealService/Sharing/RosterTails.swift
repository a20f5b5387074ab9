import SealPrimitives
import SealStatements
package import SealStorage
package import SealWire

/// Rosters as one caller may read them: what comes after the entries that it has.
package struct RosterTails {
    /// Of one request.
    package static let most = 100

    private let caller: Caller
    private let path: DatabasePath
    private let rosters: RosterCache
    private let connection: any SQLConnection
    /// What the answer has room for.
    private var page = RosterPage()

    package init(
        for session: Session, _ path: DatabasePath, _ rosters: RosterCache, in connection: any SQLConnection
    ) throws {
        caller = try Caller(session, container: path.container, in: connection)
        (self.path, self.rosters, self.connection) = (path, rosters, connection)
    }

    /// - Throws: `limitExceeded`.
    package static func check(_ message: Sealkit_V1_FetchRostersRequest) throws(ServerError) {
        guard message.rosters.count <= most else {
            throw ServerError(
                .limitExceeded, "A request takes at most \(most) rosters.", remedy: "Send fewer at once.")
        }
    }

    /// What is refused about one roster is its failure.
    package mutating func answer(
        _ message: Sealkit_V1_FetchRostersRequest
    ) throws -> Sealkit_V1_FetchRostersResponse {
        try checkDistinct(message.rosters)
        var response = Sealkit_V1_FetchRostersResponse()
        for wanted in message.rosters {
            var tail = Sealkit_V1_RosterTail()
            tail.zone = wanted.zone
            tail.shareRecordName = wanted.shareRecordName
            do {
                try fill(&tail, wanted)
            } catch let error as ServerError {
                tail.failure = error.failure
            }
            response.rosters.append(tail)
        }
        return response
    }

    /// Every roster once: a small request must not make the server copy one log a hundred times.
    private func checkDistinct(_ wanted: [Sealkit_V1_RosterRequest]) throws(ServerError) {
        var seen: Set<[String]> = []
        for roster in wanted {
            let owner = roster.zone.ownerName.isEmpty ? caller.userID.recordName : roster.zone.ownerName
            guard seen.insert([owner, roster.zone.zoneName, roster.shareRecordName]).inserted else {
                throw ServerError(
                    .invalidArguments, "A roster comes twice in one request.", remedy: "Ask for each roster once.")
            }
        }
    }

    private mutating func fill(
        _ tail: inout Sealkit_V1_RosterTail, _ wanted: Sealkit_V1_RosterRequest
    ) throws {
        let (scope, goneSince) = try readable(wanted)
        let first = wanted.fromStart ? 0 : wanted.after < UInt64.max ? wanted.after + 1 : UInt64.max
        // Former members read on to the entry that ended them, or to what gave their branch up after that; the owner
        // reads its closed rosters, to open them again.
        let end = try goneSince.map { gone in
            try RosterRestore.end(for: wanted.head, of: scope, goneSince: gone, rosters, connection)
        }
        let last = min(end ?? scope.sequence, scope.sequence)
        tail.zone = scope.zone.wireID
        (tail.entries, tail.moreComing) = try page.entries(of: scope, from: first, through: last, in: connection)
        try RosterRestore.describe(&tail, wanted, endingAt: last, of: scope, &page, rosters, connection)
        // A share that has ended has records until its owner's devices have moved them.
        guard !tail.moreComing, goneSince == nil, !scope.isClosed || scope.share != nil else { return }
        (tail.grants, tail.moreGrants) = try page.grants(
            of: .member(caller.userID), before: wanted.grantsBefore, scope: scope, in: connection)
        tail.ungranted = try RosterRestore.lacksGrants(scope, for: caller, rosters, connection)
    }

    /// A scope that the caller sees, or saw once: then with the last entry that it may read.
    private func readable(_ wanted: Sealkit_V1_RosterRequest) throws -> (ScopeRow, goneSince: UInt64?) {
        guard let (zone, goneSince) = try Zones.seen(wanted.zone, by: caller, path, in: connection) else {
            throw Zones.notFound
        }
        guard wanted.shareRecordName.isEmpty else {
            return try Shares.readable(wanted.shareRecordName, in: zone, by: caller, connection)
        }
        let scope = ScopeRow(zone)
        guard zone.visibleShares != nil else { return (scope, goneSince) }
        // Who took part in the zone as a whole once may read how that has ended, as whoever sees nothing of it may.
        guard let end = try rosters.roster(of: scope, in: connection).end(of: caller.userID) else {
            throw Zones.notFound
        }
        return (scope, end)
    }
}
