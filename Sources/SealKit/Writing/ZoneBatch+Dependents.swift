import SealClient
import SealStatements

/// Records of other scopes that go with a deletion (`WriteDependents`), and deletions that go after the other items.
extension ZoneBatch {
    /// The deletions that go to be sent beside others which the server has refused without them.
    /// - Parameter names: that the server gave.
    mutating func dependents(named names: Set<String>, beside items: [Item]) async throws(SealKitError) -> [Item] {
        let wanted = names.subtracting(items.map(\.id.recordName))
        guard !wanted.isEmpty else { return [] }
        var found: [String: Record] = [:]
        var dependents = WriteDependents(deleting: items.filter { $0.saved == nil }.map(\.id.recordName))
        let ids = wanted.sorted().map { Record.ID(recordName: $0, zoneID: zoneID) }
        for (_, outcome) in try await database.look(up: ids, desiredKeys: nil) {
            guard case .success(let there) = outcome, let record = there.present, record.base != nil else { continue }
            found[record.recordID.recordName] = record
            dependents.add(record.recordID.recordName, record.plainValues)
        }
        var added: [Item] = []
        for record in dependents.going().compactMap({ found[$0] }) {
            guard let base = record.base else { continue }
            implied.insert(record.recordID)
            added.append(
                .delete(
                    record.recordID, base, recordType: record.recordType, changeTag: record.recordChangeTag ?? ""))
        }
        return added
    }

    /// What is to be sent, and where that has deletions, what the call has saved already and might go with one of them:
    /// what one call saves stays, which the server sees to in each request by itself. Saved once more it says what it
    /// said.
    func besideDeletions(_ items: [Item]) -> [Item] {
        guard items.contains(where: { $0.saved == nil }) else { return items }
        let names = Set(items.map(\.id))
        return items + staying.filter { !names.contains($0.recordID) }.map { .save($0) }
    }

    /// What was saved, and goes with some record or other.
    private var staying: [Record] {
        guard !isAtomic, savePolicy != .restoring else { return [] }
        return saveResults.values.compactMap { result in
            guard case .success(let record) = result, record.goesWithOthers else { return nil }
            return record
        }
    }

    /// All of them at once, and where that fails in halves, down to each by itself, which tells why: what stays is
    /// written again with each attempt.
    mutating func deleteWaiting() async {
        var parts = [waitingDeletions[...]].filter { !$0.isEmpty }
        while let part = parts.popLast() {
            do throws(SealKitError) {
                let results = try await deleted(Array(part))
                if part.count == 1 || results.values.allSatisfy(\.isSuccess) {
                    deleteResults.merge(results) { $1 }
                    continue
                }
            } catch {
                if error.concernsWholeRequest {
                    for id in part + parts.joined() { deleteResults[id] = .failure(error) }
                    return
                }
                if let only = part.first, part.count == 1 {
                    deleteResults[only] = .failure(error)
                    continue
                }
            }
            let middle = part.startIndex + part.count / 2
            parts += [part[middle...], part[..<middle]]
        }
    }

    private mutating func deleted(
        _ ids: [Record.ID]
    ) async throws(SealKitError) -> [Record.ID: Result<Void, SealKitError>] {
        var staying = staying
        while true {
            var batch = ZoneBatch(
                database: database, zoneID: zoneID, savePolicy: savePolicy, isAtomic: true, progress: .nobody)
            try await batch.run(saving: staying, deleting: ids)
            let hasChanged = batch.saveResults.values.contains { result in
                if case .failure(let error) = result { error.code != .batchRequestFailed } else { false }
            }
            guard hasChanged, !staying.isEmpty else {
                for (id, result) in batch.saveResults where result.isSuccess { saveResults[id] = result }
                return batch.deleteResults
            }
            // Somebody else has written one since: whether that goes along is no matter of this call.
            staying = []
        }
    }

    /// The app did not name what was deleted along.
    mutating func forgetImplied() {
        for id in implied { deleteResults[id] = nil }
    }
}

extension Record {
    /// Whether it goes with any other, as far as its fields are at hand: one that is not may be a reference.
    fileprivate var goesWithOthers: Bool {
        fields.values.contains { state in
            switch state {
            case .plain(let value): value.goesWithOthers
            case .omitted: true
            case .encrypted, .asset: false
            }
        }
    }

    fileprivate var plainValues: [Value] {
        fields.values.compactMap { if case .plain(let value) = $0 { value } else { nil } }
    }
}
