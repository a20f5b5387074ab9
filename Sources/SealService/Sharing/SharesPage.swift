import SealStatements
package import SealStorage
package import SealWire
import SwiftProtobuf

/// The open hierarchical shares of a zone, as one caller sees them.
package struct SharesPage {
    private let caller: Caller
    private let zone: ZoneRow
    private let connection: any SQLConnection

    package init(
        in zone: Sealkit_V1_ZoneID, for session: Session, _ path: DatabasePath, _ connection: any SQLConnection
    ) throws {
        caller = try Caller(session, container: path.container, in: connection)
        self.zone = try Zones.visible(zone, to: caller, path, in: connection)
        self.connection = connection
    }

    /// - Throws: `unknownItem` where the share that the page begins after is none of the caller's.
    package func answer(_ message: Sealkit_V1_LookupSharesRequest) throws -> Sealkit_V1_LookupSharesResponse {
        let limit = Limits.itemsPerRequest
        let shares = try shares(message, limit: limit + 1)
        var response = Sealkit_V1_LookupSharesResponse()
        response.moreComing = shares.count > limit
        response.shares = shares.prefix(limit).map { row in
            .with {
                $0.scope = row.scopeHead
                $0.rootRecordName = row.share?.root ?? ""
            }
        }
        return response
    }

    private func shares(_ message: Sealkit_V1_LookupSharesRequest, limit: Int) throws -> [ScopeRow] {
        let names = Set(message.shareRecordNames)
        if case .shares(let shares, _) = zone.sight {
            guard names.isEmpty else { return shares.filter { names.contains($0.share?.recordName ?? "") } }
            guard !message.after.isEmpty else { return shares }
            // By its number: it may have ended, or the caller left it, between two pages.
            let last = try Shares.readable(message.after, in: zone, by: caller, connection).share.number
            return shares.filter { $0.number > last }
        }
        guard names.isEmpty else {
            return try names.sorted().compactMap { try Shares.find($0, in: zone, connection) }.filter { !$0.isClosed }
        }
        guard !message.after.isEmpty else { return try Shares.open(in: zone, limit: limit, connection) }
        guard Names.isPlain(message.after), let last = try Shares.find(message.after, in: zone, connection) else {
            throw Shares.unknown
        }
        return try Shares.open(in: zone, after: last.number, limit: limit, connection)
    }
}
