import SealStatements
import SealWire

/// No record becomes its own ancestor: it could not be deleted, and nobody could say where it belongs.
extension SaveReferences {
    private static let ownAncestor = ServerError(
        .referenceViolation, "The record would be its own ancestor: its parent is below it.",
        remedy: "Choose a parent that is not below the record, or give that one another parent first.")

    /// Which of the accepted items would close a cycle, through whatever scopes, or are too deep for finding that out.
    ///
    /// A cycle has a record of the request with another parent than it had, which records are below already; or it is
    /// made of new ones alone. Nearly every request has no such record, and costs no statement here.
    /// - Parameter saved: the parents of the accepted saves, by name.
    func cycles(_ outcomes: SaveOutcomes, _ saved: [String: String?]) throws -> [(index: Int, error: ServerError)] {
        let above = Set(saved.values.compactMap { $0 })
        guard !above.isEmpty else { return [] }
        var edges: [String: String] = [:]
        var moved: Set<String> = []
        var climbed: Set<String> = []
        var refused: [(index: Int, error: ServerError)] = []
        for (index, record) in outcomes.accepted {
            guard let parent = saved[record.name] ?? nil else { continue }
            edges[record.name] = parent
            guard record.former?.parent != parent else { continue }
            moved.insert(record.name)
            guard record.former != nil, try above.contains(record.name) || parents.hasChild(record.name) else {
                continue
            }
            do { try climb(from: parent, saved, &climbed, &edges) } catch let error as ServerError {
                refused.append((index, error))
            }
        }
        guard !climbed.isEmpty || !moved.isDisjoint(with: above) else { return refused }
        let closing = Set(ParentCycles.find(in: edges).joined()).intersection(moved)
        guard !closing.isEmpty else { return refused }
        for (index, name) in outcomes.names.enumerated() where closing.contains(name) {
            refused.append((index, Self.ownAncestor))
        }
        return refused
    }

    /// Adds what is above a record, up to where it was climbed before.
    private func climb(
        from name: String, _ saved: [String: String?], _ climbed: inout Set<String>, _ edges: inout [String: String]
    ) throws {
        var next = name
        while climbed.insert(next).inserted {
            let planned = saved[next]
            guard let parent = try planned == nil ? parents.climb(to: next)?.parent : planned ?? nil else { return }
            edges[next] = parent
            next = parent
        }
    }
}
