import SealPrimitives
import SealStatements
import SealVectorChecks

/// What goes again beside what, and what a roster that has moved on changes.
extension WritingStories {
    func together(_ group: inout VectorBuilder.GroupBuilder) throws {
        let (milk, bread): (Written, Written) = ([("title", .string("Milk"))], [("title", .string("Bread"))])
        let note = try first("Note", milk)
        let theirs = try next(note, milk, by: owner) { $0.parent = nil }
        let mine = try next(note, bread)
        let fat = try first("Fat", milk)
        let items = [try save("Note", bread, last: (note, milk)), try save("Fat", milk)]
        let sent = [WritingStory.Sent(mine, keepsKey: true), WritingStory.Sent(fat)]
        let conflict = WritingStory.refused("serverRecordChanged", shows: try shown(theirs, milk))
        let failed = WritingStory.refused("batchRequestFailed")
        try story(&group, "an atomic batch goes again as a whole", atomic: true, items) {
            $0.round(sent, [conflict, failed], ["merges", "refused"], again: ["Note", "Fat"])
            $0.round(
                [.init(try next(theirs, bread), keepsKey: true), .init(fat)],
                [WritingStory.stored("Note"), WritingStory.stored("Fat")], ["saved", "saved"])
        }
        try story(
            &group, "an atomic batch of which one has failed for good", atomic: true, items + [save("Bread", bread)]
        ) {
            $0.round(
                sent + [.init(try first("Bread", bread))], [conflict, failed, WritingStory.refused("quotaExceeded")],
                ["batchFailed", "refused", "refused"])
        }
        try story(&group, "an atomic batch of which nothing goes again", atomic: true, items) {
            $0.round(sent, [WritingStory.refused("invalidArguments"), failed], ["refused", "refused"])
        }
        try story(
            &group, "an atomic batch of which one is gone already", atomic: true,
            [
                delete(note), save("Fat", milk),
            ]
        ) {
            $0.round(
                [.deletion(deletion(note)), .init(fat)],
                [WritingStory.refused("serverRecordChanged", shows: gone(deletion(note, by: owner))), failed],
                ["isGone", "refused"], again: ["Fat"])
            $0.round([.init(fat)], [WritingStory.stored("Fat")], ["saved"])
        }
        try story(
            &group, "of an atomic batch all conflicts are looked up where one is not shown", policy: "allKeys",
            atomic: true,
            [
                save("Note", bread, last: (note, milk)), save("Fat", bread, last: (fat, milk)),
            ]
        ) {
            let fatTheirs = try next(fat, milk, by: owner)
            $0.round(
                [.init(mine, keepsKey: true), .init(try next(fat, bread), keepsKey: true)],
                [conflict, WritingStory.refused("serverRecordChanged")], ["merges", "merges"], again: ["Note", "Fat"],
                looksUp: ["Note", "Fat"], found: [try shown(fatTheirs, milk), try shown(theirs, milk)])
        }
        try story(
            &group, "each item by itself: one goes again, one is stored, one has failed", items + [save("Bread", bread)]
        ) {
            $0.round(
                sent + [.init(try first("Bread", bread))],
                [conflict, WritingStory.stored("Fat"), WritingStory.refused("quotaExceeded")],
                ["merges", "saved", "refused"], again: ["Note"])
        }
        try references(&group)
    }

