import Hummingbird
import SealService
import SealStorage
import SealWire

/// `shares/lookup`, `shares/unsettled`: what a zone's owner has to know of the hierarchical shares in it.
struct SharesController: Sendable {
    let transactions: Transactions

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.sharing.lookupShares) { try await lookup($0, $1) }
        router.on(Endpoints.sharing.unsettledRecords) { try await unsettled($0, $1) }
    }

    private func lookup(
        _ message: Sealkit_V1_LookupSharesRequest, _ call: DatabaseCall
    ) async throws -> Sealkit_V1_LookupSharesResponse {
        try RequestItems.check(message.shareRecordNames.count, "shares")
        try RecordLookup.check(message.shareRecordNames)
        return try await transactions.read { connection in
            try SharesPage(in: message.zone, for: call.session, call.path, connection).answer(message)
        }
    }

    private func unsettled(
        _ message: Sealkit_V1_UnsettledRecordsRequest, _ call: DatabaseCall
    ) async throws -> WrittenMessage<Sealkit_V1_UnsettledRecordsResponse> {
        let (session, path) = (call.session, call.path)
        let limit = RequestItems.limit(message.resultsLimit)
        // It forgets what is settled.
        let answer = try await transactions.write(as: session, in: message.zone, path) {
            connection, home -> [UInt8] in
            let caller = try Caller(session, container: path.container, in: connection)
            let zone = try Zones.visible(message.zone, to: caller, path, in: connection)
            try home?.check(zone)
            guard zone.shares > 0 else { return [] }
            return try UnsettledRecords.answer(in: zone, limit: limit, connection)
        }
        return WrittenMessage(answer)
    }
}
