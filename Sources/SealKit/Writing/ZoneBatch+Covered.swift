import SealClient
import SealPrimitives
import SealStatements
import SealWire

/// Records that go along with a deletion in its own scope: they get no deletions of their own, so the target's covers
/// them.
extension ZoneBatch {
    /// What an item's deletion takes along, as far as it is known: the batch's own records do not go.
    func covered(by item: Item, beside names: Set<String>) -> [VerifiedStatement] {
        guard case .delete(let id, _, _, _) = item else { return [] }
        return TakenReading.covered(covered[id.recordName] ?? [], beside: names)
    }

    func taken(by item: Item, beside names: Set<String>) throws(SealKitError) -> TakenRecords {
        let covered = covered(by: item, beside: names)
        guard !covered.isEmpty else { return .none }
        return try verifying("what goes with record \(item.id.recordName)") { () throws(SealError) in
            try TakenRecords(covered.map { ($0.statement.recordName, $0.hash) })
        }
    }

    /// Verifies what the server says goes along with a deletion that did not cover it.
    /// - Returns: whether the deletion goes again; otherwise it has failed.
    /// - Throws: what concerns the whole batch.
    mutating func cover(
        _ item: Item, with result: Sealkit_V1_RecordResult, ground: RecordGround
    ) async throws(SealKitError) -> Bool {
        guard case .delete(let id, let base, _, _) = item, case .zone(let ground) = ground else { return false }
        // The answer had no room for these: it is told when the others' are known.
        guard result.hasTaken else { return true }
        do {
            covered[id.recordName] = try await database.verified(
                result.taken, goingWith: base.statement, in: ground)
            return true
        } catch let error where error.code == .serverRecordChanged {
            // This device has come to know more of one of them meanwhile: the next round is told anew.
            covered[id.recordName] = nil
            return true
        } catch let error where error.isViolation {
            fail(item, await database.core.noted(error, zone: zoneID, record: id.recordName))
            return false
        }
    }
}

extension ZoneBatch {
    static func keepsGrowing(_ id: Record.ID) -> SealKitError {
        SealKitError(
            .deletionIncomplete, "the records that go with record \(id.recordName) keep changing",
            remedy: "try again later", retryAfter: 1)
    }
}

extension Database {
    /// The records that a server says go along with one that is to be deleted. Each is verified as if it had been read,
    /// and held against what this device has seen; so are the references that lead from it to the target.
    /// - Throws: `integrityFailure`, `rollback`; `serverRecordChanged` where it has seen more of one since it asked.
    fileprivate func verified(
        _ wire: Sealkit_V1_TakenRecords, goingWith target: Statement, in start: ZoneGround
    ) async throws(SealKitError) -> [VerifiedStatement] {
        let subject = "what goes with record \(target.recordName)"
        var reading = try judging(subject) { () throws(ClientError) in
            try TakenReading(goingWith: target, count: wire.records.count, in: start)
        }
        for one in wire.records {
            let label = "record \(one.record.recordName), which is said to go with \(target.recordName),"
            do throws(ClientError) {
                try reading.add(one)
            } catch .unknownHead {
                reading.refresh(try await reading.ground.refreshed(core))
                try judging(label) { () throws(ClientError) in try reading.add(one) }
            } catch {
                throw .integrity(error, label)
            }
        }
        let statements = try judging(subject) { () throws(ClientError) in try reading.checked() }
        let sightings = reading.sightings
        let verdicts = try await core.trust.admit(sightings, in: reading.ground.place, asked: reading.ground.asked)
        for (sighting, verdict) in zip(sightings, verdicts) {
            if let error = refusal(of: sighting, verdict) { throw error }
        }
        return statements
    }
}
