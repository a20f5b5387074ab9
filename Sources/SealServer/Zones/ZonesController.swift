import Hummingbird
import SealService
import SealStorage
import SealWire

/// `zones/modify`, `zones/lookup`, `zones/changes`.
struct ZonesController: Sendable {
    let transactions: Transactions
    let clock: @Sendable () -> Int64
    let feedNames: FeedNames
    let jobs: Jobs
    let quotas: Quotas
    let rosters: RosterCache
    /// Of the writers' connections so many at most wait for zones that many read, while somebody saves there.
    private let showing = AsyncSlots(count: 2)

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.zones.modify) { try await modify($0, $1) }
        router.on(Endpoints.zones.lookup) { try await lookup($0, $1) }
        router.on(Endpoints.zones.changes) { try await changes($0, $1) }
    }

    private func modify(
        _ message: Sealkit_V1_ModifyZonesRequest, _ call: DatabaseCall
    ) async throws -> Sealkit_V1_ModifyZonesResponse {
        let modification = try ModifyZones(message, call.path)
        let now = clock()
        // Several zones may begin and end by it, with all their shares.
        let response = try await transactions.write(as: call.session, at: .everything) { [rosters, quotas] connection in
            try modification.run(by: call.session, rosters, quotas, now: now, in: connection)
        }
        if modification.deletes { jobs.wake(.garbage) }
        return response
    }

    private func lookup(
        _ message: Sealkit_V1_LookupZonesRequest, _ call: DatabaseCall
    ) async throws -> Sealkit_V1_LookupZonesResponse {
        try RequestItems.check(message.zones.count, "zones")
        return try await transactions.read { connection in
            try ZonesAnswers(for: call.session, call.path, in: connection).lookup(message)
        }
    }

    private func changes(
        _ message: Sealkit_V1_DatabaseChangesRequest, _ call: DatabaseCall
    ) async throws -> Sealkit_V1_DatabaseChangesResponse {
        let waiting = try await transactions.read { [feedNames] connection in
            let answers = try ZonesAnswers(for: call.session, call.path, in: connection)
            let waiting = try answers.waiting()
            let answer = waiting.isEmpty ? try answers.changes(message, feedNames, shown: 0) : nil
            return (zones: waiting, answer: answer)
        }
        if let answer = waiting.answer { return answer }
        // Only the caller's own views move; their zones stand still meanwhile, for who saves there and for the job.
        try await showing.run {
            try await transactions.write(
                as: call.session, at: .account(call.session.accountID), beside: ZoneTouch.homes(of: waiting.zones)
            ) { connection in
                try ZonesAnswers(for: call.session, call.path, in: connection).show(waiting.zones)
            }
        }
        // One moment of the feed, which others' writes move too.
        return try await transactions.read { [feedNames] connection in
            try ZonesAnswers(for: call.session, call.path, in: connection)
                .changes(message, feedNames, shown: waiting.zones.count)
        }
    }
}
