package import SealPrimitives
package import SealStatements
import SealStorage
import SealWire

/// The records that go with the targets which one request deletes: all of them, in its transaction, or the deletion is
/// refused. Nobody signs their deletions; the target's covers each, so that every reader can check that it went.
///
/// What the same request saves or deletes itself does not go along: its newest statement does not come before the
/// deletion.
package struct Cascade {
    package struct Member {
        package let record: StoredRecord
        /// The request's item that takes it: of several, the first.
        package let root: Int
        /// Its leaf in the tree that the deletion covers.
        package let index: Int
        package let path: [Digest]
    }

    /// Each record once, nearest to its target first.
    package private(set) var members: [Member] = []
    package private(set) var names: Set<String> = []
    /// Every item that takes a record, by the record's name.
    private(set) var takers: [String: [Int]] = [:]
    /// What the deletion of each item has to cover.
    package private(set) var taken: [Int: TakenRecords] = [:]
    /// What would go with it as well, did the request not save it.
    package private(set) var beside: [Int: Set<String>] = [:]

    package mutating func add(_ along: TakenAlong, root: Int) throws {
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

    /// Over all of a request's deletions: four targets with all the sources that they may have.
    package static let limit = 4 * DeleteReference.limit

    package static let incomplete = ServerError(
        .deletionIncomplete, "The deletion does not cover exactly the records that go with it.",
        remedy: "Verify the records that the answer names, and sign the deletion with them.")

    package static let waiting = ServerError(
        .batchRequestFailed, "The record would go with a deletion of this request, which has to be sent again.",
        remedy: "Send both again in one request.")
}

extension RecordSave {
    /// What goes with the request's deletions, as far as they are accepted; those that cannot take theirs along are
    /// refused.
    func cascade(_ outcomes: inout [Outcome], _ references: inout ReferenceReader) throws -> Cascade {
        // In the public database nothing that a reader could check says that the deleter might have deleted the source
        // too: references dangle there, and no deletion covers anything.
        guard rights == nil else { return Cascade() }
        while true {
            let (cascade, hasRefused) = try pass(&outcomes, &references)
            // One that is refused here stays, and may have to go with another; nothing of an atomic request is written
            // then.
            if !hasRefused || isAtomic { return cascade }
        }
    }

    private func pass(
        _ outcomes: inout [Outcome], _ references: inout ReferenceReader
    ) throws -> (cascade: Cascade, hasRefused: Bool) {
        references.begin()
        let deletes = outcomes.contains { if case .accepted(let accepted) = $0 { accepted.isDeletion } else { false } }
        guard deletes else { return (Cascade(), false) }
        var cascade = Cascade()
        var hasRefused = false
        var dependents = Dependents(zone: zone, user: caller.userID, rosters: rosters, connection: connection)
        var staying: Set<String> = []
        for (item, outcome) in zip(batch.items, outcomes) {
            if case .accepted = outcome { staying.insert(item.name) }
        }
        for (index, outcome) in outcomes.enumerated() {
            guard case .accepted(let accepted) = outcome, accepted.isDeletion else { continue }
            let deletion = accepted.content.statement
            switch try references.takenAlong(
                with: deletion, staying: staying, scope: CascadeScope(batch.judge.share(of: deletion)), &dependents)
            {
            case .refused(let refusal):
                outcomes[index] = .refused(refusal.error, dependents: refusal.dependents)
                let gone = refusal.along.members.map(\.record.name) + [deletion.recordName]
                hold(besides: refusal.along.beside, goingWith: Set(gone), &outcomes)
                hasRefused = true
            case .found(let along): try cascade.add(along, root: index)
            }
        }
        return (cascade, hasRefused)
    }

    /// Refuses the deletions that do not cover what goes with them, and saves that keep a record from going: both go
    /// again in one request.
    /// - Returns: whether there were any.
    func refuseIncomplete(_ outcomes: inout [Outcome], _ cascade: Cascade, all: Bool) -> Bool {
        var hasRefused = false
        for (index, taken) in cascade.taken {
            guard case .accepted(let accepted) = outcomes[index],
                all || accepted.content.statement.fieldsDigest != taken.digest
            else { continue }
            outcomes[index] = .refused(Cascade.incomplete)
            hasRefused = true
            hold(
                besides: cascade.beside[index] ?? [], goingWith: Set(taken.names + [batch.items[index].name]), &outcomes
            )
        }
        return hasRefused
    }

    /// Keeps back the saves that keep records from going with a deletion which is sent again: of those that refer to
    /// what goes, and of those that are to. Saved by themselves now, they would go with it then.
    private func hold(besides: Set<String>, goingWith gone: Set<String>, _ outcomes: inout [Outcome]) {
        for (index, item) in batch.items.enumerated() {
            guard case .accepted(let accepted) = outcomes[index], !accepted.isDeletion,
                besides.contains(item.name)
                    || accepted.content.deleteReferences.contains(where: { gone.contains($0.target) })
            else { continue }
            outcomes[index] = .refused(Cascade.waiting)
        }
    }
}
