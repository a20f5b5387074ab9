import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements
import SealWire

/// Another version stands in the way of an item: `WriteConflict` says what becomes of it, and `WriteMerge` what of it
/// goes into the other version.
extension ZoneBatch {
    /// What there is of items that another version stands in the way of, where the answer does not show it.
    func lookedUp(_ ids: [Record.ID]) async -> Result<[Record.ID: Database.Outcome], SealKitError> {
        guard !ids.isEmpty else { return .success([:]) }
        do {
            return .success(Dictionary(try await database.look(up: ids, desiredKeys: nil)) { first, _ in first })
        } catch {
            return .failure(error)
        }
    }

    /// The server has another version. Returns the item to send again, where the policy or a deletion allows that.
    mutating func conflict(
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
                [result.serverRecord], named: [name], zone: zoneID, desiredKeys: nil, ground: ground
            ).first
        }
        guard let outcome = found else { return nil }
        let there: WritePresent? = if case .success(let there) = outcome { there.written } else { nil }
        switch WriteConflict.objection(to: there, after: item.base?.hash, isDenied: isDenied, isRekeying: isRekeying) {
        case .hidden?:
            fail(item, await database.core.noted(database.hidden(item.id), zone: zoneID, record: name))
            return nil
        case .written?:
            fail(item, SealKitError(.serverRecordChanged, "record \(name) was written by somebody else meanwhile"))
            return nil
        case nil: return resolve(item, outcome, isLast: isLast)
        }
    }

    /// - Parameter outcome: what there is under the item's name.
    /// - Returns: the item on top of that, where the policy or a deletion allows it; otherwise it has its result.
    mutating func resolve(_ item: Item, _ outcome: Database.Outcome, isLast: Bool) -> Item? {
        let there: RecordReader.Outcome
        switch outcome {
        case .success(let found): there = found
        case .failure(let error):
            fail(item, error)
            return nil
        }
        let item = item.isSave ? drafts[item.id.recordName] ?? item : item
        let conflict = WriteConflict(item.kind, policy: savePolicy.rule, isLast: isLast)
        guard let present = there.written else {
            fail(item, ZoneBatch.keepsChanging(item.id))
            return nil
        }
        let decided = conflict.outcome(over: present) {
            guard case .save(let draft) = item, case .record(let server) = there else { return false }
            return server.showsTheSame(as: draft)
        }
        switch (decided, item, there) {
        case (.makesAgain, .save(var draft), .deletion(_, _, let tombstone)):
            // What it was merged into meanwhile has gone.
            draft.base = tombstone
            return .save(draft)
        case (.merges, .save(let draft), .record(let server)): return .save(merged(draft, into: server))
        case (.replaces, .save(let draft), .unopened(let there)): return .save(there.replaced(by: draft))
        case (.deletesNewest, .delete(let id, _, _, _), _):
            guard let server = there.present, let base = server.base else { return nil }
            return .delete(id, base, recordType: server.recordType, changeTag: server.recordChangeTag ?? "")
        case (.isGone, _, _): deleteResults[item.id] = .success(())
        default: fail(item, error(decided, of: item, there))
        }
        return nil
    }

    /// Why an item does not go again, for the app.
    private func error(_ decided: WriteConflict.Outcome, of item: Item, _ there: RecordReader.Outcome) -> SealKitError {
        let name = item.id.recordName
        return switch (decided, there) {
        case (.changed, .record(let server)):
            SealKitError(
                .serverRecordChanged, "record \(name) was changed on the server",
                remedy: "merge into serverRecord and save that", serverRecord: server, clientRecord: item.saved,
                ancestorRecord: item.saved?.ancestor)
        case (.unopened, .unopened(let there)): there.error
        case (.otherType, .unopened(let there)):
            SealKitError(
                .invalidArguments, "record \(name) is of the type \(there.record.recordType)",
                remedy: "types do not change: delete it first, or save it with that type")
        case (.deleted, _):
            SealKitError(.unknownItem, "record \(name) was deleted", remedy: "save it as a new record, or drop it")
        default: ZoneBatch.keepsChanging(item.id)
        }
    }

    private func merged(_ draft: Record, into server: Record) -> Record {
        var merged = server
        let merge = WriteMerge(savePolicy.rule)
        for (key, state) in draft.fields {
            let isAtHand = if case .omitted = state { false } else { true }
            if merge.takes(.present(isAtHand: isAtHand), isChanged: draft.changed.contains(key)) {
                merged.set(key, state)
            }
        }
        for key in draft.changed where draft.fields[key] == nil && merge.takes(.absent, isChanged: true) {
            merged.set(key, nil)
        }
        let copied = draft.base?.statement
        if WriteMerge.takes(draft.parent?.recordName, over: copied?.parent) { merged.parent = draft.parent }
        if WriteMerge.takes(draft.share?.recordName, over: copied?.share) { merged.share = draft.share }
        return merged
    }
}

extension Database.SavePolicy {
    /// As the rules of writing know it.
    var rule: WritePolicy {
        switch self {
        case .ifServerRecordUnchanged: .ifUnchanged
        case .changedKeys: .changedKeys
        case .allKeys: .allKeys
        case .restoring: .restoring
        }
    }
}

extension RecordReader.Outcome {
    /// As the rules of writing know it; nil for what no statement was read of.
    var written: WritePresent? {
        switch self {
        case .record(let record): record.base.map { .record(hash: $0.hash) }
        case .unopened(let there):
            there.record.base.map { .unopened(hash: $0.hash, recordType: there.record.recordType) }
        case .deletion(_, _, let base): .gone(hash: base.hash)
        }
    }
}

extension ZoneBatch.Item {
    fileprivate var kind: WriteConflict.Item {
        switch self {
        case .save(let record): .save(wasStored: record.recordChangeTag != nil, recordType: record.recordType)
        case .delete: .deletion
        }
    }
}

extension Record {
    /// As `WrittenVersion` has it, of what another record was made of.
    fileprivate func showsTheSame(as draft: Record) -> Bool {
        guard draft.recordChangeTag != nil, let base, let known = draft.base else { return false }
        return WrittenVersion(base.statement, digests: base.digests.byName { $0 }, fields: fields.written).showsTheSame(
            as: WrittenVersion(
                known.statement, digests: known.digests.byName { $0 }, fields: known.fields?.written))
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

extension FieldList<Record.FieldState> {
    fileprivate var written: [String: RecordWriting.Field] { byName(\.written) }
}
