import SealClient
import SealPrimitives
import SealStatements

/// What a participant is shown of a share: its root, its own record, and what has a parent there. Whatever else was
/// signed for the share is held back, without being an error: its owner's devices move it, or somebody put it where
/// nobody looks.
extension Database {
    static func heldBack(_ name: String) -> SealKitError {
        SealKitError(
            .unknownItem, "record \(name) is not in the shared hierarchy",
            remedy: "its owner's devices move it; fetch changes later")
    }

    /// - Returns: the same outcomes, with `unknownItem` for what is out of place.
    func holdingBack(
        _ outcomes: [Outcome], in ground: ZoneGround, _ zoneID: RecordZone.ID
    ) async throws(SealKitError) -> [Outcome] {
        var places: [String: SealStatements.Statement.FormerScope] = [:]
        for case .success(let found) in outcomes {
            if let record = found.present { places[record.recordID.recordName] = record.base?.statement.place }
        }
        var gone: Set<String> = []
        for case .success(.deletion(let name, _, _)) in outcomes { gone.insert(name) }
        var missing: Set<Record.ID> = []
        for outcome in outcomes {
            guard let (parent, place) = outcome.parent(outside: places), !gone.contains(parent) else { continue }
            // What was seen before may have moved since: only that it is where its child is needs no further look.
            if try await core.trust.lastPlace(of: parent, in: ground.place) == place {
                places[parent] = place
            } else {
                missing.insert(Record.ID(recordName: parent, zoneID: zoneID))
            }
        }
        if !missing.isEmpty {
            for case (let id, .success(let parent)) in try await look(
                up: Array(missing), desiredKeys: [], checksPlacement: false)
            { places[id.recordName] = parent.present?.base?.statement.place }
        }
        return outcomes.map { outcome in
            guard case .success(let found) = outcome, let statement = found.present?.base?.statement,
                let roster = ground.view(of: statement)?.roster,
                !roster.isInPlace(statement, parentPlace: statement.parent.flatMap { places[$0] })
            else { return outcome }
            return .failure(Database.heldBack(statement.recordName))
        }
    }
}

extension Database {
    /// Keeps for the user to see that an answer, which is of one moment, shows records that are their own ancestors: no
    /// server takes what makes them that. They are good in themselves, and are given out: whoever may write deletes
    /// them together, or gives one another parent.
    func noteCycles(in outcomes: [Outcome], _ zoneID: RecordZone.ID) async {
        var parents: [String: String] = [:]
        for case .success(let found) in outcomes {
            if let statement = found.present?.base?.statement, let parent = statement.parent {
                parents[statement.recordName] = parent
            }
        }
        // Most are trees of one level: nothing that is a parent there has one.
        guard parents.values.contains(where: { parents[$0] != nil }) else { return }
        for cycle in ParentCycles.find(in: parents) {
            let names = cycle.prefix(3).joined(separator: ", ")
            let error = SealKitError(
                .integrityFailure, "the server shows \(cycle.count) records that are their own ancestors: \(names)",
                remedy: "give one of them another parent, or delete them together")
            _ = await core.noted(error, zone: zoneID, record: cycle[0])
        }
    }
}

extension Result where Success == RecordReader.Outcome, Failure == SealKitError {
    /// The parent that its place depends on, where that is not among `known`, and the place.
    fileprivate func parent(
        outside known: [String: SealStatements.Statement.FormerScope]
    ) -> (name: String, place: SealStatements.Statement.FormerScope)? {
        guard case .success(let found) = self, let statement = found.present?.base?.statement,
            let parent = statement.parent,
            known[parent] == nil
        else { return nil }
        return (parent, statement.place)
    }
}

extension Roster {
    /// `Placement`, by what is known of the parent: where its newest verified statement has it.
    fileprivate func isInPlace(
        _ statement: SealStatements.Statement, parentPlace: SealStatements.Statement.FormerScope?
    ) -> Bool {
        if statement.recordName == rootRecordName { return statement.share == scope.shareRecordName }
        if statement.recordName == scope.shareRecordName { return statement.recordType == Names.shareType }
        return statement.parent != nil && parentPlace == statement.place
    }
}
