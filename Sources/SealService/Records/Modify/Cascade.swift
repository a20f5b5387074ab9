import SealPrimitives
import SealStatements
import SealWire

/// The records that go with the targets which one request deletes: all of them, in its transaction, or the deletion is
/// refused. Nobody signs their deletions; the target's covers each, so that every reader can check that it went.
///
/// What the same request saves or deletes itself does not go along: its newest statement does not come before the
/// deletion.
package struct Cascade {
    struct Member {
        let record: StoredRecord
        /// The request's item that takes it: of several, the first.
        let root: Int
        /// Its leaf in the tree that the deletion covers.
        let index: Int
        let path: [Digest]
    }

    /// Each record once, nearest to its target first.
    private(set) var members: [Member] = []
    private(set) var names: Set<String> = []
    /// Every item that takes a record, by the record's name.
    private(set) var takers: [String: [Int]] = [:]
    /// What the deletion of each item has to cover.
    private(set) var taken: [Int: TakenRecords] = [:]
    /// What would go with it as well, did the request not save it.
    private(set) var beside: [Int: Set<String>] = [:]

    mutating func add(_ along: TakenAlong, root: Int) throws {
        let taken = try along.taken()
        self.taken[root] = taken
        beside[root] = along.beside
        guard taken.count > 0 else { return }
        let leaves = Dictionary(uniqueKeysWithValues: taken.names.enumerated().map { ($1, $0) })
        for record in along.members.map(\.record) {
            takers[record.name, default: []].append(root)
            guard let leaf = leaves[record.name], names.insert(record.name).inserted else { continue }
            members.append(Member(record: record, root: root, index: leaf, path: taken.path(to: leaf)))
        }
    }

    /// Over all of a request's deletions: two targets with all the sources that they may have.
    package static let limit = 2 * DeleteReference.limit

    static let incomplete = ServerError(
        .deletionIncomplete, "The deletion does not cover exactly the records that go with it.",
        remedy: "Verify the records that the answer names, and sign the deletion with them.")

    static let waiting = ServerError(
        .batchRequestFailed, "The record would go with a deletion of this request, which has to be sent again.",
        remedy: "Send both again in one request.")
}
