import SealPrimitives
import SealStatements
import SealVectorChecks

/// Another version stands in the way.
extension WritingStories {
    func conflicts(_ group: inout VectorBuilder.GroupBuilder) throws {
        let (milk, bread, butter): (Written, Written, Written) = (
            [("title", .string("Milk"))], [("title", .string("Bread"))], [("title", .string("Butter"))]
        )
        let note = try first("Note", milk)
        let mine = try next(note, bread)
        let theirs = try next(note, butter, by: owner)
        func meets(_ comment: String, policy: String = "ifUnchanged", _ tell: (inout WritingStory) throws -> Void)
            throws
        {
            try story(&group, comment, policy: policy, [save("Note", bread, last: (note, milk))], tell)
        }
        let conflict = WritingStory.refused("serverRecordChanged", shows: try shown(theirs, butter))
        try meets("somebody else has saved: the app's to merge") {
            $0.round([.init(mine, keepsKey: true)], [conflict], ["changed"])
        }
        for policy in ["changedKeys", "allKeys"] {
            try meets("somebody else has saved: merged, with \(policy)", policy: policy) {
                $0.round([.init(mine, keepsKey: true)], [conflict], ["merges"], again: ["Note"])
                $0.round(
                    [.init(try next(theirs, bread), keepsKey: true)], [WritingStory.stored("Note")], ["saved"])
            }
        }
        let (two, other): (Written, Written) = (
            [("size", .int64(1)), ("title", .string("Milk"))], [("size", .int64(2)), ("title", .string("Butter"))]
        )
        let pair = try first("Note", two)
        let otherPair = try next(pair, other, by: owner)
        let changed: Written = [("size", .int64(3)), ("title", .string("Milk"))]
        for (policy, merged) in [
            ("changedKeys", [("size", .int64(3)), ("title", .string("Butter"))]), ("allKeys", changed),
        ]
            as [(String, Written)]
        {
            try story(
                &group, "one of two keys was changed, with \(policy)", policy: policy,
                [
                    save("Note", changed, changed: ["size"], last: (pair, two))
                ]
            ) {
                $0.round(
                    [.init(try next(pair, changed), keepsKey: true)],
                    [WritingStory.refused("serverRecordChanged", shows: try shown(otherPair, other))], ["merges"],
                    again: ["Note"])
                $0.round(
                    [.init(try next(otherPair, merged), keepsKey: true)], [WritingStory.stored("Note")], ["saved"])
            }
        }
        let title: Written = [("title", .string("Milk"))]
        try story(
            &group, "a key that was removed", policy: "changedKeys",
            [
                save("Note", title, changed: ["size"], last: (pair, two))
            ]
        ) {
            $0.round(
                [.init(try next(pair, title), keepsKey: true)],
                [WritingStory.refused("serverRecordChanged", shows: try shown(otherPair, other))], ["merges"],
                again: ["Note"])
            $0.round(
                [.init(try next(otherPair, butter), keepsKey: true)], [WritingStory.stored("Note")], ["saved"])
        }
        // What the first merge brought in is no intention of the app's.
        let third = try next(otherPair, [("color", .string("red"))], by: owner)
        let merged: Written = [("size", .int64(3)), ("title", .string("Butter"))]
        try story(
            &group, "two conflicts one after the other: what the app gave is merged each time",
            policy: "changedKeys", [save("Note", changed, changed: ["size"], last: (pair, two))]
        ) {
            $0.round(
                [.init(try next(pair, changed), keepsKey: true)],
                [WritingStory.refused("serverRecordChanged", shows: try shown(otherPair, other))], ["merges"],
                again: ["Note"])
            $0.round(
                [.init(try next(otherPair, merged), keepsKey: true)],
                [
                    WritingStory.refused(
                        "serverRecordChanged", shows: try shown(third, [("color", .string("red"))]))
                ], ["merges"], again: ["Note"])
            $0.round(
                [.init(try next(third, [("color", .string("red")), ("size", .int64(3))]), keepsKey: true)],
                [WritingStory.stored("Note")], ["saved"])
        }
        let (colored, plain): (Written, Written) = (
            [("color", .string("red")), ("size", .int64(2)), ("title", .string("Butter"))],
            [("size", .int64(5)), ("title", .string("Bread"))]
        )
        let withColor = try next(pair, colored, by: owner)
        let without = try next(withColor, plain, by: owner)
        try story(
            &group, "a key that only the first of two conflicts has does not come back", policy: "allKeys",
            [save("Note", changed, changed: ["size"], last: (pair, two))]
        ) {
            $0.round(
                [.init(try next(pair, changed), keepsKey: true)],
                [WritingStory.refused("serverRecordChanged", shows: try shown(withColor, colored))], ["merges"],
                again: ["Note"])
            $0.round(
                [.init(try next(withColor, [("color", .string("red"))] + changed), keepsKey: true)],
                [WritingStory.refused("serverRecordChanged", shows: try shown(without, plain))], ["merges"],
                again: ["Note"])
            $0.round(
                [.init(try next(without, changed), keepsKey: true)], [WritingStory.stored("Note")], ["saved"])
        }
        let same = try next(note, milk, by: owner)
        try meets("the same values, sealed again, are no conflict") {
            $0.round(
                [.init(mine, keepsKey: true)],
                [WritingStory.refused("serverRecordChanged", shows: try shown(same, milk))],
                ["merges"], again: ["Note"])
            $0.round([.init(try next(same, bread), keepsKey: true)], [WritingStory.stored("Note")], ["saved"])
        }
        let below = try next(note, milk, by: owner) { $0.parent = "List" }
        try meets("the same values below another parent are one") {
            $0.round(
                [.init(mine, keepsKey: true)],
                [WritingStory.refused("serverRecordChanged", shows: try shown(below, milk))], ["changed"])
        }
        try meets("a parent that somebody else has set stays", policy: "changedKeys") {
            $0.round(
                [.init(mine, keepsKey: true)],
                [WritingStory.refused("serverRecordChanged", shows: try shown(below, milk))], ["merges"],
                again: ["Note"])
            $0.round(
                [.init(try next(below, bread) { $0.parent = "List" }, keepsKey: true)], [WritingStory.stored("Note")],
                ["saved"])
        }
        try story(&group, "a new record whose name is taken", [save("Note", bread)]) {
            $0.round(
                [.init(try first("Note", bread))],
                [WritingStory.refused("serverRecordChanged", shows: try shown(note, milk))], ["changed"])
        }
        try meets("what stands in the way is not shown: it is looked up") {
            $0.round(
                [.init(mine, keepsKey: true)], [WritingStory.refused("serverRecordChanged")], ["changed"],
                looksUp: ["Note"], found: [try shown(theirs, butter)])
        }
        try meets("it changes in each of 8 rounds", policy: "allKeys") { story in
            var (last, sent) = (note, mine)
            for round in 1...8 {
                let theirs = try next(last, [("count", .int64(Int64(round)))], by: owner)
                story.round(
                    [.init(sent, keepsKey: true)],
                    [
                        WritingStory.refused(
                            "serverRecordChanged", shows: try shown(theirs, [("count", .int64(Int64(round)))]))
                    ], [round == 8 ? "changed" : "merges"], again: round == 8 ? [] : ["Note"])
                last = theirs
                sent = try next(theirs, [("count", .int64(Int64(round))), ("title", .string("Bread"))])
            }
        }
    }

