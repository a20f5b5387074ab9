import Hummingbird
import SealService
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
        try RosterTails.check(message)
        return try await transactions.read { [rosters] connection in
            var tails = try RosterTails(for: call.session, call.path, rosters, in: connection)
            return try tails.answer(message)
        }
    }

    /// What the entries of one call may take.
    private func counts(_ counting: CountedCall.Run) -> RosterCounts {
        RosterCounts(limits: rates.limits, counting: counting, quotas: quotas)
    }

    private func restore(
        _ message: Sealkit_V1_RestoreRosterRequest, _ call: DatabaseCall
    ) async throws -> Sealkit_V1_RestoreRosterResponse {
        let (session, path) = (call.session, call.path)
        let restore = try RosterRestore(message, container: path.container)
        let now = clock()
        let counted = CountedCall(rates)
        // It may make the zone, end lives of it and of its shares, and bring back who had been in it: seldom, and after
        // a loss.
        let response = try await transactions.write(as: session, at: .everything) {
            connection -> Sealkit_V1_RestoreRosterResponse in
            let counts = counts(counted.run(in: connection))
            let caller = try Caller(session, container: path.container, in: connection)
            let stored = try restore.run(by: caller, path, rosters, counts, now: now, in: connection)
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
        let counted = CountedCall(rates)
        let (response, news) = try await transactions.write(as: session, in: message.zone, path) { connection, home in
            try append.answer(
                message, operation, by: session, path, rosters, counts(counted.run(in: connection)), at: home, now: now,
                in: connection)
        }
        call.context.note.noteSharing(news)
        return response
    }

    private func links(
        _ message: Sealkit_V1_LinksRequest, _ call: DatabaseCall
    ) async throws -> Sealkit_V1_LinksResponse {
        try await transactions.read { [rosters] connection in
            try ScopeLinks(
                of: message.shareRecordName, in: message.zone, for: call.session, call.path, rosters, connection
            ).answer()
        }
    }

    private func updateLinks(
        _ message: Sealkit_V1_UpdateLinksRequest, _ call: DatabaseCall
    ) async throws -> Sealkit_V1_UpdateLinksResponse {
        let update = try ScopeLinks.Update(message)
        try await transactions.write(as: call.session, in: message.zone, call.path) {
            [rosters, quotas] connection, home in
            try ScopeLinks(
                of: message.shareRecordName, in: message.zone, for: call.session, call.path, rosters, connection
            ).store(update, quotas, at: home)
        }
        return Sealkit_V1_UpdateLinksResponse()
    }
}
