/// Records that are their own ancestors (PROTOCOL.md, "Placement"): a server takes no save that makes one, so that
/// among records of one answer, which are of one moment, there is none.
public enum ParentCycles {
    /// - Parameter parents: the parent of each record that has one, by its name. A root's own parent counts here as any
    ///   other: it counts for its place again once the root's share has ended.
    /// - Returns: the names of each cycle, from the one that is first by its bytes on to its parent and so on; the
    ///   cycles in the order of their first names. Every record is visited once.
    public static func find(in parents: [String: String]) -> [[String]] {
        var visited: Set<String> = []
        var cycles: [[String]] = []
        for start in parents.keys {
            var path: [String] = []
            var next = start
            while visited.insert(next).inserted {
                path.append(next)
                guard let parent = parents[next] else { break }
                next = parent
            }
            // What was visited before this path began leads to no new one.
            guard parents[next] != nil, let first = path.firstIndex(of: next) else { continue }
            let cycle = path[first...]
            guard let least = cycle.indices.min(by: { FieldSet.isOrdered(cycle[$0], cycle[$1]) }) else { continue }
            cycles.append(Array(cycle[least...] + cycle[..<least]))
        }
        return cycles.sorted { FieldSet.isOrdered($0[0], $1[0]) }
    }
}
