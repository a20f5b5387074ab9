import SealStatements
import SealStorage
import SealWire

/// How many roots of open shares are below each record of a zone that has any there: whoever shares a record is told by
/// one look whether something below it is shared already, whatever the zone holds.
///
/// A root counts as one to what is above it, and ends the way up: what is below it is its own share's matter.
struct RootsBelow {
    private let zone: ZoneRow
    private let connection: any SQLConnection
    /// The records whose way up changes: roots of shares that begin or end, and what gets another parent.
    private var changing: Set<String> = []

    init(in zone: ZoneRow, _ connection: any SQLConnection) { (self.zone, self.connection) = (zone, connection) }

    func count(of name: String) throws -> Int64 {
        try connection.first(
            "SELECT roots FROM roots_below WHERE owner = $1 AND zone = $2 AND name = $3", zone.key + [.text(name)]
        ) { try $0.int64("roots") } ?? 0
    }

    /// Whether a live record is the root of an open share, or has one below it.
    func holdsRoot(_ name: String) throws -> Bool { try node(name)?.isRoot == true || count(of: name) > 0 }

    /// Before anything is written: takes what these records count for away from what is above them.
    mutating func detach(_ records: Set<String>) throws {
        changing = records
        var pending: [String: Int64] = [:]
        for name in records {
            guard let node = try node(name), let parent = node.parent else { continue }
            let weight = try node.isRoot ? 1 : count(of: name)
            if weight > 0 { pending[parent, default: 0] -= weight }
        }
        // What is taken from one of these, it does not pass on: all that it counted for is taken from above it already.
        try spread(pending) { $1.isRoot || records.contains($0) }
    }

    /// After everything is written: gives it to what is above them now.
    func attach() throws {
        var pending: [String: Int64] = [:]
        for name in changing {
            guard let node = try node(name), let parent = node.parent else { continue }
            let weight = try node.isRoot ? 1 : count(of: name)
            if weight > 0 { pending[parent, default: 0] += weight }
        }
        try spread(pending) { $1.isRoot }
    }

    private struct Node {
        let parent: String?
        let isRoot: Bool
    }

    /// A live record; nil for one that there is not.
    private func node(_ name: String) throws -> Node? {
        try connection.first(
            """
            SELECT r.parent, EXISTS (SELECT 1 FROM share s WHERE s.owner = r.owner AND s.zone = r.zone AND s.root = r.name AND s.closed = 0) AS is_root
            FROM record r WHERE r.owner = $1 AND r.zone = $2 AND r.name = $3 AND r.deleted = 0
            """, zone.key + [.text(name)]
        ) { Node(parent: try $0.optionalText("parent"), isRoot: try $0.bool("is_root")) }
    }

    /// Adds numbers to records and to what is above them, each of these once, whatever comes from below.
    /// - Parameter ends: which records pass nothing on.
    /// - Throws: `limitExceeded`.
    private func spread(_ start: [String: Int64], where ends: (String, Node) -> Bool) throws {
        var pending = start
        var seen: Set<String> = []
        var paths: [[(name: String, next: String?)]] = []
        for name in start.keys {
            var path: [(name: String, next: String?)] = []
            var next: String? = name
            while let current = next, seen.insert(current).inserted {
                guard seen.count <= StoredParents.mostClimbed else { throw StoredParents.tooDeep }
                guard let node = try node(current) else { break }
                next = ends(current, node) ? nil : node.parent
                path.append((current, next))
            }
            paths.append(path)
        }
        // A way ends where an earlier one came by: the later ones have passed everything on to it before it is their
        // turn.
        for (name, next) in paths.reversed().joined() {
            guard let amount = pending[name], amount != 0 else { continue }
            if let next { pending[next, default: 0] += amount }
            try add(amount, to: name)
        }
    }

    private func add(_ amount: Int64, to name: String) throws {
        try connection.execute(
            """
            INSERT INTO roots_below (owner, zone, name, roots) VALUES ($1, $2, $3, $4)
            ON CONFLICT (owner, zone, name) DO UPDATE SET roots = roots_below.roots + excluded.roots
            """, zone.key + [.text(name), .integer(amount)])
        guard amount < 0 else { return }
        try connection.execute(
            "DELETE FROM roots_below WHERE owner = $1 AND zone = $2 AND name = $3 AND roots <= 0",
            zone.key + [.text(name)])
    }
}
