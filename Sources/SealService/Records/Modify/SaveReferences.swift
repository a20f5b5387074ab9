import SealPrimitives
import SealStatements
import SealStorage
import SealWire

/// The third stage: parents, and references that take their records along. The order inside a request does not matter.
///
/// It refuses children whose parent does not exist, deletions that would leave children, and records that would be
/// their own ancestors (`referenceViolation`, `limitExceeded` where that takes too long to find out); deletions that do
/// not cover exactly what goes with them (`deletionIncomplete`, `referenceViolation` for records in other scopes), with
/// the saves that are to wait for them (`batchRequestFailed`); and references beyond their number (`limitExceeded`).
struct SaveReferences {
    let zone: ZoneRow
    let caller: Caller
    let rosters: RosterCache
    /// In the public database nothing that a reader could check says that the deleter might have deleted the source
    /// too: references dangle there, and no deletion covers anything.
    let isPublic: Bool
    /// Nothing of an atomic request is written where any of it is refused: what else would be, need not be found out.
    let isAtomic: Bool
    let parents: StoredParents
    let connection: any SQLConnection

    /// What is left after this stage: records that may be written, with what goes with their deletions.
    struct Judged {
        var outcomes: SaveOutcomes
        var cascade: Cascade
    }

    func run(_ placed: SaveOutcomes) throws -> Judged {
        // What neither deletes nor has a parent leaves nobody without one, takes nothing along and closes no cycle.
        guard placed.concernParents else { return Judged(outcomes: placed, cascade: Cascade()) }
        var references = ReferenceReader(zone: zone, connection)
        var judged = Judged(outcomes: placed, cascade: Cascade())
        var round = 0
        while true {
            judged = try withParents(judged.outcomes, &references)
            round += 1
            // A deletion that is refused here stays, and may have to go with another; nothing of an atomic request is
            // written.
            guard refuseIncomplete(&judged, all: round > Self.mostRounds), !isAtomic else { return judged }
        }
    }

    /// To parents and children what goes with a deletion is deleted too.
    private func withParents(_ outcomes: SaveOutcomes, _ references: inout ReferenceReader) throws -> Judged {
        var judged = try withCascade(outcomes, &references)
        // A record that is refused here can take the ground from under others: until nothing changes any more.
        var hasChanged = true
        var round = 0
        while hasChanged {
            hasChanged = false
            round += 1
            let outcomes = judged.outcomes
            let cascade = judged.cascade
            var (saved, deleted) = outcomes.planned
            deleted.formUnion(cascade.names)
            for (index, error) in try cycles(outcomes, saved) {
                judged.outcomes.refuse(index, error)
                hasChanged = true
            }
            for (index, record) in judged.outcomes.accepted {
                guard let error = try violation(record, saved: saved, deleted: deleted) else { continue }
                judged.outcomes.refuse(index, error)
                hasChanged = true
            }
            for (name, roots) in cascade.takers where try hasChild(name, saved: saved, deleted: deleted) {
                for root in roots where judged.outcomes.accepted(at: root) != nil {
                    judged.outcomes.refuse(
                        root, Self.violation("A record that would be deleted with this one has children."))
                    hasChanged = true
                }
            }
            guard hasChanged, !cascade.taken.isEmpty else { continue }
            // What goes with what is found again; not for ever, whatever the request is made of.
            if round >= Self.mostRounds {
                for root in Set(cascade.takers.values.joined()) {
                    judged.outcomes.refuse(
                        root, Self.violation("Too much of this request depends on what was refused."))
                }
            }
            judged = try withCascade(judged.outcomes, &references)
        }
        return judged
    }

    private static let mostRounds = 8

    private static func violation(_ reason: String) -> ServerError {
        ServerError(
            .referenceViolation, reason,
            remedy: "Save the parent first or with it; delete children first or with their parent.")
    }

    private func violation(
        _ record: AcceptedRecord, saved: [String: String?], deleted: Set<String>
    ) throws -> ServerError? {
        if record.isDeletion {
            return try hasChild(record.name, saved: saved, deleted: deleted)
                ? Self.violation("The record has children.") : nil
        }
        guard let parent = record.statement.parent, saved[parent] == nil else { return nil }
        let exists = try !deleted.contains(parent) && parents.place(of: parent) != nil
        return exists ? nil : Self.violation("The record's parent does not exist.")
    }

    /// A live child that this request neither deletes nor moves elsewhere, or one that it adds.
    private func hasChild(_ name: String, saved: [String: String?], deleted: Set<String>) throws -> Bool {
        if saved.values.contains(name) { return true }
        return try parents.hasChild(name) { !deleted.contains($0) && saved[$0] == nil }
    }
}
