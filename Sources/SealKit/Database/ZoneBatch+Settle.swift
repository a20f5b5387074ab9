import Foundation
import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire

/// What becomes of a batch once the server has answered.
extension ZoneBatch {
    /// Sorts the answer's results into successes, failures, and what has to be sent again.
    mutating func settle(
        _ items: [Item], _ signed: (records: [SignedRecord], signature: [UInt8]), _ results: [Sealkit_V1_RecordResult],
        ground: RecordGround, isLast: Bool
    ) async throws(SealKitError) -> [Item] {
        let taken = takenAlong(by: items)
        let sent = items.indices.map { index in
            Sent(
                id: items[index].id, record: items[index].saved, signed: signed.records[index], taken: taken[index])
        }
        try await acknowledge(sent, signature: signed.signature, results, ground: ground)
        let lookedUp = await lookedUp(items, results, ground)
        var again: [Item] = []
        var siblings: [Item] = []
        var violations: [Item] = []
        var behind: [Item] = []
        var hasRebased = false
        var incomplete: [(item: Item, names: [String], error: SealKitError)] = []
        // Deletions of what is gone already: successes, though the batch that they were in was not stored.
        var settled = 0
        for (index, item) in items.enumerated() {
            switch results[index].outcome {
            case .record: continue
            // What was sent once more beside a deletion is stored, whatever has become of it since.
            case .failure where item.saved != nil && isStored(item.id): continue
            case .failure(let failure):
                var error = SealKitError(failure).about(item.id.recordName)
                // The answer may have had no room for the deletion, or the record was made again since: a look-up shows
                // what there is.
                let isDenied = ground.isZone && error.code == .unknownItem && !results[index].hasServerRecord
                if !isDenied, !results[index].hasServerRecord {
                    error = try await database.absence(of: item.id, error, in: ground) ?? error
                }
                if error.code == .serverRecordChanged || isDenied
                    || (error.code == .unknownItem && results[index].hasServerRecord)
                {
                    if let rebased = try await conflict(
                        item, results[index], lookedUp, isDenied: isDenied, ground: ground, isLast: isLast)
                    {
                        again.append(rebased)
                        hasRebased = true
                    } else if case .success? = deleteResults[item.id] {
                        settled += 1
                    }
                } else if error.code == .deletionIncomplete {
                    if try await cover(item, with: results[index], error, ground: ground, isLast: isLast) {
                        again.append(item)
                    }
                } else {
                    if error.code == .permissionFailure, !isLast, try await regroundsAgain(ground) {
                        again.append(item)
                        continue
                    }
                    if error.code == .permissionFailure, !isLast, case .zone(let ground) = ground,
                        let there = try await newer(than: item, ground)
                    {
                        if let rebased = resolve(item, there, isLast: isLast) { again.append(rebased) }
                        continue
                    }
                    // Nothing goes with a save, whatever the server says.
                    if item.saved == nil, !results[index].dependents.isEmpty, !isLast {
                        if goesAfterTheOthers(item.id, results[index].dependents, beside: items) { continue }
                        incomplete.append((item, results[index].dependents, error))
                        continue
                    }
                    if error.code == .batchRequestFailed { siblings.append(item) }
                    if error.code == .referenceViolation { violations.append(item) }
                    if error.isBehindRoster, !isLast {
                        behind.append(item)
                        continue
                    }
                    fail(item, error)
                }
            case nil:
                fail(
                    item,
                    SealKitError(
                        .serverRejectedRequest, "the server's answer says nothing of record \(item.id.recordName)"))
            }
        }
        if !behind.isEmpty { (isBehindRosters, isBehindPlaces) = (true, true) }
        let (completed, added) = try await completing(incomplete, beside: items)
        if added.isEmpty { violations += incomplete.map(\.item) }
        again += completed + behind
        again += hasRebased ? violations : unblocked(violations, by: isAtomic ? again : again + siblings)
        // In an atomic batch nothing was stored, so what is sent again takes its siblings along, unless one has failed
        // for good. Elsewhere those alone that would go with a deletion, which goes again or has failed.
        guard isAtomic else { return again + added + siblings }
        guard !again.isEmpty || settled > 0 else { return again + added }
        if again.count + siblings.count + settled == items.count { return again + siblings + added }
        for item in again { fail(item, ZoneBatch.batchFailed) }
        return []
    }

