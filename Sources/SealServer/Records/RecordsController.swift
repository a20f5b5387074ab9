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
        }.map(\.recordName).filter(Names.isPlain)

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
            var room = RecordLookup.answerBytes
            for name in carrying where predecessors[name] == nil {
                guard let record = try StoredRecord.find(name, in: zone, connection) else { continue }
                room -= record.fields.count
                guard room >= 0 else {
                    throw ServerError(
                        .limitExceeded, "The records that fields are carried over from are too large together.",
                        remedy: "Send half of them at once.")
                }
                predecessors[name] = record
            }
            return .fresh(caller, try rosters.roster(of: zone, in: connection), predecessors: predecessors)
        }
        guard case .fresh(let caller, let roster, let predecessors) = snapshot else {
            guard case .answered(let answer) = snapshot else { throw CancellationError() }
            return try Self.answer(
                try await addingServerRecords(to: [UInt8](answer), message.zone, session, path),
                as: Sealkit_V1_ModifyRecordsResponse.self, to: request)
        }
        // Decoding, hashing and the signature: here, beside other requests, not on the writer's thread.
        let batch = try RecordBatch(message, caller: caller, roster: roster, predecessors: predecessors)
        let now = services.clock()
        let quotas = services.quotas
        var (answer, leftGarbage, wantsRecords) = try await services.database.write { connection -> ([UInt8], Bool, Bool) in
            if let answer = try Operations.answer(
                message.operationID, kind: Self.kind, of: caller.accountID, in: connection)
            {
                return ([UInt8](answer), false, true)
            }
            let zone = try Zones.visible(message.zone, to: caller, path, in: connection)
            try Self.recheck(batch, caller, zone, rosters, connection)
            let save = RecordSave(
                batch: batch, isAtomic: message.atomic, caller: caller, zone: zone, now: now, quotas: quotas,
                connection: connection)
            let (outcomes, hasWritten, leftGarbage) = try save.run()
            let answer = try save.serialized(outcomes)
            if hasWritten {
                try Operations.keep(
                    Data(answer), message.operationID, kind: Self.kind, of: caller.accountID, now: now, in: connection)
            }
            return (answer, leftGarbage, ServerRecords.areWanted(in: outcomes))
        }
        if wantsRecords { answer = try await addingServerRecords(to: answer, message.zone, session, path) }
        if leftGarbage { services.housekeeping.collectGarbage() }
        services.housekeeping.sweepIfDue()
        return try Self.answer(answer, as: Sealkit_V1_ModifyRecordsResponse.self, to: request)
    }

    /// The same answer, where the caller does not see the zone any more.
    private func addingServerRecords(
        to answer: [UInt8], _ zone: Sealkit_V1_ZoneID, _ session: Session, _ path: DatabasePath
    ) async throws -> [UInt8] {
        try await services.database.read { connection in
            let caller = try Caller(session, container: path.container, in: connection)
            guard let (zone, goneSince) = try Zones.seen(zone, by: caller, path, in: connection), goneSince == nil else {
                return answer
            }
            return try ServerRecords.adding(to: answer, in: zone, connection)
        }
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
        try RecordLookup.check(message.recordNames)
        let desired = message.hasDesiredKeys ? Set(message.desiredKeys.names) : nil
        let answer = try await services.database.read { connection -> [UInt8] in
            let caller = try Caller(session, container: path.container, in: connection)
            let zone = try Zones.visible(message.zone, to: caller, path, in: connection)
            return try RecordLookup.answer(message.recordNames, in: zone, desired: desired, connection)
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
