import SealStatements
import SealWire

/// Records of other scopes that go with a deletion: nobody infers that, so their deletions are signed with it.
extension ZoneBatch {
    /// What goes to be sent beside deletions that the server has refused without it.
    ///
    /// The server finds such records; that each refers with `deleteSelf` to one that is deleted here, this device reads
    /// off their verified values. Nothing else is ever deleted because a server names it.
    /// - Parameter refused: the deletions, with the names that the server gave, and why it refused.
    /// - Returns: the deletions that go again, and what was added to the batch.
    mutating func completing(
        _ refused: [(item: Item, names: [String], error: SealKitError)], beside items: [Item]
    ) async throws(SealKitError) -> (again: [Item], added: [Item]) {
        let known = Set(items.map(\.id.recordName))
        let wanted = Set(refused.flatMap(\.names)).subtracting(known)
        var added: [Item] = []
        if !wanted.isEmpty {
            var deleted = Set(
                items.compactMap { item -> String? in
                    if case .delete(let id, _, _, _) = item { id.recordName } else { nil }
                })
            var left: [Record] = []
            let ids = wanted.sorted().map { Record.ID(recordName: $0, zoneID: zoneID) }
            for (_, outcome) in try await database.look(up: ids, desiredKeys: nil) {
                if case .success(let found) = outcome, let record = found.present { left.append(record) }
            }
            var hasGrown = true
            while hasGrown {
                hasGrown = false
                for record in left where !deleted.contains(record.recordID.recordName) && record.refers(to: deleted) {
                    guard let base = record.base else { continue }
                    deleted.insert(record.recordID.recordName)
                    implied.insert(record.recordID)
                    added.append(
                        .delete(
                            record.recordID, base, recordType: record.recordType,
                            changeTag: record.recordChangeTag ?? ""))
                    hasGrown = true
                }
            }
        }
        guard !added.isEmpty else {
            for one in refused { fail(one.item, one.error) }
            return ([], [])
        }
        return (refused.map(\.item), added)
    }

    /// Where each item stands for itself, a deletion that takes records of other scopes along waits until the others
    /// are done, and goes with those in a batch of its own: they go only if it does.
    /// - Parameters:
    ///   - id: of a record that the app deletes.
    ///   - names: what goes along, as the server says.
    /// - Returns: false where all of that has items in this batch, and in the default zone, where nothing is shared.
    mutating func goesAfterTheOthers(_ id: Record.ID, _ names: [String], beside items: [Item]) -> Bool {
        guard !isAtomic, zoneID.zoneName != RecordZone.defaultName, sharing.isEmpty,
            !Set(names).isSubset(of: items.map(\.id.recordName))
        else { return false }
        if !waitingDeletions.contains(id) { waitingDeletions.append(id) }
        return true
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

    /// All of them at once, and where that fails each by itself, which tells why.
    mutating func deleteWaiting() async {
        if waitingDeletions.count > 1, let together = try? await deleted(waitingDeletions),
            together.values.allSatisfy(\.isSuccess)
        {
            deleteResults.merge(together) { $1 }
            return
        }
        for id in waitingDeletions {
            do {
                deleteResults.merge(try await deleted([id])) { $1 }
            } catch {
                deleteResults[id] = .failure(error)
            }
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

    /// Whether it goes with one of these.
    fileprivate func refers(to names: Set<String>) -> Bool {
        fields.values.contains { state in
            guard case .plain(let value) = state else { return false }
            return value.goes(with: names)
        }
    }
}
