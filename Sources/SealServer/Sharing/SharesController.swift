import Foundation
import Hummingbird
import SealService
import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

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
        let (session, path) = (call.session, call.path)
        try RequestItems.check(message.shareRecordNames.count, "shares")
        try RecordLookup.check(message.shareRecordNames)
        let response = try await transactions.read { connection -> Sealkit_V1_LookupSharesResponse in
            let caller = try Caller(session, container: path.container, in: connection)
            let zone = try Zones.visible(message.zone, to: caller, path, in: connection)
            let limit = Limits.itemsPerRequest
            var shares = try Self.shares(message, in: zone, by: caller, limit: limit + 1, connection)
            var response = Sealkit_V1_LookupSharesResponse()
            response.moreComing = shares.count > limit
            if shares.count > limit { shares.removeLast(shares.count - limit) }
            response.shares = shares.map { row in
                .with {
                    $0.scope = row.scopeHead
                    $0.rootRecordName = row.share?.root ?? ""
                }
            }
            return response
        }
        return response
    }

    private static func shares(
        _ message: Sealkit_V1_LookupSharesRequest, in zone: ZoneRow, by caller: Caller, limit: Int,
        _ connection: any SQLConnection
    ) throws -> [ZoneRow] {
        let names = Set(message.shareRecordNames)
        let isWanted = { (row: ZoneRow) in names.isEmpty || names.contains(row.share?.recordName ?? "") }
        if case .shares(let shares, _) = zone.sight {
            guard names.isEmpty, !message.after.isEmpty else { return shares.filter(isWanted) }
            // By its number: it may have ended, or the caller left it, between two pages.
            let last = try Shares.readable(message.after, in: zone, by: caller, connection).share.share?.number ?? 0
            return shares.filter { ($0.share?.number ?? 0) > last }
        }
        if !names.isEmpty {
            return try names.sorted().compactMap { try Shares.find($0, in: zone, connection) }.filter { !$0.isClosed }
        }
        var after: Int64 = 0
        if !message.after.isEmpty {
            guard Names.isPlain(message.after), let last = try Shares.find(message.after, in: zone, connection)?.share
            else {
                throw Shares.unknown
            }
            after = last.number
        }
        return try Shares.open(in: zone, after: after, limit: limit, connection)
    }

    private func unsettled(
        _ message: Sealkit_V1_UnsettledRecordsRequest, _ call: DatabaseCall
    ) async throws -> WrittenMessage<Sealkit_V1_UnsettledRecordsResponse> {
        let (session, path) = (call.session, call.path)
        let limit =
            RequestItems.limit(message.resultsLimit)
        // It forgets what is settled.
        let answer = try await transactions.write(as: session, at: .everything) { connection -> [UInt8] in
            let caller = try Caller(session, container: path.container, in: connection)
            let zone = try Zones.visible(message.zone, to: caller, path, in: connection)
            guard zone.shares > 0 else { return [] }
            return try UnsettledRecords.answer(in: zone, limit: limit, connection)
        }
        return WrittenMessage(answer)
    }
}
