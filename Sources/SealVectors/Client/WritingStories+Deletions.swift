import SealEnvelope
import SealPrimitives
import SealStatements
import SealVectorChecks

/// What is deleted, and what goes along.
extension WritingStories {
    func deletions(_ group: inout VectorBuilder.GroupBuilder) throws {
        let (milk, bread): (Written, Written) = ([("title", .string("Milk"))], [("title", .string("Bread"))])
        let note = try first("Note", milk)
        try story(&group, "a deletion", [delete(note)]) {
            $0.round([.deletion(deletion(note))], [WritingStory.stored("Note")], ["deleted"])
        }
        try story(&group, "what was deleted is shown as if it were there", isValid: false, [delete(note)]) {
            $0.round([.deletion(deletion(note))], [WritingStory.stored("Note")], ["deleted"])
            $0.shown(try shown(note, milk), "older")
        }
        let theirs = try next(note, bread, by: owner)
        let conflict = WritingStory.refused("serverRecordChanged", shows: try shown(theirs, bread))
        try story(&group, "it follows what somebody else has saved meanwhile", [delete(note)]) {
            $0.round([.deletion(deletion(note))], [conflict], ["deletesNewest"], again: ["Note"])
            $0.round([.deletion(deletion(theirs))], [WritingStory.stored("Note")], ["deleted"])
        }
        try story(&group, "somebody else has deleted it", [delete(note)]) {
            $0.round(
                [.deletion(deletion(note))],
                [WritingStory.refused("serverRecordChanged", shows: gone(deletion(note, by: owner)))], ["isGone"])
        }
        try story(&group, "an older version than was seen stands in the way", isValid: false, [delete(theirs)]) {
            $0.round(
                [.deletion(deletion(theirs))],
                [WritingStory.refused("serverRecordChanged", shows: try shown(note, milk))], ["older"])
        }
        try story(&group, "it is said not to be there, without what made it go", isValid: false, [delete(note)]) {
            $0.round(
                [.deletion(deletion(note))], [WritingStory.refused("unknownItem")], ["withheld"], looksUp: ["Note"])
        }
        try story(&group, "it changes in each of 8 rounds, and stays", [delete(note)]) { story in
            var last = note
            for round in 1...8 {
                let theirs = try next(last, bread, by: owner)
                story.round(
                    [.deletion(deletion(last))],
                    [WritingStory.refused("serverRecordChanged", shows: try shown(theirs, bread))],
                    [round == 8 ? "keepsChanging" : "deletesNewest"], again: round == 8 ? [] : ["Note"])
                last = theirs
            }
        }
    }

    /// With a reference of `list`, and a title.
    private func going(_ name: String, with target: String, by author: VectorPerson? = nil, in log: VectorZone? = nil)
        throws -> (statement: Statement, fields: Written)
    {
        let fields: Written = [
            ("list", .reference(ReferenceValue(recordName: target, action: .deleteSelf))), ("title", .string("Milk")),
        ]
        return (try first(name, fields, by: author, in: log), fields)
    }

    private func taken(_ going: (statement: Statement, fields: Written)) throws -> Item {
        let fields = [
            try reading.plain("list", going.fields[0].1), try reading.digest("title", of: going.fields[1].1),
        ]
        return reading.item(going.statement, fields, beside: ["field": .string("list")])
    }

    private func digest(_ goings: [Statement]) throws -> Digest {
        try TakenRecords(goings.map { ($0.recordName, records.hash($0)) }).digest
    }

