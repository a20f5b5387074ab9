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
        let before = try connection.first(
            "SELECT share FROM record WHERE owner = $1 AND zone = $2 AND name = $3 AND deleted = 0",
            zone.key + [.text(share.root)]
        ) { try $0.int64(0) }
        if let before, try isOpen(before) { return true }
        for name in [share.root] + (try ancestors(of: share.root)) {
            if try isRoot(name) { return true }
            // The root itself is on its way into the new share.
            if name != share.root, let place = try self.share(of: name), try isOpen(place) { return true }
        }
        // Few roots have a parent: only such ones may be below.
        let others = try connection.rows(
            """
            SELECT s.root FROM share s JOIN record r ON r.owner = s.owner AND r.zone = s.zone AND r.name = s.root
            WHERE s.owner = $1 AND s.zone = $2 AND s.closed = 0 AND r.parent IS NOT NULL AND r.deleted = 0
            """, zone.key
        ) { try $0.text(0) }
        for root in others where try ancestors(of: root).contains(share.root) { return true }
        return false
    }

    private func isRoot(_ name: String) throws -> Bool {
        try connection.exists(
            "SELECT 1 FROM share WHERE owner = $1 AND zone = $2 AND root = $3 AND closed = 0", zone.key + [.text(name)])
    }

    private func isOpen(_ share: Int64) throws -> Bool {
        guard share > 0 else { return false }
        return try connection.exists(
            "SELECT 1 FROM share WHERE owner = $1 AND zone = $2 AND share = $3 AND closed = 0", zone.key + [.integer(share)])
    }
}
