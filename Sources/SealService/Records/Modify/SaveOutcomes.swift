import SealStatements
import SealWire

/// What becomes of each record of a request, in the request's order: what one stage of a save hands on to the next.
/// A stage takes it with records accepted, and gives it back with some of them refused; none is ever accepted again.
struct SaveOutcomes {
    enum Outcome {
        case accepted(AcceptedRecord)
        /// What the server has instead is read after the transaction: see `ServerRecords`.
        /// With the records that are to be deleted in the same request, where that is what is missing.
        case refused(ServerError, dependents: [String] = [])
    }

    let names: [String]
    private(set) var outcomes: [Outcome]

    /// - Parameter outcomes: one for each name.
    init(_ names: [String], _ outcomes: [Outcome]) { (self.names, self.outcomes) = (names, outcomes) }

    subscript(index: Int) -> Outcome { outcomes[index] }

    /// Those that are accepted at this moment: what is refused meanwhile still comes.
    var accepted: some Sequence<(index: Int, record: AcceptedRecord)> {
        outcomes.indices.lazy.compactMap { [outcomes] index in
            guard case .accepted(let record) = outcomes[index] else { return nil }
            return (index, record)
        }
    }

    var acceptedCount: Int { outcomes.count { if case .accepted = $0 { true } else { false } } }

    /// The record at a place; nil once it is refused.
    func accepted(at index: Int) -> AcceptedRecord? {
        guard case .accepted(let record) = outcomes[index] else { return nil }
        return record
    }

    var acceptedByName: [String: AcceptedRecord] {
        var records: [String: AcceptedRecord] = [:]
        for (_, record) in accepted { records[record.name] = record }
        return records
    }

    var hasRefused: Bool { outcomes.contains { if case .refused = $0 { true } else { false } } }

    /// The errors of those that are refused.
    var refusals: some Sequence<ServerError> {
        outcomes.lazy.compactMap { if case .refused(let error, _) = $0 { error } else { nil } }
    }

    mutating func refuse(_ index: Int, _ error: ServerError, dependents: [String] = []) {
        outcomes[index] = .refused(error, dependents: dependents)
    }

    /// Of an atomic request all records are written, or none.
    var allOrNone: SaveOutcomes {
        guard hasRefused else { return self }
        var none = self
        for (index, _) in accepted { none.refuse(index, Self.batchFailed) }
        return none
    }

    private static let batchFailed = ServerError(
        .batchRequestFailed, "Another record of this atomic request was refused; nothing was stored.",
        remedy: "Mend the other record, then send all again.")

    // MARK: Parents

    /// Whether any deletes or has a parent. What does neither leaves nobody without one, takes nothing along and closes
    /// no cycle.
    var concernParents: Bool {
        outcomes.contains { outcome in
            guard case .accepted(let record) = outcome else { return false }
            return record.isDeletion || record.statement.parent != nil
        }
    }

    /// The parents that saved records will have, and what is deleted.
    var planned: (parents: [String: String?], deleted: Set<String>) {
        var parents: [String: String?] = [:]
        var deleted: Set<String> = []
        for (_, record) in accepted {
            if record.isDeletion {
                deleted.insert(record.name)
            } else {
                parents.updateValue(record.statement.parent, forKey: record.name)
            }
        }
        return (parents, deleted)
    }
}
