import SealSchema
import SealStatements
import SealStorage
import SealWire

/// Saves of those who have saved here before: without the look at the database that comes before other saves'
/// transactions.
extension ModifyRecords {
    /// The transaction found something that is for those who look first: nothing was written.
    private struct Doubt: Error {}

    /// Saves by the ground of the last save here.
    ///
    /// All that makes a difference is compared in the transaction: the zone as it is now, its roster's head (by which
    /// alone the author's key and rights are known), the schema. It commits only where everything is accepted. Whatever
    /// else there is to say, a repeated operation's first answer and every refusal included, is said by the way that
    /// looks first.
    ///
    /// How much an account has stored is judged by the counter as it is once it was changed, by when whoever else
    /// changed it has committed.
    ///
    /// - Returns: the answer; nil where nothing was written and the other way is to be taken.
    /// - Throws: what the storage throws.
    func saveAgain(_ request: SaveRequest) async throws -> [UInt8]? {
        let (head, session, path) = (request.message.head, request.session, request.path)
        guard request.carrying.isEmpty, head.openings.isEmpty, head.closings.isEmpty,
            let ground = grounds.find(request.groundKey),
            let roster = rosters.remembered(owner: ground.owner, zone: ground.zone),
            let known = schemas.remembered(path.container, path.environment)
        else { return nil }
        let caller = Caller(id: ground.callerID, userID: ground.userID, session: session)
        let basis = SaveBasis(caller: caller, judge: .rosters(ZoneRosters(roster)), schema: known)
        guard let batch = try? RecordBatch(request.message, basis), batch.isWhole else { return nil }
        let now = clock()
        do {
            let result = try await transactions.write(
                at: batch.addsToSchema ? .everything : ground.home, beside: ground.beside(session, path)
            ) { [self] connection in
                try sessions.recheck(session, now: now, in: connection)
                let zone = try Zones.writable(head.zone, by: caller, path, in: connection)
                guard ground.isStill(zone) else { throw Doubt() }
                guard zone.head == roster.head, zone.shares == 0 else { throw Doubt() }
                let schema = try schemas.schema(path.container, path.environment, in: connection)
                guard schema.version == known.version else { throw Doubt() }
                let save = RecordSave(
                    batch: batch, isAtomic: true, caller: caller, zone: zone, schema: schema, rights: nil,
                    shareChanges: basis.shareChanges, rosters: rosters, quotas: quotas, now: now,
                    connection: connection)
                let result = try save.run()
                // Atomic: where one record is refused, none is written.
                guard result.isWritten else { throw Doubt() }
                try save.keep(result, as: request.operation)
                return result
            }
            if result.leftGarbage { jobs.wake(.garbage) }
            return result.answer
        } catch is Doubt {
            return nil
        } catch is ServerError {
            return nil
        } catch StorageError.constraint {
            return nil
        }
    }
}

extension RecordBatch {
    /// Every record is good as far as that shows without the database.
    fileprivate var isWhole: Bool {
        items.allSatisfy { if case .success = $0.outcome { true } else { false } }
    }

    /// Whether it needs what the schema that it was held against does not have. The transaction makes sure that this
    /// is the schema still.
    var addsToSchema: Bool {
        items.contains { if case .success(let content) = $0.outcome { !content.additions.isEmpty } else { false } }
    }
}
