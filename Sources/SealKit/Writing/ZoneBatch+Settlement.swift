import Foundation
import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire

/// What becomes of a batch once the server has answered: `WriteSettlement` says what, and this asks the server for what
/// that needs.
extension ZoneBatch {
    /// Sorts the answer's results into successes, failures, and what has to be sent again.
    mutating func settle(
        _ items: [Item], _ signed: (records: [SignedRecord], signature: [UInt8]), _ results: [Sealkit_V1_RecordResult],
        ground: RecordGround, isLast: Bool
    ) async throws(SealKitError) -> [Item] {
        var settlement = WriteSettlement(
            items.map { $0.sent(wasStored: isStored($0.id)) }, results.map { WriteAnswer($0, in: ground) },
            of: WriteSettlement.Batch(
                isAtomic: isAtomic, isOfZone: ground.isZone,
                keepsTogether: zoneID.zoneName == RecordZone.defaultName || !sharing.isEmpty), isLast: isLast)
        let taken = takenAlong(by: items)
        let sent = items.indices.map { index in
            Sent(
                id: items[index].id, record: items[index].saved, signed: signed.records[index], taken: taken[index])
        }
        try await acknowledge(sent, signature: signed.signature, results, ground: ground)
        let lookedUp = await lookedUp(settlement.lookUps.map { items[$0].id })
        // In the place of each item: itself as it is to be sent again.
        var next = items
        for (index, item) in items.enumerated() {
            var course = settlement.course(of: index)
            if course == .stored { continue }
            let result = results[index]
            if course == .forbidden {
                if try await regroundsAgain(ground) {
                    settlement.repeats(index)
                    continue
                }
                if case .zone(let ground) = ground, let there = try await newer(than: item, ground) {
                    // Nothing that was in the way of others is mended by that.
                    if let rebased = resolve(item, there, isLast: isLast) {
                        next[index] = rebased
                        settlement.repeats(index)
                    }
                    continue
                }
                course = settlement.course(afterForbidding: index)
            }
            switch course {
            case .stored: continue
            case .unsaid: fail(item, Database.unanswered(item.id))
            case .conflict(let isDenied):
                if let rebased = try await conflict(
                    item, result, lookedUp, isDenied: isDenied, ground: ground, isLast: isLast)
                {
                    next[index] = rebased
                    settlement.rebased(index)
                } else if case .success? = deleteResults[item.id] {
                    settlement.isGone(index)
                }
            case .covers:
                if try await cover(item, with: result, ground: ground) { settlement.repeats(index) }
            case .keepsGrowing: fail(item, ZoneBatch.keepsGrowing(item.id))
            case .waits: if !waitingDeletions.contains(item.id) { waitingDeletions.append(item.id) }
            case .takesOthers: settlement.takesOthers(index)
            case .behind: settlement.isBehind(index)
            case .absent:
                let refusal = result.refusal(of: item)
                fail(item, try await database.absence(of: item.id, refusal, in: ground) ?? refusal)
            case .refused, .forbidden:
                let refusal = result.refusal(of: item)
                switch isLast ? nil : try await withAssetsSentAgain(item, after: refusal) {
                case .success(let complete)?:
                    next[index] = complete
                    settlement.repeats(index)
                case .failure(let error)?:
                    settlement.refused(index)
                    fail(item, error)
                case nil:
                    settlement.refused(index)
                    fail(item, refusal)
                }
            }
        }
        if settlement.isBehindRosters { (isBehindRosters, isBehindPlaces) = (true, true) }
        let waiting = settlement.waitingForOthers
        let added = try await dependents(named: Set(waiting.flatMap { results[$0].dependents }), beside: items)
        if added.isEmpty { for index in waiting { fail(items[index], results[index].refusal(of: items[index])) } }
        next += added
        let following = settlement.next(adding: added.count)
        for index in following.failed { fail(next[index], ZoneBatch.batchFailed) }
        return following.order.map { next[$0] }
    }

    /// Whether a save that was refused goes again: this device took the zone for one that this account may write to as
    /// a whole, and it is in shares of it alone.
    mutating func regroundsAgain(_ ground: RecordGround) async throws(SealKitError) -> Bool {
        if regrounded != nil { return true }
        guard case .zone(let ground) = ground, let own = ground.own, own.mayWrite else { return false }
        return try await regrounds(ground)
    }