    func along(_ group: inout VectorBuilder.GroupBuilder) throws {
        let list = try first("List", [])
        let milk = try going("Milk", with: "List")
        let fat = try going("Fat", with: "Milk")
        func incomplete(_ taken: [Item]?) -> Item { WritingStory.refused("deletionIncomplete", taken: taken) }
        let all = [try taken(milk), try taken(fat)]
        let covering = deletion(list, try digest([milk.statement, fat.statement]))
        try story(&group, "what goes along is covered, and gone with it", [delete(list)]) {
            $0.round([.deletion(deletion(list))], [incomplete(all)], ["covers"], again: ["List"])
            $0.round([.deletion(covering)], [WritingStory.stored("List")], ["deleted"])
        }
        try story(&group, "what was covered is shown as if it were there", isValid: false, [delete(list)]) {
            $0.round([.deletion(deletion(list))], [incomplete(all)], ["covers"], again: ["List"])
            $0.round([.deletion(covering)], [WritingStory.stored("List")], ["deleted"])
            $0.shown(try shown(milk.statement, milk.fields), "older")
        }
        try story(&group, "nothing goes along any more", [delete(list)]) {
            $0.round([.deletion(deletion(list))], [incomplete(all)], ["covers"], again: ["List"])
            $0.round([.deletion(covering)], [incomplete([])], ["covers"], again: ["List"])
            $0.round([.deletion(deletion(list))], [WritingStory.stored("List")], ["deleted"])
        }
        try story(&group, "the answer has no room for what goes along", [delete(list)]) {
            $0.round([.deletion(deletion(list))], [incomplete(nil)], ["again"], again: ["List"])
            $0.round([.deletion(deletion(list))], [incomplete(all)], ["covers"], again: ["List"])
            $0.round([.deletion(covering)], [WritingStory.stored("List")], ["deleted"])
        }
        let other = try going("Bread", with: "Shelf")
        try story(&group, "a record that does not refer to it", isValid: false, [delete(list)]) {
            $0.round([.deletion(deletion(list))], [incomplete([try taken(other)])], ["unverified"])
        }
        try story(&group, "a record that nobody has signed", isValid: false, [delete(list)]) {
            let forged = try going("Bread", with: "List", by: records.carol)
            $0.round([.deletion(deletion(list))], [incomplete([try taken(forged)])], ["unverified"])
        }
        try story(
            &group, "what the request saves itself does not go along",
            [
                delete(list),
                save("Milk", [("title", .string("Milk"))], changed: ["list"], last: (milk.statement, milk.fields)),
            ]
        ) {
            let saved = try next(milk.statement, [("title", .string("Milk"))])
            $0.round(
                [.deletion(deletion(list)), .init(saved, keepsKey: true)],
                [incomplete(all), WritingStory.refused("batchRequestFailed")], ["covers", "refused"],
                again: ["List", "Milk"])
            $0.round(
                [.deletion(deletion(list, try digest([fat.statement]))), .init(saved, keepsKey: true)],
                [WritingStory.stored("List"), WritingStory.stored("Milk")], ["deleted", "saved"])
        }
        try story(&group, "what goes along changes in each of 8 rounds", [delete(list)]) { story in
            for round in 1...8 {
                let sent = round.isMultiple(of: 2) ? covering : deletion(list)
                story.round(
                    [.deletion(sent)], [incomplete(round.isMultiple(of: 2) ? [] : all)],
                    [round == 8 ? "keepsGrowing" : "covers"], again: round == 8 ? [] : ["List"])
            }
        }
        try story(&group, "a save is said to be incomplete", [save("Note", [])]) {
            $0.round([.init(try first("Note", []))], [incomplete(all)], ["refused"])
        }
        try dependents(&group, list)
    }

    private func dependents(_ group: inout VectorBuilder.GroupBuilder, _ list: Statement) throws {
        let there = try going("Milk", with: "List", in: share)
        let further = try going("Fat", with: "Milk", in: share)
        let stranger = try going("Bread", with: "Shelf", in: share)
        let shows = [
            try shown(further.statement, further.fields), try shown(there.statement, there.fields),
            try shown(stranger.statement, stranger.fields),
        ]
        let names = ["Bread", "Fat", "Milk"]
        let refused = WritingStory.refused("referenceViolation", dependents: names)
        try story(
            &group, "what goes in another scope is deleted beside it, as far as it refers to it", atomic: true,
            [
                delete(list)
            ]
        ) {
            $0.round(
                [.deletion(deletion(list))], [refused], ["takesOthers"], again: ["List", "Milk", "Fat"],
                dependents: shows)
            $0.round(
                [
                    .deletion(deletion(list)), .deletion(deletion(there.statement)),
                    .deletion(deletion(further.statement)),
                ],
                [WritingStory.stored("List"), WritingStory.stored("Milk"), WritingStory.stored("Fat")],
                ["deleted", "deleted", "deleted"])
        }
        try story(&group, "nothing is deleted because a server names it", atomic: true, [delete(list)]) {
            $0.round(
                [.deletion(deletion(list))], [WritingStory.refused("referenceViolation", dependents: ["Bread"])],
                ["refused"], dependents: [try shown(stranger.statement, stranger.fields)])
        }
        try story(
            &group, "where each item is by itself it goes after the others",
            [
                delete(list), save("Note", []),
            ]
        ) {
            $0.round(
                [.deletion(deletion(list)), .init(try first("Note", []))], [refused, WritingStory.stored("Note")],
                ["waits", "saved"])
        }
        try story(&group, "nothing goes with a save", [save("Note", [])]) {
            $0.round([.init(try first("Note", []))], [refused], ["refused"])
        }
    }
}
