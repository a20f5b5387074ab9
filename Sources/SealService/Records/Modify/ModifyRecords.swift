import SealStatements
package import SealStorage
package import SealWire
import SwiftProtobuf

/// Saves and deletes records of one zone, and opens and ends the hierarchical shares that come with them.
///
/// From top to bottom:
///
/// 1. `SaveRequest`: what the request says by itself. Too much of it is refused (`limitExceeded`).
/// 2. `saveAgain`: whoever saves where it has saved before is judged by what is remembered, in one transaction.
/// 3. `SaveBasis`: what a save is judged by, from one snapshot. Whoever may not write here is refused, and shares that
///    the rules do not let begin or end.
/// 4. `RecordBatch`: decoding, hashes, schema, and the signature; what is not what it says it is is refused.
/// 5. `RecordSave`: in the writer's transaction each record is compared with what is stored, judged, and written.
/// 6. `ServerRecords`: what the server has instead of what it refused.
///
/// One object: it goes with every request through many hands.
package final class ModifyRecords: Sendable {
    let transactions: Transactions
    let sessions: Sessions
    let addresses: AddressHasher
    /// Microseconds since 1970.
    let clock: @Sendable () -> Int64
    let quotas: Quotas
    let rosters: RosterCache
    let schemas: SchemaStore
    let jobs: Jobs
    let grounds = SaveGrounds()

    package init(
        transactions: Transactions, sessions: Sessions, addresses: AddressHasher,
        clock: @escaping @Sendable () -> Int64,
        quotas: Quotas, rosters: RosterCache, schemas: SchemaStore, jobs: Jobs
    ) {
        self.transactions = transactions
        self.sessions = sessions
        self.addresses = addresses
        self.clock = clock
        self.quotas = quotas
        self.rosters = rosters
        self.schemas = schemas
        self.jobs = jobs
    }

    /// - Parameters:
    ///   - hasRoom: is told how many bytes an answer has with what the server has instead of what it refused, and says
    ///     whether there is room for so many. Where there is none, the answer is given without that.
    ///   - refused: is told why records were refused, which the answer has; not again where an answer is repeated.
    ///   - shared: is told likewise whom the shares that begin with it invite.
    /// - Returns: a serialized `ModifyRecordsResponse`.
    package func run(
        _ message: SaveMessage, by session: Session, _ path: DatabasePath,
        hasRoom: @escaping @Sendable (Int) -> Bool, refused: ([ErrorCode]) -> Void, shared: (SharingNews) -> Void
    ) async throws -> [UInt8] {
        let request = try SaveRequest(message, session, path)
        if let answer = try await saveAgain(request) { return answer }
        switch try await look(request) {
        case .answered(let answer, let account, let isKept):
            if !isKept {
                let isThere = try await transactions.write(at: request.operation.home) {
                    try request.operation.answer(of: account, in: $0) != nil
                }
                // The snapshot was of a server that another one has taken the place of.
                guard isThere else { throw StorageError.unavailable(message: "what was read is not there any more") }
            }
            return try await addingServerRecords(to: answer, request, hasRoom)
        case .fresh(let basis):
            if let ground = basis.ground { grounds.keep(ground, request.groundKey) }
            // Decoding, hashing and the signature: here, beside other requests, not on the writer's thread.
            let batch = try RecordBatch(message, basis)
            let result = try await write(batch, basis, request)
            if result.leftGarbage { jobs.wake(.garbage) }
            refused(result.refusals)
            if result.isWritten, let news = basis.shareChanges.news(in: path) { shared(news) }
            guard result.wantsServerRecords else { return result.answer }
            return try await addingServerRecords(to: result.answer, request, hasRoom)
        }
    }

    // MARK: Before the transaction

    private enum Snapshot: Sendable {
        /// The answer of the time before, and whether that is there for good: on PostgreSQL a snapshot does not tell.
        case answered([UInt8], account: Int64, isKept: Bool)
        case fresh(SaveBasis)
    }

    private func look(_ request: SaveRequest) async throws -> Snapshot {
        try await transactions.read { [rosters, schemas, quotas, addresses] connection in
            let caller = try Caller(request.session, container: request.path.container, in: connection)
            if let answer = try request.operation.seenAnswer(of: caller.accountID, in: connection) {
                return .answered(
                    [UInt8](answer), account: caller.accountID, isKept: connection.dialect != .postgres)
            }
            return .fresh(
                try SaveBasis(
                    of: request, by: caller, rosters: rosters, schemas: schemas, quotas: quotas, addresses: addresses,
                    in: connection))
        }
    }

    // MARK: In the transaction

    /// It cannot be said at home in the zone that the save was looked at in.
    private struct Elsewhere: Error {}

    private func write(
        _ batch: RecordBatch, _ basis: SaveBasis, _ request: SaveRequest
    ) async throws -> RecordSave.Result {
        // Shares that begin or end, and what is new to the schema, are not its zone's alone.
        if let ground = basis.ground, basis.shareChanges.isEmpty, !batch.addsToSchema {
            do {
                return try await write(batch, basis, request, in: ground)
            } catch is Elsewhere {
            } catch StorageError.constraint {
                // Somebody was first elsewhere, whom this one sees the second time.
            }
        }
        return try await write(batch, basis, request, in: nil)
    }

    /// - Parameter ground: where it is at home; nil has everything to itself.
    private func write(
        _ batch: RecordBatch, _ basis: SaveBasis, _ request: SaveRequest, in ground: SaveGround?
    ) async throws -> RecordSave.Result {
        let now = clock()
        let caller = basis.caller
        return try await transactions.write(
            at: ground?.home ?? .everything, beside: ground?.beside(request.session, request.path) ?? []
        ) { [self] connection in
            try sessions.recheck(request.session, now: now, in: connection)
            if let answer = try request.operation.answer(of: caller.accountID, in: connection) {
                return .repeated([UInt8](answer))
            }
            let path = request.path
            let zone =
                try path.database == .public
                ? PublicZone.open(path, in: connection)
                : Zones.writable(request.message.head.zone, by: caller, path, in: connection)
            guard ground?.isStill(zone) ?? true else { throw Elsewhere() }
            // Things may have moved on since they were looked at.
            try batch.judge.recheck(caller, zone, rosters, in: connection)
            try basis.shareChanges.recheck(in: zone, connection)
            let schema = try schemas.schema(path.container, path.environment, in: connection)
            let fitting = batch.fitting(schema)
            guard ground == nil || !fitting.addsToSchema else { throw Elsewhere() }
            let save = RecordSave(
                batch: fitting,
                isAtomic: request.message.head.atomic && zone.isAtomic || !basis.shareChanges.isEmpty,
                caller: caller, zone: zone, schema: schema,
                rights: try PublicRights.of(request.session, path, schemas, in: connection),
                shareChanges: basis.shareChanges, rosters: rosters, quotas: quotas, now: now, connection: connection)
            let result = try save.run()
            if result.isWritten { try save.keep(result, as: request.operation) }
            return result
        }
    }

    // MARK: After the transaction

    /// The same answer, where the caller does not see the zone any more, or where there is no room: what has been done
    /// is told all the same. That is asked while the read lasts, so that no more of them are made at once than reads.
    private func addingServerRecords(
        to answer: [UInt8], _ request: SaveRequest, _ hasRoom: @escaping @Sendable (Int) -> Bool
    ) async throws -> [UInt8] {
        let path = request.path
        return try await transactions.read { [rosters, schemas] connection in
            let caller = try Caller(request.session, container: path.container, in: connection)
            guard let (zone, goneSince) = try Zones.seen(request.message.head.zone, by: caller, path, in: connection),
                goneSince == nil
            else { return answer }
            let rights = try PublicRights.of(request.session, path, schemas, in: connection)
            var response = try Sealkit_V1_ModifyRecordsResponse(serializedBytes: answer)
            try ServerRecords.add(to: &response, in: zone, rights: rights, connection)
            if rights == nil {
                let taken = TakenAnswer(
                    message: request.message, zone: zone, user: caller.userID, rosters: rosters, connection: connection)
                try taken.add(to: &response)
            }
            let whole: [UInt8] = try response.serializedBytes()
            return hasRoom(whole.count) ? whole : answer
        }
    }
}
