public import SealStatements

/// Records of other scopes that go with a deletion: nobody infers that, so their deletions are signed with it.
///
/// The server finds such records; that each refers with `deleteSelf` to one that is deleted here, the writer reads off
/// their verified values. Nothing else is ever deleted because a server names it.
public struct WriteDependents {
    private var deleted: Set<String>
    private var left: [(recordName: String, values: [Value])] = []

    /// - Parameter deleted: the records that the batch deletes.
    public init(deleting deleted: [String]) { self.deleted = Set(deleted) }

    /// A record that the server has named.
    /// - Parameter values: its plain fields', verified.
    public mutating func add(_ recordName: String, _ values: [Value]) { left.append((recordName, values)) }

    /// The names of those that go, each after one that it refers to.
    public func going() -> [String] {
        var deleted = deleted
        var going: [String] = []
        var hasGrown = true
        while hasGrown {
            hasGrown = false
            for record in left where !deleted.contains(record.recordName) {
                guard record.values.contains(where: { $0.goes(with: deleted) }) else { continue }
                deleted.insert(record.recordName)
                going.append(record.recordName)
                hasGrown = true
            }
        }
        return going
    }
}
