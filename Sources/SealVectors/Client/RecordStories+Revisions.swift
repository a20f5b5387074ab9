import SealPrimitives
import SealStatements
import SealVectorChecks

/// One record from revision to revision.
extension RecordStories {
    func revisions(_ group: inout VectorBuilder.GroupBuilder) {
        let first = zone.statement(by: alice)
        let second = after(first, by: owner)
        let third = after(second, by: alice)
        story(&group, "one revision after the other, by two people", true) {
            for next in [first, second, second, third] { $0.answer(item(next), "accepted") }
        }
        story(&group, "several records of one answer, each with its own past", true) {
            let note = zone.statement("Note-2", by: owner)
            $0.answer([item(first), item(note)], ["accepted", "accepted"])
            $0.answer([item(note), item(second)], ["accepted", "accepted"])
        }
        story(&group, "further on than what was seen", true) {
            $0.answer(item(first), "accepted")
            $0.answer(item(after(third) { $0.revision = 9 }), "accepted")
        }
        story(&group, "a rollback", false) {
            for next in [first, second] { $0.answer(item(next), "accepted") }
            $0.answer(item(first), "older")
            $0.answer(item(third), "accepted")
        }
        story(&group, "two revisions in one answer: of the older one the server is asked again", true) {
            $0.answer([item(second), item(first)], ["accepted", "overtaken"])
        }
        story(&group, "an older revision, asked for before the newer one was seen", true) {
            $0.answer(item(first), "accepted")
            $0.answer(item(second), "accepted")
            $0.answer(item(first), "overtaken", asked: 2)
        }
        story(&group, "an older revision, asked for after the newer one was seen", false) {
            $0.answer(item(first), "accepted")
            $0.answer(item(second), "accepted")
            $0.answer(item(first), "older", asked: 3)
        }
        story(&group, "the same revision with another content", false) {
            $0.answer(item(first), "accepted")
            var another = first
            another.fieldsDigest = hash(second)
            $0.answer(item(another), "forked")
        }
        story(&group, "the next revision after another predecessor", false) {
            $0.answer(item(first), "accepted")
            $0.answer(item(after(first) { $0.previous = hash(third) }), "forked")
        }
        story(&group, "citing an older head than the revision before", false) {
            $0.answer(item(first), "accepted")
            $0.answer(item(at(zone.roster.sequence - 2, second)), "behind")
        }
        story(&group, "further on, citing an older head than the one seen", false) {
            $0.answer(item(first), "accepted")
            $0.answer(item(at(zone.roster.sequence - 2, after(third) { $0.revision = 9 })), "behind")
        }
    }

    func kinds(_ group: inout VectorBuilder.GroupBuilder) {
        let first = zone.statement(by: alice)
        let gone = deletion(first, by: owner)
        story(&group, "deleted, and made again as another type by somebody else", true) {
            $0.answer(item(first), "accepted")
            $0.answer(item(gone), "accepted")
            let again = after(gone, by: owner) {
                $0.creator = owner.user
                $0.recordType = "Task"
            }
            $0.answer(item(again), "accepted")
        }
        story(&group, "a deletion undone: the record is shown as it was", false) {
            for next in [first, gone] { $0.answer(item(next), "accepted") }
            $0.answer(item(first), "older")
        }
        story(&group, "a deletion undone: another statement of its number is shown", false) {
            for next in [first, gone] { $0.answer(item(next), "accepted") }
            $0.answer(item(after(first)), "forked")
        }
        story(&group, "made again in the name of the creator before", false) {
            for next in [first, gone] { $0.answer(item(next), "accepted") }
            $0.answer(item(after(gone, by: owner)), "changed")
        }
        story(&group, "of another type than before", false) {
            $0.answer(item(first), "accepted")
            $0.answer(item(after(first) { $0.recordType = "Task" }), "changed")
        }
        story(&group, "of another creator than before", false) {
            $0.answer(item(first), "accepted")
            $0.answer(item(after(first) { $0.creator = owner.user }), "changed")
        }
        story(&group, "another record than was asked for", false) {
            $0.answer(item(first, ["recordName": .string("Note-2")]), "unverified")
            $0.answer(item(first, ["recordName": .string("Note-1")]), "accepted")
        }
        story(&group, "nothing is said of a record that was never seen", true) { $0.nothing("Note-1", "unseen") }
        story(&group, "a record that was seen is not there, as the server says", false) {
            $0.answer(item(first), "accepted")
            $0.nothing("Note-1", "withheld")
            $0.nothing("Note-2", "unseen")
        }
        story(&group, "a record is not there, as the server was asked before it was seen", true) {
            $0.answer(item(first), "accepted")
            $0.nothing("Note-1", "overtaken", asked: 1)
        }
        story(&group, "what a reading from the beginning has left out", true) {
            $0.answer([item(first), item(zone.statement("Note-2", by: owner))], ["accepted", "accepted"])
            $0.answer(item(zone.statement("Note-0", by: owner)), "accepted")
            $0.brought(["Note-2"], missing: ["Note-0", "Note-1"])
            $0.answer(item(gone), "accepted")
            $0.brought(["Note-2"], missing: ["Note-0"])
        }
    }
}
