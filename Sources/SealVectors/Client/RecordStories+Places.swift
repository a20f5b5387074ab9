import SealPrimitives
import SealStatements
import SealVectorChecks

/// Where records are, and who may write there.
extension RecordStories {
    func moves(_ group: inout VectorBuilder.GroupBuilder) {
        let first = zone.statement(by: alice)
        let move = moved(first, into: share)
        let next = after(move, by: bob)
        story(&group, "moved into a share by the owner", true) {
            for next in [first, move, next] { $0.answer(item(next), "accepted") }
        }
        story(&group, "moved by somebody else", false) {
            $0.answer(item(first), "accepted")
            $0.answer(item(moved(first, into: share, by: bob)), "unverified")
        }
        story(&group, "in a share, without the scope that it comes from", false) {
            $0.answer(item(first), "accepted")
            $0.answer(
                item(
                    {
                        var step = move; step.formerScope = nil; return step
                    }()), "misplaced")
        }
        story(&group, "from a third scope", false) {
            $0.answer(item(first), "accepted")
            let third = Statement.FormerScope(scopeID: other.scope.id, incarnation: 1)
            $0.answer(
                item(
                    {
                        var step = move; step.formerScope = third; return step
                    }()), "misplaced")
        }
        story(&group, "further on in a share, by somebody else than the owner", false) {
            $0.answer(item(first), "accepted")
            $0.answer(item(next), "misplaced")
        }
        story(&group, "further on in a share, by the owner", true) {
            $0.answer(item(first), "accepted")
            $0.answer(item(after(next, by: owner)), "accepted")
        }
        story(&group, "changed where the owner has moved it, with the move beside it", true) {
            $0.answer(item(first), "accepted")
            $0.answer(item(next, ["moved": signed(move)]), "accepted")
        }
        story(&group, "with a move of another past beside it", false) {
            $0.answer(item(first), "accepted")
            var wrong = move
            wrong.previous = hash(next)
            $0.answer(item(after(wrong, by: bob), ["moved": signed(wrong)]), "misplaced")
        }
        story(&group, "with a move that is not the owner's beside it", false) {
            $0.answer(item(first), "accepted")
            var step = move
            step.formerScope = nil
            step.author = bob.user
            $0.answer(item(after(step, by: bob), ["moved": signed(step)]), "unverified")
        }
        story(&group, "left the share, as its participant is told", true, to: bob, reads: ["share"]) {
            let there = share.statement(by: bob)
            $0.answer(item(there), "accepted")
            $0.answer(item(moved(there, into: zone), ["departed": .bool(true)]), "accepted")
        }
        story(&group, "left the share, and is shown there as before", false, to: bob, reads: ["share"]) {
            let there = share.statement(by: bob)
            $0.answer(item(there), "accepted")
            $0.answer(item(moved(there, into: zone), ["departed": .bool(true)]), "accepted")
            $0.answer(item(there), "older")
        }
        story(&group, "left the share, as somebody else than the owner has signed", false, to: bob, reads: ["share"]) {
            let there = share.statement(by: bob)
            $0.answer(item(there), "accepted")
            $0.answer(item(moved(there, into: zone, by: alice), ["departed": .bool(true)]), "unverified")
            $0.nothing("Note-1", "withheld")
        }
        let there = share.statement(by: alice)
        let left = moved(there, into: other)
        let beyond = after(left, by: alice)
        story(&group, "left the share for where the reader reads no more", true, reads: ["share", "other"]) {
            for next in [there, left, beyond] { $0.answer(item(next), "accepted") }
            $0.reads(["share"])
            $0.answer(item(left, ["departed": .bool(true)]), "unknownDeletion")
            $0.nothing("Note-1", "unseen")
        }
        story(&group, "left the share, long after it was seen elsewhere", false, reads: ["share", "other"]) {
            for next in [there, left, beyond] { $0.answer(item(next), "accepted") }
            $0.answer(item(left, ["departed": .bool(true)]), "older")
        }
    }

    func rights(_ group: inout VectorBuilder.GroupBuilder) {
        let first = zone.statement(by: alice)
        story(&group, "by a member who only reads", false) {
            $0.answer(item(zone.statement(by: carol)), "unverified")
        }
        story(&group, "signed with the key of somebody who had no right to it", false) {
            $0.answer(item(first, by: bob), "unverified")
            $0.answer(item(first), "accepted")
        }
        story(&group, "by a member after it was removed", false) {
            $0.answer(item(zone.statement(by: dora)), "unverified")
        }
        story(&group, "under the key of an epoch that was over at its head", false) {
            $0.answer(
                item(
                    {
                        var old = first; old.epoch = 0; return old
                    }()), "unverified")
        }
        story(&group, "under another head than the roster has", false) {
            $0.answer(
                item(
                    {
                        var forked = first; forked.rosterHead = hash(first); return forked
                    }()), "unverified")
        }
        story(&group, "of a scope whose roster is not at hand", false, to: bob, reads: ["share"]) {
            $0.answer(item(first), "unverified")
        }
        story(&group, "the share's record by a member who administers nothing", false) {
            $0.answer(item(share.statement("Share-1", by: bob)), "unverified")
        }
    }

    func absences(_ group: inout VectorBuilder.GroupBuilder) {
        let first = zone.statement(by: alice)
        let second = after(first, by: owner)
        story(&group, "what was met before an absence need not be there", true) {
            $0.answer(item(first), "accepted")
            $0.absent(from: "zone")
            $0.nothing("Note-1", "unseen")
            $0.brought([], missing: [])
        }
        story(&group, "an absence excuses no rollback", false) {
            for next in [first, second] { $0.answer(item(next), "accepted") }
            $0.absent(from: "zone")
            $0.answer(item(first), "older")
        }
        story(&group, "what is met again after an absence counts as there", false) {
            $0.answer(item(first), "accepted")
            $0.absent(from: "zone")
            $0.answer(item(first), "accepted")
            $0.nothing("Note-1", "withheld")
        }
        story(&group, "what was seen in a share that the reader has left", true, reads: ["zone", "share"]) {
            $0.answer(item(share.statement("Note-2", by: alice)), "accepted")
            $0.reads(["zone"])
            $0.nothing("Note-2", "unseen")
            $0.brought([], missing: [])
        }
    }
}