    func gone(_ group: inout VectorBuilder.GroupBuilder) throws {
        let (milk, bread): (Written, Written) = ([("title", .string("Milk"))], [("title", .string("Bread"))])
        let note = try first("Note", milk)
        let went = deletion(note, by: owner)
        let mine = try next(note, bread)
        for code in ["serverRecordChanged", "unknownItem"] {
            try story(&group, "it was deleted: \(code)", [save("Note", bread, last: (note, milk))]) {
                $0.round(
                    [.init(mine, keepsKey: true)], [WritingStory.refused(code, shows: gone(went))], ["deleted"])
            }
            try story(
                &group, "a new record of a name that was deleted goes on counting: \(code)", [save("Note", bread)]
            ) {
                $0.round(
                    [.init(try first("Note", bread))], [WritingStory.refused(code, shows: gone(went))], ["makesAgain"],
                    again: ["Note"])
                $0.round(
                    [.init(try next(went, bread) { $0.creator = alice.user })], [WritingStory.stored("Note")], ["saved"]
                )
            }
        }
        try story(&group, "a name that is made and deleted in each of 8 rounds", [save("Note", bread)]) { story in
            var (sent, last) = (try first("Note", bread), went)
            for round in 1...8 {
                story.round(
                    [.init(sent)], [WritingStory.refused("serverRecordChanged", shows: gone(last))],
                    [round == 8 ? "keepsChanging" : "makesAgain"], again: round == 8 ? [] : ["Note"])
                sent = try next(last, bread) { $0.creator = alice.user }
                let theirs = try next(last, milk, by: owner) { $0.creator = owner.user }
                last = deletion(theirs, by: owner)
            }
        }
        try story(
            &group, "said not to be there, and not shown: it is looked up",
            [
                save("Note", bread, last: (note, milk))
            ]
        ) {
            $0.round(
                [.init(mine, keepsKey: true)], [WritingStory.refused("unknownItem")], ["deleted"], looksUp: ["Note"],
                found: [gone(went)])
        }
        try story(
            &group, "said not to be there, and was made again since", policy: "allKeys",
            [
                save("Note", bread, last: (note, milk))
            ]
        ) {
            let again = try next(went, milk, by: owner) { $0.creator = owner.user }
            $0.round(
                [.init(mine, keepsKey: true)], [WritingStory.refused("unknownItem")], ["merges"], again: ["Note"],
                looksUp: ["Note"], found: [try shown(again, milk)])
            $0.round([.init(try next(again, bread), keepsKey: true)], [WritingStory.stored("Note")], ["saved"])
        }
        try story(&group, "a new record that is said not to be there", [save("Note", bread)]) {
            $0.round(
                [.init(try first("Note", bread))], [WritingStory.refused("unknownItem")], ["unseen"], looksUp: ["Note"])
        }
        for code in ["zoneNotFound", "userDeletedZone"] {
            try story(&group, "a new record, said to be in no zone: \(code)", [save("Note", bread)]) {
                $0.round([.init(try first("Note", bread))], [WritingStory.refused(code)], ["unseen"])
            }
        }
    }

