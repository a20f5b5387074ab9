import SealPrimitives
import SealStatements
import SealVectorChecks

/// What records say of each other.
extension ReadingStories {
    private func record(
        _ name: String, below parent: String? = nil, in log: VectorZone? = nil, by author: VectorPerson? = nil
    ) throws -> Statement {
        var statement = try written((log ?? share).statement(name, by: author ?? alice), [])
        statement.parent = parent
        return statement
    }

    private func shown(_ statements: Statement...) -> [Item] { statements.map { item($0) } }

    private func found(_ name: String, _ statement: Statement?) -> Item {
        var item: Item = ["recordName": .string(name)]
        if let statement { item["statement"] = .hex(statement.canonicalBytes()) }
        return item
    }

    /// To a participant of the share `Share-1` alone, whose root is the record `Root`.
    func places(_ group: inout VectorBuilder.GroupBuilder) throws {
        var root = try record("Root", by: owner)
        root.share = "Share-1"
        let (list, entry) = (try record("List", below: "Root"), try record("Entry", below: "List"))
        let accepted = [String](repeating: "accepted", count: 3)
        func told(
            _ comment: String, to reader: VectorPerson? = nil, reads: [String] = ["share"],
            _ tell: (inout ReadingStory) throws -> Void
        ) throws { try story(&group, comment, true, to: reader ?? bob, reads: reads, tell) }

        try told("root, child and grandchild of one answer") {
            $0.answer(shown(entry, list, root), accepted)
        }
        try told("a child whose parent came before") {
            $0.answer(shown(root, list), ["accepted", "accepted"])
            $0.answer(shown(entry), ["accepted"])
        }
        try told("a child whose parent is found beside it") {
            $0.answer(shown(entry), ["accepted"], asksFor: ["List"], found: [found("List", list)])
        }
        try told("a child whose parent is found nowhere") {
            $0.answer(shown(entry), ["accepted"], asksFor: ["List"], found: [], heldBack: ["Entry"])
        }
        try told("a child whose parent is gone by now") {
            $0.answer(shown(entry), ["accepted"], asksFor: ["List"], found: [found("List", nil)], heldBack: ["Entry"])
        }
        try told("a child whose parent is found in the zone's own scope") {
            $0.answer(
                shown(entry), ["accepted"], asksFor: ["List"],
                found: [found("List", try record("List", in: zone))], heldBack: ["Entry"])
        }
        try told("two children of a parent that is asked for once") {
            $0.answer(
                shown(entry, try record("Other", below: "List")), ["accepted", "accepted"], asksFor: ["List"],
                found: [found("List", list)])
        }
        try told("a child whose parent goes in the same answer") {
            $0.answer(
                shown(records.deletion(list, by: alice), entry), ["accepted", "accepted"], heldBack: ["Entry"])
        }
        try told("a child whose parent was deleted before") {
            $0.answer(shown(records.deletion(list, by: alice)), ["accepted"])
            $0.answer(shown(entry), ["accepted"], asksFor: ["List"], found: [], heldBack: ["Entry"])
        }
        try told("a child whose parent was moved, as this device has seen", reads: ["share", "other"]) {
            $0.answer(shown(root, list), ["accepted", "accepted"])
            let moved = records.moved(list, into: records.other)
            $0.answer(
                [item(moved)], ["accepted"], asksFor: ["Root"], found: [found("Root", root)], heldBack: ["List"])
            $0.answer(
                shown(entry), ["accepted"], asksFor: ["List"], found: [found("List", moved)], heldBack: ["Entry"])
        }
        try told("a record of the share without a parent") {
            $0.answer(shown(try record("Lost")), ["accepted"], heldBack: ["Lost"])
        }
        try told("a record under the root's name that is none") {
            $0.answer(shown(try record("Root")), ["accepted"], heldBack: ["Root"])
        }
        var shareRecord = try record("Share-1", by: owner)
        try told("a record under the share's name that is none") {
            $0.answer(shown(shareRecord), ["accepted"], heldBack: ["Share-1"])
        }
        shareRecord.recordType = "cloudkit.share"
        try told("the share's own record") { $0.answer(shown(shareRecord), ["accepted"]) }
        try told("of the whole zone nothing is held back", to: alice, reads: RecordStories.everything) {
            $0.answer(shown(entry, try record("Lost")), ["accepted", "accepted"])
        }
        try story(&group, "a parent that does not verify is none", false, to: bob, reads: ["share"]) {
            var forged = list
            forged.rosterHead = records.hash(entry)
            $0.answer(
                shown(forged, entry), ["unverified", "accepted"], asksFor: ["List"], found: [], heldBack: ["Entry"])
        }
    }

    func cycles(_ group: inout VectorBuilder.GroupBuilder) throws {
        let parents = [("A", "C"), ("B", "A"), ("C", "B"), ("D", "A"), ("F", "E"), ("E", "F")]
        let circle = try parents.map { try record($0.0, below: $0.1, in: zone) }
        let accepted = [String](repeating: "accepted", count: circle.count)
        try story(&group, "records that are their own ancestors, in one answer", true) {
            $0.answer(circle.map { item($0) }, accepted, cycles: [["A", "C", "B"], ["E", "F"]])
        }
        try story(&group, "records that would be their own ancestors, in two answers", true) {
            $0.answer(circle[..<2].map { item($0) }, ["accepted", "accepted"])
            $0.answer(shown(circle[2], circle[3]), ["accepted", "accepted"])
        }
        try story(&group, "a record that would be its own ancestor, and does not verify", false) {
            var forged = circle[1]
            forged.rosterHead = records.hash(forged)
            $0.answer(shown(circle[0], forged, circle[2]), ["accepted", "unverified", "accepted"])
        }
    }
}
