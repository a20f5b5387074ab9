import SealClient
import SealPrimitives
import SealStatements

/// What an answer's records say of each other, beyond each by itself.
extension Database {
    static func heldBack(_ name: String) -> SealKitError {
        SealKitError(
            .unknownItem, "record \(name) is not in the shared hierarchy",
            remedy: "its owner's devices move it; fetch changes later")
    }

    /// As `ParentPlaces`, which is asked of participants of shares alone.
    /// - Returns: the same outcomes, with `unknownItem` for what is out of place.
    func holdingBack(
        _ outcomes: [Outcome], in ground: ZoneGround, _ zoneID: RecordZone.ID
    ) async throws(SealKitError) -> [Outcome] {
        var parents = ParentPlaces()
        for case .success(let found) in outcomes {
            if let statement = found.present?.base?.statement { parents.add(statement) }
            if case .deletion(let name, _, _) = found { parents.addGone(name) }
        }
        if parents.hasParentsElsewhere {
            let missing: Set<String>
            (parents, missing) = try await core.trust.settled(parents, in: ground.place)
            let ids = missing.map { Record.ID(recordName: $0, zoneID: zoneID) }
            for case (let id, .success(let parent)) in try await look(up: ids, desiredKeys: [], checksPlacement: false)
            {
                parents.found(id.recordName, parent.present?.base?.statement)
            }
        }
        return outcomes.map { outcome in
            guard case .success(let found) = outcome, let statement = found.present?.base?.statement,
                parents.isHeldBack(statement, in: ground)
            else { return outcome }
            return .failure(Database.heldBack(statement.recordName))
        }
    }

    /// Keeps for the user to see that an answer shows records that are their own ancestors.
    func noteCycles(in outcomes: [Outcome], _ zoneID: RecordZone.ID) async {
        var parents = AnswerParents()
        for case .success(let found) in outcomes {
            if let statement = found.present?.base?.statement { parents.add(statement) }
        }
        for cycle in parents.cycles() {
            let names = cycle.prefix(3).joined(separator: ", ")
            let error = SealKitError(
                .integrityFailure, "the server shows \(cycle.count) records that are their own ancestors: \(names)",
                remedy: "give one of them another parent, or delete them together")
            _ = await core.noted(error, zone: zoneID, record: cycle[0])
        }
    }
}