    static func keepsChanging(_ id: Record.ID) -> SealKitError {
        SealKitError(
            .serverRecordChanged, "record \(id.recordName) keeps changing", remedy: "try again later", retryAfter: 1)
    }

    static let batchFailed = SealKitError(
        .batchRequestFailed, "another item of the batch failed", remedy: "mend that one and send all again")

    /// By place: what goes with each of the items.
    func takenAlong(by items: [Item]) -> [[WrittenAlong]] {
        let names = covered.isEmpty ? [] : Set(items.map(\.id.recordName))
        return items.map { covered(by: $0, beside: names).map { WrittenAlong($0.statement, hash: $0.hash) } }
    }

    /// An item of a request, as it was sent.
    struct Sent: Sendable {
        let id: Record.ID
        /// nil for a deletion.
        let record: Record?
        let signed: SignedRecord
        /// What goes with a deletion.
        let taken: [WrittenAlong]
    }

    /// What was stored, as the request is answered that this process has sent, or the same that another one had: it is
    /// remembered, and has its result, before anything else is asked for that may fail. Where this device's store has
    /// no room for it, it is stored all the same: told as a failure it would be saved once more, and the zone's next
    /// reading remembers it.
    /// - Parameter ground: what was signed for another life of it is not remembered; nil where the zone is gone.
    mutating func acknowledge(
        _ sent: [Sent], signature: [UInt8], _ results: [Sealkit_V1_RecordResult], ground: RecordGround?
    ) async throws(SealKitError) {
        let tree = try verifying("the batch") { () throws(SealError) in
            try StatementTree(leaves: sent.map(\.signed.hash))
        }
        if let ground {
            var sightings: [Sighting] = []
            sightings.reserveCapacity(sent.count)
            for (one, result) in zip(sent, results) where result.stores(one.id.recordName) {
                let signed = one.signed
                guard signed.statement.zoneIncarnation == ground.place.incarnation else { continue }
                sightings += Sighting.written(signed.statement, hash: signed.hash, taking: one.taken)
            }
            do throws(SealKitError) { try await database.noteOwn(sightings, ground: ground) } catch {
                guard [.storageFull, .internalError].contains(error.code) else { throw error }
            }
        }
        saveResults.reserveCapacity(sent.count)
        for (index, one) in sent.enumerated() where results[index].stores(one.id.recordName) {
            guard case .record(let wire)? = results[index].outcome else { continue }
            let proof = StatementProof(
                signature: signature, leafCount: tree.leafCount, index: index, path: tree.path(to: index))
            succeed(one, proof, wire)
        }
    }

    private mutating func succeed(_ sent: Sent, _ proof: StatementProof, _ wire: Sealkit_V1_Record) {
        let sealed = sent.signed
        switch sent.record {
        case nil: deleteResults[sent.id] = .success(())
        case var record?:
            record.base = Record.Base(
                statement: sealed.statement, hash: sealed.hash, proof: proof, recordKey: sealed.recordKey,
                digests: sealed.digests, fields: record.fields)
            record.changed = []
            record.applySystemFields(wire, statement: sealed.statement)
            saveResults[record.recordID] = .success(record)
            database.core.unsavedUploads.forgetWhole(
                UnsavedUploads.Place(recordID: record.recordID, isPublic: database.scope == .public))
        }
    }

    mutating func fail(_ item: Item, _ error: SealKitError) {
        switch item {
        case .save(let record) where isStored(record.recordID): break
        case .save(let record): saveResults[record.recordID] = .failure(error)
        case .delete(let id, _, _, _): deleteResults[id] = .failure(error)
        }
    }
}

extension ZoneBatch.Item {
    fileprivate func sent(wasStored: Bool) -> WriteSettlement.Item {
        switch self {
        case .save(let record):
            .save(record.recordID.recordName, parent: record.parent?.recordName, wasStored: wasStored)
        case .delete(let id, _, _, _): .deletion(of: id.recordName)
        }
    }
}

extension Sealkit_V1_RecordResult {
    /// Why an item was refused, for the app.
    fileprivate func refusal(of item: ZoneBatch.Item) -> SealKitError {
        guard case .failure(let failure)? = outcome else { return Database.unanswered(item.id) }
        return SealKitError(failure).about(item.id.recordName)
    }
}
