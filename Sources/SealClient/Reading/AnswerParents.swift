public import SealStatements

/// The parents within one answer, which is of one moment: no server takes what makes a record its own ancestor
/// (R-PLACE-9). Such records are good in themselves, and are given out: whoever may write deletes them together, or
/// gives one another parent. Records of different answers prove nothing.
public struct AnswerParents: Sendable {
    private var parents: [String: String] = [:]

    public init() {}

    /// A record of the answer that is believed to be there.
    public mutating func add(_ record: Statement) {
        if let parent = record.parent { parents[record.recordName] = parent }
    }

    /// As `ParentCycles.find`.
    public func cycles() -> [[String]] {
        // Most are trees of one level: nothing that is a parent there has one.
        guard parents.values.contains(where: { parents[$0] != nil }) else { return [] }
        return ParentCycles.find(in: parents)
    }
}
