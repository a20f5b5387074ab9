import Foundation
import Hummingbird
import SealService
import SealStatements
import SealStorage
import SealWire
import SwiftProtobuf

/// `records/modify`, `records/lookup`, `records/changes`, `changes/zone`, `records/stale`, `records/created`.
struct RecordsController: Sendable {
    let transactions: Transactions
    let sessions: Sessions
    let addresses: AddressHasher
    let clock: @Sendable () -> Int64
    let feedNames: FeedNames
    let jobs: Jobs
    let quotas: Quotas
    let rosters: RosterCache
    let saveGrounds: SaveGrounds
    let schemas: SchemaStore

    func addRoutes(to router: EndpointRouter) {
        router.on(Endpoints.records.modify) { try await modify($0, $1) }
        router.on(Endpoints.records.lookup) { try await lookup($0, $1) }
        router.on(Endpoints.records.changes) { try await changes($0, $1) }
        router.on(Endpoints.records.changesOfZones) { try await changesOfZones($0, $1) }
        router.on(Endpoints.records.stale) { try await stale($0, $1) }
        router.on(Endpoints.records.created) { try await created($0, $1) }
    }

    // MARK: Saving

    /// What a save is judged by before its transaction, from one snapshot.
    private enum Snapshot: Sendable {
        case answered(Data)
        case fresh(Caller, SaveJudge, ShareChanges, StoredSchema, predecessors: [String: StoredRecord])
    }

    private func modify(
        _ message: Sealkit_V1_ModifyRecordsRequest, _ call: DatabaseCall
    ) async throws -> WrittenMessage<Sealkit_V1_ModifyRecordsResponse> {
        let (session, path) = (call.session, call.path)
        let operation = try RepeatableOperation(message, of: Endpoints.records.modify, path, message.operationContent)
        try Self.checkCount(message.records.count + message.openings.count + message.closings.count)
        try message.checkBytes()
        let carrying = message.records.filter { record in
            record.fields.contains { if case .omitted = $0.content { true } else { false } }
        }.map(\.recordName).filter(Names.isPlain)

        if carrying.isEmpty, let answer = try await saveAgain(message, operation, session, path) {
            return WrittenMessage(answer)
        }
        let (rosters, schemas, grounds) = (self.rosters, self.schemas, saveGrounds)
        let (addresses, quotas) = (self.addresses, self.quotas)
        let snapshot = try await transactions.read { connection -> Snapshot in
            let caller = try Caller(session, container: path.container, in: connection)
            if let answer = try operation.answer(of: caller.accountID, in: connection) { return .answered(answer) }
            let zone = try Zones.writable(message.zone, by: caller, path, in: connection)
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
            if path.database != .public {
                grounds.keep(
                    SaveGround(callerID: caller.id, userID: caller.userID, owner: zone.owner, zone: zone.zone),
                    message.ground(session, path))
            }
            let changes = try ShareChanges(message, zone, caller, path, rosters, quotas, addresses, connection)
            return .fresh(
                caller, try SaveJudge(message, changes, zone, caller, path, rosters, in: connection), changes,
                try schemas.schema(path.container, path.environment, in: connection), predecessors: predecessors)
        }
        guard case .fresh(let caller, let judge, let changes, let schema, let predecessors) = snapshot else {
            guard case .answered(let answer) = snapshot else { throw CancellationError() }
            return WrittenMessage(try await addingServerRecords(to: [UInt8](answer), message, session, path))
        }
        // Decoding, hashing and the signature: here, beside other requests, not on the writer's thread.
        let batch = try RecordBatch(
            message, caller: caller, judge: judge, predecessors: predecessors, schema: schema)
        let now = clock()
        let sessions = self.sessions
        var (answer, leftGarbage, wantsRecords) = try await transactions.write(at: .everything) {
            connection -> ([UInt8], Bool, Bool) in
            try sessions.recheck(session, now: now, in: connection)
            if let answer = try operation.answer(of: caller.accountID, in: connection) {
                return ([UInt8](answer), false, true)
            }
            let zone =
                try path.database == .public
                ? PublicZone.open(path, in: connection) : Zones.writable(message.zone, by: caller, path, in: connection)
            try batch.judge.recheck(caller, zone, rosters, in: connection)
            try changes.recheck(in: zone, connection)
            let schema = try schemas.schema(path.container, path.environment, in: connection)
            let save = RecordSave(
                batch: batch.fitting(schema), isAtomic: message.atomic && zone.isAtomic || !changes.isEmpty,
                caller: caller, zone: zone, schema: schema, now: now,
                quotas: quotas, connection: connection,
                rights: try PublicRights.of(session, path, schemas, in: connection),
                shareChanges: changes, rosters: rosters)
            let (outcomes, answer, leftGarbage) = try save.run()
            if let answer {
                try operation.keep(
                    Data(answer), of: caller.accountID, isBilled: save.billsAnswer, now: now, in: connection)
            }
            return (try answer ?? save.serialized(outcomes), leftGarbage, ServerRecords.areWanted(in: outcomes))
        }
        if wantsRecords { answer = try await addingServerRecords(to: answer, message, session, path) }
        if leftGarbage { jobs.wake(.garbage) }
        return WrittenMessage(answer)
    }

    /// The same answer, where the caller does not see the zone any more.
    private func addingServerRecords(
        to answer: [UInt8], _ message: Sealkit_V1_ModifyRecordsRequest, _ session: Session, _ path: DatabasePath
    ) async throws -> [UInt8] {
        try await transactions.read { connection in
            let caller = try Caller(session, container: path.container, in: connection)
            guard let (zone, goneSince) = try Zones.seen(message.zone, by: caller, path, in: connection),
                goneSince == nil
            else {
                return answer
            }
            let rights = try PublicRights.of(session, path, schemas, in: connection)
            var response = try Sealkit_V1_ModifyRecordsResponse(serializedBytes: answer)
            try ServerRecords.add(to: &response, in: zone, rights: rights, connection)
            if rights == nil {
                let taken = TakenAnswer(
                    message: message, zone: zone, user: caller.userID, rosters: rosters, connection: connection
                )
                try taken.add(to: &response)
            }
            return try response.serializedBytes()
        }
    }

    // MARK: Reading

    private func lookup(
        _ message: Sealkit_V1_LookupRecordsRequest, _ call: VisitorCall
    ) async throws -> WrittenMessage<Sealkit_V1_LookupRecordsResponse> {
        let (session, path) = (call.session, call.path)
        try Self.checkCount(message.recordNames.count)
        try RecordLookup.check(message.recordNames)
        let desired = message.hasDesiredKeys ? try message.desiredKeys.fields() : nil
        let answer = try await transactions.read { connection -> [UInt8] in
            let (zone, rights) = try Zones.readable(message.zone, by: session, path, schemas, in: connection)
            return try RecordLookup.answer(message.recordNames, in: zone, desired: desired, rights: rights, connection)
        }
        return WrittenMessage(answer)
    }

    static func checkCount(_ count: Int) throws(ServerError) {
        guard count <= Limits.itemsPerRequest else {
            throw ServerError(
                .limitExceeded, "A request takes at most \(Limits.itemsPerRequest) records.",
                remedy: "Send half of them at once.")
        }
    }
}
