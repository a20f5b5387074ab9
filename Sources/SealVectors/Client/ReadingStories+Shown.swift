import SealPrimitives
import SealStatements
import SealVectorChecks

/// What comes with a statement, and is to be what it says.
extension ReadingStories {
    private var body: Value { .string("Dear diary") }
    private var title: Value { .string("Monday") }

    private func note() throws -> Statement {
        try written(zone.statement(by: alice), [("body", body), ("title", title)])
    }

    func fields(_ group: inout VectorBuilder.GroupBuilder) throws {
        let (note, shown) = (try note(), [try plain("body", body), try plain("title", title)])
        let withheld = [try digest("body", of: body), try plain("title", title)]
        try story(&group, "with the fields that were signed", true) { $0.answer(item(note, shown), "accepted") }
        try story(&group, "without the field that was not asked for", true) {
            $0.answer(item(note, withheld), "accepted", desiredKeys: ["title"])
        }
        try story(&group, "a field that was asked for comes as a digest", false) {
            $0.answer(item(note, withheld), "unverified", desiredKeys: ["body", "title"])
            $0.answer(item(note, shown), "accepted", desiredKeys: ["body", "title"])
        }
        try story(&group, "all fields were asked for, and one comes as a digest", false) {
            $0.answer(item(note, withheld), "unverified")
        }
        try story(&group, "another value", false) {
            $0.answer(item(note, [try plain("body", title), try plain("title", title)]), "unverified")
        }
        try story(&group, "the digest of another value, of a field that was not asked for", false) {
            $0.answer(
                item(note, [try digest("body", of: title), try plain("title", title)]), "unverified",
                desiredKeys: ["title"])
        }
        try story(&group, "a field too few", false) {
            $0.answer(item(note, [try plain("title", title)]), "unverified", desiredKeys: ["title"])
        }
        try story(&group, "a field too many", false) {
            $0.answer(item(note, shown + [try plain("zip", title)]), "unverified")
        }
        try story(&group, "two fields that have changed places", false) {
            $0.answer(item(note, [shown[1], shown[0]]), "unverified")
        }
    }

    func beside(_ group: inout VectorBuilder.GroupBuilder) throws {
        let (note, shown) = (try note(), [try plain("body", body), try plain("title", title)])
        let gone = records.deletion(note, by: owner)
        try story(&group, "shown under another name", false) {
            $0.answer(item(note, shown, name: "Note-2"), "unverified")
        }
        try story(&group, "shown as another type", false) {
            $0.answer(item(note, shown, type: "Task"), "unverified")
        }
        try story(&group, "a record that is there, shown as deleted", false) {
            $0.answer(item(note, shown), "accepted")
            $0.answer(item(note, shown, deleted: true), "unverified")
        }
        try story(&group, "a deletion, shown as one", true) {
            $0.answer(item(note, shown), "accepted")
            $0.answer(item(gone), "accepted")
        }
        try story(&group, "a deletion, shown as a record that is there", false) {
            $0.answer(item(gone, deleted: false), "unverified")
        }
        try story(&group, "a deletion with a field", false) {
            $0.answer(item(gone, [shown[0]]), "unverified")
        }
        let there = try written(share.statement(by: bob), [("body", body), ("title", title)])
        let left = records.moved(there, into: zone)
        try story(&group, "left the share", true, to: bob, reads: ["share"]) {
            $0.answer([item(there, shown)], ["accepted"], heldBack: ["Note-1"])
            $0.answer([item(left, deleted: true, departed: true)], ["accepted"])
        }
        try story(&group, "left the share, with a field", false, to: bob, reads: ["share"]) {
            $0.answer([item(left, [shown[0]], deleted: true, departed: true)], ["unverified"])
        }
        try story(&group, "left the share, and is said to be there", false, to: bob, reads: ["share"]) {
            $0.answer([item(left, departed: true)], ["unverified"])
        }
        try story(&group, "left the share, as another type", false, to: bob, reads: ["share"]) {
            $0.answer([item(left, type: "Task", deleted: true, departed: true)], ["unverified"])
        }
        let list = zone.statement("List", by: owner)
        var tombstone = records.deletion(list, by: alice)
        tombstone.fieldsDigest = try TakenRecords([(note.recordName, records.hash(note))]).digest
        let notice: Item = [
            "tombstone": records.signed(tombstone), "count": .int(1), "index": .int(0), "path": .array([]),
        ]
        try story(&group, "gone with another record", true) {
            $0.answer(item(note, shown), "accepted")
            $0.answer(item(note, deleted: true, beside: notice), "accepted")
        }
        try story(&group, "gone with another record, and said to be there", false) {
            $0.answer(item(note, shown), "accepted")
            $0.answer(item(note, beside: notice), "unverified")
        }
        try story(&group, "gone with another record, with a field", false) {
            $0.answer(item(note, [shown[0]], deleted: true, beside: notice), "unverified")
        }
        try story(&group, "gone with another record, under another name", false) {
            $0.answer(item(note, name: "Note-2", deleted: true, beside: notice), "unverified")
        }
    }

    func nothing(_ group: inout VectorBuilder.GroupBuilder) throws {
        let (note, shown) = (try note(), [try plain("body", body), try plain("title", title)])
        for says in ["", "unknownItem", "zoneNotFound", "userDeletedZone"] {
            let words = says.isEmpty ? "no word" : "“\(says)”"
            try story(&group, "\(words) of a record that was seen", false) {
                $0.answer(item(note, shown), "accepted")
                $0.nothing("Note-1", says: says, "withheld")
            }
            try story(&group, "\(words) of a record that was never seen", true) {
                $0.answer(item(note, shown), "accepted")
                $0.nothing("Note-2", says: says, "unseen")
            }
        }
        try story(&group, "no room for a record that was seen, which says nothing of it", true) {
            $0.answer(item(note, shown), "accepted")
            $0.nothing("Note-1", says: "limitExceeded", "noAnswer")
        }
        try story(&group, "no word of a record whose deletion was seen", false) {
            $0.answer(item(records.deletion(note, by: owner)), "accepted")
            $0.nothing("Note-1", says: "unknownItem", "withheld")
        }
    }
}
