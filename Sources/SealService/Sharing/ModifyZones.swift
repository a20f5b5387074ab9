import SealStatements
package import SealStorage
package import SealWire
import SwiftProtobuf

/// Makes and deletes zones of one caller: a result for each.
package struct ModifyZones: Sendable {
    private let message: Sealkit_V1_ModifyZonesRequest
    private let path: DatabasePath
    private let operation: RepeatableOperation

    /// - Throws: `limitExceeded`; `invalidArguments` for an id of another length.
    package init(_ message: Sealkit_V1_ModifyZonesRequest, _ path: DatabasePath) throws {
        (self.message, self.path) = (message, path)
        operation = try RepeatableOperation(
            message, of: Endpoints.zones.modify, path, try message.serializedBytes())
        // Each is an entry of a roster, which is verified in the writer.
        let ending = message.deletes.reduce(0) { $0 + $1.shares.count }
        guard message.saves.count + message.deletes.count + ending <= Limits.zonesPerRequest else {
            throw ServerError(
                .limitExceeded,
                """
                A request makes and deletes at most \(Limits.zonesPerRequest) zones, the shares of hierarchies that end \
                with them counted.
                """, remedy: "Send fewer zones at once; of a zone with more shares than that, delete shares first.")
        }
    }

    /// Whether it deletes any: what they held may have to be cleared away beside the requests.
    package var deletes: Bool { !message.deletes.isEmpty }

    /// In the caller's transaction.
    package func run(
        by session: Session, _ rosters: RosterCache, _ quotas: Quotas, now: Int64, in connection: any SQLConnection
    ) throws -> Sealkit_V1_ModifyZonesResponse {
        let caller = try Caller(session, container: path.container, in: connection)
        if let answer = try operation.answer(of: caller.accountID, in: connection) {
            return try Sealkit_V1_ModifyZonesResponse(serializedBytes: answer)
        }
        let change = ZoneChange(
            caller: caller, path: path, rosters: rosters, quotas: quotas, now: now, connection: connection)
        var room = ZoneRemains.Room.ofRequest
        var response = Sealkit_V1_ModifyZonesResponse()
        for save in message.saves {
            response.results.append(try .init(save.zoneID) { .zone(try change.save(save).wire) })
        }
        for delete in message.deletes {
            response.results.append(
                try .init(delete.zoneID) {
                    try change.delete(delete, &room)
                    return .deleted(true)
                })
        }
        if response.results.contains(where: { if case .failure = $0.outcome { false } else { true } }) {
            try operation.keep(try response.serializedData(), of: caller.accountID, now: now, in: connection)
        }
        return response
    }
}
