import SealPrimitives
import SealStatements
import SealVectorChecks

/// What comes late, and what goes along with another record.
extension RecordStories {
    private var end: (shareRecordName: String, sequence: UInt64) { ("", zone.roster.sequence) }

    func epochs(_ group: inout VectorBuilder.GroupBuilder) {
        let late = at(before, zone.statement(by: dora))
        story(&group, "from before a removal, before the feed was read past it", true) {
            $0.readTo([("", before)])
            $0.answer(item(late), "accepted")
            $0.readTo([end])
            $0.answer(item(late), "accepted")
        }
        story(&group, "from before a removal, after the feed was read past it", false) {
            $0.readTo([end])
            $0.answer(item(late), "backdated")
            $0.answer(item(zone.statement("Note-2", by: alice)), "accepted")
        }
        story(&group, "changed before a removal, as is shown after the feed was read past it", false) {
            $0.answer(item(late), "accepted")
            $0.readTo([end])
            $0.answer(item(after(late)), "backdated")
        }
        story(&group, "the mark of one scope says nothing of another", true) {
            $0.readTo([end])
            $0.answer(item(share.statement("Note-2", by: bob)), "accepted")
        }
        story(&group, "late, and taken over at its user's word", true) {
            $0.readTo([end])
            $0.answer(item(late), "accepted", accepting: [hash(late)])
            $0.answer(item(late), "accepted")
        }
        story(&group, "late, and another one taken over at its user's word", false) {
            $0.readTo([end])
            $0.answer(item(late), "backdated", accepting: [hash(after(late))])
        }
        story(&group, "the late deletion of a record that was never seen", true) {
            $0.readTo([end])
            let gone = deletion(at(before, zone.statement("Note-2", by: dora)), by: dora)
            $0.answer(item(gone), "unknownDeletion")
            $0.answer(item(gone), "unknownDeletion")
        }
        story(&group, "the late deletion of a record that was seen", false) {
            let there = at(before, zone.statement("Note-2", by: dora))
            $0.answer(item(there), "accepted")
            $0.readTo([end])
            $0.answer(item(deletion(there, by: dora)), "backdated")
            $0.nothing("Note-2", "withheld")
        }
    }

    // MARK: Derived deletions

    /// The deletion of a target, and the notice of a record that it covers.
    private func notice(
        of record: Statement, with target: Statement, by author: VectorPerson, covering other: Statement? = nil
    ) throws -> RecordStory.Item {
        let covered = other ?? record
        let taken = try TakenRecords([(covered.recordName, hash(covered))])
        var tombstone = deletion(target, by: author)
        tombstone.fieldsDigest = taken.digest
        return item(
            record,
            ["tombstone": signed(tombstone), "count": .int(1), "index": .int(0), "path": .array([])])
    }

    func goneAlong(_ group: inout VectorBuilder.GroupBuilder) throws {
        let list = zone.statement("List", by: owner)
        let first = zone.statement("Item", by: alice)
        let second = after(first)
        let gone = try notice(of: first, with: list, by: alice)
        story(&group, "gone with its target, and made again after that", true) {
            $0.answer([item(list), item(first)], ["accepted", "accepted"])
            $0.answer(gone, "accepted")
            $0.answer(gone, "accepted")
            $0.brought([], missing: ["List"])
            $0.answer(item(second), "accepted")
            $0.brought([], missing: ["Item", "List"])
        }
        story(&group, "gone with its target, and shown as present by the same statement", false) {
            $0.answer(item(first), "accepted")
            $0.answer(gone, "accepted")
            $0.answer(item(first), "older")
        }
        story(&group, "gone with its target, before it was changed", false) {
            for next in [first, second] { $0.answer(item(next), "accepted") }
            $0.answer(gone, "older")
        }
        let wrong = try notice(of: second, with: list, by: alice, covering: first)
        story(&group, "gone with a target whose deletion covers another statement", false) {
            for next in [first, second] { $0.answer(item(next), "accepted") }
            $0.answer(wrong, "unverified")
            $0.nothing("Item", "withheld")
        }
        let (oldList, old) = (at(before, list), at(before, zone.statement("Item", by: dora)))
        let dated = try notice(of: old, with: oldList, by: dora)
        story(&group, "gone with a target whose deletion nobody has seen in time", false) {
            $0.answer([item(oldList), item(old)], ["accepted", "accepted"])
            $0.readTo([end])
            $0.answer(dated, "backdated")
            $0.nothing("Item", "withheld")
        }
        story(&group, "the late notice of a record that was never seen", true) {
            $0.readTo([end])
            $0.answer(dated, "unknownDeletion")
        }
        story(&group, "a late notice at its user's word, whose it is not to give", true) {
            $0.readTo([end])
            $0.answer(dated, "unknownDeletion", accepting: [hash(old)])
        }
        let readers = try notice(of: first, with: list, by: carol)
        story(&group, "gone with a target that a mere reader has deleted", false) {
            $0.answer(item(first), "accepted")
            $0.answer(readers, "unverified")
        }
    }
}