    /// What was refused for a reference may pass beside those that go again: a deletion beside that of a child, a save
    /// beside that of its parent. Beside items that go on top of other versions everything may. Any other save fails
    /// for good: sent again it would keep its record from going with a deletion that waits for that.
    private func unblocked(_ violations: [Item], by again: [Item]) -> [Item] {
        guard !again.isEmpty else { return [] }
        var saved = Set(again.compactMap(\.saved?.recordID.recordName))
        var blocked: [Item] = []
        var passing: [Item] = []
        for item in violations { if item.saved == nil { passing.append(item) } else { blocked.append(item) } }
        var hasGrown = true
        while hasGrown {
            let next = blocked.filter { $0.saved?.parent.map { saved.contains($0.recordName) } ?? false }
            hasGrown = !next.isEmpty
            saved.formUnion(next.map(\.id.recordName))
            blocked.removeAll { saved.contains($0.id.recordName) }
            passing += next
        }
        return passing
    }

    /// Whether a save that was refused goes again: this device took the zone for one that this account may write to as
    /// a whole, and it is in shares of it alone.
    mutating func regroundsAgain(_ ground: RecordGround) async throws(SealKitError) -> Bool {
        if regrounded != nil { return true }
        guard case .zone(let ground) = ground, let own = ground.own,
            own.roster.permission(of: own.user) == .readWrite
        else { return false }
        return try await regrounds(ground)
    }

    static func keepsChanging(_ id: Record.ID) -> SealKitError {
        SealKitError(
            .serverRecordChanged, "record \(id.recordName) keeps changing", remedy: "try again later", retryAfter: 1)
    }

    static let batchFailed = SealKitError(
        .batchRequestFailed, "another item of the batch failed", remedy: "mend that one and send all again")

    /// A record that goes with one that is deleted, as its deletion covers it.
    struct Taken: Sendable {
        let statement: Statement
        let hash: Digest

        init(_ statement: Statement, hash: Digest) { (self.statement, self.hash) = (statement, hash) }
    }

    /// By place: what goes with each of the items.
    func takenAlong(by items: [Item]) -> [[Taken]] {
        let names = covered.isEmpty ? [] : Set(items.map(\.id.recordName))
        return items.map { covered(by: $0, beside: names).map { Taken($0.statement, hash: $0.hash) } }
    }

    /// An item of a request, as it was sent.
    struct Sent: Sendable {
        let id: Record.ID
        /// nil for a deletion.
        let record: Record?
        let signed: SignedRecord
        /// What goes with a deletion.
        let taken: [Taken]
    }

