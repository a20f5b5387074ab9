import SealPrimitives
import SealStatements
import SealVectorChecks

/// What a server names that is to go along with a deletion.
extension ReadingStories {
    private struct Going {
        var statement: Statement
        var field = "list"
        var reference: Value
        let title: FieldDigest
    }

    /// A record with a reference to another, and a title.
    private func going(_ statement: Statement, with target: String) throws -> Going {
        let reference = Value.reference(ReferenceValue(recordName: target, action: .deleteSelf))
        let title = FieldDigest(name: "title", digest: try StoredField.plain(.string("Milk")).digest(name: "title"))
        let statement = try written(statement, [("list", reference), ("title", .string("Milk"))])
        return Going(statement: statement, reference: reference, title: title)
    }

    private func taken(_ going: Going, name: String? = nil, type: String? = nil, _ more: Item = [:]) throws -> Item {
        let fields: [JSON] = [
            try plain("list", going.reference),
            .object(["name": .string(going.title.name), "digest": .hex(going.title.digest)]),
        ]
        return item(
            going.statement, fields, name: name, type: type,
            beside: more.merging(["field": .string(going.field)]) { $1 })
    }

    private func digest(_ goings: Going...) throws -> Digest {
        try TakenRecords(goings.map { ($0.statement.recordName, records.hash($0.statement)) }).digest
    }

    func along(_ group: inout VectorBuilder.GroupBuilder) throws {
        let list = try written(zone.statement("List", by: owner), [])
        let milk = try going(zone.statement("Milk", by: alice), with: "List")
        let fat = try going(zone.statement("Fat", by: alice), with: "Milk")
        let full = [try plain("list", milk.reference), try plain("title", .string("Milk"))]
        try story(&group, "nothing goes along", true) { $0.taken(list, [], "covered", digest: try digest()) }
        try story(&group, "a record that was never seen, and one that goes with it", true) {
            $0.taken(list, [try taken(milk), try taken(fat)], "covered", digest: try digest(milk, fat))
        }
        try story(&group, "what goes along was seen, and is remembered", true) {
            $0.answer([item(milk.statement, full)], ["accepted"])
            $0.taken(list, [try taken(milk)], "covered", digest: try digest(milk))
            $0.nothing("Fat", says: "unknownItem", "unseen")
        }
        try story(&group, "what was named once is not there, as the server says later", false) {
            $0.taken(list, [try taken(milk)], "covered", digest: try digest(milk))
            $0.nothing("Milk", says: "unknownItem", "withheld")
        }
        let second = try going(records.after(milk.statement, by: owner), with: "List")
        try story(&group, "an older revision than was seen", false) {
            for one in [milk, second] { $0.answer([item(one.statement, full)], ["accepted"]) }
            $0.taken(list, [try taken(milk)], "older")
        }
        try story(&group, "another revision of that number than was seen", false) {
            for one in [milk, second] { $0.answer([item(one.statement, full)], ["accepted"]) }
            let another = try going(records.after(milk.statement, by: alice), with: "List")
            $0.taken(list, [try taken(another)], "forked")
        }
        try movedAlong(&group)
        var tombstone = records.deletion(list, by: alice)
        tombstone.fieldsDigest = try digest(milk)
        try story(&group, "what was accepted as gone with that very statement", true) {
            $0.answer([item(milk.statement, full)], ["accepted"])
            $0.answer(
                [
                    item(
                        milk.statement, deleted: true,
                        beside: [
                            "tombstone": records.signed(tombstone), "count": .int(1), "index": .int(0),
                            "path": .array([]),
                        ])
                ], ["accepted"])
            $0.taken(list, [try taken(milk)], "covered", digest: try digest(milk))
        }
        func refused(_ comment: String, _ items: [Item]) throws {
            try story(&group, comment, false) { $0.taken(list, items, "unverified") }
        }
        try refused("named as another record", [try taken(milk, name: "Fat")])
        try refused("named as another type", [try taken(milk, type: "Task")])
        try refused("a reference to what does not go", [try taken(fat)])
        try refused("nearer to the target, and named later", [try taken(fat), try taken(milk)])
        try refused("the same record twice", [try taken(milk), try taken(milk)])
        var other = milk
        other.field = "title"
        try refused("a field that is no reference", [try taken(other)])
        other.field = "shelf"
        try refused("a field that does not come", [try taken(other)])
        var forged = fat
        forged.reference = milk.reference
        try refused("a reference that its author has not signed", [try taken(forged)])
        try refused(
            "by somebody who may not write",
            [try taken(try going(zone.statement("Milk", by: records.carol), with: "List"))])
        try refused(
            "in another scope", [try taken(try going(share.statement("Milk", by: alice), with: "List"))])
    }

    /// R-TAKEN-7 with R-MOVE-7.
    private func movedAlong(_ group: inout VectorBuilder.GroupBuilder) throws {
        let list = try written(share.statement("List", by: owner), [])
        let first = try going(zone.statement("Milk", by: alice), with: "List")
        let full = [try plain("list", first.reference), try plain("title", .string("Milk"))]
        let move = try going(records.moved(first.statement, into: share), with: "List")
        let next = try going(records.after(move.statement, by: bob), with: "List")
        try story(&group, "moved and changed since it was seen, with the move beside it", true) {
            $0.answer([item(first.statement, full)], ["accepted"])
            $0.taken(
                list, [try taken(next, ["moved": records.signed(move.statement)])], "covered", digest: try digest(next))
        }
        try story(&group, "moved and changed since it was seen, without the move beside it", false) {
            $0.answer([item(first.statement, full)], ["accepted"])
            $0.taken(list, [try taken(next)], "misplaced")
        }
        try story(&group, "changed since it was seen, with a move beside it that is not the owner's", false) {
            $0.answer([item(first.statement, full)], ["accepted"])
            var wrong = move.statement
            (wrong.formerScope, wrong.author) = (nil, bob.user)
            let after = try going(records.after(wrong, by: bob), with: "List")
            $0.taken(list, [try taken(after, ["moved": records.signed(wrong)])], "unverified")
        }
    }
}
