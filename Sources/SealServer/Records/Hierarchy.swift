import SealPrimitives
import SealStatements

/// Parents and children of a zone as they will be after a save.
struct Hierarchy {
    let zone: ZoneRow
    /// What the save changes.
    let saved: [String: Statement]
    let batch: RecordBatch
    let connection: any SQLConnection

    private struct Place {
        let parent: String?
        let share: Int64
    }

    /// Where a record is; nil for one that there is not.
    func share(of name: String) throws -> Int64? { try place(name)?.share }

    private func place(_ name: String) throws -> Place? {
        if let statement = saved[name] {
            guard statement.kind == .save else { return nil }
            return Place(parent: statement.parent, share: batch.judge.share(of: statement)?.number ?? 0)
        }
        return try connection.first(
            "SELECT parent, share FROM record WHERE owner = $1 AND zone = $2 AND name = $3 AND deleted = 0",
            zone.key + [.text(name)]
        ) { Place(parent: try $0.optionalText(0), share: try $0.int64(1)) }
    }

    /// Everything above a record, nearest first. Parents may form a circle: it ends where it began.
    private func ancestors(of name: String) throws -> [String] {
        var found: [String] = []
        var seen: Set<String> = [name]
        var next = try place(name)?.parent
        while let current = next, seen.insert(current).inserted {
            found.append(current)
            next = try place(current)?.parent
        }
        return found
    }

    /// Whether the root of a new share, something above it or something below it is shared already.
    func overlaps(_ share: ZoneShare) throws -> Bool {
        let open = try Shares.open(in: zone, connection)
        guard !open.isEmpty else { return false }
        let roots = Set(open.compactMap { $0.share?.root })
        let numbers = Set(open.compactMap { $0.share?.number })
        let above = [share.root] + (try ancestors(of: share.root))
        for name in above {
            if roots.contains(name) { return true }
            // The root itself is on its way into the new share.
            if name != share.root, let place = try self.share(of: name), numbers.contains(place) { return true }
        }
        let before = try connection.first(
            "SELECT share FROM record WHERE owner = $1 AND zone = $2 AND name = $3 AND deleted = 0",
            zone.key + [.text(share.root)]
        ) { try $0.int64(0) }
        if let before, numbers.contains(before) { return true }
        for root in roots where try ancestors(of: root).contains(share.root) { return true }
        return false
    }
}