    /// What was stored, as the request is answered that this process has sent, or the same that another one had: it is
    /// remembered, and has its result, before anything else is asked for that may fail.
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
            for (one, result) in zip(sent, results) {
                let (statement, hash) = (one.signed.statement, one.signed.hash)
                guard case .record? = result.outcome, statement.zoneIncarnation == ground.place.incarnation else {
                    continue
                }
                sightings.append(Sighting(statement, hash: hash))
                let deletion = Sighting.Deletion(statement, hash: hash)
                sightings += one.taken.map { Sighting($0.statement, hash: $0.hash, role: .gone(with: deletion)) }
            }
            try await database.noteOwn(sightings, ground: ground)
        }
        for (index, one) in sent.enumerated() {
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
            var digests: [String: Digest] = [:]
            digests.reserveCapacity(sealed.fields.count)
            for field in sealed.fields { digests[field.name] = field.digest }
            record.base = Record.Base(
                statement: sealed.statement, hash: sealed.hash, proof: proof, recordKey: sealed.recordKey,
                digests: digests,
                fields: record.fields)
            record.changed = []
            record.applySystemFields(wire, statement: sealed.statement)
            saveResults[record.recordID] = .success(record)
        }
    }

    mutating func fail(_ item: Item, _ error: SealKitError) {
        switch item {
        case .save(let record) where isStored(record.recordID): break
        case .save(let record): saveResults[record.recordID] = .failure(error)
        case .delete(let id, _, _, _): deleteResults[id] = .failure(error)
        }
    }

    /// What there is of items that another version stands in the way of, where the answer does not show it. Many large
    /// conflicts do not fit into one; and of what is in a share that this batch knew nothing of, the answer to a
    /// look-up names the roster that it goes by. An atomic batch is refused as one: then all of its conflicts are shown
    /// as they are at one time.
    private func lookedUp(
        _ items: [Item], _ results: [Sealkit_V1_RecordResult], _ ground: RecordGround
    ) async -> Result<[Record.ID: Database.Outcome], SealKitError> {
        var conflicts: [Record.ID] = []
        var notShown: [Record.ID] = []
        for (item, result) in zip(items, results) {
            guard case .failure(let failure)? = result.outcome, item.saved == nil || !isStored(item.id) else {
                continue
            }
            let code = SealKitError(failure).code
            guard code == .serverRecordChanged || (code == .unknownItem && (ground.isZone || result.hasServerRecord))
            else { continue }
            conflicts.append(item.id)
            if !result.hasServerRecord || !ground.covers(result.serverRecord) { notShown.append(item.id) }
        }
        guard !notShown.isEmpty else { return .success([:]) }
        do {
            return .success(
                Dictionary(try await database.look(up: isAtomic ? conflicts : notShown, desiredKeys: nil)) { first, _ in
                    first
                })
        } catch {
            return .failure(error)
        }
    }

    /// The server has another version. Returns the item to send again, where the policy or a deletion allows that.
    private mutating func conflict(
        _ item: Item, _ result: Sealkit_V1_RecordResult,
        _ lookedUp: Result<[Record.ID: Database.Outcome], SealKitError>,
        isDenied: Bool, ground: RecordGround, isLast: Bool
    ) async throws(SealKitError) -> Item? {
        let name = item.id.recordName
        let isShown = result.hasServerRecord && ground.covers(result.serverRecord)
        var found: Database.Outcome?
        switch lookedUp {
        case .success(let outcomes): found = outcomes[item.id]
        case .failure(let error): if !isShown { throw error }
        }
        if found == nil, isShown {
            found = try await database.read(
                [(result.serverRecord, name)], zone: zoneID, desiredKeys: nil, ground: ground
            ).first
        }
        guard let outcome = found else { return nil }
        if isDenied, case .success(let there) = outcome, let base = there.present?.base, base.hash == item.base?.hash {
            // It shows what it says is not there.
            fail(item, await database.core.noted(database.hidden(item.id), zone: zoneID, record: name))
            return nil
        }
        if isRekeying {
            // The save of a child gives a record another change tag, and leaves it under its key.
            guard case .success(let there) = outcome, let base = there.present?.base, base.hash == item.base?.hash
            else {
                fail(item, SealKitError(.serverRecordChanged, "record \(name) was written by somebody else meanwhile"))
                return nil
            }
        }
        return resolve(item, outcome, isLast: isLast)
    }

    /// - Parameter outcome: what there is under the item's name.
    /// - Returns: the item on top of that, where the policy or a deletion allows it; otherwise it has its result.
    mutating func resolve(_ item: Item, _ outcome: Database.Outcome, isLast: Bool) -> Item? {
        let name = item.id.recordName
        switch (item.with(drafts[item.id]), outcome) {
        case (_, .failure(let error)):
            fail(item, error)
        case (.save(var draft), .success(.deletion(_, _, let tombstone))) where draft.recordChangeTag == nil && !isLast:
            // Made again: the new record goes on counting where the deletion ended. What it was merged into meanwhile
            // has gone.
            draft.base = tombstone
            return .save(draft)
        case (.save(let draft), .success(.record(let server))):
            // What it was merged into before is no intention of the app's: it starts from the draft each time.
            if !isLast, savePolicy == .changedKeys || savePolicy == .allKeys || server.isUnchanged(since: draft) {
                return .save(merged(draft, into: server))
            }
            fail(
                item,
                SealKitError(
                    .serverRecordChanged, "record \(name) was changed on the server",
                    remedy: "merge into serverRecord and save that", serverRecord: server, clientRecord: draft,
                    ancestorRecord: draft.ancestor))
        case (.save(let draft), .success(.unopened(let there))):
            return replacing(there, with: draft, isLast: isLast)
        case (.delete(let id, _, _, _), .success(let found)) where found.present != nil && !isLast:
            guard let server = found.present, let base = server.base else { return nil }
            return .delete(id, base, recordType: server.recordType, changeTag: server.recordChangeTag ?? "")
        case (.delete(let id, _, _, _), .success(.deletion)):
            deleteResults[id] = .success(())
        case (.save(let draft), .success(.deletion)) where draft.recordChangeTag != nil:
            fail(
                item,
                SealKitError(.unknownItem, "record \(name) was deleted", remedy: "save it as a new record, or drop it"))
        default:
            fail(item, ZoneBatch.keepsChanging(item.id))
        }
        return nil
    }

    /// What does not open cannot be merged into: it is replaced by who sends all of a record, and knows that.
    private mutating func replacing(_ there: UnopenedRecord, with draft: Record, isLast: Bool) -> Item? {
        guard savePolicy == .allKeys, !isLast else {
            fail(.save(draft), there.error)
            return nil
        }
        guard let next = there.replaced(by: draft) else {
            fail(
                .save(draft),
                SealKitError(
                    .invalidArguments, "record \(draft.recordID.recordName) is of the type \(there.record.recordType)",
                    remedy: "types do not change: delete it first, or save it with that type"))
            return nil
        }
        return .save(next)
    }

    private func merged(_ draft: Record, into server: Record) -> Record {
        var merged = server
        let keys = savePolicy == .allKeys ? Array(draft.fields.keys) + Array(draft.changed) : Array(draft.changed)
        for key in keys {
            if case .omitted? = draft.fields[key] { continue }
            merged.set(key, draft.fields[key])
        }
        if draft.parent?.recordName != draft.base?.statement.parent { merged.parent = draft.parent }
        if draft.share?.recordName != draft.base?.statement.share { merged.share = draft.share }
        return merged
    }
}

