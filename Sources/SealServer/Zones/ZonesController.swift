import Hummingbird
import SealService
import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

/// `zones/modify`, `zones/lookup`, `zones/changes`.
struct ZonesController: Sendable {
    let transactions: Transactions
    let clock: @Sendable () -> Int64
    let feedNames: FeedNames
    let jobs: Jobs
    let quotas: Quotas
    let rosters: RosterCache

    /// Shares that end with the zones that one request deletes: each by an entry of its own roster.
    static let mostShares = 400

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.zones.modify) { try await modify($0, $1) }
        router.on(Endpoints.zones.lookup) { try await lookup($0, $1) }
        router.on(Endpoints.zones.changes) { try await changes($0, $1) }
    }

    private func modify(
        _ message: Sealkit_V1_ModifyZonesRequest, _ call: DatabaseCall
    ) async throws -> Sealkit_V1_ModifyZonesResponse {
        let (session, path) = (call.session, call.path)
        let operation = try RepeatableOperation(
            message, of: Endpoints.zones.modify, path, try message.serializedBytes())
        guard message.saves.count + message.deletes.count <= Limits.itemsPerRequest else {
            throw ServerError(
                .limitExceeded, "A request takes at most \(Limits.itemsPerRequest) zones.",
                remedy: "Send fewer at once.")
        }
        guard message.deletes.reduce(0, { $0 + $1.shares.count }) <= Self.mostShares else {
            throw ServerError(
                .limitExceeded, "Zones are deleted with at most \(Self.mostShares) shares of hierarchies in them.",
                remedy: "Delete shares first, or fewer zones at once.")
        }
        let now = clock()
        let (rosters, quotas) = (self.rosters, self.quotas)
        let response = try await transactions.write(as: session, at: .everything) {
            connection -> Sealkit_V1_ModifyZonesResponse in
            let caller = try Caller(session, container: path.container, in: connection)
            if let answer = try operation.answer(of: caller.accountID, in: connection) {
                return try Sealkit_V1_ModifyZonesResponse(serializedBytes: answer)
            }
            let change = ZoneChange(
                caller: caller, path: path, rosters: rosters, quotas: quotas, now: now, connection: connection)
            var room = ZoneRemains.Room.ofRequest
            var response = Sealkit_V1_ModifyZonesResponse()
            for save in message.saves {
                response.results.append(
                    try result(save.zoneID) { .zone(try change.save(save).wire) })
            }
            for delete in message.deletes {
                response.results.append(
                    try result(delete.zoneID) {
                        try change.delete(delete, &room)
                        return .deleted(true)
                    })
            }
            if response.results.contains(where: { if case .failure = $0.outcome { false } else { true } }) {
                try operation.keep(try response.serializedData(), of: caller.accountID, now: now, in: connection)
            }
            return response
        }
        if !message.deletes.isEmpty { jobs.wake(.garbage) }
        return response
    }

    private func lookup(
        _ message: Sealkit_V1_LookupZonesRequest, _ call: DatabaseCall
    ) async throws -> Sealkit_V1_LookupZonesResponse {
        let (session, path) = (call.session, call.path)
        guard message.zones.count <= Limits.itemsPerRequest else {
            throw ServerError(
                .limitExceeded, "A request takes at most \(Limits.itemsPerRequest) zones.",
                remedy: "Send fewer at once.")
        }
        let response = try await transactions.read { connection -> Sealkit_V1_LookupZonesResponse in
            let caller = try Caller(session, container: path.container, in: connection)
            var response = Sealkit_V1_LookupZonesResponse()
            if message.zones.isEmpty {
                response.results = try Zones.all(of: caller, path, in: connection).map { zone in
                    .with {
                        $0.zoneID = zone.wireID
                        $0.zone = zone.wire
                    }
                }
            } else {
                for id in message.zones {
                    response.results.append(
                        try result(id) { .zone(try Zones.visible(id, to: caller, path, in: connection).wire) })
                }
            }
            return response
        }
        return response
    }

    private func changes(
        _ message: Sealkit_V1_DatabaseChangesRequest, _ call: DatabaseCall
    ) async throws -> Sealkit_V1_DatabaseChangesResponse {
        let (session, path) = (call.session, call.path)
        let limit =
            message.resultsLimit == 0 ? Limits.itemsPerRequest : min(Int(message.resultsLimit), Limits.itemsPerRequest)
        let feedNames = self.feedNames
        let response = try await transactions.read { connection -> Sealkit_V1_DatabaseChangesResponse in
            let caller = try Caller(session, container: path.container, in: connection)
            let name = feedNames.database(path, of: caller)
            let place = try ChangeToken.place(
                message.token, of: caller, path, name: name,
                standing: try DatabaseFeed.lastPosition(of: caller, path, in: connection), in: connection)
            var position = place.position
            // One more than asked for tells whether more is coming.
            let changes = try DatabaseFeed.changes(of: caller, path, after: position, limit: limit + 1, in: connection)
            var response = Sealkit_V1_DatabaseChangesResponse()
            for change in changes.prefix(limit) {
                position = change.position
                if change.gone == DatabaseFeed.Gone.no.rawValue {
                    response.modifications.append(change.zone.wire)
                } else {
                    response.deletions.append(
                        .with {
                            $0.zoneID = change.zone.wireID
                            $0.reason = UInt32(truncatingIfNeeded: change.gone)
                        })
                }
            }
            response.moreComing = changes.count > limit
            response.token =
                ChangeToken.database(name: name, .init(position: position, end: place.end, run: place.run)).data
            return response
        }
        return response
    }
}

/// One item's outcome: what the server refuses about it is the item's failure. What passes by itself ends the request,
/// as does anything else.
private func result(
    _ id: Sealkit_V1_ZoneID, _ body: () throws -> Sealkit_V1_ZoneResult.OneOf_Outcome
) throws -> Sealkit_V1_ZoneResult {
    var result = Sealkit_V1_ZoneResult()
    result.zoneID = id
    do {
        result.outcome = try body()
    } catch let error as ServerError where error.code != .internalError && error.code != .zoneBusy {
        result.failure = error.failure
    }
    return result
}