    /// What is not believed.
    func lies(_ group: inout VectorBuilder.GroupBuilder) throws {
        let (milk, bread, butter): (Written, Written, Written) = (
            [("title", .string("Milk"))], [("title", .string("Bread"))], [("title", .string("Butter"))]
        )
        let note = try first("Note", milk)
        let copy = try next(note, butter)
        let mine = try next(copy, bread)
        func lie(
            _ comment: String, _ answer: Item, _ verdict: String, looksUp: [String] = [], found: [Item] = []
        ) throws {
            for policy in ["ifUnchanged", "allKeys"] {
                try story(
                    &group, "\(comment), with \(policy)", isValid: false, policy: policy,
                    [
                        save("Note", bread, last: (copy, butter))
                    ]
                ) {
                    $0.round([.init(mine, keepsKey: true)], [answer], [verdict], looksUp: looksUp, found: found)
                }
            }
        }
        func conflict(_ shows: Item) -> Item { WritingStory.refused("serverRecordChanged", shows: shows) }
        try lie("an older version than was seen", conflict(try shown(note, milk)), "older")
        let another = try next(note, bread, by: owner)
        try lie("another version of that number", conflict(try shown(another, bread)), "forked")
        let third = try next(copy, milk, by: owner)
        try lie("a version that nobody has signed", conflict(try shown(third, milk, by: bob)), "unverified")
        try lie("other values than were signed", conflict(try shown(third, bread)), "unverified")
        try lie(
            "by somebody who may only read", conflict(try shown(try next(copy, milk, by: records.carol), milk)),
            "unverified")
        try lie("another record", conflict(try shown(try first("Fat", milk), milk)), "unverified")
        try lie(
            "in another scope, where its owner did not move it",
            conflict(
                try shown(
                    try next(copy, milk) {
                        let place = share.statement(by: alice)
                        ($0.scopeID, $0.scopeIncarnation, $0.epoch) = (
                            place.scopeID, place.scopeIncarnation, place.epoch
                        )
                        ($0.rosterSequence, $0.rosterHead) = (place.rosterSequence, place.rosterHead)
                    }, milk)), "misplaced")
        try lie("a deletion that nobody has signed", conflict(gone(deletion(copy, by: records.carol))), "unverified")
        try lie(
            "said not to be there, without what made it go", WritingStory.refused("unknownItem"), "withheld",
            looksUp: ["Note"])
        try lie(
            "said not to be there, and shown as it was", WritingStory.refused("unknownItem"), "withheld",
            looksUp: ["Note"], found: [try shown(copy, butter)])
        try lie("said to be in no zone", WritingStory.refused("zoneNotFound"), "withheld")
        try lie(
            "another version that is not shown, nor found", WritingStory.refused("serverRecordChanged"), "withheld",
            looksUp: ["Note"])
        try lie("no answer", WritingStory.unsaid, "unsaid")
        try lie("the answer of another record", WritingStory.stored("Fat"), "unsaid")
        let pair = [try save("Note", bread, last: (copy, butter)), try save("Fat", milk)]
        let sent = [WritingStory.Sent(mine, keepsKey: true), WritingStory.Sent(try first("Fat", milk))]
        try story(&group, "the answers of two records in another order", isValid: false, pair) {
            $0.round(sent, [WritingStory.stored("Fat"), WritingStory.stored("Note")], ["unsaid", "unsaid"])
            $0.nothing("Fat", "unseen")
        }
        try story(&group, "the answer of one record twice", isValid: false, pair) {
            $0.round(sent, [WritingStory.stored("Note"), WritingStory.stored("Note")], ["saved", "unsaid"])
            $0.nothing("Fat", "unseen")
            $0.nothing("Note", "withheld")
        }
    }
}
