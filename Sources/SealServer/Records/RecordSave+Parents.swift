import SealStatements
import SealWire

/// Parents: a child's must exist, and one with children stays. The order inside a request does not matter.
extension RecordSave {
    func checkParents(_ outcomes: inout [Outcome]) throws {
        // A record that is refused here can take the ground from under others: until nothing changes any more.
        var hasChanged = true
        while hasChanged {
            hasChanged = false
            let (saved, deleted) = names(outcomes)
            for (index, outcome) in outcomes.enumerated() {
                guard case .accepted(let accepted) = outcome,
                    let reason = try violation(accepted, name: batch.items[index].name, saved: saved, deleted: deleted)
                else { continue }
                let remedy = "Save the parent first or with it; delete children first or with their parent."
                outcomes[index] = .refused(ServerError(.referenceViolation, reason, remedy: remedy))
                hasChanged = true
            }
        }
    }

    private func names(_ outcomes: [Outcome]) -> (saved: [String: String?], deleted: Set<String>) {
        var saved: [String: String?] = [:]
        var deleted: Set<String> = []
        for (item, outcome) in zip(batch.items, outcomes) {
            guard case .accepted(let accepted) = outcome else { continue }
            if accepted.isDeletion {
                deleted.insert(item.name)
            } else {
                saved.updateValue(accepted.content.statement.parent, forKey: item.name)
            }
        }
        return (saved, deleted)
    }

    private func violation(
        _ accepted: Accepted, name: String, saved: [String: String?], deleted: Set<String>
    ) throws -> String? {
        if accepted.isDeletion { return try hasChild(name, saved: saved, deleted: deleted) ? "The record has children." : nil }
        guard let parent = accepted.content.statement.parent, saved[parent] == nil else { return nil }
        let exists = try !deleted.contains(parent) && connection.exists(
            "SELECT 1 FROM record WHERE owner = $1 AND zone = $2 AND name = $3 AND deleted = 0",
            zone.key + [.text(parent)])
        return exists ? nil : "The record's parent does not exist."
    }

    /// A live child that this request neither deletes nor moves elsewhere, or one that it adds.
    private func hasChild(_ name: String, saved: [String: String?], deleted: Set<String>) throws -> Bool {
        if saved.values.contains(name) { return true }
        var found = false
        try connection.run(
            "SELECT name FROM record WHERE owner = $1 AND zone = $2 AND parent = $3 AND deleted = 0",
            zone.key + [.text(name)]
        ) { row in
            let child = try row.text(0)
            found = !deleted.contains(child) && saved[child] == nil
            return !found
        }
        return found
    }
}
