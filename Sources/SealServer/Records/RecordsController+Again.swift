import Foundation
import SealService
import SealStatements
import SealStorage
import SealWire

/// Saves of those who have saved here before: without the look at the database that comes before other saves'
/// transactions.
extension RecordsController {
    /// The transaction found something that is for those who look first: nothing was written.
    private struct Doubt: Error {}

    /// Saves by the ground of the last save here.
    ///
    /// All that makes a difference is compared in the transaction: the zone as it is now, its roster's head (by which
    /// alone the author's key and rights are known), the schema. It commits only where everything is accepted. Whatever
    /// else there is to say, a repeated operation's first answer and every refusal included, is said by the way that
    /// looks first.
    ///
    /// - Returns: the answer; nil where nothing was written and the other way is to be taken.
    /// - Throws: what the storage throws.
    func saveAgain(
        _ message: Sealkit_V1_ModifyRecordsRequest, _ operation: RepeatableOperation, _ session: Session,
        _ path: DatabasePath
    ) async throws -> [UInt8]? {
        guard message.openings.isEmpty, message.closings.isEmpty,
            let ground = saveGrounds.find(message.ground(session, path)),
            let roster = rosters.remembered(owner: ground.owner, zone: ground.zone),
            let known = schemas.remembered(path.container, path.environment)
        else { return nil }
        let caller = Caller(id: ground.callerID, userID: ground.userID, session: session)
        guard
            let batch = try? RecordBatch(
                message, caller: caller, judge: .rosters(ZoneRosters(roster)), predecessors: [:], schema: known),
            batch.isWhole
        else { return nil }
        let (now, quotas, schemas, rosters) = (clock(), self.quotas, self.schemas, self.rosters)
        let sessions = self.sessions
        do {
            let (answer, leftGarbage) = try await transactions.write(at: .everything) { connection -> ([UInt8], Bool) in
                try sessions.recheck(session, now: now, in: connection)
                let zone = try Zones.writable(message.zone, by: caller, path, in: connection)
                guard zone.head == roster.head, zone.shares == 0 else { throw Doubt() }
                let schema = try schemas.schema(path.container, path.environment, in: connection)
                guard schema.version == known.version else { throw Doubt() }
                let save = RecordSave(
                    batch: batch, isAtomic: true, caller: caller, zone: zone, schema: schema, now: now, quotas: quotas,
                    connection: connection, rosters: rosters)
                let (_, written, leftGarbage) = try save.run()
                // Atomic: where one record is refused, none is written.
                guard let answer = written else { throw Doubt() }
                try operation.keep(
                    Data(answer), of: caller.accountID, isBilled: save.billsAnswer, now: now, in: connection)
                return (answer, leftGarbage)
            }
            if leftGarbage { jobs.wake(.garbage) }
            return answer
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
}

extension Sealkit_V1_ModifyRecordsRequest {
    func ground(_ session: Session, _ path: DatabasePath) -> SaveGround.Key {
        SaveGround.Key(account: session.accountID, path: path, ownerName: zone.ownerName, zoneName: zone.zoneName)
    }
}
