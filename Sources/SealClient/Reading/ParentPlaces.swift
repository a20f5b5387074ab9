public import SealStatements

/// Which records of an answer a participant of shares is shown: a share's root, its own record, and what has a parent
/// there (R-PLACE-3, R-PLACE-4). Whatever else was signed for the share is held back, without being an error: its
/// owner's devices move it, or somebody put it where nobody looks.
public struct ParentPlaces: Sendable {
    /// Where records have come to, by their newest verified statements.
    private var places: [String: Statement.FormerScope] = [:]
    private var gone: Set<String> = []
    /// Of the answer's records that have one.
    private var parents: [(name: String, childPlace: Statement.FormerScope)] = []

    public init() {}

    /// A record of the answer that is believed to be there.
    public mutating func add(_ record: Statement) {
        places[record.recordName] = record.place
        if let parent = record.parent { parents.append((parent, record.place)) }
    }

    /// One that is believed to be gone.
    public mutating func addGone(_ recordName: String) { gone.insert(recordName) }

    /// Takes what was seen before of the parents that did not come along. One of them may have moved since: only that
    /// it is where its child is needs no further look.
    /// - Returns: whose place has to be looked up, by name, each once.
    public mutating func settle<Store>(from judge: RecordJudge<Store>) throws(Store.Failure) -> Set<String> {
        var missing: Set<String> = []
        for (parent, childPlace) in parents where places[parent] == nil && !gone.contains(parent) {
            if try judge.lastPlace(of: parent) == childPlace {
                places[parent] = childPlace
            } else {
                missing.insert(parent)
            }
        }
        return missing
    }

    /// - Parameter record: what a look-up has shown of a parent, verified; nil where it is gone.
    public mutating func found(_ recordName: String, _ record: Statement?) { places[recordName] = record?.place }

    /// Whether there is somebody to ask about.
    public var hasParentsElsewhere: Bool {
        parents.contains { places[$0.name] == nil && !gone.contains($0.name) }
    }

    /// - Parameter ground: with the scope that the record's statement names.
    public func isHeldBack(_ record: Statement, in ground: ZoneGround) -> Bool {
        guard let roster = ground.view(of: record)?.roster else { return false }
        return Placement(of: record, roster: roster, parentPlace: record.parent.flatMap { places[$0] }) == .heldBack
    }
}
