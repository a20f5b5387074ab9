import SealPrimitives
import SealStatements
import SealVectorChecks

/// Which statement is signed, and for which scope.
extension WritingStories {
    func statements(_ group: inout VectorBuilder.GroupBuilder) throws {
        let (milk, bread): (Written, Written) = ([("title", .string("Milk"))], [("title", .string("Bread"))])
        let note = try first("Note", milk)
        try story(&group, "a new record", [save("Note", milk)]) {
            $0.readies("zone", "ready")
            $0.round([.init(note)], [WritingStory.stored("Note")], ["saved"])
            $0.shown(try shown(note, milk), "accepted")
        }
        let second = try next(note, bread)
        try story(&group, "a record that was there", [save("Note", bread, last: (note, milk))]) {
            $0.round([.init(second, keepsKey: true)], [WritingStory.stored("Note")], ["saved"])
        }
        try story(&group, "what was saved is remembered", isValid: false, [save("Note", bread, last: (note, milk))]) {
            $0.round([.init(second, keepsKey: true)], [WritingStory.stored("Note")], ["saved"])
            $0.shown(try shown(note, milk), "older")
            $0.nothing("Note", "withheld")
        }
        try story(
            &group, "somebody else's record keeps its creator",
            [
                save("Note", bread, last: (try first("Note", milk, by: owner), milk))
            ]
        ) {
            $0.round(
                [.init(try next(try first("Note", milk, by: owner), bread), keepsKey: true)],
                [WritingStory.stored("Note")], ["saved"])
        }
        let (old, oldAgain) = (
            records.at(records.before, note),
            try next(records.at(records.before, note), bread) {
                ($0.rosterSequence, $0.rosterHead) = (zone.roster.sequence, zone.roster.head)
                $0.epoch = zone.roster.currentEpoch.number
            }
        )
        try story(&group, "of an earlier epoch: under a key of its own", [save("Note", bread, last: (old, milk))]) {
            $0.round([.init(oldAgain)], [WritingStory.stored("Note")], ["saved"])
        }
        var carried = second
        carried.isKeyCarried = true
        try story(
            &group, "whose key was carried over: under a key of its own",
            [
                save("Note", milk, last: (carried, bread))
            ]
        ) {
            $0.round(
                [.init(try next(carried, milk) { $0.isKeyCarried = false })], [WritingStory.stored("Note")], ["saved"])
        }
        try story(
            &group, "fields in their order, and one that was removed",
            [
                save("Note", [("a", .string("1")), ("b", .string("2"))], changed: ["a", "title"], last: (note, milk))
            ]
        ) {
            $0.round(
                [.init(try next(note, [("a", .string("1")), ("b", .string("2"))]), keepsKey: true)],
                [WritingStory.stored("Note")], ["saved"])
        }
        var past = note
        past.zoneIncarnation = 0
        try story(&group, "a deletion in an earlier life of the zone", [delete(past)]) {
            $0.round([], [], [], unplaced: ["Note": "isGone"])
        }
        try story(&group, "a copy of an earlier life of the zone", [save("Note", bread, last: (past, milk))]) {
            $0.round([], [], [], unplaced: ["Note": "past"])
        }
    }

    func places(_ group: inout VectorBuilder.GroupBuilder) throws {
        let milk: Written = [("title", .string("Milk"))]
        func child(_ name: String, of parent: String, in log: VectorZone, by author: VectorPerson? = nil) throws
            -> Statement
        {
            var statement = try first(name, milk, by: author, in: log)
            statement.parent = parent
            return statement
        }
        let root = try first("Root", milk, by: owner, in: share)
        try story(&group, "where its parent is, which is looked up", [save("Note", milk, parent: "Root")]) {
            $0.round(
                [.init(try child("Note", of: "Root", in: share))], [WritingStory.stored("Note")], ["saved"],
                asksFor: ["Root"], parents: [root])
        }
        try story(
            &group, "where its parent in the batch is",
            [
                save("Fat", milk, parent: "Note"), save("Note", milk, parent: "Root"),
            ]
        ) {
            $0.round(
                [.init(try child("Fat", of: "Note", in: share)), .init(try child("Note", of: "Root", in: share))],
                [WritingStory.stored("Fat"), WritingStory.stored("Note")], ["saved", "saved"], asksFor: ["Root"],
                parents: [root])
        }
        try story(&group, "a parent that is not there is the server's to name", [save("Note", milk, parent: "Root")]) {
            $0.round(
                [.init(try child("Note", of: "Root", in: zone))], [WritingStory.refused("referenceViolation")],
                ["refused"], asksFor: ["Root"])
        }
        try story(
            &group, "in the one share of a participant", by: bob, knows: [("share", share.entries.count)],
            [
                save("Note", milk, parent: "Root")
            ]
        ) {
            $0.round(
                [.init(try child("Note", of: "Root", in: share, by: bob))], [WritingStory.stored("Note")], ["saved"],
                asksFor: ["Root"])
        }
        try story(
            &group, "which of two shares nothing says", by: alice,
            knows: [("share", share.entries.count), ("other", records.other.entries.count)],
            [
                save("Note", milk, parent: "Root")
            ]
        ) { $0.round([], [], [], asksFor: ["Root"], unplaced: ["Note": "outside"]) }
        try story(
            &group, "without a parent, by a participant of shares", by: bob, knows: [("share", share.entries.count)],
            [
                save("Note", milk)
            ]
        ) { $0.round([], [], [], unplaced: ["Note": "outside"]) }
        let inShare = try child("Note", of: "Root", in: share)
        try story(&group, "out of its share, by a participant", [save("Note", milk, last: (inShare, milk))]) {
            $0.round([], [], [], unplaced: ["Note": "moves"])
        }
        try story(&group, "out of its share, by its owner", by: owner, [save("Note", milk, last: (inShare, milk))]) {
            var moved = records.moved(inShare, into: zone)
            (moved.parent, moved.clientTime) = (nil, inShare.clientTime)
            $0.round([.init(moved)], [WritingStory.stored("Note")], ["saved"])
        }
        try story(
            &group, "an atomic batch of which one has no place", atomic: true,
            [
                save("Note", milk, last: (inShare, milk)), save("Fat", milk),
            ]
        ) { $0.round([], [], [], unplaced: ["Note": "moves"]) }
        try story(
            &group, "the others of one that has no place",
            [
                save("Note", milk, last: (inShare, milk)), save("Fat", milk),
            ]
        ) {
            $0.round(
                [.init(try first("Fat", milk))], [WritingStory.stored("Fat")], ["saved"], unplaced: ["Note": "moves"])
        }
        try story(
            &group, "a deletion in a share that has ended", by: owner,
            knows: [("zone", zone.entries.count), ("ended", share.entries.count + 1)], [delete(inShare)]
        ) {
            $0.readies("ended", "ended")
            $0.round([], [], [], unplaced: ["Note": "leftBehind"])
        }
    }
}
