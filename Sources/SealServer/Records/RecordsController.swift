import Foundation
import Hummingbird
import SealStatements
import SealWire
import SwiftProtobuf

/// `records/modify`, `records/lookup`, `records/changes`.
struct RecordsController: Sendable {
    let services: Services

    private static let kind = "records/modify"

    func addRoutes(to router: Router<SealRequestContext>) {
        let group = router.group(DatabasePath.route)
        group.post("records/modify") { try await modify($0, $1) }
        group.post("records/lookup") { try await lookup($0, $1) }
        group.post("records/changes") { try await changes($0, $1) }
    }

    // MARK: Saving

    /// What a save is judged by before its transaction, from one snapshot.
    private enum Snapshot: Sendable {
        case answered(Data)
        case fresh(Caller, Roster, predecessors: [String: StoredRecord])
    }

    private func modify(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let session = try context.requireSession()
        let path = try DatabasePath(context)
        let message = try await request.decode(Sealkit_V1_ModifyRecordsRequest.self, context)
        try Operations.check(message.operationID)
        try Self.checkCount(message.records.count)
        let carrying = message.records.filter { record in
            record.fields.contains { if case .omitted = $0.content { true } else { false } }
        }.map(\.recordName)

        let rosters = services.rosters
        let snapshot = try await services.database.read { connection -> Snapshot in
            let caller = try Caller(session, container: path.container, in: connection)
            if let answer = try Operations.answer(
                message.operationID, kind: Self.kind, of: caller.accountID, in: connection)
            {
                return .answered(answer)
            }
            let zone = try Zones.visible(message.zone, to: caller, path, in: connection)
            var predecessors: [String: StoredRecord] = [:]
            for name in carrying { predecessors[name] = try StoredRecord.find(name, in: zone, connection) }
            return .fresh(caller, try rosters.roster(of: zone, in: connection), predecessors: predecessors)
        }
        guard case .fresh(let caller, let roster, let predecessors) = snapshot else {
            guard case .answered(let answer) = snapshot else { throw CancellationError() }
            return try Self.answer([UInt8](answer), as: Sealkit_V1_ModifyRecordsResponse.self, to: request)
        }
        // Decoding, hashing and the signature: here, beside other requests, not on the writer's thread.
        let batch = try RecordBatch(message, caller: caller, roster: roster, predecessors: predecessors)
        let now = services.clock()
        let (answer, leftGarbage) = try await services.database.write { connection -> ([UInt8], Bool) in
            if let answer = try Operations.answer(
                message.operationID, kind: Self.kind, of: caller.accountID, in: connection)
            {
                return ([UInt8](answer), false)
            }
            let zone = try Zones.visible(message.zone, to: caller, path, in: connection)
            try Self.recheck(batch, caller, zone, rosters, connection)
            let save = RecordSave(
                batch: batch, isAtomic: message.atomic, caller: caller, zone: zone, now: now, connection: connection)
            let (outcomes, hasWritten, leftGarbage) = try save.run()
            let answer = try save.serialized(outcomes)
            if hasWritten {
                try Operations.keep(
                    Data(answer), message.operationID, kind: Self.kind, of: caller.accountID, now: now, in: connection)
            }
            return (answer, leftGarbage)
        }
        if leftGarbage { services.housekeeping.collectGarbage() }
        services.housekeeping.sweepIfDue()
        return try Self.answer(answer, as: Sealkit_V1_ModifyRecordsResponse.self, to: request)
    }

    /// The roster may have moved on since the batch was judged.
    private static func recheck(
        _ batch: RecordBatch, _ caller: Caller, _ zone: ZoneRow, _ rosters: RosterCache, _ connection: any SQLConnection
    ) throws {
        guard zone.head != batch.head else { return }
        let roster = try rosters.roster(of: zone, in: connection)
        try RecordBatch.checkRights(of: caller, roster)
        guard roster.currentEpoch.context == batch.epoch else { throw ServerError.staleEpoch }
    }

    // MARK: Reading

    private func lookup(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let session = try context.requireSession()
        let path = try DatabasePath(context)
        let message = try await request.decode(Sealkit_V1_LookupRecordsRequest.self, context)
        try Self.checkCount(message.recordNames.count)
        let desired = message.hasDesiredKeys ? Set(message.desiredKeys.names) : nil
        let answer = try await services.database.read { connection -> [UInt8] in
            let caller = try Caller(session, container: path.container, in: connection)
            let zone = try Zones.visible(message.zone, to: caller, path, in: connection)
            var writer = WireWriter(capacity: 4096 * message.recordNames.count + 256)
            for name in message.recordNames {
                try writer.lookedUp(name, try StoredRecord.find(name, in: zone, connection), desired: desired)
            }
            writer.blob(2, try zone.scopeHead.serializedBytes())
            return writer.bytes
        }
        return try Self.answer(answer, as: Sealkit_V1_LookupRecordsResponse.self, to: request)
    }

    private func changes(_ request: Request, _ context: SealRequestContext) async throws -> Response {
        let session = try context.requireSession()
        let path = try DatabasePath(context)
        let message = try await request.decode(Sealkit_V1_RecordChangesRequest.self, context)
        let desired = message.hasDesiredKeys ? Set(message.desiredKeys.names) : nil
        let limit = message.resultsLimit == 0 ? Limits.itemsPerRequest : min(Int(message.resultsLimit), Limits.itemsPerRequest)
        let answer = try await services.database.read { connection -> [UInt8] in
            let caller = try Caller(session, container: path.container, in: connection)
            let zone = try Zones.visible(message.zone, to: caller, path, in: connection)
            let position = try ChangeToken.position(message.token, in: zone)
            return try RecordFeed.page(of: zone, after: position, limit: limit, desired: desired, in: connection)
        }
        return try Self.answer(answer, as: Sealkit_V1_RecordChangesResponse.self, to: request)
    }

    private static func checkCount(_ count: Int) throws(ServerError) {
        guard count <= Limits.itemsPerRequest else {
            throw ServerError(
                .limitExceeded, "A request takes at most \(Limits.itemsPerRequest) records.", remedy: "Send half of them at once.")
        }
    }

    /// Bytes that are an answer already; parsed only for those who want JSON.
    private static func answer<M: Message>(_ bytes: [UInt8], as type: M.Type, to request: Request) throws -> Response {
        switch WireEncoding(answerTo: request) {
        case .protobuf: try Response(serialized: bytes)
        case .json: try Response(try M(serializedBytes: bytes), for: request)
        }
    }
}
