import SealClient
import SealEnvelope
import SealPrimitives
import SealStatements

/// Deletions that are the end of a share, or of taking part in one.
extension ZoneBatch {
    /// Deleting a share's record or its root ends the share: for the owner the share itself, for participants theirs in
    /// it.
    /// - Returns: what is to be sent: with a share's record goes the root's mark, with a root the share's record.
    mutating func endingShares(_ items: [Item], _ ground: inout ZoneGround) async throws(SealKitError) -> [Item] {
        var result: [Item] = []
        for item in items {
            guard case .delete(let id, let base, _, _) = item,
                let view = try await database.view(of: base.statement.scopeID, in: &ground), !view.roster.isClosed,
                view.scope.shareRecordName == id.recordName || view.roster.rootRecordName == id.recordName
                    || base.statement.isShareRecord
            else {
                result.append(item)
                continue
            }
            if database.scope == .shared {
                leaving[id] = view.scope
            } else if let root = view.roster.rootRecordName {
                result.append(item)
                guard !sharing.closes(view.scope.shareRecordName) else { continue }
                try await end(view, root: root, beside: items, &result, ground)
            } else {
                result.append(item)
            }
        }
        return result
    }

    /// What cannot be taken back comes last, and in an atomic batch only where all else has succeeded.
    mutating func leaveShares() async {
        // Taken before the loop: one that cannot be left does not keep the others from being left.
        let isFaulty = hasFailed
        for (id, scope) in leaving {
            guard !isAtomic || !isFaulty else {
                deleteResults[id] = .failure(ZoneBatch.batchFailed)
                continue
            }
            do throws(SealKitError) {
                try await database.leave(scope)
                deleteResults[id] = .success(())
            } catch {
                deleteResults[id] = .failure(error)
            }
        }
    }

    private mutating func end(
        _ view: ZoneView, root: String, beside items: [Item], _ result: inout [Item], _ ground: ZoneGround
    ) async throws(SealKitError) {
        let names = Set(items.map(\.id.recordName))
        let share = view.scope.shareRecordName
        let missing = [share, root].filter { !names.contains($0) }.map { Record.ID(recordName: $0, zoneID: zoneID) }
        var isRootKept = false
        for (id, outcome) in try await database.look(up: missing, desiredKeys: nil) {
            switch outcome {
            case .success(.record(var record)) where id.recordName == root:
                isRootKept = true
                record.share = nil
                result.append(.save(record))
            case .success(.unopened(let there)) where id.recordName == root:
                // It stays, and would get a key of its own: that nothing but its plain fields is left of it is for its
                // user to say.
                throw there.error
            case .success(let found):
                guard let record = found.present, let base = record.base else { continue }
                result.append(.delete(id, base, recordType: record.recordType, changeTag: record.recordChangeTag ?? ""))
            case .failure(let error) where error.code == .unknownItem: continue
            case .failure(let error): throw error
            }
        }
        sharing.close(view, movingRoot: isRootKept ? root : nil, database, ground)
    }
}

extension Database {
    /// Leaves one scope: it disappears from the shared database, and the next member who writes opens a new key.
    /// - Returns: false where its roster shows this account out of it already, or its end.
    @discardableResult
    func leave(_ scope: SealStatements.Scope) async throws(SealKitError) -> Bool {
        let keeper = core.keeper(of: scope)
        return try await whileRosterMoves { _ throws(SealKitError) in
            let view = try await keeper.refresh()
            guard view.isMember else { return false }
            let draft = core.author(on: view.roster).plain(.leave, on: view.roster, time: currentTime())
            try await append(draft, view: view)
            _ = try await keeper.adopt(draft)
            return true
        }
    }
}