    private func references(_ group: inout VectorBuilder.GroupBuilder) throws {
        let milk: Written = [("title", .string("Milk"))]
        func below(_ name: String, _ parent: String) throws -> Statement {
            var statement = try first(name, milk)
            statement.parent = parent
            return statement
        }
        let violation = WritingStory.refused("referenceViolation")
        let list = try first("List", milk)
        let listTheirs = try next(list, [("title", .string("Bread"))], by: owner)
        let conflict = WritingStory.refused(
            "serverRecordChanged", shows: try shown(listTheirs, [("title", .string("Bread"))]))
        try story(
            &group, "beside what goes on top of another version everything may pass", policy: "allKeys",
            [
                save("List", milk, last: (list, milk)), save("Note", milk, parent: "Shelf"),
            ]
        ) {
            $0.round(
                [.init(try next(list, milk), keepsKey: true), .init(try below("Note", "Shelf"))],
                [conflict, violation],
                ["merges", "refused"], again: ["List", "Note"], asksFor: ["Shelf"])
        }
        let moved = WritingStory.refused("rosterChanged")
        try story(
            &group, "below a parent that goes again, and what is below that",
            [
                save("List", milk), save("Fat", milk, parent: "Note"), save("Note", milk, parent: "List"),
                save("Bread", milk, parent: "Shelf"),
            ]
        ) {
            $0.round(
                [
                    .init(list), .init(try below("Fat", "Note")), .init(try below("Note", "List")),
                    .init(try below("Bread", "Shelf")),
                ],
                [moved, violation, violation, violation], ["behind", "refused", "refused", "refused"],
                again: ["List", "Note", "Fat"], asksFor: ["Shelf"])
        }
        try story(&group, "a deletion beside what goes again", [delete(list), save("Note", milk)]) {
            $0.round(
                [.deletion(deletion(list)), .init(try first("Note", milk))], [violation, moved], ["refused", "behind"],
                again: ["Note", "List"])
        }
        try story(&group, "a child that is in the way alone", [delete(list)]) {
            $0.round([.deletion(deletion(list))], [violation], ["refused"])
        }
    }

    func rosters(_ group: inout VectorBuilder.GroupBuilder) throws {
        let milk: Written = [("title", .string("Milk"))]
        let note = try first("Note", milk)
        let before = records.at(records.before, note)
        let early = [("zone", Int(records.before) + 1), ("share", share.entries.count)]
        for code in ["rosterChanged", "staleEpoch", "rotationDue"] {
            try story(&group, "the roster has moved on, for a record: \(code)", knows: early, [save("Note", milk)]) {
                $0.round([.init(before)], [WritingStory.refused(code)], ["behind"], again: ["Note"])
                $0.knows(whole.map { ($0.0, $0.1) })
                $0.round([.init(note)], [WritingStory.stored("Note")], ["saved"])
            }
            try story(&group, "the roster has moved on, for the request: \(code)", knows: early, [save("Note", milk)]) {
                $0.whole(code, "refreshesRosters")
                $0.knows(whole.map { ($0.0, $0.1) })
                $0.round([.init(note)], [WritingStory.stored("Note")], ["saved"])
            }
        }
        try story(&group, "the roster moves on in each of 8 rounds", [save("Note", milk)]) { story in
            for round in 1...8 {
                story.round(
                    [.init(note)], [WritingStory.refused("rosterChanged")], [round == 8 ? "refused" : "behind"],
                    again: round == 8 ? [] : ["Note"])
            }
        }
        try story(&group, "requests are refused in each of 8 rounds", [save("Note", milk)]) { story in
            for round in 1...8 { story.whole("staleEpoch", round == 8 ? "ends" : "refreshesRosters") }
        }
        try story(&group, "what other refusals of a request ask for", [save("Note", milk)]) {
            $0.whole("zoneNotFound", "asksForScopes")
            $0.whole("permissionFailure", "asksForRights")
            $0.whole("quotaExceeded", "ends")
        }
        try story(
            &group, "a member has left: the next key is due", knows: [("left", zone.entries.count + 1)],
            [save("Note", milk)]
        ) {
            $0.readies("left", "keyDue")
        }
        try story(
            &group, "who may only read is refused by the server", by: records.carol,
            knows: [("zone", zone.entries.count)],
            [
                save("Note", milk)
            ]
        ) {
            $0.readies("zone", "ready")
            $0.round(
                [.init(try first("Note", milk, by: records.carol))], [WritingStory.refused("permissionFailure")],
                ["refused"])
        }
        try story(
            &group, "who was removed has no zone", by: records.dora, knows: [("zone", zone.entries.count)],
            [save("Note", milk)]
        ) {
            $0.readies("zone", "notMember")
        }
    }
}
