import SealStatements
import SealStorage
import SealWire

/// Parents: a child's must exist and not be below it, and one with children stays. The order inside a request does not
/// matter.
extension RecordSave {
    /// Refuses what would leave a child without its parent, and deletions that do not cover what goes with them.
    /// - Returns: what goes with the deletions that were accepted.
    func checkReferences(_ outcomes: inout [Outcome], _ stored: StoredParents) throws -> Cascade {
        // What neither deletes nor has a parent leaves nobody without one, takes nothing along and closes no cycle.
        guard Self.concernParents(outcomes) else { return Cascade() }
        var references = ReferenceReader(zone: zone, connection)
        var round = 0
        while true {
            let cascade = try checkParents(&outcomes, stored, &references)
            round += 1
            // A deletion that is refused here stays, and may have to go with another; nothing of an atomic request is
            // written.
            guard refuseIncomplete(&outcomes, cascade, all: round > Self.cascadeRounds), !isAtomic else {
                return cascade
            }
        }
    }

    /// - Returns: what goes with the deletions that were accepted: to parents and children it is deleted too.
    private func checkParents(
        _ outcomes: inout [Outcome], _ stored: StoredParents, _ references: inout ReferenceReader
    ) throws -> Cascade {
        var cascade = try cascade(&outcomes, &references)
        // A record that is refused here can take the ground from under others: until nothing changes any more.
        var hasChanged = true
        var round = 0
        while hasChanged {
            hasChanged = false
            round += 1
            var (saved, deleted) = names(outcomes)
            deleted.formUnion(cascade.names)
            for (index, error) in try cycles(outcomes, saved, stored) {
                outcomes[index] = .refused(error)
                hasChanged = true
            }
            for (index, outcome) in outcomes.enumerated() {
                guard case .accepted(let accepted) = outcome,
                    let reason = try violation(
                        accepted, name: batch.items[index].name, saved: saved, deleted: deleted, stored)
                else { continue }
                outcomes[index] = Self.violation(reason)
                hasChanged = true
            }
            for (name, roots) in cascade.takers where try hasChild(name, saved: saved, deleted: deleted, stored) {
                for root in roots {
                    guard case .accepted = outcomes[root] else { continue }
                    outcomes[root] = Self.violation("A record that would be deleted with this one has children.")
                    hasChanged = true
                }
            }
            guard hasChanged, !cascade.taken.isEmpty else { continue }
            // What goes with what is found again; not for ever, whatever the request is made of.
            if round >= Self.cascadeRounds {
                for root in Set(cascade.takers.values.joined()) {
                    outcomes[root] = Self.violation("Too much of this request depends on what was refused.")
                }
            }
            cascade = try self.cascade(&outcomes, &references)
        }
        return cascade
    }

    private static let cascadeRounds = 8

    private static func violation(_ reason: String) -> Outcome {
        let remedy = "Save the parent first or with it; delete children first or with their parent."
        return .refused(ServerError(.referenceViolation, reason, remedy: remedy))
    }

    /// Parents that the request does not save: a child's save gives them a new change tag, as in CloudKit. Their place
    /// in the feed stays that of their statement.
    func parentsToTag(_ outcomes: [Outcome]) -> [String] {
        guard Self.concernParents(outcomes) else { return [] }
        let saved = names(outcomes).saved
        return Set(saved.values.compactMap { $0 }).subtracting(saved.keys).sorted()
    }

    private static func concernParents(_ outcomes: [Outcome]) -> Bool {
        outcomes.contains { outcome in
            guard case .accepted(let accepted) = outcome else { return false }
            return accepted.isDeletion || accepted.content.statement.parent != nil
        }
    }

    package func tag(_ parents: [String], from first: Int64) throws {
        for (offset, parent) in parents.enumerated() {
            try connection.execute(
                "UPDATE record SET tag = $4 WHERE owner = $1 AND zone = $2 AND name = $3 AND deleted = 0",
                zone.key + [.text(parent), .integer(first + Int64(offset))])
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
        _ accepted: Accepted, name: String, saved: [String: String?], deleted: Set<String>, _ stored: StoredParents
    ) throws -> String? {
        if accepted.isDeletion {
            return try hasChild(name, saved: saved, deleted: deleted, stored) ? "The record has children." : nil
        }
        guard let parent = accepted.content.statement.parent, saved[parent] == nil else { return nil }
        let exists = try !deleted.contains(parent) && stored.place(of: parent) != nil
        return exists ? nil : "The record's parent does not exist."
    }

    /// A live child that this request neither deletes nor moves elsewhere, or one that it adds.
    private func hasChild(
        _ name: String, saved: [String: String?], deleted: Set<String>, _ stored: StoredParents
    ) throws -> Bool {
        if saved.values.contains(name) { return true }
        return try stored.hasChild(name) { !deleted.contains($0) && saved[$0] == nil }
    }
}