extension ZoneBatch.Item {
    /// - Parameter draft: what is to be saved; nil for what is as it was made.
    fileprivate func with(_ draft: Record?) -> Self {
        guard case .save = self, let draft else { return self }
        return .save(draft)
    }
}

extension Record {
    /// Nothing that an app could see is different from what `record` was made of: another record's save gave it a new
    /// change tag, its key was wrapped anew, or the same values were sealed under a new one. Signing after the newer
    /// statement then loses nothing.
    fileprivate func isUnchanged(since record: Record) -> Bool {
        guard let base, let known = record.base, known.statement.kind == .save, record.recordChangeTag != nil else {
            return false
        }
        return (base.digests == known.digests || showsTheSame(as: known))
            && base.statement.recordType == known.statement.recordType
            && base.statement.parent == known.statement.parent && base.statement.share == known.statement.share
            && base.statement.creator == known.statement.creator
    }

    /// The values of another version, sealed under another key. What was not fetched is the same only as the same
    /// bytes.
    private func showsTheSame(as known: Base) -> Bool {
        guard let former = known.fields, fields.count == former.count else { return false }
        return former.allSatisfy { key, state in
            switch (state, fields[key]) {
            case (.plain(let one), .plain(let other)?), (.encrypted(let one), .encrypted(let other)?): one == other
            case (.asset(let one), .asset(let other)?):
                one.remote?.sealed?.root == other.remote?.sealed?.root
                    && one.remote?.sealed?.salt == other.remote?.sealed?.salt && one.remote?.sealed != nil
            case (.omitted, .some): known.digests[key] == base?.digests[key]
            default: false
            }
        }
    }

    /// The version that this one was made from, as far as it is at hand: what came with system fields only has none.
    fileprivate var ancestor: Record? {
        guard let base, let fields = base.fields, base.statement.kind == .save else { return nil }
        var ancestor = self
        ancestor.fields = fields
        ancestor.changed = []
        ancestor.parent = base.statement.parent.map { Reference(recordName: $0) }
        return ancestor
    }
}
