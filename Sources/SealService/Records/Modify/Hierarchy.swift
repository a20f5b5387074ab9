import SealPrimitives
import SealStatements
import SealStorage

/// Parents and children of a zone as they will be after a save.
struct Hierarchy {
    let zone: ZoneRow
    /// What the save changes.
    var saved: [String: AcceptedRecord]
    let stored: StoredParents
    let connection: any SQLConnection

    /// Where a record is; nil for one that there is not.
    func share(of name: String) throws -> Int64? { try place(name)?.share }

    private func place(_ name: String, climbing: Bool = false) throws -> StoredParents.Place? {
        if let record = saved[name] {
            return record.isDeletion ? nil : .init(parent: record.statement.parent, share: record.scopeNumber)
        }
        return try climbing ? stored.climb(to: name) : stored.place(of: name)
    }

    /// Which of the new shares' roots are shared already, or have something above or below them that is.
    ///
    /// No way up goes above a root, and all ways together come by each record once.
    /// - Throws: `limitExceeded` where there is too much above them.
    func overlaps(_ new: [ZoneShare]) throws -> Set<String> {
        let roots = Set(new.map(\.root))
        let below = RootsBelow(in: zone, connection)
        var found: Set<String> = []
        var open: [Int64: Bool] = [0: false]
        // What there is to say of records that some way has come by: whether they are shared, or something above them.
        var known: [String: Bool] = [:]
        for root in roots {
            var path: [String] = []
            var seen: Set<String> = [root]
            var isShared = try isOpen(stored.place(of: root)?.share ?? 0, &open) || below.count(of: root) > 0
            var next = try place(root)?.parent
            while !isShared, let current = next, seen.insert(current).inserted {
                if let answer = known[current] {
                    isShared = answer
                    break
                }
                let place = try place(current, climbing: true)
                isShared = try roots.contains(current) || isOpen(place?.share ?? 0, &open)
                path.append(current)
                next = place?.parent
            }
            for name in path { known[name] = isShared }
            if isShared { found.insert(root) }
        }
        return try found.union(comingBelow(roots, below))
    }

    /// Which of the new shares' roots get something below them with this save that is shared already, or has something
    /// below it that is: what is stored does not show that yet.
    private func comingBelow(_ roots: Set<String>, _ below: RootsBelow) throws -> Set<String> {
        guard !roots.isEmpty else { return [] }
        var found: Set<String> = []
        var seen: Set<String> = []
        for (name, record) in saved {
            guard !record.isDeletion, let parent = record.statement.parent, let before = try stored.place(of: name),
                before.parent != parent, try below.holdsRoot(name)
            else { continue }
            var next: String? = parent
            while let current = next, seen.insert(current).inserted {
                guard !roots.contains(current) else {
                    found.insert(current)
                    break
                }
                next = try place(current, climbing: true)?.parent
            }
        }
        return found
    }

    private func isOpen(_ share: Int64, _ open: inout [Int64: Bool]) throws -> Bool {
        if let known = open[share] { return known }
        let isOpen = try connection.exists(
            "SELECT 1 FROM share WHERE owner = $1 AND zone = $2 AND share = $3 AND closed = 0",
            zone.key + [.integer(share)])
        open[share] = isOpen
        return isOpen
    }
}
